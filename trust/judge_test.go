package trust_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/built"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/trust"
)

func TestNobodyApprovedIt(t *testing.T) {
	w := newWorkspace(t)
	v := trust.Memory().Judge(w.seal())
	want := trust.Verdict{Why: "it is not approved", Hint: "look at it, then approve it: tenterhook trust project/guard",
		Changes: []trust.Change{
			{Kind: trust.ChangeField, Name: "command", New: `"./run.sh"`},
			{Kind: trust.ChangeField, Name: "events", New: `["PreToolUse"]`},
			{Kind: trust.ChangeField, Name: "timeout", New: `"5s"`},
			{Kind: trust.ChangeField, Name: "type", New: `"command"`},
			{Kind: trust.ChangeAdded, Name: "HOOK.md"},
			{Kind: trust.ChangeAdded, Name: "run.sh"},
		}}
	if diff := cmp.Diff(want, v, cmpopts.IgnoreFields(trust.Verdict{}, "Seal"), ignoreDigests()); diff != "" {
		t.Error(diff)
	}
}

// ignoreDigests leaves out what files hold: their names are what matters.
func ignoreDigests() cmp.Option {
	return cmp.FilterPath(func(p cmp.Path) bool {
		last := p.Last().String()
		return last == ".Old" || last == ".New"
	}, cmp.Transformer("digest", func(s string) string {
		if strings.HasPrefix(s, "sha256:") {
			return ""
		}
		return s
	}))
}

