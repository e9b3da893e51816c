package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/tenterhook/tenterhook/handler/webhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

// The registry does this for every HTTP hook.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"decision": "block", "reason": "not on a Friday"}`)
	}))
	defer server.Close()

	handler := webhook.New(webhook.Options{})
	defer handler.Close()
	allowLocal := true
	handler.Configure(dialect.Settings{AllowedHTTPHookURLs: []string{server.URL + "/*"}, AllowLocalHTTPHookTargets: &allowLocal})

	url, _ := json.Marshal(server.URL + "/deploy")
	h := &hook.Hook{ID: "user/deploy", Event: hook.EventPreToolUse, Kind: hook.KindHTTP, Params: hook.Params{"url": url}}
	out, err := handler.Handle(context.Background(), &hook.Call{Hook: h, Input: hook.PreToolUse{ToolName: "Deploy"}, Payload: []byte(`{"tool_name":"Deploy"}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Verdict, "–", out.Reason)
	// Output: deny – not on a Friday
}
