package hooks_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/hook"
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

// Git's configuration names programs in a dozen keys. The repository here names
// one that leaves a mark in each of them, and the attempt is real: git itself
// leaves the mark.
func TestGitContextStartsNothingThatTheRepositoryChooses(t *testing.T) {
	needs(t, "sh", "git")
	dir := repository(t)
	mark := filepath.Join(t.TempDir(), "mark")
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >> '"+mark+"'\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "core.pager", "core.sshCommand", "core.askPass", "core.editor", "core.gitProxy", "credential.helper",
		"diff.external", "filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.x.textconv", "diff.x.command", "gpg.program", "alias.symbolic-ref"} {
		git(t, dir, "config", key, program)
	}
	git(t, dir, "config", "core.hooksPath", filepath.Dir(program))
	write(t, filepath.Join(dir, ".gitattributes"), "* filter=x diff=x\n")
	write(t, filepath.Join(dir, "a.txt"), "b\n")

	reg, err := tenterhook.Open(t.Context(), tenterhook.Options{Workspace: dir, Dirs: []string{one(t, "git-context")}, StateDir: t.TempDir(),
		Without: []hook.Scope{hook.ScopeManaged, hook.ScopeUser, hook.ScopePlugin, hook.ScopeProject, hook.ScopeLocal}})
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close()
	out, err := reg.Dispatch(t.Context(), hook.SessionStart{Source: "startup"})
	if err != nil || len(out.Contexts) != 1 || !strings.Contains(out.Contexts[0], "Branch: main.") {
		t.Fatalf("%v %+v", err, out)
	}
	if data, err := os.ReadFile(mark); err == nil {
		t.Fatalf("the repository's programs ran: %s", data)
	}
	cmd := exec.Command("git", "-C", dir, "status", "--short")
	cmd.Env = append(cmd.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	_ = cmd.Run() // what a program in its configuration does to it is not the matter
	if _, err := os.Stat(mark); err != nil {
		t.Error("git did not run them either, so the repository proves nothing")
	}
}

// one is a folder of hooks with one of the examples in it.
func one(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(name)); err != nil {
		t.Fatal(err)
	}
	return dir
}
