// Command tests-before-stop lets the agent stop only when the project's tests
// pass.
//
// On SessionStart it notes how the project looks, so that a session that changes
// nothing costs no test run. On Stop it runs the tests if something did change.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	rounds = 3        // failures in a row after which the agent may stop all the same
	lines  = 40       // of a failing run, which the model gets
	kept   = 64 << 10 // bytes of a run's output
)

// event is what a SessionStart or Stop event says.
type event struct {
	Event     string `json:"hook_event_name"`
	SessionID string `json:"session_id"`
	Cwd       string `json:"cwd"`
	Again     bool   `json:"stop_hook_active"`
}

// answer is what the agent gets.
type answer struct {
	Decision      string `json:"decision,omitempty"`
	Reason        string `json:"reason,omitempty"`
	SystemMessage string `json:"systemMessage,omitempty"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "tests-before-stop:", err)
		os.Exit(1)
	}
}

func run() error {
	var e event
	if err := json.NewDecoder(os.Stdin).Decode(&e); err != nil {
		return err
	}
	project, err := filepath.Abs(cmp.Or(os.Getenv("TENTERHOOK_PROJECT_DIR"), os.Getenv("CLAUDE_PROJECT_DIR"), e.Cwd, "."))
	if err != nil {
		return err
	}
	if project, err = filepath.EvalSymlinks(project); err != nil {
		return err
	}
	s, err := load(project, e.SessionID)
	if err != nil {
		return err
	}
	if e.Event == "SessionStart" {
		if e.SessionID == "" || s.session.Start != "" { // a resumed or compacted session keeps its own
			return nil
		}
		s.session.Start = fingerprint(project)
		return s.save()
	}
	a := judge(project, s, e.Again)
	if err := s.save(); err != nil {
		return err
	}
	if a == (answer{}) {
		return nil
	}
	return json.NewEncoder(os.Stdout).Encode(a)
}

// judge answers a Stop; the zero answer lets the agent stop.
func judge(project string, s *state, again bool) answer {
	session, now := s.session, fingerprint(project)
	if !again {
		session.Rounds = 0
	}
	if now == session.Start || now == s.Passed {
		return answer{}
	}
	if again && (now == session.Failed || session.Rounds >= rounds) {
		return answer{SystemMessage: "tests-before-stop: the tests still fail; the agent was let go."}
	}
	command := testCommand(project)
	if command == nil {
		return answer{}
	}
	shown := strings.Join(command, " ")
	code, output, err := runTests(command, project)
	now = fingerprint(project) // a test run may leave files behind
	switch {
	case err != nil:
		return answer{SystemMessage: fmt.Sprintf("tests-before-stop: `%s` %v; nothing was checked.", shown, err)}
	case code == 0:
		s.Passed = now
		return answer{}
	}
	session.Failed = now
	session.Rounds++
	tail := strings.Split(strings.TrimSpace(output), "\n")
	return answer{Decision: "block", Reason: fmt.Sprintf("`%s` fails (exit code %d). Make it pass, or say why you cannot.\n%s",
		shown, code, strings.Join(tail[max(0, len(tail)-lines):], "\n"))}
}

var makeTarget = regexp.MustCompile(`(?m)^test:`)

// testCommand is the project's own way to test itself; nil = it shows none.
func testCommand(project string) []string {
	has := func(name string) bool {
		info, err := os.Stat(filepath.Join(project, name))
		return err == nil && info.Mode().IsRegular()
	}
	text := func(name string) string {
		data, _ := os.ReadFile(filepath.Join(project, name)) // a file that cannot be read shows nothing
		return string(data)
	}
	if own := os.Getenv("TENTERHOOK_TEST_COMMAND"); own != "" {
		return []string{"sh", "-c", own}
	}
	if has("go.mod") {
		return []string{"go", "test", "./..."}
	}
	var pkg struct {
		Scripts struct {
			Test string `json:"test"`
		} `json:"scripts"`
	}
	if json.Unmarshal([]byte(text("package.json")), &pkg) == nil && pkg.Scripts.Test != "" && !strings.Contains(pkg.Scripts.Test, "no test specified") {
		switch {
		case has("pnpm-lock.yaml"):
			return []string{"pnpm", "test"}
		case has("yarn.lock"):
			return []string{"yarn", "test"}
		}
		return []string{"npm", "test"}
	}
	if has("pytest.ini") || has("conftest.py") || has("tests/conftest.py") || strings.Contains(text("pyproject.toml"), "pytest") {
		if local, err := exec.LookPath(filepath.Join(project, ".venv", "bin", "pytest")); err == nil {
			return []string{local, "-q"}
		}
		return []string{"pytest", "-q"}
	}
	if makeTarget.MatchString(text("Makefile")) {
		return []string{"make", "test"}
	}
	return nil
}

// runTests returns the exit code and the end of the output, or why there is none.
func runTests(command []string, project string) (code int, output string, err error) {
	if _, err := exec.LookPath(command[0]); err != nil {
		return 0, "", fmt.Errorf("cannot run, because %s is not installed", command[0])
	}
	// To a file: a daemon that a test leaves behind could hold a pipe open.
	out, err := os.CreateTemp("", "tests-before-stop-")
	if err != nil {
		return 0, "", fmt.Errorf("cannot run: %w", err)
	}
	defer os.Remove(out.Name())
	defer out.Close()
	limit, err := strconv.ParseFloat(cmp.Or(os.Getenv("TENTERHOOK_TEST_TIMEOUT"), "240"), 64) // seconds; keep it below HOOK.md's
	if err != nil {
		return 0, "", fmt.Errorf("cannot run: TENTERHOOK_TEST_TIMEOUT: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(limit*float64(time.Second)))
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = project, out, out, append(os.Environ(), "CI=true")
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 0, "", fmt.Errorf("did not finish within %g s", limit)
	case err != nil && !errors.As(err, &exit):
		return 0, "", fmt.Errorf("cannot run: %w", err)
	}
	code = cmd.ProcessState.ExitCode()
	if code == 5 && filepath.Base(command[0]) == "pytest" {
		code = 0 // pytest found no tests
	}
	return code, tail(out), nil
}

// tail is the end of a file that was written to.
func tail(file *os.File) string {
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	data, _ := io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-kept), kept))
	return strings.ToValidUTF8(string(data), "\uFFFD")
}
