//go:build unix

package agents

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a command a process group, and returns what ends all of it.
func ownGroup(cmd *exec.Cmd) (kill func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // it may be gone
}

func makeFIFO(path string) error { return syscall.Mkfifo(path, 0o600) }

// shellOutput runs a line as an agent's shell does.
func shellOutput(line string) (string, error) {
	out, err := exec.Command("/bin/sh", "-c", line).Output()
	return string(out), err
}

// commandLine has a shell run a line.
func commandLine(start []string, line string) *exec.Cmd {
	return exec.Command(start[0], append(start[1:], line)...)
}
