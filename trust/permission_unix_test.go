//go:build unix

package trust_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/testdata/asowner"
	"github.com/tenterhook/tenterhook/trust"
)

func closed(t *testing.T, path string) {
	t.Helper()
	must(t, os.Chmod(path, 0))
	t.Cleanup(func() { _ = os.Chmod(path, 0o755) })
}

// What may not be read is neither left out nor taken for something missing.
func TestWhatMayNotBeReadIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		closed string
		path   string // the one that is blamed
	}{
		"a file of the folder":             {"run.sh", "run.sh"},
		"a folder of the folder":           {"lib", "lib"},
		"the folder":                       {".", "."},
		"the way to the folder":            {"/.tenterhook", "."},
		"a file out of the folder":         {"/.config/lib.sh", "alias"},
		"the way to it":                    {"/.config", "alias"},
		"a named file":                     {"/check.sh", "/check.sh"},
		"the way to a named file":          {"/tools", "/tools/check.sh"},
		"the way to one that is not there": {"/late", "/late/check.sh"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			for _, file := range []string{"lib/x.sh", "/.config/lib.sh", "/check.sh", "/tools/check.sh", "/late/other.sh"} {
				w.write(file, "x", 0o755)
			}
			w.link("../../../.config/lib.sh", "alias")
			s := w.subject()
			s.Files = []string{w.path("/check.sh"), w.path("/tools/check.sh"), w.path("/late/check.sh")}
			store := trust.Memory()
			approve(t, store, seal(t, s))
			guard := trust.NewGuard(s, store)
			asowner.Do(t, func() {
				if v := guard.Check(nil); !v.Approved {
					t.Fatal(v.Why)
				}
			})
			closed(t, w.path(test.closed))
			asowner.Do(t, func() {
				_, err := s.Seal()
				c := code(t, err)
				if c != trust.CodeUnreadable && c != trust.CodeEscapes || !strings.HasPrefix(err.Error(), w.path(test.path)) {
					t.Errorf("code %s: %v, want one about %s", c, err, w.path(test.path))
				}
				if c == trust.CodeUnreadable && !strings.Contains(err.Error(), "permission denied") {
					t.Errorf("it does not say why: %v", err)
				}
				if v := guard.Check(nil); v.Approved || v.Hint == "" || !strings.HasPrefix(v.Why, w.path(test.path)) {
					t.Errorf("the guard: %+v", v)
				}
			})
		})
	}
}

func TestIntactSaysWhatCannotBeExamined(t *testing.T) {
	w := newWorkspace(t)
	w.write("lib/x.sh", "x", 0o755)
	sealed := w.settled()
	closed(t, w.path("lib"))
	asowner.Do(t, func() {
		// The folder's mode moved; of what is in it nothing can be said.
		if ok, why := sealed.Intact(); ok || why != "lib moved" {
			t.Errorf("%v %q", ok, why)
		}
	})
	closed(t, w.path("/.tenterhook"))
	asowner.Do(t, func() {
		if ok, why := sealed.Intact(); ok || !strings.Contains(why, "cannot be examined: ") {
			t.Errorf("%v %q", ok, why)
		}
	})
}

func TestWorkspaceThatMayNotBeReadHasNoKey(t *testing.T) {
	w := newWorkspace(t)
	s := w.subject()
	closed(t, filepath.Dir(w.root))
	asowner.Do(t, func() {
		if _, err := s.Key(); code(t, err) != trust.CodeUnreadable {
			t.Error(err)
		}
		if v := trust.NewGuard(s, trust.Memory()).Check(nil); v.Approved || !strings.Contains(v.Why, "permission denied") {
			t.Errorf("%+v", v)
		}
	})
}

