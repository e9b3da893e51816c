package client

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

// ReadyVariable names the descriptor on which a daemon that was started by a client
// reports: a line "ready", or the reason why it cannot take calls.
const ReadyVariable = "TENTERHOOK_READY_FD"

// Place is where a user's daemon is found.
type Place struct {
	Dir    string // 0700, the user's own
	Socket string
	Lock   string // held by the daemon as long as it takes calls
	Start  string // held by the client that starts or replaces a daemon
	// InsteadOf is the directory that Dir stands for, whose path is too long for a
	// socket; "" = none.
	InsteadOf string
}

// maxSocket is the longest path of a socket that every system takes, in bytes.
const maxSocket = 100

// Find returns the place that an environment means: $XDG_RUNTIME_DIR/tenterhook,
// or "run" in the state directory, or for an environment that names neither a
// directory in /tmp. getenv returns "" for what is not set.
func Find(getenv func(string) string) Place {
	dir := "/tmp/tenterhook-" + strconv.Itoa(os.Getuid())
	switch runtime, state, home := getenv("XDG_RUNTIME_DIR"), getenv("XDG_STATE_HOME"), getenv("HOME"); {
	case filepath.IsAbs(runtime) && owned(runtime) == nil:
		dir = filepath.Join(runtime, "tenterhook")
	case filepath.IsAbs(state):
		dir = filepath.Join(state, "tenterhook", "run")
	case filepath.IsAbs(home):
		dir = filepath.Join(home, ".local", "state", "tenterhook", "run")
	}
	var insteadOf string
	if len(dir)+len("/daemon.sock") > maxSocket {
		insteadOf = dir
		dir = "/tmp/tenterhook-" + strconv.Itoa(os.Getuid()) + "-" + strconv.FormatUint(hash(dir), 36)
	}
	return Place{Dir: dir, Socket: filepath.Join(dir, "daemon.sock"), Lock: filepath.Join(dir, "daemon.lock"),
		Start: filepath.Join(dir, "start.lock"), InsteadOf: insteadOf}
}

// Make creates the directory, and refuses a directory that another user owns or can
// write to.
func (p Place) Make() error {
	if err := private(p.Dir); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.Dir), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(p.Dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return private(p.Dir)
}

// Abandoned reports whether what the directory stands for is gone, as a home directory
// of a test that is over is: then nothing is left that could ask there.
func (p Place) Abandoned() bool {
	if p.InsteadOf == "" {
		return false
	}
	_, err := os.Lstat(filepath.Dir(p.InsteadOf))
	return errors.Is(err, os.ErrNotExist)
}

// hash is FNV-1a.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
