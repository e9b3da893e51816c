package dialect_test

import (
	"errors"
	"fmt"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

// A command's answer becomes an Output, or a failure that says what to do.
func Example() {
	call := &hook.Call{
		Hook:  &hook.Hook{ID: "project/guard", Event: hook.EventPreToolUse},
		Input: hook.PreToolUse{ToolName: "Bash"},
	}

	out, err := dialect.Reader{}.Read(call, dialect.Reply{Stderr: []byte("not on main\n"), ExitCode: 2})
	fmt.Println(out.Verdict, out.Reason, err)

	_, err = dialect.Reader{}.Read(call, dialect.Reply{Stdout: []byte(`{"decision": "reject"}`)})
	var failed *hook.Error
	if errors.As(err, &failed) {
		fmt.Println(failed.Failure, failed.Reason)
	}

	// Output:
	// deny not on main <nil>
	// output decision is "reject": want block or approve
}

func ExampleMapEvent() {
	m, known := dialect.MapEvent("BeforeToolCall")
	fmt.Println(m.Event, m.Protocol, m.Product, known)
	// Output: PreToolUse moltis moltis true
}
