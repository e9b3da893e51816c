package hooktest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Command is an engine that is started again for each event: the tenterhook
// command, or another that takes the same words. It skips the cases that need
// an option the command line lacks, or a memory from one event to the next.
//
// Its user's scopes are empty folders. The managed scope of the machine cannot
// be left out: where one has hooks, they run too.
func Command(program string, args ...string) Engine {
	return commandEngine{append([]string{program}, args...)}
}

type commandEngine struct{ argv []string }

func (e commandEngine) Open(_ context.Context, s Setup) (Session, error) {
	o := s.Options
	if o.Serial || o.StrictCompat || o.NonInteractive || o.StopLimit != nil || o.OneProcess || s.Schema != nil {
		return nil, fmt.Errorf("%s has no option for what the case needs: %w", filepath.Base(e.argv[0]), errors.ErrUnsupported)
	}
	flags := []string{"--json", "--payload", "-", "--workspace", s.Workspace}
	for _, dir := range s.Dirs {
		flags = append(flags, "--dir", dir)
	}
	if o.NoHooks {
		flags = append(flags, "--no-hooks")
	}
	env := append([]string{"XDG_CONFIG_HOME=" + s.Home, "XDG_DATA_HOME=" + s.Home, "XDG_STATE_HOME=" + s.Home}, s.Env...)
	return &commandSession{e.argv, flags, env, s.Workspace}, nil
}

type commandSession struct {
	argv, flags, env []string
	dir              string
}

func (s *commandSession) Select(ctx context.Context, payload []byte) ([]byte, error) {
	out, _, err := s.run(ctx, "why", payload)
	return out, err
}

// exitCodes are what the command ends with for each verdict.
var exitCodes = map[string]int{"none": 0, "allow": 0, "deny": 2, "ask": 3, "defer": 3}

func (s *commandSession) Dispatch(ctx context.Context, payload []byte) ([]byte, error) {
	out, code, err := s.run(ctx, "run", payload)
	if err != nil {
		return nil, err
	}
	var outcome struct{ Verdict string }
	if err := json.Unmarshal(out, &outcome); err != nil {
		return nil, fmt.Errorf("it printed no outcome: %w: %s", err, out)
	}
	if want, ok := exitCodes[outcome.Verdict]; !ok || want != code {
		return nil, fmt.Errorf("verdict %q came with exit code %d", outcome.Verdict, code)
	}
	return out, nil
}

func (s *commandSession) Close() ([]byte, error) { return nil, nil }

// run runs a subcommand. An exit code of 1, or of a crash, is an error.
func (s *commandSession) run(ctx context.Context, word string, payload []byte) ([]byte, int, error) {
	args := append(append(s.argv[1:len(s.argv):len(s.argv)], word), s.flags...)
	cmd := exec.CommandContext(ctx, s.argv[0], args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(payload), &stdout, &stderr
	cmd.Env, cmd.Dir = s.env, s.dir
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && (exit.ExitCode() == 2 || exit.ExitCode() == 3):
		return stdout.Bytes(), exit.ExitCode(), nil
	case err != nil:
		return nil, 0, fmt.Errorf("%s: %w: %s", word, err, strings.TrimSpace(stderr.String()))
	}
	return stdout.Bytes(), 0, nil
}
