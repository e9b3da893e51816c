package trust_test

import (
	"os"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/resolve"
	"github.com/tenterhook/tenterhook/trust"
)

// comesTo is what a settings hook's line comes to in the workspace.
func comesTo(w *workspace, h *hook.Hook) func() hook.Program {
	return func() hook.Program {
		env := resolve.NewEnviron(h, os.Environ(), w.root)
		p, _ := resolve.Command(h, &env, resolve.Place{Project: w.root})
		return p
	}
}

func TestF4WordThatComesToNameAFileEndsAnApproval(t *testing.T) {
	const script = "echo hostile\n"
	tests := []struct {
		name, line string
		change     func(w *workspace)
		why        string // "" = it stays approved
	}{
		{"nothing", "sh check.sh", func(w *workspace) {}, ""},
		{"a script", "sh check.sh", func(w *workspace) { w.write("/check.sh", script, 0o644) }, "check.sh was added"},
		{"a script in quotes", `bash -ec "sh check.sh"`, func(w *workspace) { w.write("/check.sh", script, 0o644) }, "check.sh was added"},
		{"a script with a space", "sh 'my check.sh'", func(w *workspace) { w.write("/my check.sh", script, 0o644) }, "my check.sh was added"},
		{"one in a folder with a space", "sh 'my tools/check.sh'", func(w *workspace) { w.write("/my tools/check.sh", script, 0o644) }, "my tools/check.sh was added"},
		{"a path", "sh tools/check.sh", func(w *workspace) { w.write("/tools/check.sh", script, 0o644) }, "tools/check.sh was added"},
		{"a script that is renamed", "sh check.sh", func(w *workspace) { must(w.t, os.Rename(w.path("/other.sh"), w.path("/check.sh"))) }, "check.sh was added"},
		{"a link to a script", "sh check.sh", func(w *workspace) { w.link("other.sh", "/check.sh") }, "check.sh was added"},
		{"the end of a link", "sh link", func(w *workspace) { w.write("/away/check.sh", script, 0o644) }, "link was added"},
		{"a script in a folder's place", "sh folder", func(w *workspace) { w.remove("/folder"); w.write("/folder", script, 0o644) }, "folder was added"},
		{"the same further down", "sh away/folder", func(w *workspace) { w.remove("/away/folder"); w.write("/away/folder", script, 0o644) }, "away/folder was added"},
		{"the same where a link leads", "sh linked", func(w *workspace) { w.remove("/away/folder"); w.write("/away/folder", script, 0o644) }, "linked was added"},
		{"a folder", "sh check.sh", func(w *workspace) { w.write("/check.sh/x", script, 0o644) }, ""},
		{"another script", "sh check.sh", func(w *workspace) { w.write("/check2.sh", script, 0o644) }, ""},
		{"a file in a folder that is named", "sh folder", func(w *workspace) { w.write("/folder/x", script, 0o644) }, ""},
		{"what it writes", "sh check.sh >out --log audit.log | tee notes", func(w *workspace) {
			for _, name := range []string{"/out", "/audit.log", "/notes"} {
				w.write(name, script, 0o644)
			}
		}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			holdsHere(t, test.name)
			w, store := newWorkspace(t), trust.Memory()
			w.write("/other.sh", script, 0o644)
			w.write("/away/folder/x", "", 0o644)
			w.write("/folder/x", "", 0o644)
			w.remove("/away/folder/x")
			w.remove("/folder/x")
			w.mayLink("away/check.sh", "/link")
			w.mayLink("away/folder", "/linked")
			h := &hook.Hook{Scope: hook.ScopeProject, Command: &hook.Command{Line: test.line}}
			s := trust.Subject{ID: "project/x", Root: w.root, Path: w.path("/settings.json"), Definition: define(t, h)}
			program := comesTo(w, h)
			approve(t, store, settled(t, s.With(program())))
			g := trust.NewGuard(s, store)
			if v := g.Check(program); !v.Approved {
				t.Fatal(v.Why)
			}
			test.change(w)
			for range 2 {
				if v := g.Check(program); v.Approved != (test.why == "") || !strings.HasPrefix(v.Why, test.why) {
					t.Errorf("approved %v, %q, want %q", v.Approved, v.Why, test.why)
				}
			}
			if v := trust.NewGuard(s, store).Check(program); v.Approved != (test.why == "") {
				t.Errorf("to another guard it is approved %v: %q", v.Approved, v.Why)
			}
		})
	}
}

// A workspace is worked in: what comes and goes there keeps no hook from being
// judged.
func TestWordsAreReadInAFolderThatChangesAllTheTime(t *testing.T) {
	w, store := newWorkspace(t), trust.Memory()
	h := &hook.Hook{Scope: hook.ScopeProject, Command: &hook.Command{Line: "sh check.sh"}}
	s := trust.Subject{ID: "project/x", Root: w.root, Path: w.path("/settings.json"), Definition: define(t, h)}
	program := comesTo(w, h)
	approve(t, store, seal(t, s.With(program())))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				_ = os.Mkdir(w.path("/comes"), 0o755)
				_ = os.Remove(w.path("/comes"))
			}
		}
	}()
	g := trust.NewGuard(s, store)
	for range 500 {
		if v := g.Check(program); !v.Approved {
			t.Error(v.Why)
			break
		}
	}
	w.write("/check.sh", "echo hostile\n", 0o644)
	if v := g.Check(program); v.Approved {
		t.Error("a script that came into being is approved")
	}
	close(stop)
	<-done
}
