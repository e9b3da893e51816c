package client

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tenterhook/tenterhook/bridge/closed"
)

// Main answers one hook entry and ends the process. There is no daemon on
// Windows: the tenterhook beside this program decides in a process of its own.
func Main(args []string) {
	where, _, args := options(args)
	if len(args) != 2 {
		os.Stderr.WriteString("usage: tenterhook-bridge AGENT EVENT\n")
		os.Exit(2)
	}
	code, err := direct(where, args[0], args[1])
	if err == nil {
		os.Exit(code)
	}
	a := closed.Undecided(args[0], args[1], err.Error())
	os.Stdout.WriteString(a.Stdout)
	os.Stderr.WriteString(a.Stderr)
	os.Exit(a.ExitCode)
}

func direct(where []string, agent, event string) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	args := bridgeArgs(filepath.Join(filepath.Dir(self), "tenterhook.exe"), where, agent, event)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}
