package trust_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/trust"
)

func TestF3IntactTellsWhateverMoves(t *testing.T) {
	tests := []struct {
		name   string
		change func(w *workspace)
		intact bool
	}{
		{"nothing", func(w *workspace) {}, true},
		{"a read", func(w *workspace) { _, _ = os.ReadFile(w.path("run.sh")) }, true},
		{"a file beside the folder", func(w *workspace) { w.write("/.tenterhook/x", "", 0o644) }, true},
		{"an edit of the same length, with the old times set back", func(w *workspace) {
			info, err := os.Stat(w.path("run.sh"))
			must(w.t, err)
			w.write("run.sh", "#!/bin/sh\necho odl\n", 0o755)
			must(w.t, os.Chtimes(w.path("run.sh"), info.ModTime(), info.ModTime()))
		}, false},
		{"a file put in the place of another, with its times", func(w *workspace) {
			info, err := os.Stat(w.path("run.sh"))
			must(w.t, err)
			w.write("/new.sh", "#!/bin/sh\necho odl\n", 0o755)
			must(w.t, os.Chtimes(w.path("/new.sh"), info.ModTime(), info.ModTime()))
			must(w.t, os.Rename(w.path("/new.sh"), w.path("run.sh")))
		}, false},
		{"a mode", func(w *workspace) { must(w.t, os.Chmod(w.path("run.sh"), 0o711)) }, false},
		{"a file in a subfolder", func(w *workspace) { w.write("lib/x.sh", "new", 0o644) }, false},
		{"a file added", func(w *workspace) { w.write("lib/new.sh", "", 0o644) }, false},
		{"a file removed", func(w *workspace) { w.remove("lib/x.sh") }, false},
		{"a link", func(w *workspace) { w.remove("alias"); w.link("HOOK.md", "alias") }, false},
		{"a link, and back", func(w *workspace) { w.remove("alias"); w.link("run.sh", "alias") }, false},
		{"a file that a link leads to", func(w *workspace) { w.write("/.tenterhook/lib.sh", "new", 0o644) }, false},
		{"a named file", func(w *workspace) { w.write("/check.sh", "new", 0o644) }, false},
		{"a named file that was not there", func(w *workspace) { w.write("/late.sh", "", 0o644) }, false},
		{"the folder, for a copy", func(w *workspace) {
			must(w.t, os.Rename(w.dir, w.dir+".old"))
			must(w.t, os.CopyFS(w.dir, os.DirFS(w.dir+".old")))
		}, false},
		{"the folder, for a link to itself", func(w *workspace) {
			must(w.t, os.Rename(w.dir, w.dir+".old"))
			w.link("guard.old", "/.tenterhook/hooks/guard")
		}, false},
		{"a folder on the way, for a copy", func(w *workspace) {
			must(w.t, os.Rename(w.path("/.tenterhook"), w.path("/old")))
			must(w.t, os.CopyFS(w.path("/.tenterhook"), os.DirFS(w.path("/old"))))
		}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			w.write("lib/x.sh", "old", 0o644)
			w.write("/.tenterhook/lib.sh", "lib", 0o644)
			w.write("/check.sh", "check", 0o644)
			holdsHere(t, test.name)
			w.mayLink("run.sh", "alias")
			w.mayLink("../../lib.sh", "lib.sh")
			s := w.subject()
			s.Files = []string{w.path("/check.sh"), w.path("/late.sh")}
			sealed := settled(t, s)
			test.change(w)
			intact, why := sealed.Intact()
			if intact != test.intact || intact != (why == "") {
				t.Errorf("intact %v (%s), want %v", intact, why, test.intact)
			}
		})
	}
}

func TestIntactNamesWhatMoved(t *testing.T) {
	for want, change := range map[string]func(w *workspace){
		"run.sh moved":            func(w *workspace) { w.write("run.sh", "new", 0o755) },
		"lib/x.sh moved":          func(w *workspace) { w.write("lib/x.sh", "new", 0o755) },
		"lib moved":               func(w *workspace) { w.write("lib/new.sh", "new", 0o755) },
		". moved":                 func(w *workspace) { w.write("new.sh", "new", 0o755) },
		"out.sh moved":            func(w *workspace) { w.write("/.tenterhook/out.sh", "new", 0o755) },
		"check.sh moved":          func(w *workspace) { w.write("/check.sh", "new", 0o755) },
		"check.sh is gone":        func(w *workspace) { w.remove("/check.sh") },
		"late.sh came into being": func(w *workspace) { w.write("/late.sh", "new", 0o755) },
		"\"a\\x1b\" moved":        func(w *workspace) { w.write("a\x1b", "new", 0o755) },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			switch want {
			case "\"a\\x1b\" moved":
				built.NotOnWindows(t, "no name has such a character")
			case "out.sh moved":
				built.NeedsLinks(t)
			}
			w := newWorkspace(t)
			w.write("lib/x.sh", "old", 0o644)
			if !windows {
				w.write("a\x1b", "old", 0o644)
			}
			w.write("/.tenterhook/out.sh", "old", 0o644)
			w.write("/check.sh", "old", 0o644)
			w.mayLink("../../out.sh", "out.sh")
			s := w.subject()
			s.Files = []string{w.path("/check.sh"), w.path("/late.sh")}
			sealed := settled(t, s)
			change(w)
			if ok, why := sealed.Intact(); ok || why != want {
				t.Errorf("%v %q", ok, why)
			}
		})
	}
}

