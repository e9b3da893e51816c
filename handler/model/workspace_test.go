package model

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/built"

	"pgregory.net/rapid"

	"github.com/tenterhook/tenterhook/testdata/asowner"
)

// opened opens a workspace with some transcripts.
func opened(t testing.TB, root string, transcripts ...string) *workspace {
	t.Helper()
	ws, err := openWorkspace(root, transcripts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ws.Close)
	return ws
}

// use calls a tool and returns its text, failed or not.
func use(t testing.TB, ws *workspace, name string, input object) (string, bool) {
	t.Helper()
	results, err := ws.call(t.Context(), []ToolCall{call(name, input)})
	if err != nil {
		t.Fatal(err)
	}
	return results[0].Text, !results[0].Failed
}

func link(t testing.TB, target, name string) {
	t.Helper()
	built.NeedsLinks(t)
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("no links here, as on Windows: %v", err)
	}
}

func TestToolsStayInTheWorkspace(t *testing.T) {
	outside := files(t, map[string]string{"secret.txt": "SECRET\n", "dir/deep.txt": "SECRET\n"})
	dir := files(t, map[string]string{"in.txt": "fine\n", "sub/deep.txt": "fine\n"})
	link(t, filepath.Join(outside, "secret.txt"), filepath.Join(dir, "absolute-link"))
	link(t, filepath.Join("..", filepath.Base(outside), "secret.txt"), filepath.Join(dir, "relative-link"))
	link(t, filepath.Join(outside, "dir"), filepath.Join(dir, "dir-link"))
	link(t, "in.txt", filepath.Join(dir, "inner-link"))
	ws := opened(t, dir)
	for _, path := range []string{
		"../" + filepath.Base(outside) + "/secret.txt", "sub/../../" + filepath.Base(outside) + "/secret.txt",
		filepath.Join(outside, "secret.txt"), dir + "/../" + filepath.Base(outside) + "/secret.txt", dir + "x", "/", "/etc/passwd",
		"absolute-link", "relative-link", "dir-link/deep.txt", "in.txt\x00", "~/.ssh/id_rsa", "..", dir + "/..",
	} {
		for _, tool := range []string{"Read", "Grep", "Glob"} {
			text, ok := use(t, ws, tool, object{"path": path, "pattern": map[string]string{"Grep": ".", "Glob": "**"}[tool]})
			if strings.Contains(text, "SECRET") || strings.Contains(text, "secret.txt\n") || ok && tool == "Read" {
				t.Errorf("%s of %q gave %q", tool, path, text)
			}
		}
	}
	for _, path := range []string{"in.txt", "./in.txt", "sub/../in.txt", filepath.Join(dir, "in.txt"), "inner-link"} {
		if text, ok := use(t, ws, "Read", object{"path": path}); !ok || text != "1\tfine\n" {
			t.Errorf("Read of %q gave %q", path, text)
		}
	}
	for tool, pattern := range map[string]string{"Grep": "SECRET|fine", "Glob": "**"} {
		text, ok := use(t, ws, tool, object{"pattern": pattern})
		if !ok || !strings.Contains(text, "in.txt") || !strings.Contains(text, "sub/deep.txt") || strings.Contains(text, "SECRET") || strings.Contains(text, "link") {
			t.Errorf("%s found %q", tool, text)
		}
	}
}