func TestStoreThatMayNotBeReadOrWrittenKeepsWhatItHas(t *testing.T) {
	for name, test := range map[string]struct {
		path string
		mode os.FileMode
		read bool // it can still be read
	}{
		"the file":       {"approvals.json", 0, false},
		"the folder":     {".", 0, false},
		"the way to it":  {"..", 0, false},
		"to write there": {".", 0o500, true},
		"the lock":       {"approvals.lock", 0, true},
		"the texts":      {"texts", 0o500, true},
	} {
		t.Run(name, func(t *testing.T) {
			w, other, dir := newWorkspace(t), newWorkspace(t), stateDir(t)
			other.write("run.sh", "#!/bin/sh\necho another text\n", 0o755)
			approve(t, open(t, dir), w.seal())
			sealed, more := w.seal(), other.seal()
			approval := sealed.Approval()
			key := approval.Key()
			path := filepath.Join(dir, test.path)
			must(t, os.Chmod(path, test.mode))
			t.Cleanup(func() { _ = os.Chmod(path, 0o755) })
			asowner.Do(t, func() {
				store, err := trust.Open(dir)
				if (err == nil) != test.read {
					t.Errorf("open: %v", err)
				}
				if v := store.Judge(sealed); v.Approved != test.read {
					t.Errorf("judge: %+v", v)
				}
				if c := code(t, store.Approve(more)); c != trust.CodeUnreadable && c != trust.CodeNotOwned {
					t.Errorf("approve: code %q", c)
				}
				if test.path == "texts" {
					return // to revoke keeps none
				}
				if _, err := store.Revoke(key); err == nil {
					t.Error("revoked")
				}
			})
			must(t, os.Chmod(path, 0o755))
			store := open(t, dir)
			if !store.Judge(sealed).Approved || store.Judge(more).Approved {
				t.Error("a failed write changed what is approved")
			}
		})
	}
}

func TestSnapshotOfWhatMayNotBeReadOrWrittenIsNotMade(t *testing.T) {
	for name, spoil := range map[string]func(w *workspace, dir string) error{
		"the script":        func(w *workspace, dir string) error { return os.Chmod(w.path("run.sh"), 0) },
		"a folder":          func(w *workspace, dir string) error { return os.Chmod(w.path("lib"), 0) },
		"the hook's folder": func(w *workspace, dir string) error { return os.Chmod(w.dir, 0) },
		"the place, and its lock is there": func(w *workspace, dir string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "snapshots.lock"), nil, 0o600), os.Chmod(dir, 0o500))
		},
		"the place": func(w *workspace, dir string) error { return os.Chmod(dir, 0o500) },
		"the lock": func(w *workspace, dir string) error {
			return os.WriteFile(filepath.Join(dir, "snapshots.lock"), nil, 0)
		},
		"the way to the place": func(w *workspace, dir string) error { return os.Chmod(filepath.Dir(dir), 0) },
		"a place in another one": func(w *workspace, dir string) error {
			return errors.Join(os.Remove(dir), os.Chmod(filepath.Dir(dir), 0o500))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			w.write("lib/x.sh", "x", 0o755)
			sealed := w.seal()
			_, dir := snapshots(t)
			must(t, os.MkdirAll(dir, 0o755))
			must(t, spoil(w, dir))
			t.Cleanup(func() {
				for _, path := range []string{filepath.Dir(dir), dir, w.dir, w.path("lib")} {
					_ = os.Chmod(path, 0o755)
				}
			})
			asowner.Do(t, func() {
				got, err := trust.NewSnapshots(dir).Dir(sealed)
				if c := code(t, err); c != trust.CodeUnreadable && c != trust.CodeNotOwned || !strings.Contains(err.Error(), "permission denied") {
					t.Errorf("made %s: %v", got, err)
				}
			})
			must(t, os.Chmod(filepath.Dir(dir), 0o755))
			if entries, _ := os.ReadDir(dir); len(entries) > 1 { // the lock
				t.Errorf("left behind: %v", entries)
			}
		})
	}
}

func TestOwnerOfWhatMayNotBeReadIsUnknown(t *testing.T) {
	_, in := scope(t)
	closed(t, in("scope/hooks"))
	asowner.Do(t, func() {
		if err := trust.Owned(trust.OwnerUser, in("scope/hooks/guard/HOOK.md")); code(t, err) != trust.CodeNotOwned || !strings.Contains(err.Error(), "cannot be examined") {
			t.Errorf("the way to a file: %v", err)
		}
		if err := new(trust.Owners).CheckTree(trust.OwnerUser, in("scope")); code(t, err) != trust.CodeUnreadable {
			t.Errorf("a folder: %v", err)
		}
	})
}

func TestNamedFilesThatMayNotBeReadEndAnApproval(t *testing.T) {
	w, store := newWorkspace(t), trust.Memory()
	w.write("/check.sh", "x", 0o755)
	s := w.subject()
	program := func() hook.Program { return hook.Program{Files: []string{w.path("/check.sh")}} }
	approve(t, store, seal(t, s.With(program())))
	guard := trust.NewGuard(s, store)
	closed(t, w.path("/check.sh"))
	asowner.Do(t, func() {
		if v := guard.Check(program); v.Approved || !strings.Contains(v.Why, "check.sh cannot be read: permission denied") || v.Hint == "" {
			t.Errorf("%+v", v)
		}
	})
}
