//go:build !unix

package agents

import "os/exec"

// ownGroup returns what ends a command.
func ownGroup(cmd *exec.Cmd) (kill func()) {
	return func() { _ = cmd.Process.Kill() } // it may be gone
}
