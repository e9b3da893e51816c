package agents

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestVerifyFindsWhatDisarmsTheEntries(t *testing.T) {
	settings := func(e Env) string { return filepath.Join(e.Home, ".claude/settings.json") }
	replace := func(path, old, now string) error {
		data, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(path, bytes.Replace(data, []byte(old), []byte(now), 1), 0o644))
	}
	for name, tt := range map[string]struct {
		spoil func(e Env) error
		want  string // a code; "" = nothing is found
	}{
		"nothing":             {func(Env) error { return nil }, ""},
		"the file is gone":    {func(e Env) error { return os.Remove(settings(e)) }, "entry_gone"},
		"an entry is gone":    {func(e Env) error { return replace(settings(e), "claude PreToolUse;", "claude Nothing;") }, "entry_changed"},
		"another timeout":     {func(e Env) error { return replace(settings(e), `"timeout":630`, `"timeout":1`) }, "entry_changed"},
		"the list is empty":   {func(e Env) error { return os.WriteFile(settings(e), []byte(`{"hooks":{}}`), 0o644) }, "entry_gone"},
		"it does not parse":   {func(e Env) error { return os.WriteFile(settings(e), []byte(`{`), 0o644) }, "unreadable"},
		"the program is gone": {func(e Env) error { return os.Remove(e.Program) }, "program_gone"},
		"a switch of the project": {func(e Env) error {
			path := filepath.Join(e.Project, ".claude/settings.local.json")
			return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(`{"disableAllHooks": true}`), 0o644))
		}, "switched_off"},
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
			if tt.want == "" && len(codes) > 0 || tt.want != "" && !slices.Contains(codes, tt.want) {
				t.Errorf("found %v, want %q", codes, tt.want)
			}
		})
	}
}
