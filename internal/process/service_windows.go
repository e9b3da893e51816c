package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/internal/sandbox"
	"golang.org/x/sys/windows"
)

// keeper holds the job that the child of a service runs in.
type keeper struct {
	grace time.Duration
	stop  sync.Once

	mu     sync.Mutex
	job    windows.Handle
	closed bool
}

// start starts the child in a job, and a goroutine that waits for it. Its error is the system's.
func (s *Service) start(spec *Spec, _ string, noStdin bool) error {
	if missing := spec.Sandbox.Missing(); len(missing) > 0 {
		return &sandbox.Error{Missing: missing}
	}
	cmd, err := command(context.Background(), spec)
	if err != nil {
		return err
	}
	cmd.Stderr = &s.stderr
	cmd.WaitDelay = drainFor

	stdin, stdout, closeTheirs, err := servicePipes(cmd, noStdin)
	if err != nil {
		return err
	}
	defer closeTheirs()
	job, err := newJob()
	if err == nil {
		if err = cmd.Start(); err == nil {
			if err = assign(job, cmd.Process.Pid); err != nil {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			}
		}
		if err != nil {
			windows.CloseHandle(job)
		}
	}
	if err != nil {
		if stdin != nil {
			stdin.Close()
		}
		stdout.Close()
		return err
	}
	s.grace, s.job, s.stdin, s.stdout, s.pid = spec.Grace, job, stdin, stdout, cmd.Process.Pid
	go s.keep(cmd)
	return nil
}

// servicePipes makes the child's stdin and stdout, and returns our ends.
func servicePipes(cmd *exec.Cmd, noStdin bool) (stdin, stdout *os.File, closeTheirs func(), err error) {
	stdout, out, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	cmd.Stdout = out
	if noStdin {
		return nil, stdout, func() { out.Close() }, nil
	}
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, errors.Join(err, stdout.Close(), out.Close())
	}
	cmd.Stdin = in
	return stdin, stdout, func() { in.Close(); out.Close() }, nil
}

// keep waits for the child's end, and ends what is left in the job.
func (s *Service) keep(cmd *exec.Cmd) {
	err := cmd.Wait()
	res := Result{ExitCode: -1, Started: true}
	if errors.Is(err, exec.ErrWaitDelay) {
		res.Warnings = append(res.Warnings, "a background process held an output open after the command had ended")
	}
	if cmd.ProcessState != nil {
		res.ExitCode = cmd.ProcessState.ExitCode()
	}
	s.mu.Lock()
	s.closed = true
	res.Survivors = end(s.job)
	windows.CloseHandle(s.job)
	s.mu.Unlock()
	s.ended(res)
}

// halt gives the child its grace, in which the end of stdin tells it to stop, then ends the job.
func (s *Service) halt() {
	s.stop.Do(func() {
		select {
		case <-s.done:
			return
		case <-time.After(max(0, s.grace)):
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.closed {
			windows.TerminateJobObject(s.job, 1)
			if p, err := os.FindProcess(s.pid); err == nil { // it may not have been in the job
				p.Kill()
				p.Release()
			}
		}
	})
}
