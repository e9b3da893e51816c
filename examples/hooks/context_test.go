package hooks_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// git runs git in dir, without anybody's configuration.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=A", "-c", "user.email=a@example.com",
		"-c", "commit.gpgsign=false"}, args...)...)
	cmd.Env = append(cmd.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// repository makes one with a commit.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	write(t, filepath.Join(dir, "a.txt"), "a\n")
	git(t, dir, "add", "a.txt")
	git(t, dir, "commit", "-q", "-m", "The first of all")
	return dir
}

func sessionStart() string { return payload("SessionStart", map[string]any{"source": "startup"}) }

func TestGitContextTellsBranchChangesAndCommits(t *testing.T) {
	needs(t, "sh", "git", "awk")
	dir := repository(t)
	project := "TENTERHOOK_PROJECT_DIR=" + dir
	r := run(t, "git-context", "context.sh", sessionStart(), project)
	for _, want := range []string{"Git branch: main\n", "Nothing is uncommitted.\n", "Last commits:\n", "The first of all (A, "} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in:\n%s", want, r.stdout)
		}
	}
	for i := range 25 {
		write(t, filepath.Join(dir, fmt.Sprintf("n%02d", i)), "")
	}
	r = run(t, "git-context", "context.sh", sessionStart(), project)
	for _, want := range []string{"Not committed:\n  ?? n00\n", "  ?? n19\n  and 5 more\n"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in:\n%s", want, r.stdout)
		}
	}
	if strings.Contains(r.stdout, "n20") || r.code != 0 {
		t.Errorf("more than twenty files, or exit code %d:\n%s", r.code, r.stdout)
	}
}

func TestGitContextIsSilentWithoutARepository(t *testing.T) {
	needs(t, "sh", "git")
	r := run(t, "git-context", "context.sh", sessionStart(), "TENTERHOOK_PROJECT_DIR="+t.TempDir())
	if r != (reply{}) {
		t.Errorf("got %+v, want nothing", r)
	}
}

func TestGitContextBeforeTheFirstCommit(t *testing.T) {
	needs(t, "sh", "git", "awk")
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	r := run(t, "git-context", "context.sh", sessionStart(), "TENTERHOOK_PROJECT_DIR="+dir)
	if r.code != 0 || !strings.Contains(r.stdout, "No commits yet on main") || strings.Contains(r.stdout, "Last commits") {
		t.Errorf("got %+v", r)
	}
}

// TestGitContextRunsNothingOfTheRepositorys: its configuration can name a
// program that `git status` would start.
func TestGitContextRunsNothingOfTheRepositorys(t *testing.T) {
	needs(t, "sh", "git", "awk")
	dir := repository(t)
	mark := filepath.Join(dir, "ran")
	program := filepath.Join(dir, "monitor")
	write(t, program, "#!/bin/sh\ntouch '"+mark+"'\n")
	if err := exec.Command("chmod", "+x", program).Run(); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "config", "core.fsmonitor", program)
	git(t, dir, "config", "core.pager", program)
	run(t, "git-context", "context.sh", sessionStart(), "TENTERHOOK_PROJECT_DIR="+dir)
	if found, _ := filepath.Glob(mark); found != nil {
		t.Error("the repository's core.fsmonitor or core.pager was run")
	}
}

func TestHouseRulesPrintsRulesAndDate(t *testing.T) {
	needs(t, "sh")
	before := time.Now().Format("2006-01-02")
	r := run(t, "house-rules", "rules.sh", sessionStart())
	after := time.Now().Format("2006-01-02")
	if r.code != 0 || !strings.Contains(r.stdout, "House rules") || r.stderr != "" {
		t.Errorf("got %+v", r)
	}
	if !strings.Contains(r.stdout, "Today is "+before) && !strings.Contains(r.stdout, "Today is "+after) {
		t.Errorf("no date of today in %q", r.stdout)
	}
	if strings.HasPrefix(strings.TrimSpace(r.stdout), "{") {
		t.Error("the text would be read as JSON")
	}
}
