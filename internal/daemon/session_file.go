package daemon

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/internal/safefile"
	"github.com/tenterhook/tenterhook/registry"
	"github.com/tenterhook/tenterhook/trust"
)

const (
	// sessionAge is for how long a session is remembered that makes no call.
	sessionAge = 30 * 24 * time.Hour
	// sweepEvery is how often sessions that are older are looked for.
	sweepEvery = 24 * time.Hour
)

// sessionFile is a session on disk. A file that cannot be read or written is no
// reason not to decide.
type sessionFile struct {
	Agent   string   `json:"agent"`
	Session string   `json:"session"`
	Root    string   `json:"root,omitempty"`
	Held    []string `json:"held,omitempty"`
	// Pins names a file in the folder pins, with the guards that the session
	// began with: sessions that began with the same ones share it.
	Pins string `json:"pins,omitempty"`
}

// sessionPrefix tells these files from those of workspaces.
const sessionPrefix = "s-"

func (k sessionKey) dir() string { return storeDir(k.kept) }

func (k sessionKey) path() string {
	name := sha256.Sum256([]byte(k.agent + "\x00" + k.id))
	return filepath.Join(k.dir(), fmt.Sprintf(sessionPrefix+"%x.json", name[:12]))
}

func (k sessionKey) pinsPath(name string) string { return filepath.Join(k.dir(), "pins", name+".json") }

// restore reads what an earlier process left.
func (s *session) restore() {
	if s.key.id == "" || s.key.kept == "" {
		return
	}
	now := steadyNow(s.key.dir())
	var f sessionFile
	if !readOwn(s.key.path(), &f) || f.Session != s.key.id || f.Agent != s.key.agent {
		sweep(s.key.dir(), now)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.root, s.held = f.Root, f.Held
	if f.Pins != "" {
		s.restorePins(f.Pins)
	}
	s.touch()
}

// restorePins reads the guards of a session. If they are gone, it is unknown what
// guarded it; the next call begins again.
func (s *session) restorePins(name string) {
	if path := s.key.pinsPath(filepath.Base(name)); readOwn(path, &s.pins) {
		s.pinsName = name
		now := time.Now()
		_ = os.Chtimes(path, now, now)
	}
}

// readOwn reads JSON from a file that no other user could have written.
func readOwn(path string, into any) bool {
	return trust.Owned(trust.OwnerUser, path) == nil && safefile.ReadJSON(path, into) == nil
}

// touch marks the file as used.
func (s *session) touch() {
	s.touched = time.Now()
	_ = os.Chtimes(s.key.path(), s.touched, s.touched)
}

// save writes what is not on disk yet.
func (s *session) save() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key.id == "" || s.key.kept == "" || s.ended {
		return nil
	}
	if !s.dirty {
		if time.Since(s.touched) > sweepEvery {
			s.touch()
		}
		return nil
	}
	if err := s.savePins(); err != nil {
		return err
	}
	data, err := json.Marshal(sessionFile{s.key.agent, s.key.id, s.root, s.held, s.pinsName})
	if err == nil {
		err = safefile.Put(s.key.path(), data)
	}
	if err == nil {
		s.dirty, s.touched = false, time.Now()
	}
	return err
}

// savePins writes the guards under a name that their content gives.
func (s *session) savePins() error {
	if len(s.pins) == 0 {
		s.pinsName = ""
		return nil
	}
	data, err := json.Marshal(s.pins)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%x", sha256.Sum256(data))
	if name == s.pinsName {
		return nil
	}
	path, now := s.key.pinsPath(name), time.Now()
	if err := os.Chtimes(path, now, now); errors.Is(err, fs.ErrNotExist) {
		if err := safefile.Put(path, data); err != nil {
			return err
		}
	}
	s.pinsName = name
	return nil
}

// remove forgets the session for ever.
func (s *session) remove() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.key.id != "" && s.key.kept != "" {
		_ = os.Remove(s.key.path())
	}
}

// sweep removes what sessions left that made no call for long, once a day.
func sweep(dir string, now time.Time) {
	mark := filepath.Join(dir, ".swept")
	if info, err := os.Stat(mark); err == nil && now.Sub(info.ModTime()) < sweepEvery || safefile.Put(mark, nil) != nil {
		return
	}
	_ = os.Chtimes(mark, now, now)
	for _, folder := range []string{dir, filepath.Join(dir, "pins")} {
		entries, _ := os.ReadDir(folder)
		for _, e := range entries {
			age := sessionAge
			if strings.HasSuffix(e.Name(), safefile.TempSuffix) {
				age = time.Hour // of a process that was killed while it wrote
			}
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() && e.Name() != clockFile && now.Sub(info.ModTime()) > age {
				_ = os.Remove(filepath.Join(folder, e.Name()))
			}
		}
	}
}

// same reports whether two pins are of one guard, in whatever version.
func same(a, b registry.Pin) bool {
	return a.Hook.ID == b.Hook.ID && a.Hook.Source.Path == b.Hook.Source.Path && a.Hook.Event == b.Hook.Event
}
