package trust_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/trust"
)

func TestBoundsAreExact(t *testing.T) {
	if trust.MaxFiles != 4096 || trust.MaxBytes != 64<<20 {
		t.Errorf("%d files of %d bytes", trust.MaxFiles, trust.MaxBytes)
	}
	for name, test := range map[string]struct {
		make func(w *workspace, s *trust.Subject)
		code string
	}{
		"32 folders deep": {func(w *workspace, s *trust.Subject) { w.write(strings.Repeat("d/", 32)+"x", "", 0o644) }, ""},
		"33 folders deep": {func(w *workspace, s *trust.Subject) { w.write(strings.Repeat("d/", 33)+"x", "", 0o644) }, trust.CodeTooLarge},
		"as many named files as there may be": {func(w *workspace, s *trust.Subject) {
			for i := range trust.MaxFiles - 2 { // beside those of the folder
				s.Files = append(s.Files, w.path(fmt.Sprintf("/none/%d", i)))
			}
		}, ""},
		"one more": {func(w *workspace, s *trust.Subject) {
			for i := range trust.MaxFiles - 1 {
				s.Files = append(s.Files, w.path(fmt.Sprintf("/none/%d", i)))
			}
		}, trust.CodeTooLarge},
		"a named file as large as there may be": {func(w *workspace, s *trust.Subject) {
			s.Dir, s.Files = "", []string{w.path("/big")}
			w.write("/big", "", 0o644)
			must(w.t, os.Truncate(w.path("/big"), trust.MaxBytes))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			s := w.subject()
			test.make(w, &s)
			_, err := s.Seal()
			if got := code(t, err); got != test.code {
				t.Errorf("%v", err)
			}
		})
	}
}

// Texts are kept up to a size each, and up to a size for all of a hook.
func TestOnlySmallTextsAreKept(t *testing.T) {
	const most, all = 64 << 10, 1 << 20
	w, dir := newWorkspace(t), stateDir(t)
	w.write("fits", strings.Repeat("a", most), 0o644)
	w.write("large", strings.Repeat("b", most+1), 0o644)
	w.write("binary", "\x00", 0o644)
	w.write("latin", "\xe4", 0o644)
	w.write("marks", "\ufffd\ufffd", 0o644)
	w.write("empty", "", 0o644)
	w.link("run.sh", "alias")
	for i := range all / most { // one less than these fits beside the others
		w.write(fmt.Sprintf("many/%02d", i), strings.Repeat(string(rune('a'+i)), most-1), 0o644)
	}
	w.write("/tools/check.sh", "named", 0o755)
	s := w.subject()
	s.Files = []string{w.path("/tools/check.sh"), w.path("/none")}
	store := open(t, dir)
	approve(t, store, seal(t, s))
	kept := func(text string) bool {
		_, err := os.Stat(filepath.Join(dir, "texts", sha(text)))
		return err == nil
	}
	for text, want := range map[string]bool{
		manifest: true, strings.Repeat("a", most): true, strings.Repeat("b", most+1): false, "\x00": false, "\xe4": false, "\ufffd\ufffd": true, "": true, "#!/bin/sh\necho old\n": true, "named": true,
		strings.Repeat("a", most-1): true, strings.Repeat("n", most-1): true, strings.Repeat("p", most-1): false,
	} {
		if kept(text) != want {
			t.Errorf("%.20q is kept: %v", text, !want)
		}
	}
}

func TestTextOfASealIsWhatWasSealed(t *testing.T) {
	const most = 4 << 20
	w := newWorkspace(t)
	w.write("fits", strings.Repeat("a", most), 0o644)
	w.write("large", strings.Repeat("b", most+1), 0o644)
	w.write("/tools/run.sh", "outside", 0o644)
	w.write("/first.sh", "another", 0o644)
	w.write("gone", "gone", 0o644)
	w.write("grows", "grow", 0o644)
	w.write("hides.sh", "#!/bin/sh\n#\x00\xff\nrm x\n", 0o755)
	w.write("mostly", strings.Repeat("text ", 20)+"\xff\x00", 0o644)
	w.write("program", "\x7fELF\x02\x01\x01"+strings.Repeat("\x00\xf3", 99), 0o755)
	w.link("run.sh", "alias")
	s := w.subject()
	s.Files = []string{w.path("/first.sh"), w.path("/tools/run.sh"), w.path("/none")}
	sealed := seal(t, s)
	w.remove("gone")
	w.write("HOOK.md", "another", 0o644)
	w.write("grows", "grown", 0o644)
	if _, ok := sealed.Text(trust.File{Name: "other", SHA256: sha("other")}); ok {
		t.Error("a file that was not sealed has a text")
	}
	a := sealed.Approval()
	got := make(map[string]string)
	for _, f := range append(a.Folder, a.Files...) {
		if text, ok := sealed.Text(f); ok {
			got[f.Name] = fmt.Sprintf("%.8s %d", text, len(text))
		}
	}
	for name, want := range map[string]string{"fits": fmt.Sprintf("aaaaaaaa %d", most), "run.sh": "#!/bin/s 19", "hides.sh": "#!/bin/s 19", "mostly": "text tex 102", "program": "", "tools/run.sh": "outside 7", "first.sh": "another 7", "large": "", "gone": "", "grows": "", "HOOK.md": "", "alias": "", "none": ""} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
}
