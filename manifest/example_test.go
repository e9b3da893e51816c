package manifest_test

import (
	"fmt"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/manifest"
)

// A misspelt key is reported with its line; the hook runs.
func Example() {
	src := manifest.Source{Scope: hook.ScopeProject, Folder: "guard-rm", Source: hook.Source{Path: "guard-rm/HOOK.md"}}
	hooks, notes := manifest.Parse(src, []byte(`+++
event = "PreToolUse"
matchr = "Bash"
command = "./guard.sh"
+++
Asks before anything is removed.
`))
	for _, h := range hooks {
		fmt.Println(h.ID, h.Event, h.Command.Line, h.State)
	}
	for _, d := range notes {
		fmt.Println(d)
	}
	// Output:
	// project/guard-rm PreToolUse ./guard.sh ready
	// guard-rm/HOOK.md:3: matchr: no such key; it has no effect (did you mean matcher?)
}
