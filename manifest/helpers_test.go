package manifest_test

import (
	"fmt"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/manifest"
)

var source = manifest.Source{
	Scope: hook.ScopeProject, Folder: "folder",
	Source: hook.Source{Path: "HOOK.md", Dir: "/ws/.tenterhook/hooks/folder", Root: "/ws/.tenterhook"},
}

// inTOML puts front matter between fences. Its first line is the file's second.
func inTOML(text string) string { return "+++\n" + text + "\n+++\nWhat it does.\n" }

func inYAML(text string) string { return "---\n" + text + "\n---\nWhat it does.\n" }

// one parses a manifest that declares one hook.
func one(t testing.TB, text string) (*hook.Hook, []hook.Diagnostic) {
	t.Helper()
	hooks, notes := manifest.Parse(source, []byte(text))
	if len(hooks) != 1 {
		t.Fatalf("%d hooks, want 1", len(hooks))
	}
	return hooks[0], notes
}

// short are diagnostics as "severity code:line".
func short(notes []hook.Diagnostic) []string {
	var list []string
	for _, d := range notes {
		list = append(list, fmt.Sprintf("%s %s:%d", d.Severity, d.Code, d.Line))
	}
	return list
}
