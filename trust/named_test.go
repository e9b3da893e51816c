package trust_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/trust"
)

func TestF4FilesThatACommandNames(t *testing.T) {
	w := newWorkspace(t)
	w.write("/scripts/check.sh", "", 0o755)
	w.write("/my scripts/check.sh", "", 0o755)
	w.write("/Makefile", "", 0o644)
	w.write("/out.txt", "", 0o644)
	w.write("/audit.log", "", 0o644)
	tests := []struct {
		line  string
		args  []string
		dir   bool // the hook has a folder
		names string
	}{
		{line: "scripts/check.sh", names: "scripts/check.sh"},
		{line: "./scripts/check.sh arg", names: "scripts/check.sh"},
		{line: `"$CLAUDE_PROJECT_DIR"/scripts/check.sh`, names: "scripts/check.sh"},
		{line: `"${TENTERHOOK_PROJECT_DIR}/scripts/check.sh" --fix`, names: "scripts/check.sh"},
		{line: `'my scripts/check.sh'`, names: "my scripts/check.sh scripts/check.sh"},
		{line: `bash -c "cd scripts; scripts/check.sh && true"`, names: "scripts/check.sh"},
		{line: "cat<Makefile|sh scripts/check.sh>out.txt", names: "Makefile scripts/check.sh"},
		{line: "x=scripts/check.sh;$x 2>&1 >> out.txt", names: "scripts/check.sh"},
		{line: "scripts/late.sh", names: "scripts/late.sh"},
		{line: "late.sh scripts .", names: ""},
		{line: "/bin/sh /etc/passwd ../x", names: ""},
		{line: "Makefile", args: []string{}, names: "Makefile"},
		{line: "sh", args: []string{"-c", "scripts/check.sh x", "${CLAUDE_PROJECT_DIR}/scripts/check.sh"}, names: "scripts/check.sh"},
		{line: "my scripts/check.sh", args: []string{}, names: "my scripts/check.sh"},
		{line: "./run.sh $HOOK_DIR/HOOK.md", dir: true, names: ""},
		{line: "sh ../../../scripts/check.sh", dir: true, names: "scripts/check.sh"},
		{line: "scripts/check.sh", dir: true, names: ""},
		{line: "'unclosed scripts/check.sh", names: "scripts/check.sh"},
		{line: "a\x00/b", names: ""},
		{line: "", names: ""},
		{line: "sh 'Makefile", names: "Makefile"},
		{line: "my tool --log Makefile", names: "Makefile"},
		{line: "tool -o out.txt --verbose Makefile", names: "Makefile out.txt"},
		{line: "tool --log audit.log -l logs/audit.log --output=out.txt -outfile late/out.txt Makefile", names: "Makefile"},
		{line: "sh audit.log ./late.log --out out.txt out.txt", names: "audit.log late.log out.txt"},
		{line: "cat Makefile | tee -a out.txt late/out.txt | sh scripts/check.sh", names: "Makefile scripts/check.sh"},
		{line: `bash -c 'tee out.txt; tool --log audit.log Makefile'`, names: "Makefile"},
		{line: "tool", args: []string{"--logfile", "out.txt", "Makefile", "--output", "scripts/late.txt"}, names: "Makefile"},
		{line: "tee", args: []string{"out.txt"}, names: ""},
	}
	for _, test := range tests {
		t.Run(test.line, func(t *testing.T) {
			h := &hook.Hook{Command: &hook.Command{Line: test.line, Args: test.args}}
			if test.dir {
				h.Source.Dir = w.dir
			}
			seal := seal(t, trust.Subject{ID: "x", Root: w.root, Path: w.root, Definition: []byte("[]"), Words: trust.Words(w.root, h, &hook.Hook{})})
			var names []string
			for _, f := range seal.Approval().Files {
				if f.Missing != strings.Contains(f.Name, "late") {
					t.Errorf("%+v", f)
				}
				names = append(names, f.Name)
			}
			if diff := cmp.Diff(test.names, strings.Join(names, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Other words than these name nothing, and cost no more than one stat however
// many they are: that of the folder which a file would come into being in.
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
			w, store := newWorkspace(t), trust.Memory()
			w.write("/other.sh", script, 0o644)
			w.write("/away/folder/x", "", 0o644)
			w.write("/folder/x", "", 0o644)
			w.remove("/away/folder/x")
			w.remove("/folder/x")
			w.link("away/check.sh", "/link")
			w.link("away/folder", "/linked")
			h := &hook.Hook{Command: &hook.Command{Line: test.line}}
			s := trust.Subject{ID: "project/x", Root: w.root, Path: w.path("/settings.json"), Definition: define(t, h), Words: trust.Words(w.root, h)}
			approve(t, store, settled(t, s))
			g := trust.NewGuard(s, store)
			if v := g.Check(); !v.Approved {
				t.Fatal(v.Why)
			}
			test.change(w)
			for range 2 {
				if v := g.Check(); v.Approved != (test.why == "") || !strings.HasPrefix(v.Why, test.why) {
					t.Errorf("approved %v, %q, want %q", v.Approved, v.Why, test.why)
				}
			}
			if v := trust.NewGuard(s, store).Check(); v.Approved != (test.why == "") {
				t.Errorf("to another guard it is approved %v: %q", v.Approved, v.Why)
			}
		})
	}
}

// A workspace is worked in: what comes and goes there keeps no hook from being
// judged.
func TestWordsAreReadInAFolderThatChangesAllTheTime(t *testing.T) {
	w, store := newWorkspace(t), trust.Memory()
	h := &hook.Hook{Command: &hook.Command{Line: "sh check.sh"}}
	s := trust.Subject{ID: "project/x", Root: w.root, Path: w.path("/settings.json"), Definition: define(t, h), Words: trust.Words(w.root, h)}
	approve(t, store, seal(t, s))
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
		if v := g.Check(); !v.Approved {
			t.Error(v.Why)
			break
		}
	}
	w.write("/check.sh", "echo hostile\n", 0o644)
	if v := g.Check(); v.Approved {
		t.Error("a script that came into being is approved")
	}
	close(stop)
	<-done
}
