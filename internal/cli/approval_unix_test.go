//go:build !windows

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// newTrial is an empty workspace of a user who has approved nothing.
func newTrial(t *testing.T) *trial {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	removable(t, base)
	t.Setenv("HOME", filepath.Join(base, "home"))
	for _, name := range []string{"CONFIG", "DATA", "STATE", "CACHE"} {
		t.Setenv("XDG_"+name+"_HOME", filepath.Join(base, "home", strings.ToLower(name)))
	}
	w := &trial{t: t, root: filepath.Join(base, "ws"), mark: filepath.Join(base, "mark")}
	w.put("README", "x")
	return w
}

func TestPromptShowsEverythingThatDecidesWhatRuns(t *testing.T) {
	w := newTrial(t)
	w.put(".tenterhook/hooks/h/run.sh", "first")
	w.write(".tenterhook/hooks/h/HOOK.md", `+++
events = ["PreToolUse", "PostToolUse"]
matcher = "Bash|Edit"
if = "Bash(git *)"
command = "./run.sh"
args = ["--fast", "two words"]
timeout = 7
protocol = "moltis"
on_failure = "block"
rewrites = true
once = true
priority = 42
[env]
MODE = "strict value"
[requires]
bins = ["sh"]
[breaker]
failures = 3
+++
`)
	w.write(".tenterhook/settings.json", `{"hooks": {"PreToolUse": [{"hooks": [
		{"type": "command", "command": "true", "shell": "bash", "async": true},
		{"type": "http", "url": "https://example.com/x", "headers": {"X-Key": "value"}},
		{"type": "prompt", "prompt": "judge it", "model": "small"},
		{"type": "mcp_tool", "server": "s1", "tool": "t1"}]}]}}`)
	_, out := w.tenterhook("trust", "--all", "--yes")
	for _, want := range []string{"PreToolUse", "PostToolUse", "Bash|Edit", "Bash(git *)", "./run.sh", "--fast", "two words", "7s", "moltis", "block",
		"rewrites +true", "once +true", "priority +42", "env.MODE +strict value", "requires.bins +sh", "breaker.failures +3", "shell +bash", "async +true",
		"https://example.com/x", "headers.X-Key +value", "judge it", "small", "s1", "t1", `file +run.sh \(\d+ bytes, executable\)`, `\| echo first >> `} {
		if !regexp.MustCompile(strings.NewReplacer("(git *)", `\(git \*\)`, "|Edit", `\|Edit`).Replace(want)).MatchString(out) {
			t.Errorf("%q is not shown", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// Nothing that comes from the repository begins a line as a fact does, moves the
// cursor, or is lost behind what is long.
func TestNothingOfARepositoryForgesThePrompt(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	w := newTrial(t)
	const forged = "  command     ls"
	evil := "./run.sh\n" + forged + "\r" + forged + "\x1b[2J\u202e\u2066\u200b\u2028" + forged + strings.Repeat(" ", 500) + "; end"
	command, _ := json.Marshal(evil)
	w.put("run.sh", "first")
	w.write(".tenterhook/settings.json", `{"hooks": {"PreToolUse": [{"matcher": `+string(command)+`, "hooks": [{"type": "command", "command": `+string(command)+
		`, "env": {"A": `+string(command)+`}}]}]}}`)
	w.write(".tenterhook/hooks/h/HOOK.md", "+++\nevent = \"PreToolUse\"\ncommand = \"./last.sh\"\n+++\n")
	w.write(".tenterhook/hooks/h/last.sh", strings.Repeat("x", 3000)+"\n"+forged+"\n\x1b[2Jx\n"+strings.Repeat("line\n", 1000))
	w.write(".tenterhook/hooks/h/a\n"+forged, "")
	for i := range 3000 {
		w.write(fmt.Sprintf(".tenterhook/hooks/h/many/%04d", i), forged+"\n")
	}
	for _, id := range []string{"project/h", "project/settings.json:PreToolUse[0].0"} {
		_, out := w.tenterhook("trust", id, "--yes", "--unbound")
		for line := range strings.SplitSeq(out, "\n") {
			if strings.HasPrefix(line, forged) || strings.ContainsAny(line, "\r\x1b\u202e\u2066\u200b\u2028") {
				t.Errorf("%s: a line is forged: %q", id, line)
			}
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if len(lines) > 700 {
			t.Errorf("%s: %d lines", id, len(lines))
		}
		last := strings.Join(lines[max(0, len(lines)-40):], "\n")
		if want := map[bool]string{true: "command     ./last.sh", false: `command     ./run.sh\n`}[id == "project/h"]; !strings.Contains(last, want) {
			t.Errorf("%s: what runs is not among the last lines:\n%s", id, last)
		}
		if id != "project/h" {
			if !strings.Contains(last, "; end") || !strings.Contains(out, `\x20{500}`) {
				t.Errorf("what is behind many spaces is not seen:\n%s", last)
			}
			continue
		}
		for _, want := range []string{"characters more in this line", "and 803 lines more", "3003 in all", "    |   command     ls"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not said", want)
			}
		}
	}
}

// A file of the same ID elsewhere in the workspace does not take a revocation.
func TestRevocationReachesEveryApprovalOfTheID(t *testing.T) {
	w := newTrial(t)
	good := "+++\nname = \"guard\"\nevent = \"PreToolUse\"\ncommand = \"./run.sh\"\n+++\n"
	for _, dir := range []string{"guard", "a-decoy"} {
		w.put(".tenterhook/hooks/"+dir+"/run.sh", "first")
		w.write(".tenterhook/hooks/"+dir+"/HOOK.md", good)
	}
	if code, out := w.tenterhook("trust", "project/guard", "--yes"); code != 0 || strings.Count(out, "approved project/guard") != 2 {
		t.Fatalf("%d %s", code, out)
	}
	hidden := filepath.Join(w.root, "hidden")
	if err := os.Rename(filepath.Join(w.root, ".tenterhook/hooks/guard"), hidden); err != nil {
		t.Fatal(err)
	}
	if code, out := w.tenterhook("trust", "--revoke", "project/guard"); code != 0 || !strings.Contains(out, "revoked 2 approvals") {
		t.Errorf("%d %s", code, out)
	}
	if err := os.Rename(hidden, filepath.Join(w.root, ".tenterhook/hooks/guard")); err != nil {
		t.Fatal(err)
	}
	if marks, out := w.run(""); marks != "" {
		t.Errorf("it runs: %q %s", marks, out)
	}
}

// Another user than root gets what is tested above, too.
func TestAnotherUserRunsWhatWasApproved(t *testing.T) {
	if testing.Short() {
		t.Skip("long: runs TestWhatWasApprovedIsWhatRuns again")
	}
	setpriv, err := exec.LookPath("setpriv")
	if os.Getuid() != 0 || err != nil {
		t.Skip("needs root and setpriv")
	}
	t.Parallel()
	dir, err := os.MkdirTemp("", "other")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "test")
	if err := os.WriteFile(binary, data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", binary, "-test.run=^TestWhatWasApprovedIsWhatRuns$", "-test.v")
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestWhatWasApprovedIsWhatRuns/path") {
		t.Errorf("%v\n%s", err, out)
	}
}
