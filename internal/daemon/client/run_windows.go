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
	if len(args) == 3 && args[0] == "--direct" {
		args = args[1:]
	}
	if len(args) != 2 {
		os.Stderr.WriteString("usage: tenterhook-bridge AGENT EVENT\n")
		os.Exit(2)
	}
	code, err := direct(args[0], args[1])
	if err == nil {
		os.Exit(code)
	}
	a := closed.Undecided(args[0], args[1], err.Error())
	os.Stdout.WriteString(a.Stdout)
	os.Stderr.WriteString(a.Stderr)
	os.Exit(a.ExitCode)
}

func direct(agent, event string) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(filepath.Join(filepath.Dir(self), "tenterhook.exe"), "bridge", agent, event)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}
