package trust_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/trust"
)

// only is the subject of one file of the hook's folder, as a plugin's is.
func only(w *workspace) trust.Subject {
	s := w.subject()
	s.Only, s.Definition = "plugin", []byte("[]")
	return s
}

func TestOneFileOfAFolderIsBoundAlone(t *testing.T) {
	w, store := newWorkspace(t), trust.Memory()
	w.write("plugin", "program", 0o755)
	sealed := settled(t, only(w))
	if diff := cmp.Diff([]trust.File{{Name: "plugin", Size: 7, SHA256: sha("program"), Exec: !windows}}, sealed.Folder()); diff != "" {
		t.Error(diff)
	}
	approve(t, store, sealed)
	w.write("sub/x", "", 0o644)
	w.write("run.sh", "another", 0o755)
	if ok, why := sealed.Intact(); !ok {
		t.Errorf("what is beside it counts: %s", why)
	}
	if v := store.Judge(seal(t, only(w))); !v.Approved {
		t.Error(v.Why)
	}
	snapshots, _ := snapshots(t)
	dir, err := snapshots.Dir(sealed)
	must(t, err)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != "plugin" {
		t.Errorf("copied: %v, %v", entries, err)
	}
	w.write("plugin", "Program", 0o755)
	if v := store.Judge(seal(t, only(w))); v.Approved || !strings.HasPrefix(v.Why, "plugin changed") {
		t.Errorf("%+v", v)
	}
}

func TestOneFileThatComesIsNoticed(t *testing.T) {
	w := newWorkspace(t)
	sealed := settled(t, only(w))
	if n := len(sealed.Folder()); n != 0 {
		t.Errorf("%d files of none", n)
	}
	w.write("plugin", "program", 0o755)
	if ok, why := sealed.Intact(); ok || why != "plugin came into being" {
		t.Errorf("%v %q", ok, why)
	}
}

func TestOneFileIsARegularOneOfBoundedSize(t *testing.T) {
	if trust.MaxProgram != 1<<30 {
		t.Errorf("%d bytes", trust.MaxProgram)
	}
	for name, test := range map[string]struct {
		make   func(w *workspace)
		code   string
		reason string
	}{
		"larger than a folder may be": {func(w *workspace) {
			w.write("plugin", "", 0o755)
			must(w.t, os.Truncate(w.path("plugin"), trust.MaxBytes+1))
		}, "", ""},
		"too large": {func(w *workspace) {
			w.write("plugin", "", 0o755)
			must(w.t, os.Truncate(w.path("plugin"), trust.MaxProgram+1))
		}, trust.CodeTooLarge, "is more than the 1024 MiB that can be approved, including the files beside it"},
		"a link":   {func(w *workspace) { w.link("run.sh", "plugin") }, trust.CodeNotAFile, "is a link, which cannot be approved"},
		"a folder": {func(w *workspace) { w.write("plugin/x", "", 0o644) }, trust.CodeNotAFile, "is a folder, which cannot be approved"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(name, "large") {
				built.NotOnWindows(t, "files are not sparse")
			}
			w := newWorkspace(t)
			test.make(w)
			_, err := only(w).Seal()
			if code(t, err) != test.code || err != nil && err.Error() != w.path("plugin")+" "+test.reason {
				t.Errorf("%v", err)
			}
		})
	}
}