func TestF4WhatChangedSinceTheApprovalIsSaid(t *testing.T) {
	const since = " since it was approved"
	tests := []struct {
		name   string
		change func(w *workspace, s *trust.Subject)
		why    string // "" = still approved
	}{
		{"nothing", func(w *workspace, s *trust.Subject) {}, ""},
		{"a byte of the script", func(w *workspace, s *trust.Subject) { w.write("run.sh", "#!/bin/sh\necho odl\n", 0o755) }, "run.sh changed" + since},
		{"the times of the script", func(w *workspace, s *trust.Subject) {
			must(w.t, os.Chtimes(w.path("run.sh"), time.Time{}, time.Now().Add(-time.Hour)))
		}, ""},
		{"the script, written once more as it was", func(w *workspace, s *trust.Subject) { w.write("run.sh", "#!/bin/sh\necho old\n", 0o755) }, ""},
		{"the run bit taken away", func(w *workspace, s *trust.Subject) { must(w.t, os.Chmod(w.path("run.sh"), 0o644)) }, "run.sh became not executable" + since},
		{"the run bit given", func(w *workspace, s *trust.Subject) { must(w.t, os.Chmod(w.path("HOOK.md"), 0o744)) }, "HOOK.md became executable" + since},
		{"a mode that runs nothing", func(w *workspace, s *trust.Subject) { must(w.t, os.Chmod(w.path("run.sh"), 0o700)) }, ""},
		{"a file added", func(w *workspace, s *trust.Subject) { w.write("lib/new.sh", "", 0o644) }, "lib/new.sh was added" + since},
		{"a file removed", func(w *workspace, s *trust.Subject) { w.remove("run.sh") }, "run.sh was removed" + since},
		{"a file renamed", func(w *workspace, s *trust.Subject) { must(w.t, os.Rename(w.path("run.sh"), w.path("sun.sh"))) },
			"run.sh was removed" + since + ", and so did one thing more"},
		{"an empty folder", func(w *workspace, s *trust.Subject) { must(w.t, os.Mkdir(w.path("empty"), 0o755)) }, ""},
		{"the manifest's text", func(w *workspace, s *trust.Subject) { w.write("HOOK.md", manifest+"Words.\n", 0o644) }, "HOOK.md changed" + since},
		{"the manifest", func(w *workspace, s *trust.Subject) {
			w.write("HOOK.md", "+++\nevent = \"Stop\"\ncommand = \"./run.sh\"\n+++\n", 0o644)
			h := guardHook()
			h.Event, h.Timeout = hook.EventStop, 0
			s.Definition = define(w.t, h)
		}, `its events changed from ["PreToolUse"] to ["Stop"]` + since + ", and so did 2 things more"},
		{"what the manifest is taken to say", func(w *workspace, s *trust.Subject) {
			h := guardHook()
			h.OnFailure = hook.FailureBlock
			s.Definition = define(w.t, h)
		}, `its on_failure was added ("block")` + since},
		{"one event more", func(w *workspace, s *trust.Subject) {
			h := guardHook()
			h.Event, h.Matcher = hook.EventStop, "x"
			s.Definition = define(w.t, guardHook(), h)
		}, `its command of hook 2 was added ("./run.sh")` + since + ", and so did 4 things more"},
		{"a link's target", func(w *workspace, s *trust.Subject) { w.remove("alias"); w.link("HOOK.md", "alias") }, "alias changed" + since},
		{"a link in the place of a file with the same bytes", func(w *workspace, s *trust.Subject) {
			w.write("copy.sh", "#!/bin/sh\necho old\n", 0o755)
			w.remove("run.sh")
			w.link("copy.sh", "run.sh")
		}, "copy.sh was added" + since + ", and so did 2 things more"},
		{"a file that a link leads to, out of the folder", func(w *workspace, s *trust.Subject) { w.write("/.tenterhook/lib.sh", "evil", 0o644) }, "lib.sh changed" + since},
		{"a link out of the folder that leads elsewhere", func(w *workspace, s *trust.Subject) {
			w.write("/.tenterhook/other.sh", "lib", 0o644)
			w.remove("lib.sh")
			w.link("../../other.sh", "lib.sh")
		}, "lib.sh changed" + since},
		{"a file outside of the folder", func(w *workspace, s *trust.Subject) { w.write("/tools/check.sh", "evil", 0o755) }, "tools/check.sh changed" + since},
		{"a file outside of the folder is gone", func(w *workspace, s *trust.Subject) { w.remove("/tools/check.sh") }, "tools/check.sh was removed" + since},
		{"a file outside of the folder that was not there", func(w *workspace, s *trust.Subject) { w.write("/tools/late.sh", "", 0o755) }, "tools/late.sh was added" + since},
		{"a file of the workspace that nobody named", func(w *workspace, s *trust.Subject) { w.write("/main.go", "package main", 0o644) }, ""},
		{"a file that is named no more", func(w *workspace, s *trust.Subject) { s.Files = s.Files[1:] }, "tools/check.sh was removed" + since},
		{"a folder's name with hostile characters", func(w *workspace, s *trust.Subject) { w.write("a\x1b[2J\u202e.sh", "", 0o644) },
			`"a\x1b[2J\u202e.sh" was added` + since},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			holdsHere(t, test.name)
			w := newWorkspace(t)
			w.mayLink("run.sh", "alias")
			w.write("/.tenterhook/lib.sh", "lib", 0o644)
			w.mayLink("../../lib.sh", "lib.sh")
			w.write("/tools/check.sh", "check", 0o755)
			s := w.subject()
			s.Files = []string{w.path("/tools/check.sh"), w.path("/tools/late.sh")}
			store := open(t, stateDir(t))
			approve(t, store, seal(t, s))
			if v := store.Judge(seal(t, s)); !v.Approved {
				t.Fatalf("not approved at once: %+v", v)
			}
			test.change(w, &s)
			v := store.Judge(seal(t, s))
			if v.Approved != (test.why == "") || !strings.HasPrefix(v.Why, test.why) {
				t.Errorf("approved %v, %q, want %q", v.Approved, v.Why, test.why)
			}
			if v.Approved != (len(v.Changes) == 0) || v.Approved != (v.Hint == "") {
				t.Errorf("%d changes, hint %q", len(v.Changes), v.Hint)
			}
		})
	}
}

