package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What shells wrote in real life, for the ones that this machine may not have.
func TestComplaint(t *testing.T) {
	for stderr, want := range map[string]struct {
		word string
		busy bool
	}{
		"sh: 1: jq: not found\n":                                                    {"jq", false},
		"/tmp/x.sh: 3: jq: not found\n":                                             {"jq", false},
		"bash: line 1: jq: command not found":                                       {"jq", false},
		"./x.sh: line 12: jq: command not found":                                    {"jq", false},
		"zsh:1: command not found: jq":                                              {"jq", false},
		"zsh:1: permission denied: ./x.sh":                                          {"./x.sh", false},
		"sh: jq: not found":                                                         {"jq", false},
		"sh: 1: ./x.sh: Permission denied":                                          {"./x.sh", false},
		"bash: line 1: ./x.sh: cannot execute: required file not found":             {"./x.sh", false},
		"bash: ./x.sh: /bin/foo^M: bad interpreter: No such file or directory":      {"./x.sh", false},
		"bash: line 1: ./x: cannot execute binary file: Exec format error":          {"./x", false},
		"env: ‘node\\r’: No such file or directory\nenv: use -[v]S to pass options": {"node\\r", false},
		"sh: 1: ./x.sh: Text file busy":                                             {"./x.sh", true},
		"bash: line 1: ./d/: Is a directory":                                        {"./d/", false},
		"first: not found: x\nsh: 1: last: not found\nand then some":                {"last", false},
		"": {}, "hello": {}, "not found": {}, ": ": {}, "\x00\xff: : not found: ": {"", false},
	} {
		if _, word, says := complaint(stderr); word != want.word || (says == "text file busy") != want.busy {
			t.Errorf("%q: got %q, %q", stderr, word, says)
		}
	}
}

func FuzzComplaint(f *testing.F) {
	for _, s := range []string{
		"sh: 1: jq: not found\n", "zsh:1: command not found: jq", "bad interpreter", ": bad interpreter: ",
		"bash: ./x.sh: /bin/foo^M: bad interpreter: No such file or directory", "x: not found\x00: \xff",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, stderr string) {
		if _, word, _ := complaint(stderr); !strings.Contains(stderr, word) {
			t.Errorf("%q is not in %q", word, stderr)
		}
	})
}

func FuzzInspectProgram(f *testing.F) {
	for _, s := range []string{"#!/bin/sh\n", "#!/bin/sh\r\n", "#!", "#!/usr/bin/env -S A=b sh\n", "#!/usr/bin/env\n", "\xef\xbb\xbf#!/bin/sh", "echo", "\x7fELF", ""} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, head []byte) {
		path := filepath.Join(dir, "program")
		if err := os.WriteFile(path, head, 0o755); err != nil {
			t.Fatal(err)
		}
		d, found := inspect(path, []string{"PATH=/bin:/usr/bin:relative"})
		if found != (d != Diagnosis{}) {
			t.Errorf("found is %v with %+v", found, d)
		}
		if found && (d.Cause == "" || d.Reason == "" || d.Remedy == "") {
			t.Errorf("incomplete: %+v", d)
		}
		if strings.ContainsFunc(d.String(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Errorf("control characters in %q", d)
		}
	})
}

func TestLookPathPassesOverRelativeElements(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("git", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	sep := string(filepath.ListSeparator)
	if got := lookPath("git", []string{"PATH=." + sep + sep + "bin"}); got != "" {
		t.Errorf("found %s", got)
	}
	if got, want := lookPath("git", []string{"PATH=." + sep + dir}), filepath.Join(dir, "git"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
