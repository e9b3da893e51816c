//go:build !unix

package agents

import (
	"errors"
	"os/exec"
)

// ownGroup returns what ends a command.
func ownGroup(cmd *exec.Cmd) (kill func()) {
	return func() { _ = cmd.Process.Kill() } // it may be gone
}

func makeFIFO(string) error { return errors.ErrUnsupported }

func shellOutput(string) (string, error) { return "", errors.ErrUnsupported }
