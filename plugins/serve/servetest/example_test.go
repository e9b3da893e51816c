package servetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/serve"
	"github.com/tenterhook/tenterhook/plugins/serve/servetest"
)

// guard is the plugin under test: its main function is guard().Main().
func guard() *serve.Server {
	s := serve.New("guard", "1.0.0")
	serve.On(s, "no-rm", func(_ context.Context, in hook.PreToolUse) (*hook.Output, error) {
		if bytes.Contains(in.ToolInput, []byte("rm -rf")) {
			return hook.Denied("rm -rf is not for agents"), nil
		}
		return nil, nil
	}, func(h *hook.Hook) { h.Matcher = "Bash" })
	return s
}

// A test hands New its own t.
func Example() {
	t := &example{}
	defer t.end()

	host := servetest.New(t, guard())
	for _, h := range host.Hooks() {
		fmt.Println(h.Event, h.Matcher, h.Name)
	}
	in := hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"rm -rf /"}`)}
	out, err := host.Call(t.Context(), "no-rm", in)
	fmt.Println(out.Verdict, out.Reason, err)

	// Output:
	// PreToolUse Bash no-rm
	// deny rm -rf is not for agents <nil>
}

// example stands in for a test's t, which an example has not.
type example struct {
	testing.TB
	cleanups []func()
}

func (e *example) Helper()                           {}
func (e *example) Context() context.Context          { return context.Background() }
func (e *example) Cleanup(f func())                  { e.cleanups = append(e.cleanups, f) }
func (e *example) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (e *example) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (e *example) end() {
	for _, f := range e.cleanups {
		f()
	}
}