func TestNoPathLeadsOutOfTheWorkspace(t *testing.T) {
	dir := files(t, map[string]string{"a/b": ""})
	ws := opened(t, dir)
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"..", ".", "a", "b", "", "/", "c:", `\`, "~", dir})).Draw(t, "parts")
		path := strings.Join(parts, "/")
		got, err := ws.find(path)
		if err == nil && !filepath.IsLocal(got.name) {
			t.Fatalf("%q is %q", path, got.name)
		}
	})
}

func TestWorkspaceBehindALinkTakesBothNames(t *testing.T) {
	dir := files(t, map[string]string{"a": "x\n"})
	alias := filepath.Join(t.TempDir(), "alias")
	link(t, dir, alias)
	ws := opened(t, alias)
	for _, path := range []string{filepath.Join(alias, "a"), filepath.Join(dir, "a")} {
		if text, ok := use(t, ws, "Read", object{"path": path}); !ok || text != "1\tx\n" {
			t.Errorf("Read of %s gave %q", path, text)
		}
	}
}

func TestTranscriptIsReadByItsPathAlone(t *testing.T) {
	logs := files(t, map[string]string{"main.jsonl": "{\"n\":1}\n", "other.jsonl": "SECRET\n"})
	transcript := filepath.Join(logs, "main.jsonl")
	for _, root := range []string{"", t.TempDir()} {
		ws := opened(t, root, transcript)
		if text, ok := use(t, ws, "Read", object{"path": transcript}); !ok || text != "1\t{\"n\":1}\n" {
			t.Errorf("Read gave %q", text)
		}
		if text, ok := use(t, ws, "Grep", object{"path": transcript, "pattern": `"n"`}); !ok || !strings.Contains(text, `main.jsonl:1: {"n":1}`) {
			t.Errorf("Grep gave %q", text)
		}
		if text, ok := use(t, ws, "Glob", object{"path": transcript, "pattern": "*"}); !ok || !strings.Contains(text, "main.jsonl") {
			t.Errorf("Glob gave %q", text)
		}
		for _, path := range []string{filepath.Join(logs, "other.jsonl"), logs, transcript + "/../other.jsonl"} {
			if text, ok := use(t, ws, "Read", object{"path": path}); ok {
				t.Errorf("Read of %s gave %q", path, text)
			}
		}
	}
	for _, reach := range []string{opened(t, "").reach(), opened(t, t.TempDir(), transcript).reach()} {
		if strings.Contains(reach, "no files") == strings.Contains(reach, "transcripts") || strings.Contains(reach, transcript) {
			t.Errorf("it reaches: %s", reach)
		}
	}
}

func TestReadIsBounded(t *testing.T) {
	long := strings.Repeat("z", 100_000)
	dir := files(t, map[string]string{
		"lines": strings.Repeat("line\n", 5000), "long": long + "\nshort\r\n", "wide": strings.Repeat(strings.Repeat("w", 999)+"\n", 1000),
		"empty": "", "binary": "a\x00b", "latin": "caf\xe9\n", "open": "no end", "blank": "\n\nx\n",
	})
	ws := opened(t, dir)
	for _, tc := range []struct {
		input object
		want  string
		ok    bool
	}{
		{object{"path": "lines", "offset": 4999}, "4999\tline\n5000\tline\n", true},
		{object{"path": "lines", "offset": 2, "limit": 1}, "2\tline\n[more follows: read on from line 3]\n", true},
		{object{"path": "lines", "offset": 5001}, "[the file has 5000 lines]", true},
		{object{"path": "lines", "offset": -4, "limit": 1}, "1\tline\n[more follows: read on from line 2]\n", true},
		{object{"path": "long"}, "1\t" + long[:maxLine] + fmt.Sprintf("[… %d bytes more]", len(long)-maxLine) + "\n2\tshort\n", true},
		{object{"path": "empty"}, "[the file is empty]", true},
		{object{"path": "latin"}, "1\tcaf\uFFFD\n", true},
		{object{"path": "open"}, "1\tno end\n", true},
		{object{"path": "blank"}, "1\t\n2\t\n3\tx\n", true},
		{object{"path": "binary"}, `"binary" is no text`, false},
		{object{"path": "gone"}, "", false},
		{object{"path": "."}, `"." is a folder`, false},
		{object{"path": 1}, "", false},
	} {
		text, ok := use(t, ws, "Read", tc.input)
		if ok != tc.ok || tc.want != "" && text != tc.want {
			t.Errorf("Read %v gave %.200q", tc.input, text)
		}
	}
	if text, _ := use(t, ws, "Read", object{"path": "lines"}); strings.Count(text, "\n") != 2001 {
		t.Errorf("%d lines by default", strings.Count(text, "\n"))
	}
	if text, _ := use(t, ws, "Read", object{"path": "wide"}); len(text) > maxRead+100 || len(text) < maxRead-2000 || !strings.Contains(text, "read on from line 26") {
		t.Errorf("%d bytes, ending in %q", len(text), text[len(text)-60:])
	}
}

func TestSearchIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("long: searches large folders")
	}
	contents := map[string]string{
		"a.go": "package a\nfunc A() {}\n", "sub/b.go": "package b\n", "sub/c.txt": "package of texts\n", ".git/config": "package git\n",
		"binary": "package\x00", "many": strings.Repeat("hit\n", 1000), "wide": strings.Repeat("x", 5000) + "needle" + strings.Repeat("y", 5000),
	}
	ws := opened(t, files(t, contents))
	for _, tc := range []struct {
		tool  string
		input object
		want  string
		ok    bool
	}{
		{"Grep", object{"pattern": "^package \\w$"}, "a.go:1: package a\nsub/b.go:1: package b\n", true},
		{"Grep", object{"pattern": "package", "path": "sub"}, "sub/b.go:1: package b\nsub/c.txt:1: package of texts\n", true},
		{"Grep", object{"pattern": "package", "glob": "**/*.go"}, "a.go:1: package a\nsub/b.go:1: package b\n", true},
		{"Grep", object{"pattern": "package", "path": "sub", "glob": "*.txt"}, "sub/c.txt:1: package of texts\n", true},
		{"Grep", object{"pattern": "package", "path": "a.go"}, "a.go:1: package a\n", true},
		{"Grep", object{"pattern": "nowhere"}, "[no line matches]\n", true},
		{"Grep", object{"pattern": "needle"}, "wide:1: …" + strings.Repeat("x", around) + "needle" + strings.Repeat("y", 2*around-6) + "…\n", true},
		{"Grep", object{"pattern": "("}, "", false},
		{"Grep", object{"pattern": strings.Repeat("a", 2000)}, "", false},
		{"Grep", object{"pattern": "x", "glob": "["}, "", false},
		{"Grep", object{"pattern": "x", "path": "gone"}, "", false},
		{"Glob", object{"pattern": "**/*.go"}, "a.go\nsub/b.go\n", true},
		{"Glob", object{"pattern": "*.{go,txt}", "path": "sub"}, "sub/b.go\nsub/c.txt\n", true},
		{"Glob", object{"pattern": "*.md"}, "[no file matches]\n", true},
		{"Glob", object{"pattern": "**/config"}, "[no file matches]\n", true},
		{"Glob", object{"pattern": ""}, "", false},
		{"Glob", object{"pattern": "/etc/*"}, "", false},
		{"Glob", object{"pattern": "{"}, "", false},
		{"Glob", object{"pattern": strings.Repeat("{a,b}", 20)}, "", false},
		{"Glob", object{"pattern": "*", "path": "gone"}, "", false},
	} {
		text, ok := use(t, ws, tc.tool, tc.input)
		if ok != tc.ok || tc.want != "" && text != tc.want {
			t.Errorf("%s %v gave %.300q", tc.tool, tc.input, text)
		}
	}
	if text, _ := use(t, ws, "Grep", object{"pattern": "hit"}); strings.Count(text, "hit") != maxMatches || !strings.HasSuffix(text, "[there may be more: narrow the search]\n") {
		t.Errorf("%d matches, ending in %q", strings.Count(text, "hit"), text[len(text)-50:])
	}
	crowd := make(map[string]string)
	for i := range 1100 {
		crowd[fmt.Sprintf("f%04d", i)] = ""
	}
	if text, _ := use(t, opened(t, files(t, crowd)), "Glob", object{"pattern": "*"}); strings.Count(text, "\n") != maxPaths+1 {
		t.Errorf("%d paths", strings.Count(text, "\n"))
	}
}

func TestUnreadableFilesAreCounted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows: files have no such permissions")
	}
	dir := files(t, map[string]string{"a": "x", "b": "x"})
	if err := os.Chmod(filepath.Join(dir, "b"), 0); err != nil {
		t.Fatal(err)
	}
	asowner.Do(t, func() {
		if text, _ := use(t, opened(t, dir), "Grep", object{"pattern": "x"}); text != "a:1: x\n[1 files could not be read, or only in part]\n" {
			t.Errorf("got %q", text)
		}
	})
}

func TestLargeFileIsSearchedInPart(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "large"))
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("a", 1<<16-1) + "\n"
	for range maxFile>>16 + 1 {
		if _, err := f.WriteString(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if text, _ := use(t, opened(t, dir), "Grep", object{"pattern": "b"}); text != "[no line matches]\n[1 files could not be read, or only in part]\n" {
		t.Errorf("got %q", text)
	}
}

func TestSearchEndsWithItsContext(t *testing.T) {
	ws := opened(t, files(t, map[string]string{"a": "x"}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"Read", "Grep", "Glob"} {
		if _, err := ws.call(ctx, []ToolCall{call(name, object{"path": "a", "pattern": "x"})}); err != context.Canceled {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestToolInputIsReadStrictly(t *testing.T) {
	ws := opened(t, files(t, map[string]string{"a": "x"}))
	for _, input := range []string{"", "{", `{"path":"a","path":"/etc/passwd"}`, `{"path":"a"} {}`, `["a"]`, `{"path":["a"]}`} {
		results, err := ws.call(t.Context(), []ToolCall{{ID: "1", Name: "Read", Input: json.RawMessage(input)}})
		if err != nil || !results[0].Failed {
			t.Errorf("%s gave %+v, %v", input, results, err)
		}
	}
}

// A pipe without a writer would hold whoever opens it.
func TestPipesAreNotOpened(t *testing.T) {
	dir := files(t, map[string]string{"a": "x"})
	if !makePipe(filepath.Join(dir, "pipe")) {
		t.Skip("Windows: no pipes among files")
	}
	ws := opened(t, dir, filepath.Join(dir, "..", "none"), filepath.Join(dir, "pipe"))
	done := make(chan bool)
	go func() {
		_, ok := use(t, ws, "Read", object{"path": "pipe"})
		text, _ := use(t, ws, "Grep", object{"pattern": "."})
		done <- !ok && text == "a:1: x\n"
	}()
	select {
	case ok := <-done:
		if !ok {
			t.Error("the pipe was read")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("opening a pipe hung")
	}
}
