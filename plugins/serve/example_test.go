package serve_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/serve"
)

func Example() {
	s := serve.New("guard", "1.0.0")
	serve.On(s, "no-rm", func(_ context.Context, in hook.PreToolUse) (*hook.Output, error) {
		if strings.Contains(string(in.ToolInput), "rm -rf") {
			return hook.Denied("rm -rf is not for agents"), nil
		}
		return nil, nil
	}, func(h *hook.Hook) { h.Matcher, h.OnFailure = "Bash", hook.FailureBlock })
	fmt.Println(s.Err())
	// in a plugin: s.Main()

	// Output: <nil>
}
