//go:build unix

package trust_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/trust"
)

func TestF5OwnerOfScopes(t *testing.T) {
	for scope, want := range map[hook.Scope]trust.Owner{hook.ScopeManaged: trust.OwnerRoot, hook.ScopeUser: trust.OwnerUser,
		hook.ScopeProject: trust.OwnerAnyone, hook.ScopePlugin: trust.OwnerAnyone, hook.ScopeDir: trust.OwnerAnyone} {
		if got := trust.OwnerOf(scope); got != want {
			t.Errorf("%v: %v, want %v", scope, got, want)
		}
	}
}

// scope makes top/scope/hooks/guard with two files; top is its temporary folder.
func scope(t *testing.T) (top string, in func(string) string) {
	t.Helper()
	top = tempDir(t)
	must(t, os.Chmod(top, 0o755))
	in = func(path string) string { return filepath.Join(top, path) }
	must(t, os.MkdirAll(in("scope/hooks/guard/lib"), 0o755))
	must(t, os.WriteFile(in("scope/hooks/guard/HOOK.md"), nil, 0o644))
	must(t, os.WriteFile(in("scope/hooks/guard/lib/x.sh"), nil, 0o755))
	return top, in
}

func TestF5WhatOthersCouldHaveWrittenIsRefused(t *testing.T) {
	chmod := func(path string, mode os.FileMode) func(t *testing.T, in func(string) string) {
		return func(t *testing.T, in func(string) string) { must(t, os.Chmod(in(path), mode)) }
	}
	chown := func(path string) func(t *testing.T, in func(string) string) {
		return func(t *testing.T, in func(string) string) {
			if os.Lchown(in(path), 12345, -1) != nil {
				t.Skip("only root may give files away")
			}
		}
	}
	link := func(t *testing.T, target, path string) { must(t, os.Symlink(target, path)) }
	tests := []struct {
		name string
		make func(t *testing.T, in func(string) string)
		path string // the one that is blamed; "" = nothing is wrong
	}{
		{"nothing", func(t *testing.T, in func(string) string) {}, ""},
		{"scope writable by the group", chmod("scope", 0o775), "scope"},
		{"scope writable by all", chmod("scope", 0o757), "scope"},
		{"scope writable by all, sticky", chmod("scope", 0o777|os.ModeSticky), "scope"},
		{"hooks writable", chmod("scope/hooks", 0o777), "scope/hooks"},
		{"hook folder writable", chmod("scope/hooks/guard", 0o777), "scope/hooks/guard"},
		{"manifest writable", chmod("scope/hooks/guard/HOOK.md", 0o664), "scope/hooks/guard/HOOK.md"},
		{"script writable", chmod("scope/hooks/guard/lib/x.sh", 0o757), "scope/hooks/guard/lib/x.sh"},
		{"subfolder writable", chmod("scope/hooks/guard/lib", 0o777), "scope/hooks/guard/lib"},
		{"folder on the way writable", chmod(".", 0o777), "."},
		{"folder on the way writable, sticky", chmod(".", 0o777|os.ModeSticky), ""},
		{"scope of another", chown("scope"), "scope"},
		{"script of another", chown("scope/hooks/guard/lib/x.sh"), "scope/hooks/guard/lib/x.sh"},
		{"folder on the way of another", chown("."), "."},
		{"link to a file that others can write", func(t *testing.T, in func(string) string) {
			must(t, os.WriteFile(in("tool"), nil, 0o777))
			must(t, os.Chmod(in("tool"), 0o777))
			link(t, "../../../tool", in("scope/hooks/guard/tool"))
		}, "tool"},
		{"link into a folder that others can write", func(t *testing.T, in func(string) string) {
			must(t, os.MkdirAll(in("open/closed"), 0o755))
			must(t, os.WriteFile(in("open/closed/tool"), nil, 0o755))
			must(t, os.Chmod(in("open"), 0o777))
			link(t, in("open/closed/tool"), in("scope/hooks/guard/tool"))
		}, "open"},
		{"link to a folder with a file that others can write", func(t *testing.T, in func(string) string) {
			must(t, os.MkdirAll(in("other"), 0o755))
			must(t, os.WriteFile(in("other/x"), nil, 0o644))
			must(t, os.Chmod(in("other/x"), 0o666))
			link(t, "../../../other", in("scope/hooks/guard/other"))
		}, "other/x"},
		{"link of another", func(t *testing.T, in func(string) string) {
			link(t, "HOOK.md", in("scope/hooks/guard/l"))
			chown("scope/hooks/guard/l")(t, in)
		}, "scope/hooks/guard/l"},
		{"links in a loop", func(t *testing.T, in func(string) string) {
			link(t, "b", in("scope/hooks/guard/a"))
			link(t, "a", in("scope/hooks/guard/b"))
		}, "scope/hooks/guard/"},
		{"link to the folder itself", func(t *testing.T, in func(string) string) { link(t, ".", in("scope/hooks/guard/self")) }, ""},
		{"link to nowhere", func(t *testing.T, in func(string) string) { link(t, "nowhere", in("scope/hooks/guard/x")) }, ""},
		{"folder that is a link to a safe one", func(t *testing.T, in func(string) string) {
			must(t, os.Rename(in("scope/hooks/guard"), in("real")))
			link(t, "../../real", in("scope/hooks/guard"))
		}, ""},
		{"folder that is a link to an unsafe one", func(t *testing.T, in func(string) string) {
			must(t, os.Rename(in("scope/hooks/guard"), in("real")))
			must(t, os.Chmod(in("real/HOOK.md"), 0o666))
			link(t, "../../real", in("scope/hooks/guard"))
		}, "real/HOOK.md"},
		{"folder that is not there", func(t *testing.T, in func(string) string) { must(t, os.RemoveAll(in("scope/hooks"))) }, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, in := scope(t)
			test.make(t, in)
			var owners trust.Owners
			err := owners.Check(trust.OwnerUser, in("scope"), in("scope/hooks"))
			if err == nil {
				err = owners.CheckTree(trust.OwnerUser, in("scope/hooks/guard"))
			}
			var p *trust.Problem
			switch {
			case test.path == "":
				if err != nil {
					t.Error(err)
				}
			case code(t, err) != trust.CodeNotOwned || !errors.As(err, &p) || !strings.HasPrefix(p.Path, in(test.path)):
				t.Errorf("%v, want one about %s", err, test.path)
			case strings.HasPrefix(test.name, "folder on the way writable") && !strings.HasPrefix(p.Reason, "lets others replace what is in it (mode 0777)"),
				test.name == "script writable" && !strings.HasPrefix(p.Reason, "can be written by others (mode 0757)"):
				t.Errorf("it says %s", p.Reason)
			}
			if err := new(trust.Owners).CheckTree(trust.OwnerAnyone, in("scope")); err != nil {
				t.Errorf("anyone's: %v", err)
			}
		})
	}
}

