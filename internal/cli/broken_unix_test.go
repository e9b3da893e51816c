//go:build !windows

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What certainly starts nothing is said by list, why and check before it runs,
// and by run when it did.
func TestEveryCommandSaysWhichLinesStartNothing(t *testing.T) {
	dir := hermetic(t)
	lines := []string{"exec ./missing.sh", "timeout 5 ./missing.sh", "FOO=bar missing", "bash -c ./missing.sh", "( ./missing.sh )", "! ./missing",
		"./missing.sh && true", "cd sub && ./x.sh", "env A=1 missing", "nice ./missing", "if ./missing; then ./there.sh; fi",
		`"$CLAUDE_PROJECT_DIR"/missing.sh`, "node missing.js", "bash missing.sh", ". ./missing.sh", "source ./missing", "./missing &"}
	const works = "if ./missing; then :; else ./there.sh; fi"
	for i, line := range append(lines, works) {
		if word, _, _ := strings.Cut(line, " "); word == "node" || word == "bash" {
			if _, err := exec.LookPath(word); err != nil {
				line = "./missing"
			}
		}
		home := filepath.Join(dir, "hooks", fmt.Sprintf("h%02d", i))
		if err := os.MkdirAll(filepath.Join(home, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"HOOK.md": "+++\nevent = \"PreToolUse\"\ncommand = '''" + line + "'''\n+++\n", "there.sh": "#!/bin/sh\n"} {
			if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, list, _ := call(t, "list", "--dir", "hooks", "--json")
	var listed struct {
		Hooks []struct{ ID, State string }
	}
	if err := json.Unmarshal([]byte(list), &listed); err != nil || len(listed.Hooks) != len(lines)+1 {
		t.Fatalf("%v: %s", err, list)
	}
	for i, h := range listed.Hooks {
		if want := map[bool]string{true: "ready", false: "ineligible"}[i == len(lines)]; h.State != want {
			t.Errorf("list: %s is %s", append(lines, works)[i], h.State)
		}
	}
	if code, out, _ := call(t, "check", "hooks"); code != 1 || strings.Count(out, "warning: ") != len(lines) {
		t.Errorf("check: %d\n%s", code, out)
	}
	if _, out, _ := call(t, "why", "PreToolUse", "--dir", "hooks", "--tool", "Bash"); strings.Count(out, "ineligible") != len(lines) {
		t.Errorf("why:\n%s", out)
	}
	_, out, _ := call(t, "run", "PreToolUse", "--dir", "hooks", "--tool", "Bash", "--json")
	var ran struct {
		Results []struct{ Hook, Status, Failure string }
	}
	if err := json.Unmarshal([]byte(out), &ran); err != nil || len(ran.Results) != len(lines)+1 {
		t.Fatalf("%v: %s", err, out)
	}
	for i, r := range ran.Results {
		if want := map[bool]string{true: "", false: "start"}[i == len(lines)]; r.Failure != want && !strings.Contains(append(lines, works)[i], ". ./missing") {
			t.Errorf("run: %s: %s %q", append(lines, works)[i], r.Status, r.Failure)
		}
	}
}
