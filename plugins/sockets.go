package plugins

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// sockets is the private folder of one host, in which its plugins listen. It is
// made at the first start. The folders of hosts that died are removed then.
type sockets struct {
	base string // "" = the system's temporary folder

	mu   sync.Mutex
	dir  string
	lock *os.File // held while this host lives
}

// The names of the folders: the first while it is made, the second with the
// host's process id behind it.
const (
	socketsMaking = "thk-new-"
	socketsPrefix = "thk-"
	socketsLock   = "lock"
)

// longestBase is how long the path may be that a folder is made in: a socket's
// whole path has about 104 bytes, of which go-plugin takes most.
const longestBase = 42

// open returns the folder.
func (s *sockets) open() (string, *Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != "" {
		return s.dir, nil
	}
	base := s.base
	if base == "" {
		if base = os.TempDir(); len(base) > longestBase {
			base = "/tmp"
		}
	}
	sweepSockets(base)
	const hint = "make room there, or name another folder for sockets"
	making, err := os.MkdirTemp(base, socketsMaking) // mode 0700
	if err != nil {
		return "", about(CodeState, base, err, hint)
	}
	if s.lock, err = lockFileIn(making); err != nil {
		os.RemoveAll(making)
		return "", about(CodeState, making, err, hint)
	}
	// Only now may others see it: whoever finds the lock free takes it for stale.
	name := socketsPrefix + strconv.Itoa(os.Getpid()) + "-" + filepath.Base(making)[len(socketsMaking):]
	dir := filepath.Join(base, name)
	if err := os.Rename(making, dir); err != nil {
		s.lock.Close()
		os.RemoveAll(making)
		return "", about(CodeState, dir, err, hint)
	}
	s.dir = dir
	return dir, nil
}

// close removes the folder.
func (s *sockets) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		return
	}
	os.RemoveAll(s.dir)
	s.lock.Close()
	s.dir = ""
}

// sweepSockets removes the folders of this user's hosts that are gone.
func sweepSockets(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		name, isMaking := e.Name(), false
		if len(name) <= len(socketsPrefix) || name[:len(socketsPrefix)] != socketsPrefix || !e.IsDir() {
			continue
		}
		if len(name) > len(socketsMaking) && name[:len(socketsMaking)] == socketsMaking {
			isMaking = true
		}
		info, err := e.Info()
		if err != nil || foreign(info) != "" {
			continue
		}
		dir := filepath.Join(base, name)
		if isMaking && time.Since(info.ModTime()) < time.Hour {
			continue
		}
		if abandoned(dir) {
			os.RemoveAll(dir)
		}
	}
}
