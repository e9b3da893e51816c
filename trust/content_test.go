package trust_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/trust"
)

// said is what a digest would say of the files that are below root now.
func said(t testing.TB, root string) (files []trust.File) {
	t.Helper()
	must(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		must(t, err)
		info, err := os.Stat(path)
		must(t, err)
		name, err := filepath.Rel(root, path)
		must(t, err)
		sum := sha256.Sum256(data)
		files = append(files, trust.File{Name: filepath.ToSlash(name), Size: info.Size(), SHA256: hex.EncodeToString(sum[:]), Exec: info.Mode()&0o100 != 0})
		return nil
	}))
	return files
}

func TestContentApprovesAHookWhileEachFileIsAsItSays(t *testing.T) {
	const hooks = ".tenterhook/hooks/guard/"
	for _, test := range []struct {
		name    string
		files   []string // that the command names
		change  func(w *workspace)
		why     string // what the refusal begins with; "" = it is approved
		unbound string
	}{
		{"nothing", nil, func(*workspace) {}, "", ""},
		{"a file beside the folder", nil, func(w *workspace) { w.write("/other/x", "x", 0o644) }, "", ""},
		{"a file beside the folder that begins like it", nil, func(w *workspace) { w.write("/.tenterhook/hooks/guard-x", "x", 0o644) }, "", ""},
		{"an edit", nil, func(w *workspace) { w.write("run.sh", "#!/bin/sh\necho odl\n", 0o755) }, hooks + "run.sh changed", ""},
		{"a longer file", nil, func(w *workspace) { w.write("run.sh", "#!/bin/sh\necho older\n", 0o755) }, hooks + "run.sh changed", ""},
		{"the manifest", nil, func(w *workspace) { w.write("HOOK.md", manifest+"\n", 0o644) }, hooks + "HOOK.md changed", ""},
		{"a file added", nil, func(w *workspace) { w.write("new.sh", "", 0o644) }, hooks + "new.sh is not among its files", ""},
		{"a file added behind all others", nil, func(w *workspace) { w.write("zz", "", 0o644) }, hooks + "zz is not among its files", ""},
		{"a file added before all others", nil, func(w *workspace) { w.write("A", "", 0o644) }, hooks + "A is not among its files", ""},
		{"a file removed", nil, func(w *workspace) { w.remove("run.sh") }, hooks + "run.sh is gone", ""},
		{"the last file removed", nil, func(w *workspace) { w.remove("x") }, hooks + "x is gone", ""},
		{"the first file removed", nil, func(w *workspace) { w.remove("HOOK.md") }, hooks + "HOOK.md is gone", ""},
		{"a named file below the root", []string{"/lib.sh"}, func(*workspace) {}, "", ""},
		{"a named file that changed", []string{"/lib.sh"}, func(w *workspace) { w.write("/lib.sh", "new", 0o644) }, "lib.sh changed", ""},
		{"a named file that is gone", []string{"/lib.sh"}, func(w *workspace) { w.remove("/lib.sh") }, "lib.sh is gone", ""},
		{"a named file that never was", []string{"/late.sh"}, func(*workspace) {}, "", ""},
		{"a named file that came", []string{"/late.sh"}, func(w *workspace) { w.write("/late.sh", "", 0o644) }, "late.sh is not among its files", ""},
		{"a named file with a name of the shell's", []string{"/$x"}, func(w *workspace) { w.write("/$x", "", 0o644) }, "$x is not among its files", ""},
		{"a named file with hostile characters, as a drive's colon", []string{"/c:x.sh"}, func(w *workspace) { w.write("/c:x.sh", "", 0o644) }, "", "c:x.sh is not among its files"},
		{"a named file elsewhere", []string{"/../elsewhere.sh"}, func(*workspace) {}, "", "elsewhere.sh is not among its files"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			holdsHere(t, test.name)
			w := newWorkspace(t)
			w.root = filepath.Join(w.root, "pack")
			w.dir = filepath.Join(w.root, ".tenterhook", "hooks", "guard")
			w.write("HOOK.md", manifest, 0o644)
			w.write("run.sh", "#!/bin/sh\necho old\n", 0o755)
			w.write("x", "x", 0o644)
			w.write("/lib.sh", "lib", 0o644)
			w.write("/a", "a", 0o644)
			w.write("/zz", "z", 0o644)
			w.write("/../elsewhere.sh", "e", 0o644)
			content := trust.NewContent("the digest of the pack", "fetch it again", said(t, w.root))
			test.change(w)
			g := trust.NewContentGuard(w.subject(), content)
			v := g.Check(func() (p hook.Program) {
				for _, name := range test.files {
					p.Files = append(p.Files, w.path(name))
				}
				return p
			})
			if v.Approved != (test.why == "") || !strings.HasPrefix(v.Why, test.why) || v.Seal == nil {
				t.Fatalf("%+v, want %q", v, test.why)
			}
			if !v.Approved {
				if v.Hint != "fetch it again" || !strings.HasSuffix(v.Why, "is not what the digest of the pack says") || v.Approval != nil {
					t.Errorf("%+v", v)
				}
				return
			}
			if (v.Unbound() != "") != (test.unbound != "") || v.Approval.Unbound != (test.unbound != "") || !v.Approval.Approved.IsZero() {
				t.Errorf("unbound %q, %+v; want %q", v.Unbound(), v.Approval, test.unbound)
			}
		})
	}
}

func TestContentBindsTheRunBitWhereThereIsOne(t *testing.T) {
	w := newWorkspace(t)
	content := trust.NewContent("the digest", "fetch it", said(t, w.root))
	must(t, os.Chmod(w.path("run.sh"), 0o644))
	if v := trust.NewContentGuard(w.subject(), content).Check(nil); v.Approved != windows {
		t.Errorf("%+v", v)
	}
}

func TestContentApprovesNoHookThatIsItsRoot(t *testing.T) {
	w := newWorkspace(t)
	s := w.subject()
	s.Root = w.dir
	v := trust.NewContentGuard(s, trust.NewContent("the digest", "fetch it", said(t, w.dir))).Check(nil)
	if v.Approved || !strings.HasPrefix(v.Why, "its folder is not one of the root") {
		t.Errorf("%+v", v)
	}
}

func TestContentApprovesAnUnboundCommandAsSuch(t *testing.T) {
	w := newWorkspace(t)
	g := trust.NewContentGuard(w.subject(), trust.NewContent("the digest", "fetch it", said(t, w.root)))
	v := g.Check(func() hook.Program { return hook.Program{Unbound: "it runs what make finds"} })
	if !v.Approved || v.Unbound() != "it runs what make finds" || !v.Approval.Unbound {
		t.Errorf("%+v: %q", v, v.Unbound())
	}
}

func TestANamedFileWhoseNameIsNotUTF8IsRefused(t *testing.T) {
	holdsHere(t, "not UTF-8")
	w := newWorkspace(t)
	w.write("/\xff", "", 0o644)
	content := trust.NewContent("the digest of the pack", "fetch it again", said(t, w.root))
	v := trust.NewContentGuard(w.subject(), content).Check(func() hook.Program { return hook.Program{Files: []string{w.path("/\xff")}} })
	if v.Approved || !strings.Contains(v.Why, "not UTF-8") {
		t.Errorf("%+v", v)
	}
}
