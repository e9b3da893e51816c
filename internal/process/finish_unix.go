//go:build linux || darwin

package process

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// finish sees to it that nothing is left of the run, then takes the leader's exit code. The order
// counts: while the leader is not reaped its pid, which is the group's, can not be anybody else's.
func (c *child) finish() {
	left := c.sweep(time.Now().Add(sweepFor))
	if c.held && len(left) == 0 && sweepFinds {
		// No process of ours holds it. Another child of the host, still about to execute, may: such a
		// one closes it any moment.
		c.held, c.stage, c.due = false, draining, time.Now().Add(drainFor/2)
		c.converse()
	}
	if c.held {
		c.res.Warnings = append(c.res.Warnings, "a background process held an output open after the command had ended")
	}
	c.tell(left)
	guards.remove(c.pid)
	if !c.exited {
		c.abandon()
		return
	}
	status, err := reap(c.pid)
	switch {
	case err != nil: // a host that waits for any child took it
		c.res.Warnings = append(c.res.Warnings, "the exit code was taken by another part of the host: "+err.Error())
	case status.Signaled():
		c.res.Signal = signalName(int(status.Signal()))
	default:
		c.res.ExitCode = status.ExitStatus()
	}
}

// leftover is a process of the run that the leader left behind.
type leftover struct {
	Process
	alive bool // it was still there when the time was up
}

// tell puts what was left behind into the result.
func (c *child) tell(left []leftover) {
	for _, p := range left {
		how := "which was killed"
		if p.alive {
			how = "which could not be killed"
			c.res.Survivors = append(c.res.Survivors, p.Process)
		}
		c.res.Warnings = append(c.res.Warnings, fmt.Sprintf("left behind a process, %s: %v", how, p.Process))
	}
}

// abandon gives a leader up that SIGKILL did not end in time: the kernel holds it, or it runs as
// a user whose processes this one may not kill.
func (c *child) abandon() {
	p := Process{PID: c.pid, Name: c.spec.Path}
	c.res.Survivors = append(c.res.Survivors, p)
	c.res.Warnings = append(c.res.Warnings, fmt.Sprintf("still running after SIGKILL: %v", p))
	go reap(c.pid)
}

// reap waits for a child, which frees its pid.
func reap(pid int) (unix.WaitStatus, error) {
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(pid, &status, 0, nil)
		if err != unix.EINTR {
			return status, err
		}
	}
}

// signalName is a signal's name, as "SIGKILL", or empty if there is none.
func signalName(n int) string { return unix.SignalName(unix.Signal(n)) }