// A definition that differs in nothing that has a name is another all the same.
func TestAChangeWithoutANameEndsAnApproval(t *testing.T) {
	w, store := newWorkspace(t), trust.Memory()
	s := w.subject()
	s.Definition = []byte(`[{"type":"http"}]`)
	approve(t, store, seal(t, s))
	s.Definition = []byte(`[{"type":"http"},{}]`)
	if v := store.Judge(seal(t, s)); v.Approved || v.Why != "it changed since it was approved" {
		t.Errorf("%+v", v)
	}
}

func TestApprovalHoldsForOneWorkspaceOnly(t *testing.T) {
	built.NeedsLinks(t)
	one, two := newWorkspace(t), newWorkspace(t)
	store := open(t, stateDir(t))
	approve(t, store, one.seal())
	if v := store.Judge(two.seal()); v.Approved {
		t.Error("another checkout is approved as well")
	}
	linked := trust.Subject{ID: "project/guard", Root: filepath.Join(tempDir(t), "link"), Definition: define(t, guardHook())}
	if err := os.Symlink(one.root, linked.Root); err != nil {
		t.Skip("no links here, as on Windows:", err)
	}
	linked.Dir = filepath.Join(linked.Root, ".tenterhook", "hooks", "guard")
	linked.Path = filepath.Join(linked.Dir, "HOOK.md")
	if v := store.Judge(seal(t, linked)); !v.Approved {
		t.Errorf("the same workspace by another path: %s", v.Why)
	}
}

func TestApprovalHoldsForOneIDAndOneFileOnly(t *testing.T) {
	w := newWorkspace(t)
	store := trust.Memory()
	approve(t, store, w.seal())
	s := w.subject()
	s.ID = "local/guard"
	if store.Judge(seal(t, s)).Approved {
		t.Error("another scope is approved as well")
	}
	must(t, os.CopyFS(w.path("/.tenterhook/hooks/copy"), os.DirFS(w.dir)))
	s = w.subject()
	s.Dir = w.path("/.tenterhook/hooks/copy")
	s.Path = filepath.Join(s.Dir, "HOOK.md")
	if store.Judge(seal(t, s)).Approved {
		t.Error("a second folder that declares the same name is approved as well")
	}
	approve(t, store, seal(t, s))
	if !store.Judge(w.seal()).Approved || !store.Judge(seal(t, s)).Approved {
		t.Error("approving one of two with the same name took the approval of the other")
	}
}

func TestApprovalIsOfWhatWasShown(t *testing.T) {
	w := newWorkspace(t)
	store := trust.Memory()
	shown := w.seal()
	w.write("run.sh", "#!/bin/sh\nevil\n", 0o755)
	approve(t, store, shown)
	if v := store.Judge(w.seal()); v.Approved {
		t.Error("what was swapped in between is approved")
	}
	w.write("run.sh", "#!/bin/sh\necho old\n", 0o755)
	if v := store.Judge(w.seal()); !v.Approved {
		t.Error(v.Why)
	}
}