// Two writes within one tick of the clock leave the same times, so a seal that
// was made between them must not be relied on.
func TestF3SealOfAFileThatJustChangedDoesNotHold(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	w := newWorkspace(t)
	at := time.Now()
	for i := range 200 {
		w.write("run.sh", fmt.Sprintf("%04d", i), 0o755)
		sealed := w.seal()
		if ok, _ := sealed.Intact(); ok && time.Since(at) < 50*time.Millisecond {
			t.Fatal("relied on, though the clock may not have ticked")
		}
		at = time.Now()
		w.write("run.sh", fmt.Sprintf("%04d", i+1), 0o755)
		if ok, _ := sealed.Intact(); ok {
			t.Fatal("a change right after the seal was not noticed")
		}
	}
}

func TestWhatCannotBeBoundIsRefused(t *testing.T) {
	tests := []struct {
		name string
		make func(w *workspace, s *trust.Subject)
		code string
	}{
		{"link out of the workspace", func(w *workspace, s *trust.Subject) { w.link("../../../../outside", "x") }, trust.CodeEscapes},
		{"link to an absolute path outside", func(w *workspace, s *trust.Subject) { w.link("/etc/passwd", "x") }, trust.CodeEscapes},
		{"link to a device", func(w *workspace, s *trust.Subject) { w.link("/dev/zero", "x") }, trust.CodeEscapes},
		{"link to a link out", func(w *workspace, s *trust.Subject) { w.link("y", "x"); w.link("/etc/passwd", "y") }, trust.CodeEscapes},
		{"link to a folder of the workspace", func(w *workspace, s *trust.Subject) { w.link("../..", "x") }, trust.CodeEscapes},
		{"link out to nowhere", func(w *workspace, s *trust.Subject) { w.link("../../nowhere", "x") }, trust.CodeEscapes},
		{"loop of links", func(w *workspace, s *trust.Subject) { w.link("y", "x"); w.link("x", "y") }, trust.CodeEscapes},
		{"too many files", func(w *workspace, s *trust.Subject) {
			w.many(trust.MaxFiles)
		}, trust.CodeTooLarge},
		{"too many bytes in one file", func(w *workspace, s *trust.Subject) {
			w.write("big", "", 0o644)
			must(w.t, os.Truncate(w.path("big"), trust.MaxBytes+1))
		}, trust.CodeTooLarge},
		{"too many bytes in two files", func(w *workspace, s *trust.Subject) {
			for _, name := range []string{"big", "/big"} {
				w.write(name, "", 0o644)
				must(w.t, os.Truncate(w.path(name), trust.MaxBytes/2+1))
			}
			s.Files = []string{w.path("/big")}
		}, trust.CodeTooLarge},
		{"too deep", func(w *workspace, s *trust.Subject) { w.write(strings.Repeat("d/", 40)+"x", "", 0o644) }, trust.CodeTooLarge},
		{"no folder", func(w *workspace, s *trust.Subject) { s.Dir = w.path("nowhere") }, trust.CodeUnreadable},
		{"a file for a folder", func(w *workspace, s *trust.Subject) { s.Dir = w.path("run.sh") }, trust.CodeUnreadable},
		{"no workspace", func(w *workspace, s *trust.Subject) { s.Root = w.path("/nowhere") }, trust.CodeUnreadable},
		{"no ID", func(w *workspace, s *trust.Subject) { s.ID = "" }, trust.CodeDefinition},
		{"an ID that is not UTF-8", func(w *workspace, s *trust.Subject) { s.ID = "project/\xff" }, trust.CodeDefinition},
		{"a path that is not UTF-8", func(w *workspace, s *trust.Subject) { s.Path = w.path("/\xff") }, trust.CodeDefinition},
		{"a definition that is no JSON", func(w *workspace, s *trust.Subject) { s.Definition = []byte("[") }, trust.CodeDefinition},
		{"no definition", func(w *workspace, s *trust.Subject) { s.Definition = nil }, trust.CodeDefinition},
		{"a root that is not UTF-8", func(w *workspace, s *trust.Subject) {
			moved := w.root + "\xff"
			must(w.t, os.Rename(w.root, moved))
			s.Root, s.Dir, s.Path = moved, strings.Replace(s.Dir, w.root, moved, 1), strings.Replace(s.Path, w.root, moved, 1)
		}, trust.CodeDefinition},
		{"a root that is not UTF-8, of a hook with another path", func(w *workspace, s *trust.Subject) {
			moved := w.root + "\xff"
			must(w.t, os.Rename(w.root, moved))
			s.Path = w.path("/hooks.toml")
			s.Root, s.Dir = moved, strings.Replace(s.Dir, w.root, moved, 1)
		}, trust.CodeDefinition},
		{"a name that is not UTF-8", func(w *workspace, s *trust.Subject) { w.write("\xff", "", 0o644) }, trust.CodeDefinition},
		{"a named folder", func(w *workspace, s *trust.Subject) { s.Files = []string{w.root} }, trust.CodeNotAFile},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			holdsHere(t, test.name)
			w := newWorkspace(t)
			s := w.subject()
			test.make(w, &s)
			_, err := s.Seal()
			if got := code(t, err); got != test.code {
				t.Errorf("code %q, want %q: %v", got, test.code, err)
			}
		})
	}
}

