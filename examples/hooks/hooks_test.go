// Package hooks_test runs the example hooks as a registry would: the script in
// its own folder, the event on stdin.
package hooks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// reply is what a script left behind.
type reply struct {
	code           int
	stdout, stderr string
}

// answer is the part of a hook's JSON that the examples use.
type answer struct {
	Decision           string `json:"decision"`
	Reason             string `json:"reason"`
	SystemMessage      string `json:"systemMessage"`
	HookSpecificOutput struct {
		HookEventName            string `json:"hookEventName"`
		SuppressOriginalPrompt   bool   `json:"suppressOriginalPrompt"`
		PermissionDecision       string `json:"permissionDecision"`
		PermissionDecisionReason string `json:"permissionDecisionReason"`
		AdditionalContext        string `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// needs skips a test where a program is missing.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows: the examples are POSIX scripts")
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
}

// run runs ./script in its folder on a payload. env is added to a small
// environment with a home directory of its own.
func run(t *testing.T, folder, script, payload string, env ...string) reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(dir, script))
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	cmd.Stdin = strings.NewReader(payload)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "HOOK_DIR=" + dir,
		"GOCACHE=" + goCache(), "XDG_CACHE_HOME=" + cacheHome, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"}, env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s/%s: %v", folder, script, err)
	}
	return reply{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// goCache is where Go keeps what it built.
var goCache = sync.OnceValue(func() string {
	out, _ := exec.Command("go", "env", "GOCACHE").Output() // without Go no test needs it
	return strings.TrimSpace(string(out))
})

// cacheHome is the cache folder of all runs, so that each program is built once.
var cacheHome string

func TestMain(m *testing.M) {
	var err error
	if cacheHome, err = os.MkdirTemp("", "hooks-cache-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(cacheHome)
	os.Exit(code)
}

// rules opens the folders as a registry does, each a hook of kind rule, and
// returns a function that gives the verdict on a payload, and why.
func rules(t *testing.T, folders ...string) func(payload string) (verdict, why string) {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range folders {
		text, err := os.ReadFile(filepath.Join(folder, "HOOK.md"))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, folder, "HOOK.md"), string(text))
	}
	reg, err := registry.Open(t.Context(), registry.Options{Workspace: t.TempDir(), Dirs: []string{dir}, StateDir: t.TempDir(),
		Without: []hook.Scope{hook.ScopeManaged, hook.ScopeUser, hook.ScopeProject, hook.ScopeLocal, hook.ScopePlugin}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reg.Close() })
	return func(payload string) (string, string) {
		in, err := hook.DecodeInput([]byte(payload))
		if err != nil {
			t.Fatalf("%v: %s", err, payload)
		}
		out, err := reg.Dispatch(t.Context(), in)
		if err != nil {
			t.Fatalf("%v: %s", err, payload)
		}
		for _, f := range out.Failures() {
			t.Errorf("%s failed: %s", f.Hook.ID, f.Reason)
		}
		return out.Verdict.String(), out.Reason
	}
}

// parse reads the reply's JSON; no output is the zero answer.
func (r reply) parse(t *testing.T) answer {
	t.Helper()
	var a answer
	if strings.TrimSpace(r.stdout) == "" {
		return a
	}
	dec := json.NewDecoder(strings.NewReader(r.stdout))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		t.Fatalf("stdout is not the JSON of a hook: %v\n%s", err, r.stdout)
	}
	return a
}

// verdict is deny, ask or none, however the script said it.
func (r reply) verdict(t *testing.T) string {
	t.Helper()
	switch a := r.parse(t); {
	case r.code == 2:
		if strings.TrimSpace(r.stderr) == "" {
			t.Error("a refusal without a reason")
		}
		return "deny"
	case r.code != 0:
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
		return ""
	case a.Decision == "block":
		return "deny"
	case a.HookSpecificOutput.PermissionDecision != "":
		if a.HookSpecificOutput.PermissionDecisionReason == "" {
			t.Error("a decision without a reason")
		}
		return a.HookSpecificOutput.PermissionDecision
	}
	return "none"
}

// payload encodes an event; the fields are added to the ones that all events have.
func payload(event string, fields map[string]any) string {
	all := map[string]any{"session_id": "s-1", "transcript_path": "/tmp/t.jsonl", "cwd": "/work", "hook_event_name": event}
	for k, v := range fields {
		all[k] = v
	}
	b, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// toolCall is the payload of a tool about to run.
func toolCall(tool string, input any) string {
	return payload("PreToolUse", map[string]any{"tool_name": tool, "tool_input": input, "tool_use_id": "toolu_1"})
}

// shell is the payload of a command line about to run.
func shell(command string) string {
	return toolCall("Bash", map[string]any{"command": command, "description": "what rm -rf / does"})
}

// write makes a file with its folders.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestScriptsCanBeStarted: the run bit and a first line without a CR are what
// a copied hook most often lacks.
func TestScriptsCanBeStarted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows: no run bits")
	}
	for _, pattern := range []string{"*/*.sh"} {
		scripts, err := filepath.Glob(pattern)
		if err != nil || len(scripts) == 0 {
			t.Fatalf("no scripts match %s: %v", pattern, err)
		}
		for _, path := range scripts {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode()&0o111 == 0 {
				t.Errorf("%s: not executable: chmod +x it", path)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(text), "\n")
			if first != "#!/bin/sh" {
				t.Errorf("%s: first line %q", path, first)
			}
		}
	}
}

// TestEveryFolderHasItsManifest: a folder without HOOK.md is no hook.
func TestEveryFolderHasItsManifest(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	folders := 0
	for _, e := range entries {
		if !e.IsDir() || e.Name() == "testdata" {
			continue
		}
		folders++
		text, err := os.ReadFile(filepath.Join(e.Name(), "HOOK.md"))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, part := range []string{"What it does", "What it does not catch", "Adapt it", "Try it"} {
			if !strings.Contains(string(text), "## "+part) {
				t.Errorf("%s/HOOK.md: no section %q", e.Name(), part)
			}
		}
	}
	if folders < 8 {
		t.Errorf("%d examples, want at least 8", folders)
	}
}

// An example must not be switched off by an interpreter that is not installed.
func TestExamplesNeedNoOtherInterpreterThanSh(t *testing.T) {
	needs := regexp.MustCompile(`\b(python[0-9.]*|[gm]?awk|jq|perl|ruby|node)\b`)
	seen := 0
	err := fs.WalkDir(os.DirFS(".."), ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && (d.Name() == "node_modules" || d.Name() == "node-secrets" || d.Name() == "cases") {
				return fs.SkipDir // a plugin in another language is what that one shows
			}
			return err
		}
		text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(file)))
		if err != nil {
			return err
		}
		var runs string
		switch filepath.Ext(file) {
		case ".go":
			if strings.HasSuffix(file, "_test.go") {
				return nil
			}
			for line := range strings.Lines(string(text)) {
				if strings.Contains(line, "exec.Command(") {
					runs += line
				}
			}
		case ".md":
			front, rest := "", string(text)
			for _, mark := range []string{"+++", "---"} {
				if parts := strings.SplitN(rest, mark+"\n", 3); strings.HasPrefix(rest, mark) && len(parts) == 3 {
					front, rest = parts[1], parts[2]
				}
			}
			for line := range strings.Lines(front) {
				if key, _, _ := strings.Cut(line, "="); regexp.MustCompile(`^(command|args|shell|bins|any_bins)\b`).MatchString(key) {
					runs += line
				}
			}
			for line := range strings.Lines(rest) {
				if strings.HasPrefix(line, "    ") {
					runs += line
				}
			}
		case ".txt", ".txtar": // command lines that guards judge
		default:
			runs = file + "\n" + string(text)
			if ext := filepath.Ext(file); ext == ".py" || ext == ".awk" {
				t.Errorf("%s: a script for another interpreter", file)
			}
		}
		seen++
		if found := needs.FindString(runs); found != "" {
			t.Errorf("%s: runs %s", file, found)
		}
		return nil
	})
	if err != nil || seen < 20 {
		t.Fatalf("%d files, %v", seen, err)
	}
}