func TestOwnersNameFilesAsTheyWereAsked(t *testing.T) {
	_, in := scope(t)
	must(t, os.Symlink("scope", in("link")))
	must(t, os.Chmod(in("scope/hooks/guard/lib/x.sh"), 0o777))
	err := new(trust.Owners).CheckTree(trust.OwnerUser, in("link/hooks/guard"))
	if want := in("link/hooks/guard/lib/x.sh") + " can be written by others (mode 0777)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestF5ManagedIsRoots(t *testing.T) {
	_, in := scope(t)
	err := trust.Owned(trust.OwnerRoot, in("scope"))
	if os.Getuid() != 0 {
		if code(t, err) != trust.CodeNotOwned {
			t.Errorf("a managed folder of another than root: %v", err)
		}
		return
	}
	if err != nil {
		t.Error(err)
	}
	must(t, os.Chown(in("scope"), 12345, -1))
	if code(t, trust.Owned(trust.OwnerRoot, in("scope"))) != trust.CodeNotOwned {
		t.Error("a managed folder of another than root is taken")
	}
}

func TestF5StoreOfAnotherIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"file writable":   func(dir string) error { return os.Chmod(approvalsFile(dir), 0o666) },
		"folder writable": func(dir string) error { return os.Chmod(dir, 0o777) },
		"folder on the way writable": func(dir string) error {
			return os.Chmod(filepath.Dir(dir), 0o777)
		},
		"file of another":   func(dir string) error { return os.Chown(approvalsFile(dir), 12345, -1) },
		"folder of another": func(dir string) error { return os.Chown(dir, 12345, -1) },
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := newWorkspace(t), stateDir(t)
			long := open(t, dir)
			approve(t, long, w.seal())
			if err := spoil(dir); errors.Is(err, fs.ErrPermission) {
				t.Skip("only root may give files away")
			} else {
				must(t, err)
			}
			store, err := trust.Open(dir)
			if code(t, err) != trust.CodeNotOwned || store.Judge(w.seal()).Approved || code(t, store.Approve(w.seal())) != trust.CodeNotOwned {
				t.Errorf("it is taken: %v", err)
			}
			handed, err := trust.OpenFile(approvalsFile(dir))
			if code(t, err) != trust.CodeNotOwned || handed.Judge(w.seal()).Approved {
				t.Errorf("it is taken where it was handed in: %v", err)
			}
		})
	}
}