func TestWhatJustFitsIsTaken(t *testing.T) {
	w := newWorkspace(t)
	w.many(trust.MaxFiles - 4) // the manifest, the script, the folder and one to fill it up
	w.write("big", "", 0o644)
	used := int64(len(manifest) + len("#!/bin/sh\necho old\n"))
	must(t, os.Truncate(w.path("big"), trust.MaxBytes-used))
	if n := len(w.seal().Approval().Folder); n != trust.MaxFiles-1 {
		t.Errorf("%d files", n)
	}
}

func TestF2LinksThatAreTaken(t *testing.T) {
	w := newWorkspace(t)
	w.write("lib/x.sh", "x", 0o644)
	w.write("/.tenterhook/sibling.sh", "sibling", 0o755)
	w.link("lib", "folder")
	w.link("run.sh", "file")
	w.link("gone", "nowhere")
	w.link(".", "self")
	w.link("../../sibling.sh", "sibling")
	w.link(w.path("run.sh"), "absolute")
	w.link("../guard/run.sh", "roundabout")
	got := make(map[string]string)
	for _, f := range w.seal().Approval().Folder {
		if f.Link != "" {
			got[f.Name] = fmt.Sprintf("%s %v %v", strings.ReplaceAll(f.Link, w.dir, "$"), f.SHA256 != "", f.Exec)
		}
	}
	want := map[string]string{"folder": "lib false false", "file": "run.sh false false", "nowhere": "gone false false", "self": ". false false",
		"sibling": "../../sibling.sh true true", "absolute": "$/run.sh true true", "roundabout": "../guard/run.sh true true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFolderThatIsALinkIsSealedAsWhatItLeadsTo(t *testing.T) {
	w := newWorkspace(t)
	w.link("guard", "/.tenterhook/hooks/linked")
	s := w.subject()
	s.Dir = w.path("/.tenterhook/hooks/linked")
	sealed := settled(t, s)
	if diff := cmp.Diff(w.seal().Approval().Folder, sealed.Approval().Folder); diff != "" {
		t.Error(diff)
	}
	w.write("/.tenterhook/hooks/other/run.sh", "evil", 0o755)
	must(t, os.Remove(s.Dir))
	w.link("other", "/.tenterhook/hooks/linked")
	if ok, _ := sealed.Intact(); ok {
		t.Error("another folder behind the link was not noticed")
	}
}

// Whatever is swapped while it is read: a seal never mixes what was there at
// different times under one name.
func TestF3SealOfWhatChangesMeanwhile(t *testing.T) {
	w := newWorkspace(t)
	w.write("/a.sh", "aaaa", 0o644)
	w.write("/b.sh", "bbbb", 0o755)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			from := w.path([]string{"/a.sh", "/b.sh"}[i%2])
			_ = os.Link(from, w.path("/next"))
			_ = os.Rename(w.path("/next"), w.path("run.sh"))
			_ = os.Remove(w.path("/next"))
		}
	}()
	deadline := time.Now().Add(2 * time.Second)
	for n := 0; n < 300 && time.Now().Before(deadline); n++ {
		sealed, err := w.subject().Seal()
		if err != nil {
			if c := code(t, err); c != trust.CodeChanging && c != trust.CodeUnreadable {
				t.Errorf("code %s: %v", c, err)
			}
			continue
		}
		for _, f := range sealed.Approval().Folder {
			if f.Name == "run.sh" && f.Size == 4 && !windows && f.Exec != strings.HasPrefix(f.SHA256, sha("bbbb")) {
				t.Errorf("the mode of one file and the bytes of another: %+v", f)
			}
		}
	}
	close(stop)
	<-done
}

