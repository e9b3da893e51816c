package model_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tenterhook/tenterhook/handler/model"
	"github.com/tenterhook/tenterhook/hook"
)

// The registry does this for every prompt hook. Here the host brings a model of
// its own; without one, a provider is asked.
func Example() {
	mine := model.ModelFunc(func(_ context.Context, r *model.Request) (*model.Response, error) {
		if strings.Contains(r.Messages[0].Text, "--force") {
			return &model.Response{Text: `{"ok": false, "reason": "it rewrites history"}`}, nil
		}
		return &model.Response{Text: `{"ok": true}`}, nil
	})
	handler := model.New(model.Options{Model: mine})
	defer handler.Close()
	judge := &hook.Hook{ID: "dir/judge", Event: hook.EventPreToolUse, Kind: hook.KindPrompt,
		Params: hook.Params{"prompt": json.RawMessage(`"Could this lose work? $ARGUMENTS"`)}}
	call := &hook.Call{Hook: judge, Input: hook.PreToolUse{ToolName: "Bash"},
		Payload: []byte(`{"tool_name":"Bash","tool_input":{"command":"git push --force"}}`)}
	out, err := handler.Handle(context.Background(), call)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Verdict, "–", out.Reason)
	// Output: deny – it rewrites history
}
