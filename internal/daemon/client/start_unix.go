//go:build linux || darwin

package client

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

// startDaemon starts a daemon that outlives this process and its session, and
// waits until it takes calls. It inherits nothing of what the agent holds: no
// descriptor, no working directory, and of the environment what places need.
func startDaemon(program string) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return errors.New("the daemon cannot be started: " + err.Error())
	}
	defer null.Close()
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		return errors.New("the daemon cannot be started: " + err.Error())
	}
	defer syscall.Close(pipe[0])
	for fd := 3; fd < 1024; fd++ { // an agent's pipe that stays open looks like a hook that never ends
		syscall.CloseOnExec(fd)
	}
	nullFD := null.Fd()
	_, err = syscall.ForkExec(program, []string{program, "daemon", "run"}, &syscall.ProcAttr{
		Dir: "/", Env: append(daemonEnv(), ReadyVariable+"=3"),
		Files: []uintptr{nullFD, nullFD, nullFD, uintptr(pipe[1])},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	syscall.Close(pipe[1])
	if err != nil {
		return errors.New(program + " cannot be started: " + err.Error())
	}
	word, err := readAll(pipe[0], func() {})
	switch {
	case err != nil:
		return errors.New("the daemon did not start: " + err.Error())
	case len(word) == 0:
		return errors.New("the daemon ended while it started: run '" + program + " daemon run' to see why")
	case string(word) != "ready\n":
		return errors.New("the daemon did not start: " + strings.TrimSpace(string(word)))
	}
	return nil
}

// daemonEnv is what a daemon gets of the environment. Hooks get that of their
// callers.
func daemonEnv() []string {
	var env []string
	for _, kv := range os.Environ() {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "HOME", "PATH", "USER", "LOGNAME", "LANG", "TMPDIR",
			"XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME":
			env = append(env, kv)
		}
	}
	return env
}
