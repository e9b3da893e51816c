package agents

import (
	"errors"
	"os/exec"
	"strings"
	"syscall"
)

// ownGroup returns what ends a command.
func ownGroup(cmd *exec.Cmd) (kill func()) {
	return func() { _ = cmd.Process.Kill() } // it may be gone
}

func makeFIFO(string) error { return errors.ErrUnsupported }

func shellOutput(string) (string, error) { return "", errors.ErrUnsupported }

// commandLine has a shell run a line: PowerShell gets it as one argument, and cmd.exe as it is.
func commandLine(start []string, line string) *exec.Cmd {
	if start[0] != "cmd.exe" {
		return exec.Command(start[0], append(start[1:], line)...)
	}
	cmd := exec.Command(start[0])
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: strings.Join(start, " ") + ` "` + line + `"`}
	return cmd
}