// A file is written page after page while it is read. What is sealed must be what
// the file held at one moment: the pages up to some write, and none after it.
func TestSealIsNeverOfHalfAWrite(t *testing.T) {
	if testing.Short() {
		t.Skip("long: writes for 5 s")
	}
	const page, pages = 4 << 10, 6 << 10 // 24 MiB take longer to read than a clock takes to tick
	w := newWorkspace(t)
	held := make([]byte, page*pages)
	w.write("run.sh", string(held), 0o755)
	f, err := os.OpenFile(w.path("run.sh"), os.O_WRONLY, 0)
	must(t, err)
	defer f.Close()
	place := func(k int) int { return k * 2477 % pages * page } // back and forth, each page once
	content := bytes.Repeat([]byte{1}, page)
	began := time.Now()
	seal(t, w.subject())
	took := time.Since(began)
	var written atomic.Int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for k := 0; k < pages; k++ {
			pause := took / 5 // several writes within one reading
			if k%4 == 0 {
				pause = 2 * took // and readings that none falls into
			}
			select {
			case <-stop:
				return
			case <-time.After(pause):
			}
			_, _ = f.WriteAt(content, int64(place(k)))
			written.Add(1)
		}
	}()
	known := 0 // writes that held shows
	sealed := 0
	for range 12 {
		first := int(written.Load())
		seal, err := w.subject().Seal()
		last := int(written.Load()) + 1 // one may be under way
		if err != nil {
			if code(t, err) != trust.CodeChanging {
				t.Error(err)
			}
			continue
		}
		sealed++
		at := slices.IndexFunc(seal.Approval().Folder, func(f trust.File) bool { return f.Name == "run.sh" })
		whole := false
		for k := first; k <= last && !whole; k++ {
			for ; known < k; known++ {
				copy(held[place(known):], content)
			}
			whole = sha(string(held)) == seal.Approval().Folder[at].SHA256
		}
		if !whole {
			t.Errorf("what was sealed after %d writes the file never held", first)
		}
		for ; known > first; known-- { // the next look starts from fewer writes
			clear(held[place(known-1) : place(known-1)+page])
		}
	}
	close(stop)
	<-done
	if sealed == 0 {
		t.Skip("it was written faster than it could be read")
	}
}

func TestNamesOfFilesDoNotDependOnWhereTheWorkspaceIs(t *testing.T) {
	w := newWorkspace(t)
	outside := filepath.Join(tempDir(t), "tool")
	must(t, os.WriteFile(outside, nil, 0o755))
	w.write("/tools/x", "", 0o644)
	s := w.subject()
	s.Files = []string{w.path("/tools/x"), outside, w.path("/tools/x")}
	a := seal(t, s).Approval()
	var names []string
	for _, f := range a.Files {
		names = append(names, f.Name)
	}
	if diff := cmp.Diff([]string{filepath.ToSlash(outside), "tools/x"}, names); diff != "" {
		t.Error(diff)
	}
	if a.Path != ".tenterhook/hooks/guard/HOOK.md" || a.Root != w.root {
		t.Errorf("kept by %q, %q", a.Root, a.Path)
	}
}

// Names tell apart what is below the root, in the workspace and elsewhere.
func TestNamesOfFilesSayWhereTheyLie(t *testing.T) {
	w := newWorkspace(t)
	workspace, elsewhere := tempDir(t), tempDir(t)
	s := w.subject()
	s.Workspace = workspace
	for path, want := range map[string]string{
		w.path("/tools/x"):               "tools/x",
		w.path("/$CLAUDE_PROJECT_DIR/x"): "./$CLAUDE_PROJECT_DIR/x",
		workspace + "/tools/x":           "$CLAUDE_PROJECT_DIR/tools/x",
		elsewhere + "/a/../x":            filepath.ToSlash(elsewhere) + "/x",
		w.root + "x":                     filepath.ToSlash(w.root) + "x",
	} {
		s.Files = []string{path}
		if got := seal(t, s).Approval().Files[0].Name; got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	s.Workspace, s.Files = "", []string{filepath.Join(workspace, "x")}
	if got := seal(t, s).Approval().Files[0].Name; got != filepath.ToSlash(workspace)+"/x" {
		t.Errorf("without a workspace: %q", got)
	}
}
