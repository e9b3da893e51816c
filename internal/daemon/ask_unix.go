//go:build linux || darwin

package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/tenterhook/tenterhook/internal/daemon/client"
)

// askWithin is how long a daemon may take to answer a question of the command.
const askWithin = 5 * time.Second

// ErrNoDaemon is returned where no daemon runs.
var ErrNoDaemon = errors.New("no daemon runs")

// Ask returns the status of the daemon of an environment. ErrNoDaemon = none runs.
func Ask(env []string) (*Status, error) {
	answer, err := ask(env, kindStatus)
	if err != nil {
		return nil, err
	}
	var s Status
	if err := json.Unmarshal(answer.Stdout, &s); err != nil {
		return nil, fmt.Errorf("the daemon's answer cannot be read: %w", err)
	}
	if s.PID <= 1 { // a signal to 0 or below goes to whole groups of processes
		return nil, fmt.Errorf("the daemon's answer names no process: %q", answer.Stdout)
	}
	return &s, nil
}

// Stop has the daemon finish what is under way, and waits for its end, at most
// for the time given. ErrNoDaemon = none runs.
func Stop(env []string, within time.Duration) error {
	status, err := Ask(env)
	if err != nil {
		return err
	}
	answer, err := ask(env, kindStop)
	if err != nil {
		return err
	}
	if answer.ExitCode != 0 {
		return errors.New(string(answer.Stderr))
	}
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if errors.Is(syscall.Kill(status.PID, 0), syscall.ESRCH) {
			return nil
		}
	}
	return fmt.Errorf("the daemon (pid %d) takes no more calls, and still finishes what is under way", status.PID)
}

// askReset has the daemon close the breakers of a hook.
func askReset(env []string, id string) (hooks []string, err error) {
	answer, err := ask(env, kindReset, []byte(id))
	if err != nil {
		return nil, err
	}
	if answer.ExitCode != 0 {
		return nil, errors.New(string(answer.Stderr))
	}
	if err := json.Unmarshal(answer.Stdout, &hooks); err != nil {
		return nil, fmt.Errorf("the daemon's answer cannot be read: %w", err)
	}
	return hooks, nil
}

func ask(env []string, kind byte, fields ...[]byte) (*client.Answer, error) {
	c, err := net.DialTimeout("unix", Place(env).Socket, askWithin)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, ErrNoDaemon
	}
	if err != nil {
		return nil, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(askWithin))
	if _, err := c.Write(client.AppendFrame(nil, kind, fields...)); err != nil {
		return nil, err
	}
	_, said, err := client.ReadFrame(func(b []byte) error { _, err := io.ReadFull(c, b); return err })
	if err != nil {
		return nil, fmt.Errorf("the daemon did not answer: %w", err)
	}
	return client.ParseAnswer(said)
}
