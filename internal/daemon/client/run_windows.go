package client

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/tenterhook/tenterhook/bridge/closed"
)

// Main answers one hook entry and ends the process. There is no daemon on
// Windows: the tenterhook beside this program decides in a process of its own.
func Main(args []string) {
	where, _, args := options(args)
	if len(args) != 2 {
		os.Stderr.WriteString("usage: tenterhook-bridge [--env VARIABLE=VALUE]... AGENT EVENT\n" +
			"It has tenterhook answer a hook call of an agent; 'tenterhook install' writes the entries that run it.\n")
		os.Exit(usageCode(args))
	}
	answer, err := direct(where, args[0], args[1])
	if err != nil {
		a := closed.Undecided(args[0], args[1], err.Error())
		answer = &Answer{Stdout: []byte(a.Stdout), Stderr: []byte(a.Stderr), ExitCode: a.ExitCode}
	}
	_, err = os.Stdout.Write(answer.Stdout)
	_, _ = os.Stderr.Write(answer.Stderr)
	os.Exit(answer.Code(args[0], args[1], os.Stdout, err))
}

// direct has the tenterhook beside this program decide. It fails if that cannot be started, crashes, or is later than
// what it allows itself: nothing of what it printed then counts.
func direct(where []string, agent, event string) (*Answer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	limit := closed.Deadline(agent, event)
	limit += (closed.Timeout(agent, event) - limit) / 2
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	args := bridgeArgs(filepath.Join(filepath.Dir(self), "tenterhook.exe"), where, agent, event)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = os.Stdin, &out, &said, 2*time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("no answer within " + limit.String())
	case err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay):
		return nil, err
	}
	code := cmd.ProcessState.ExitCode()
	if code != 0 && code != 2 || crashed(said.Bytes()) { // Go ends with 2, too
		return nil, errors.New("tenterhook ended with exit code " + strconv.Itoa(code) + ": " + said.String())
	}
	return &Answer{Stdout: out.Bytes(), Stderr: said.Bytes(), ExitCode: code}, nil
}