func TestChangesAreShownAsDiff(t *testing.T) {
	for name, store := range map[string]*trust.Store{"folder": open(t, stateDir(t)), "memory": trust.Memory()} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			w.write("gone.sh", "gone", 0o644)
			w.write("image", "\x00\x01", 0o644)
			approve(t, store, w.seal())
			w.write("run.sh", "#!/bin/sh\necho new\n", 0o644)
			w.write("image", "\x00\x02", 0o644)
			w.write("new.sh", "a\nb\n", 0o644)
			w.remove("gone.sh")
			now := w.seal()
			var got []string
			for _, c := range store.Judge(now).Changes {
				got = append(got, string(c.Kind)+" "+c.Name+"\n"+store.Diff(now, c))
			}
			want := []string{
				"removed gone.sh\n--- gone.sh\n+++ gone.sh\n@@ -1,1 +0,0 @@\n-gone\n\\ No newline at end of file\n",
				"content image\n",
				"added new.sh\n--- new.sh\n+++ new.sh\n@@ -0,0 +1,2 @@\n+a\n+b\n",
				"content run.sh\n--- run.sh\n+++ run.sh\n@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo old\n+echo new\n",
				"mode run.sh\n",
			}
			if windows { // files have no such modes
				want = want[:len(want)-1]
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A file of the folder and one outside of it can have one name.
func TestDiffIsOfTheFileThatChanged(t *testing.T) {
	w, store := newWorkspace(t), trust.Memory()
	w.write("x", "in\n", 0o644)
	w.write("/x", "out\n", 0o644)
	w.write("same", "out\n", 0o644)
	s := w.subject()
	s.Files = []string{w.path("/x")}
	approve(t, store, seal(t, s))
	for file, want := range map[string]string{"x": "-in\n+new\n", "/x": "-out\n+new\n"} {
		before, err := os.ReadFile(w.path(file))
		must(t, err)
		w.write(file, "new\n", 0o644)
		now := seal(t, s)
		changes := store.Judge(now).Changes
		if len(changes) != 1 || !strings.HasSuffix(store.Diff(now, changes[0]), "@@ -1,1 +1,1 @@\n"+want) {
			t.Errorf("%s: %v\n%s", file, changes, store.Diff(now, changes[0]))
		}
		w.write(file, string(before), 0o644)
	}
}

// A file that was handed in keeps no texts, so what a file was cannot be shown.
func TestChangesOfWhatWasHandedInAreNamedAndNotShown(t *testing.T) {
	w, own := newWorkspace(t), trust.Memory()
	approve(t, own, w.seal())
	var text bytes.Buffer
	must(t, trust.Export(&text, list(t, own)))
	file := filepath.Join(stateDir(t), "handed.json")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	must(t, os.WriteFile(file, text.Bytes(), 0o600))
	store, err := trust.OpenFile(file)
	must(t, err)
	if v := store.Judge(w.seal()); !v.Approved {
		t.Fatal(v.Why)
	}
	w.write("run.sh", "#!/bin/sh\necho new\n", 0o755)
	w.write("new.sh", "a\n", 0o644)
	now := w.seal()
	var got []string
	for _, c := range store.Judge(now).Changes {
		got = append(got, string(c.Kind)+" "+c.Name+" "+store.Diff(now, c))
	}
	w.write("new.sh", "b\n", 0o644) // which was not judged
	if d := store.Diff(now, trust.Change{Kind: trust.ChangeAdded, Name: "new.sh", New: "sha256:" + sha("a\n")}); d != "" {
		t.Errorf("what is not there any more is shown: %s", d)
	}
	if diff := cmp.Diff([]string{"added new.sh --- new.sh\n+++ new.sh\n@@ -0,0 +1,1 @@\n+a\n", "content run.sh "}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTextsOfWhatIsRevokedAreNotKept(t *testing.T) {
	w, other, dir := newWorkspace(t), newWorkspace(t), stateDir(t)
	store := open(t, dir)
	other.write("run.sh", "#!/bin/sh\necho other\n", 0o755)
	other.write("/tool.sh", "tool\n", 0o755)
	s := other.subject()
	s.Files = []string{other.path("/tool.sh")}
	approve(t, store, w.seal(), seal(t, s))
	texts := func() int {
		entries, err := os.ReadDir(filepath.Join(dir, "texts"))
		must(t, err)
		return len(entries)
	}
	if n := texts(); n != 4 { // both have the same manifest
		t.Errorf("%d texts are kept, want 4", n)
	}
	for _, step := range []struct {
		of   trust.Subject
		left int
	}{{s, 2}, {w.subject(), 0}} {
		key, err := step.of.Key()
		must(t, err)
		if n, err := store.Revoke(key); n != 1 || err != nil {
			t.Error(n, err)
		}
		if n := texts(); n != step.left {
			t.Errorf("%d texts are kept, want %d", n, step.left)
		}
	}
	if v := store.Judge(w.seal()); v.Approved {
		t.Error("approved though it was revoked")
	}
}
