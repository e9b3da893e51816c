package hooks_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stopping is a project with a session that may want to stop.
type stopping struct {
	*testing.T
	dir string
	env []string
}

func newStopping(t *testing.T, dir, command string) *stopping {
	needs(t, "go", "sh")
	return &stopping{T: t, dir: dir, env: []string{"TENTERHOOK_PROJECT_DIR=" + dir, "HOME=" + t.TempDir(),
		"TENTERHOOK_TEST_COMMAND=" + command}}
}

func (s *stopping) begin() {
	s.Helper()
	if r := run(s.T, "tests-before-stop", "run.sh", sessionStart(), s.env...); r != (reply{}) {
		s.Errorf("SessionStart: got %+v, want nothing", r)
	}
}

func (s *stopping) stop(again bool) answer {
	s.Helper()
	r := run(s.T, "tests-before-stop", "run.sh", payload("Stop", map[string]any{"stop_hook_active": again}), s.env...)
	if r.code != 0 || r.stderr != "" {
		s.Fatalf("Stop: %+v", r)
	}
	return r.parse(s.T)
}

// runs counts how often a test command that appends to the log has run.
func runs(t *testing.T, log string) int {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

func TestTestsBeforeStopHoldsAnAgentWhoseTestsFail(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	dir := t.TempDir()
	s := newStopping(t, dir, "echo run >> '"+log+"'; echo first; echo 'want 1, got 2'; test -e fixed")
	write(t, filepath.Join(dir, "a.txt"), "1")
	s.begin()
	if a := s.stop(false); a != (answer{}) || runs(t, log) != 0 {
		t.Errorf("nothing changed: got %+v after %d runs, want nothing after none", a, runs(t, log))
	}
	write(t, filepath.Join(dir, "a.txt"), "22")
	a := s.stop(false)
	if a.Decision != "block" || !strings.Contains(a.Reason, "exit code 1") || !strings.Contains(a.Reason, "want 1, got 2") {
		t.Errorf("failing tests: got %+v", a)
	}
	if a := s.stop(true); a.Decision != "" || !strings.Contains(a.SystemMessage, "still fail") || runs(t, log) != 1 {
		t.Errorf("sent back and nothing done: got %+v after %d runs, want a message after one", a, runs(t, log))
	}
	write(t, filepath.Join(dir, "fixed"), "")
	if a := s.stop(true); a != (answer{}) || runs(t, log) != 2 {
		t.Errorf("mended: got %+v after %d runs, want nothing after two", a, runs(t, log))
	}
	if a := s.stop(false); a != (answer{}) || runs(t, log) != 2 {
		t.Errorf("passed before: got %+v after %d runs, want nothing after two", a, runs(t, log))
	}
}

func TestTestsBeforeStopGivesUpAfterThreeRounds(t *testing.T) {
	dir := t.TempDir()
	s := newStopping(t, dir, "exit 3")
	for i := range 3 {
		write(t, filepath.Join(dir, "a.txt"), strings.Repeat("x", i+1))
		if a := s.stop(i > 0); a.Decision != "block" || !strings.Contains(a.Reason, "exit code 3") {
			t.Fatalf("round %d: got %+v, want a block", i+1, a)
		}
	}
	write(t, filepath.Join(dir, "a.txt"), "something else")
	if a := s.stop(true); a.Decision != "" || a.SystemMessage == "" {
		t.Errorf("the fourth round: got %+v, want a message alone", a)
	}
	if a := s.stop(false); a.Decision != "block" {
		t.Errorf("a later turn: got %+v, want a block", a)
	}
}

// TestTestsBeforeStopRemembersNoNamelessSession: all of those would look like
// one, and a start that was noted in one would let another go unchecked.
func TestTestsBeforeStopRemembersNoNamelessSession(t *testing.T) {
	s := newStopping(t, t.TempDir(), "exit 1")
	run(t, "tests-before-stop", "run.sh", payload("SessionStart", map[string]any{"session_id": ""}), s.env...)
	r := run(t, "tests-before-stop", "run.sh", payload("Stop", map[string]any{"session_id": ""}), s.env...)
	if r.verdict(t) != "deny" {
		t.Errorf("got %+v, want a block", r)
	}
}

func TestTestsBeforeStopSaysWhatItCouldNotCheck(t *testing.T) {
	s := newStopping(t, t.TempDir(), "exec sleep 60")
	s.env = append(s.env, "TENTERHOOK_TEST_TIMEOUT=0.2")
	if a := s.stop(false); a.Decision != "" || !strings.Contains(a.SystemMessage, "did not finish within 0.2 s") {
		t.Errorf("no end: got %+v", a)
	}
}

func TestTestsBeforeStopFindsTheProjectsTests(t *testing.T) {
	needs(t, "go", "sh")
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // the command, which is not installed here
	}{
		{"go", map[string]string{"go.mod": "module x\n", "Makefile": "test:\n"}, "go test ./..."},
		{"npm", map[string]string{"package.json": `{"scripts":{"test":"jest"}}`}, "npm test"},
		{"pnpm", map[string]string{"package.json": `{"scripts":{"test":"jest"}}`, "pnpm-lock.yaml": ""}, "pnpm test"},
		{"npm's own placeholder", map[string]string{"package.json": `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`}, ""},
		{"no script", map[string]string{"package.json": `{}`}, ""},
		{"not JSON", map[string]string{"package.json": `{`}, ""},
		{"pytest", map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\n"}, "pytest -q"},
		{"make", map[string]string{"Makefile": "all:\n\ttrue\ntest: all\n"}, "make test"},
		{"nothing", map[string]string{"README.md": "test:\n"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range c.files {
				write(t, filepath.Join(dir, name), text)
			}
			s := newStopping(t, dir, "")
			s.env = append(s.env, "PATH="+onlyStarter(t))
			want := ""
			if c.want != "" {
				program, _, _ := strings.Cut(c.want, " ")
				want = fmt.Sprintf("tests-before-stop: `%s` cannot run, because %s is not installed; nothing was checked.", c.want, program)
			}
			if a := s.stop(false); a.SystemMessage != want || a.Decision != "" {
				t.Errorf("got  %+v\nwant %q", a, want)
			}
		})
	}
}

// onlyStarter returns a folder for PATH in which nothing is but what starts a
// program that was built before.
func onlyStarter(t *testing.T) string {
	t.Helper()
	run(t, "tests-before-stop", "run.sh", sessionStart()) // builds it
	bin := t.TempDir()
	for _, name := range []string{"cat", "cksum", "tr"} {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Skip(err)
		}
		if err := os.Symlink(program, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

func TestTestsBeforeStopSeesChangesThroughGit(t *testing.T) {
	needs(t, "git")
	log := filepath.Join(t.TempDir(), "log")
	dir := repository(t)
	write(t, filepath.Join(dir, ".gitignore"), "ignored\n")
	s := newStopping(t, dir, "echo run >> '"+log+"'")
	s.begin()
	write(t, filepath.Join(dir, "ignored"), "x")
	s.stop(false)
	if n := runs(t, log); n != 0 {
		t.Errorf("an ignored file changed: %d runs, want none", n)
	}
	write(t, filepath.Join(dir, "sub", "new é.txt"), "x")
	s.stop(false)
	s.stop(false)
	if n := runs(t, log); n != 1 {
		t.Errorf("a new file: %d runs, want one", n)
	}
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "more")
	s.stop(false)
	if n := runs(t, log); n != 2 {
		t.Errorf("a commit: %d runs, want two", n)
	}
}
