package trust_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/built"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/trust"
)

const windows = runtime.GOOS == "windows"

const manifest = "+++\nevent = \"PreToolUse\"\ncommand = \"./run.sh\"\n+++\n"

// workspace is a workspace with the hook project/guard.
type workspace struct {
	t    testing.TB
	root string
	dir  string // the hook's folder
}

func newWorkspace(t testing.TB) *workspace {
	t.Helper()
	root := tempDir(t)
	w := &workspace{t, root, filepath.Join(root, ".tenterhook", "hooks", "guard")}
	w.write("HOOK.md", manifest, 0o644)
	w.write("run.sh", "#!/bin/sh\necho old\n", 0o755)
	return w
}

// path is a file's in the hook's folder, or in the workspace for one that
// begins with a slash.
func (w *workspace) path(name string) string {
	if strings.HasPrefix(name, "/") {
		return filepath.Join(w.root, filepath.FromSlash(name))
	}
	return filepath.Join(w.dir, filepath.FromSlash(name))
}

func (w *workspace) write(name, data string, mode os.FileMode) {
	w.t.Helper()
	path := w.path(name)
	must(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(w.t, os.WriteFile(path, []byte(data), mode))
	must(w.t, os.Chmod(path, mode))
}

func (w *workspace) link(target, name string) {
	w.t.Helper()
	built.NeedsLinks(w.t)
	must(w.t, os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	if err := os.Symlink(target, w.path(name)); err != nil {
		w.t.Skip("no links here, as on Windows:", err)
	}
}

// holdsHere skips a case that is about what its name says and this system lacks.
func holdsHere(t *testing.T, name string) {
	t.Helper()
	switch {
	case strings.Contains(name, "link"):
		built.NeedsLinks(t)
	case strings.Contains(name, "a mode"), strings.Contains(name, "run bit"), strings.Contains(name, "hostile characters"), strings.Contains(name, "not UTF-8"):
		built.NotOnWindows(t, "files have no such modes and names")
	}
}

// mayLink makes a link where the system makes any.
func (w *workspace) mayLink(target, name string) {
	w.t.Helper()
	must(w.t, os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	if err := os.Symlink(target, w.path(name)); err != nil && !windows {
		w.t.Fatal(err)
	}
}

func (w *workspace) remove(name string) { w.t.Helper(); must(w.t, os.Remove(w.path(name))) }

// many makes n files in a folder of their own.
func (w *workspace) many(n int) {
	w.t.Helper()
	w.write("many/0", "", 0o644)
	for i := 1; i < n; i++ { // links are made faster than files
		must(w.t, os.Link(w.path("many/0"), w.path(fmt.Sprintf("many/%d", i))))
	}
}

// guardHook is the hook that manifest declares.
func guardHook() *hook.Hook {
	return &hook.Hook{ID: "project/guard", Name: "guard", Event: hook.EventPreToolUse, Kind: hook.KindCommand,
		Scope: hook.ScopeProject, Command: &hook.Command{Line: "./run.sh"}, Timeout: 5 * time.Second}
}

func (w *workspace) subject() trust.Subject {
	w.t.Helper()
	return trust.Subject{ID: "project/guard", Root: w.root, Path: w.path("HOOK.md"), Dir: w.dir, Definition: define(w.t, guardHook())}
}

func (w *workspace) seal() *trust.Seal { w.t.Helper(); return seal(w.t, w.subject()) }

// settled is a seal that is old enough to tell whether it is intact.
func (w *workspace) settled() *trust.Seal { w.t.Helper(); return settled(w.t, w.subject()) }

func settled(t testing.TB, s trust.Subject) *trust.Seal {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		sealed := seal(t, s)
		ok, why := sealed.Intact()
		if ok {
			return sealed
		}
		if time.Now().After(end) {
			t.Fatal("never settles:", why)
		}
	}
}

func seal(t testing.TB, s trust.Subject) *trust.Seal {
	t.Helper()
	sealed, err := s.Seal()
	must(t, err)
	return sealed
}

func define(t testing.TB, hooks ...*hook.Hook) []byte {
	t.Helper()
	d, err := trust.Define(hooks...)
	must(t, err)
	return d
}

func open(t testing.TB, dir string) *trust.Store {
	t.Helper()
	s, err := trust.Open(dir)
	must(t, err)
	return s
}

func approve(t testing.TB, s *trust.Store, seals ...*trust.Seal) {
	t.Helper()
	must(t, s.Approve(seals...))
}

func list(t testing.TB, s *trust.Store) []trust.Approval {
	t.Helper()
	as, err := s.List()
	must(t, err)
	return as
}

// code is that of a problem, "" for no error.
func code(t testing.TB, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var p *trust.Problem
	if !errors.As(err, &p) {
		t.Errorf("%v is no problem with a code", err)
		return "?"
	}
	if p.Code == "" || p.Path == "" || p.Reason == "" || p.Remedy == "" {
		t.Errorf("incomplete problem %+v", p)
	}
	return p.Code
}

// tempDir is t.TempDir without links in its path.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}

// stateDir is a place for a store: owned by whoever runs the test, like all that
// leads to it.
func stateDir(t testing.TB) string { return filepath.Join(tempDir(t), "state", "tenterhook") }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
