package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	programs "github.com/tenterhook/tenterhook/internal/built"
)

func TestVerifyFindsWhatDisarmsTheEntries(t *testing.T) {
	settings := func(e Env) string { return filepath.Join(e.Home, ".claude/settings.json") }
	replace := func(path, old, now string) error {
		data, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(path, bytes.Replace(data, []byte(old), []byte(now), 1), 0o644))
	}
	entry := [2]string{"claude PreToolUse;", "claude PostToolUse;"}
	if runtime.GOOS == "windows" {
		entry = [2]string{`"PreToolUse"]`, `"PostToolUse"]`}
	}
	for name, tt := range map[string]struct {
		spoil func(e Env) error
		want  string // a code; "" = nothing is found
	}{
		"nothing":             {func(Env) error { return nil }, ""},
		"the file is gone":    {func(e Env) error { return os.Remove(settings(e)) }, "entry_gone"},
		"another event":       {func(e Env) error { return replace(settings(e), entry[0], entry[1]) }, "entry_changed"},
		"another timeout":     {func(e Env) error { return replace(settings(e), `"timeout":630`, `"timeout":1`) }, "entry_changed"},
		"the list is empty":   {func(e Env) error { return os.WriteFile(settings(e), []byte(`{"hooks":{}}`), 0o644) }, "entry_gone"},
		"it does not parse":   {func(e Env) error { return os.WriteFile(settings(e), []byte(`{`), 0o644) }, "unreadable"},
		"the program is gone": {func(e Env) error { return os.Remove(e.Program) }, "program_gone"},
		"a switch of the project": {func(e Env) error {
			path := filepath.Join(e.Project, ".claude/settings.local.json")
			return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(`{"disableAllHooks": true}`), 0o644))
		}, "switched_off"},
		"the agent wrote it anew": {func(e Env) error {
			data, err := os.ReadFile(settings(e))
			var spaced bytes.Buffer
			return errors.Join(err, json.Indent(&spaced, data, " ", "\t"), os.WriteFile(settings(e), spaced.Bytes(), 0o644))
		}, "file_changed"},
		"another tool's key": {func(e Env) error { return replace(settings(e), "{", "{\n  \"theirs\": 1,") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e, a := testEnv(t), agent(t, "claude")
			install(t, e, a, User)
			if err := tt.spoil(e); err != nil {
				t.Fatal(err)
			}
			var codes []string
			for _, d := range e.Verify(e.State(a), User) {
				codes = append(codes, d.Code)
			}
			if tt.want == "" && len(codes) > 0 || tt.want != "" && !slices.Contains(codes, tt.want) || tt.want == "file_changed" && len(codes) > 1 {
				t.Errorf("found %v, want %q", codes, tt.want)
			}
		})
	}
}

// The entries of an installation that was removed call a program that is gone.
func TestVerifyFindsThatTheEntriesCallAProgramThatIsGone(t *testing.T) {
	e, a := testEnv(t), agent(t, "claude")
	old := e
	old.Program = programs.Program(t.TempDir(), "tenterhook-bridge")
	if err := os.WriteFile(old.Program, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	install(t, old, a, User)
	found := func() (gone bool) {
		for _, d := range e.Verify(e.State(a), User) {
			gone = gone || d.Code == "program_gone" && d.Path == old.Program && d.Hint != ""
		}
		return gone
	}
	if found() {
		t.Error("it is there")
	}
	if err := os.Remove(old.Program); err != nil {
		t.Fatal(err)
	}
	if !found() {
		t.Error("nothing says so")
	}
}
