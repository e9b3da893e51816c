package plugins

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// sockets is the private folder of one host, in which its plugins listen. It is
// made at the first start. The folders of hosts that died are removed then.
type sockets struct {
	base  string // "" = see where
	state string // the host's state folder

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

// socketsName is what such names look like, and what folders of other purposes
// should not.
var socketsName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^` + socketsPrefix + `(new|[0-9]+)-[0-9]+$`) })

// longestBase is how long the path may be that a folder is made in: a socket's
// whole path has about 104 bytes, of which go-plugin takes most.
const longestBase = 42

// open returns the folder.
func (s *sockets) open() (string, *Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.there() {
		return s.dir, nil
	}
	s.leave()
	base := s.where()
	if err := unshared(base); err != nil {
		return "", about(CodeState, base, err, "have TMPDIR name a folder that is yours alone, of a short path")
	}
	sweepSockets(base)
	const hint = "make room there, or name another folder for sockets"
	making, err := os.MkdirTemp(base, socketsMaking) // mode 0700
	if err != nil {
		return "", about(CodeState, base, err, hint)
	}
	name := socketsPrefix + strconv.Itoa(os.Getpid()) + "-" + filepath.Base(making)[len(socketsMaking):]
	dir := filepath.Join(base, name)
	if s.lock, err = claim(making, dir); err != nil {
		os.RemoveAll(making)
		os.RemoveAll(dir)
		return "", about(CodeState, dir, err, hint)
	}
	s.dir = dir
	return dir, nil
}

// there reports whether the folder is still the same. A program that tidies
// up temporary files may have removed it, and another program have made one of that name.
func (s *sockets) there() bool {
	ours, err := s.lock.Stat() // fails without a folder: then the lock is nil or closed
	if err != nil {
		return false
	}
	found, err := os.Lstat(filepath.Join(s.dir, socketsLock))
	return err == nil && os.SameFile(ours, found)
}

// close removes the folder.
func (s *sockets) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir, ours := s.dir, s.there()
	s.leave() // first: some systems remove no file that is open
	if ours {
		os.RemoveAll(dir)
	}
}

// leave gives the folder up.
func (s *sockets) leave() {
	if s.dir != "" {
		s.lock.Close()
		s.dir = ""
	}
}

// where is the folder that the private ones of all hosts are made in.
func (s *sockets) where() string {
	if s.base != "" {
		return s.base
	}
	if runtime.GOOS == "windows" {
		return os.TempDir() // no sockets are in it
	}
	for _, dir := range []string{os.TempDir(), "/tmp", s.state} {
		if len(dir) <= longestBase && filepath.IsAbs(dir) && unshared(dir) == nil {
			return dir
		}
	}
	return "/tmp"
}

// unshared says how others could put a folder of theirs in the place of a folder that
// is made in dir.
func unshared(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if who := foreign(info); who != "" {
		return errors.New(who)
	}
	return nil
}

// keep writes a file into the folder, if there is one, with what content gives:
// under a lock, so that the last writer writes what is so then.
func (s *sockets) keep(name string, content func() ([]byte, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.there() {
		return
	}
	if data, err := content(); err == nil {
		_ = safefile.Put(filepath.Join(s.dir, name), data)
	}
}

// others lists the folders of this user's other hosts that live.
func (s *sockets) others() []string {
	s.mu.Lock()
	own := s.dir
	s.mu.Unlock()
	var dirs []string
	for _, one := range hostFolders(s.where()) {
		if !one.making && one.dir != own && lives(one.dir) {
			dirs = append(dirs, one.dir)
		}
	}
	return dirs
}

// sweepSockets removes the folders of this user's hosts that are gone.
func sweepSockets(base string) {
	for _, one := range hostFolders(base) {
		if one.making && time.Since(one.changed) < time.Hour {
			continue
		}
		if abandoned(one.dir) {
			os.RemoveAll(one.dir)
		}
	}
}

// hostFolder is the private folder of a host, which may be gone.
type hostFolder struct {
	dir     string
	making  bool
	changed time.Time
}

// hostFolders lists the folders that are this user's alone.
func hostFolders(base string) []hostFolder {
	entries, err := os.ReadDir(base)
	if err != nil {
		return nil
	}
	var all []hostFolder
	for _, e := range entries {
		if !socketsName().MatchString(e.Name()) || !e.IsDir() {
			continue
		}
		if info, err := e.Info(); err == nil && foreign(info) == "" {
			all = append(all, hostFolder{filepath.Join(base, e.Name()), strings.HasPrefix(e.Name(), socketsMaking), info.ModTime()})
		}
	}
	return all
}
