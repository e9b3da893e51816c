package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	programs "github.com/tenterhook/tenterhook/internal/built"

	"pgregory.net/rapid"

	"github.com/tenterhook/tenterhook/bridge"
)

// subsequence reports whether a text can be had from another by adding bytes.
func subsequence(short, long []byte) bool {
	for _, b := range long {
		if len(short) > 0 && short[0] == b {
			short = short[1:]
		}
	}
	return len(short) == 0
}

func testEnv(t testing.TB) Env {
	t.Helper()
	dir := t.TempDir()
	program := programs.Program(filepath.Join(dir, "it's here"), "tenterhook-bridge")
	for _, err := range []error{os.MkdirAll(filepath.Dir(program), 0o755), os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755),
		os.MkdirAll(filepath.Join(dir, "home"), 0o755), os.MkdirAll(filepath.Join(dir, "project"), 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return Env{Getenv: func(string) string { return "" }, Home: filepath.Join(dir, "home"), Project: filepath.Join(dir, "project"),
		StateDir: filepath.Join(dir, "state"), Program: program, Windows: runtime.GOOS == "windows"}
}

// known reports whether an agent has entries on the system of an Env.
func (e Env) known(agent string) bool { return e.caller(agent).shell != unknown }

func agent(t testing.TB, name string) *bridge.Agent {
	t.Helper()
	a, ok := bridge.Lookup(name)
	if !ok {
		t.Fatalf("no agent %s", name)
	}
	return a
}

func install(t testing.TB, e Env, a *bridge.Agent, s Scope) *Plan {
	t.Helper()
	p, err := e.PlanInstall(a, s)
	if err == nil {
		err = e.Apply(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func uninstall(t testing.TB, e Env, a *bridge.Agent, s Scope) {
	t.Helper()
	p, err := e.PlanUninstall(a, s)
	if err == nil {
		err = e.Apply(p)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
		t.Fatal(err)
	}
}

// sharedFile is an agent's file that is edited, and what it may hold.
type sharedFile struct {
	path          string
	scope         Scope
	comments, bom bool
	flat          bool // its entries have no inner list
	keys          []string
	events        []string
}

var sharedFiles = sync.OnceValue(func() map[string]sharedFile {
	keys := []string{"model", "env", "hooks", "permissions", "$schema"}
	files := map[string]sharedFile{
		"claude":   {path: ".claude/settings.json", bom: true, keys: keys},
		"codex":    {path: ".codex/hooks.json", keys: []string{"hooks", "description"}},
		"qwen":     {path: ".qwen/settings.json", comments: true, bom: true, keys: keys},
		"gemini":   {path: ".gemini/settings.json", scope: Project, comments: true, keys: keys},
		"cursor":   {path: ".cursor/hooks.json", flat: true, keys: []string{"version", "hooks"}},
		"windsurf": {path: ".codeium/windsurf/hooks.json", flat: true, keys: []string{"hooks", "x"}},
		"factory":  {path: ".factory/settings.json", keys: keys},
		"kiro":     {path: ".kiro/agents/dev.json", flat: true, keys: []string{"name", "hooks", "tools"}},
	}
	for name, f := range files {
		if runtime.GOOS == "windows" && places[name].windows == unknown {
			delete(files, name)
			continue
		}
		a, _ := bridge.Lookup(name)
		if f.events = a.Events(); f.scope == "" {
			f.scope = User
		}
		files[name] = f
	}
	return files
})

// in is where the file lies.
func (f sharedFile) in(e Env) string {
	if f.scope == Project {
		return filepath.Join(e.Project, f.path)
	}
	return filepath.Join(e.Home, f.path)
}

func TestInstallAddsBytesAloneAndUninstallGivesTheSameBytesBack(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for name, file := range sharedFiles() {
		t.Run(name, func(t *testing.T) {
			e, a := testEnv(t), agent(t, name)
			path := file.in(e)
			rapid.Check(t, func(rt *rapid.T) {
				before := drawFile(rt, file)
				write(t, path, before)
				mode := os.FileMode(rapid.SampledFrom([]int{0o600, 0o644, 0o640}).Draw(rt, "mode"))
				if err := os.Chmod(path, mode); err != nil {
					rt.Fatal(err)
				}
				install(t, e, a, file.scope)
				after := read(t, path)
				if !subsequence(before, after) || bytes.Equal(before, after) {
					rt.Fatalf("not only added to:\n%s\n---\n%s", before, after)
				}
				checkEntries(rt, a, before, after)
				again, err := e.PlanInstall(a, file.scope)
				if err != nil || !again.Same() {
					rt.Fatalf("installing again would change it, %v", err)
				}
				if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode && !e.Windows {
					rt.Fatalf("mode %v, %v", info.Mode(), err)
				}
				uninstall(t, e, a, file.scope)
				if got := read(t, path); !bytes.Equal(got, before) {
					rt.Fatalf("it was\n%q\nand is\n%q", before, got)
				}
			})
		})
	}
}

// checkEntries compares the values: what was there is there, and each event has
// one entry of ours, the last.
func checkEntries(rt *rapid.T, a *bridge.Agent, before, after []byte) {
	was, is := parsed(rt, before), parsed(rt, after)
	hooks := is["hooks"].(map[string]any)
	for _, event := range a.Events() {
		list := hooks[event].([]any)
		last, err := json.Marshal(list[len(list)-1])
		if err != nil || !isOurs(last, a.Name) {
			rt.Fatalf("%s: the last entry is %s", event, last)
		}
		if hooks[event] = list[:len(list)-1]; len(list) == 1 {
			if old, ok := was["hooks"].(map[string]any); !ok || old[event] == nil {
				delete(hooks, event)
			}
		}
	}
	if was["hooks"] == nil && len(hooks) == 0 {
		delete(is, "hooks")
	}
	if !reflect.DeepEqual(was, is) {
		rt.Fatalf("the values differ:\n%v\n%v", was, is)
	}
}

func parsed(rt *rapid.T, data []byte) map[string]any {
	d, err := readDocument("file", data, syntax{comments: true, bom: true})
	if err != nil {
		rt.Fatal(err)
	}
	plain, err := d.plain(syntax{comments: true})
	if err != nil {
		rt.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(plain, &v); err != nil {
		rt.Fatal(err)
	}
	return v
}

func TestUninstallRemovesOurEntriesAloneFromAFileThatSomebodyElseChanged(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for name, file := range sharedFiles() {
		t.Run(name, func(t *testing.T) {
			e, a := testEnv(t), agent(t, name)
			path, event := file.in(e), file.events[0]
			rapid.Check(t, func(rt *rapid.T) {
				before := drawFile(rt, file)
				write(t, path, before)
				install(t, e, a, file.scope)
				// A person appends an entry behind ours, and a key.
				d, err := readDocument(path, read(t, path), syntax{comments: true, bom: true})
				if err != nil {
					rt.Fatal(err)
				}
				theirs := `{"hooks":[{"type":"command","command":"theirs","timeout":1}]}`
				if err := errors.Join(d.addEntries([]string{"hooks"}, []string{event}, func(string) string { return theirs }), d.add(&d.root, `"theirs": 1`)); err != nil {
					rt.Fatal(err)
				}
				write(t, path, d.bytes())
				uninstall(t, e, a, file.scope)
				want := parsed(rt, before)
				hooks, _ := want["hooks"].(map[string]any)
				if hooks == nil {
					hooks = make(map[string]any)
					want["hooks"] = hooks
				}
				list, _ := hooks[event].([]any)
				var entry any
				_ = json.Unmarshal([]byte(theirs), &entry)
				hooks[event], want["theirs"] = append(list, entry), float64(1)
				if got := parsed(rt, read(t, path)); !reflect.DeepEqual(got, want) {
					rt.Fatalf("before:\n%s\nis:\n%s", before, read(t, path))
				}
			})
		})
	}
}

func TestFilesThatTheAgentCannotReadAreRefusedWithTheLine(t *testing.T) {
	for name, tt := range map[string]struct {
		agent, text, want string
	}{
		"a trailing comma":         {"claude", "{\n  \"a\": 1,\n}\n", ":2: a comma behind the last element"},
		"a comment":                {"claude", "{\n  \"a\": 1\n  // mine\n}\n", ":3: a comment"},
		"a comma in Qwen":          {"qwen", "{\n  // mine\n  \"a\": [1,],\n  \"b\": 2\n}\n", ":3: a comma behind"},
		"no JSON":                  {"claude", "{\n  \"a\": \n}\n", ":3: not JSON"},
		"cut":                      {"claude", "{\n \"a\": 1", "not JSON"},
		"a list":                   {"claude", "[]", ":1: the file holds no JSON object"},
		"a key twice":              {"claude", "{\"a\": 1, \"a\": 2}", "two ways"},
		"empty":                    {"claude", " \n", "the file is empty"},
		"a byte order mark":        {"codex", "\ufeff{}", ":1: the file begins with a byte order mark"},
		"hooks is a list":          {"claude", "{\n\"hooks\": []}", `:2: "hooks" is no object`},
		"an event is an object":    {"claude", "{\"hooks\": {\n\n\"Stop\": {}}}", `:3: "Stop" is no list`},
		"a neighbour's timeout":    {"claude", "{\"hooks\": {\"Stop\": [{\"hooks\": [\n{\"type\": \"command\", \"command\": \"x\", \"timeout\": \"5s\"}]}]}}", ":2: a timeout that is no number"},
		"a neighbour's type":       {"codex", "{\"hooks\": {\"Stop\": [{\"hooks\": [\n{\"type\": \"teleport\"}]}]}}", ":2: a handler without a type"},
		"a key of nobody in Codex": {"codex", "{\n\"x\": 1}", `:2: the key "x"`},
	} {
		e, a := testEnv(t), agent(t, tt.agent)
		path := map[string]string{"claude": ".claude/settings.json", "qwen": ".qwen/settings.json", "codex": ".codex/hooks.json"}[tt.agent]
		path = filepath.Join(e.Home, path)
		write(t, path, []byte(tt.text))
		if _, err := e.PlanInstall(a, User); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
		if got := read(t, path); string(got) != tt.text {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

func TestLinksStayLinksAndOtherFilesAreRefused(t *testing.T) {
	programs.NeedsLinks(t)
	e, a := testEnv(t), agent(t, "claude")
	path, real := filepath.Join(e.Home, ".claude/settings.json"), filepath.Join(e.Home, "dotfiles/claude.json")
	write(t, real, []byte("{}"))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink("../dotfiles/claude.json", path)); err != nil {
		t.Fatal(err)
	}
	install(t, e, a, User)
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
	if !bytes.Contains(read(t, real), []byte("PreToolUse")) {
		t.Error("the file behind the link has no entry")
	}
	uninstall(t, e, a, User)
	if got := read(t, real); string(got) != "{}" {
		t.Errorf("after uninstall: %s", got)
	}

	for _, step := range []struct {
		name  string
		spoil func() error
		want  string
	}{
		{"read-only", func() error { return os.Chmod(real, 0o444) }, "read-only"},
		{"another name", func() error { return errors.Join(os.Chmod(real, 0o644), os.Link(real, real+"2")) }, "2 names"},
		{"a link to nothing", func() error { return os.Remove(real) }, "a link to a file that is not there"},
		{"a directory", func() error { return os.Mkdir(real, 0o755) }, "no regular file"},
	} {
		if err := step.spoil(); err != nil {
			t.Fatal(err)
		}
		if _, err := e.PlanInstall(a, User); err == nil || !strings.Contains(err.Error(), step.want) {
			t.Errorf("%s: %v", step.name, err)
		}
	}
}

func TestFilesAndDirectoriesThatWereMadeGoAgain(t *testing.T) {
	type on struct {
		a       *bridge.Agent
		windows bool
	}
	var all []on
	for _, a := range bridge.Agents() {
		all = append(all, on{a, false}, on{a, true})
	}
	for _, on := range all {
		a := on.a
		for _, s := range []Scope{User, Project, Managed} {
			e := testEnv(t)
			e.Root, e.Windows = filepath.Join(e.Home, "root"), on.windows
			p, err := e.PlanInstall(a, s)
			if err != nil {
				continue // it has no such scope
			}
			if err := e.Apply(p); err != nil {
				t.Fatalf("%s %s: %v", a.Name, s, err)
			}
			if len(files(t, e.Home))+len(files(t, e.Project)) == 0 {
				t.Errorf("%s %s wrote nothing", a.Name, s)
			}
			uninstall(t, e, a, s)
			if left := append(files(t, e.Home), files(t, e.Project)...); len(left) > 0 {
				t.Errorf("%s %s left %v", a.Name, s, left)
			}
			if left := files(t, e.StateDir); len(left) > 2 {
				t.Errorf("%s %s left %v", a.Name, s, left)
			}
		}
	}
}

// files lists what is below a directory.
func files(t testing.TB, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if path != dir {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestApplyPutsBackWhatItWroteIfALaterFileFails(t *testing.T) {
	e, a := testEnv(t), agent(t, "gemini")
	p, err := e.PlanInstall(a, User)
	if err != nil || len(p.Changes) < 2 {
		t.Fatal(p, err)
	}
	last := p.Changes[len(p.Changes)-1]
	write(t, last.Path, []byte("somebody else's tenterhook"))
	if err := e.Apply(p); err == nil || !strings.Contains(err.Error(), "changed in the meantime") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(p.Changes[0].Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the first file is there: %v", err)
	}
}