// Root with the environment of another user must leave nothing that this user could not use.
func TestARefusedStoreMakesNoFolder(t *testing.T) {
	w, shared := newWorkspace(t), t.TempDir()
	must(t, os.Chmod(shared, 0o777))
	store, err := trust.Open(filepath.Join(shared, "state"))
	if code(t, err) != trust.CodeNotOwned || code(t, store.Approve(w.seal())) != trust.CodeNotOwned {
		t.Errorf("it is taken: %v", err)
	}
	if left, err := os.ReadDir(shared); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// On the way to a file that was handed in such a folder will do, but the store's
// own is no other user's to write.
func TestF5StoreInAFolderForAllIsRefused(t *testing.T) {
	w, dir := newWorkspace(t), stateDir(t)
	approve(t, open(t, dir), w.seal())
	must(t, os.Chmod(dir, 0o777|os.ModeSticky))
	if store, err := trust.Open(dir); code(t, err) != trust.CodeNotOwned || store.Judge(w.seal()).Approved {
		t.Errorf("it is taken: %v", err)
	}
	if handed, err := trust.OpenFile(approvalsFile(dir)); err != nil || !handed.Judge(w.seal()).Approved {
		t.Errorf("what was handed in is refused: %v", err)
	}
}

func TestF5StoreWhoseFolderWasMendedIsReliedOnAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	w, dir := newWorkspace(t), stateDir(t)
	approve(t, open(t, dir), w.seal())
	must(t, os.Chmod(dir, 0o777))
	store, err := trust.Open(dir)
	if code(t, err) != trust.CodeNotOwned {
		t.Fatal(err)
	}
	must(t, os.Chmod(dir, 0o700)) // which the approvals file itself does not show
	sealed := w.seal()
	for end := time.Now().Add(20 * time.Second); !store.Judge(sealed).Approved; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(store.Judge(sealed).Why)
		}
	}
}

func TestOwnersMayBeAskedByMany(t *testing.T) {
	_, in := scope(t)
	var owners trust.Owners
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if err := owners.CheckTree(trust.OwnerUser, in("scope/hooks/guard")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkOwners judges a thousand hook folders of two files;
// BenchmarkOwnersFloor lists them and looks at the files.
func BenchmarkOwners(b *testing.B) {
	dirs := hookFolders(b, 1000)
	for b.Loop() {
		var owners trust.Owners
		for _, dir := range dirs {
			if err := owners.CheckTree(trust.OwnerUser, dir); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkOwnersFloor(b *testing.B) {
	dirs := hookFolders(b, 1000)
	for b.Loop() {
		for _, dir := range dirs {
			entries, err := os.ReadDir(dir)
			must(b, err)
			for _, e := range entries {
				if _, err := e.Info(); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}

func hookFolders(b *testing.B, n int) []string {
	top := tempDir(b)
	dirs := make([]string, n)
	for i := range dirs {
		dirs[i] = filepath.Join(top, fmt.Sprint("hook", i))
		must(b, os.Mkdir(dirs[i], 0o755))
		for _, name := range []string{"HOOK.md", "run.sh"} {
			must(b, os.WriteFile(filepath.Join(dirs[i], name), nil, 0o644))
		}
	}
	return dirs
}

func TestLinksAreFollowedAsFarAsTheKernelDoes(t *testing.T) {
	_, in := scope(t)
	must(t, os.WriteFile(in("scope/0"), nil, 0o644))
	for i := range 41 {
		must(t, os.Symlink(fmt.Sprint(i), in(fmt.Sprintf("scope/%d", i+1))))
	}
	if err := trust.Owned(trust.OwnerUser, in("scope/40")); err != nil {
		t.Errorf("40 links: %v", err)
	}
	if err := trust.Owned(trust.OwnerUser, in("scope/41")); code(t, err) != trust.CodeNotOwned {
		t.Errorf("41 links: %v", err)
	}
}
