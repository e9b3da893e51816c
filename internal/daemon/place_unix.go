//go:build linux || darwin

package daemon

import (
	"os"

	"github.com/fsnotify/fsnotify"
)

// watchPlace ends the daemon once no client can reach it: its socket is gone, or
// something else is in its place. It wakes up for changes of the place alone.
// Where the system cannot watch, such a daemon ends when it is idle.
func (s *server) watchPlace() (stop func()) {
	mine, err := os.Lstat(s.place.Socket)
	if err != nil {
		return func() {}
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return func() {}
	}
	reachable := func() bool {
		now, err := os.Lstat(s.place.Socket)
		return err == nil && os.SameFile(now, mine)
	}
	if w.Add(s.place.Dir) != nil || !reachable() {
		_ = w.Close()
		s.lost(reachable())
		return func() {}
	}
	go func() {
		for {
			select {
			case _, ok := <-w.Events:
				if !ok {
					return
				}
			case _, ok := <-w.Errors: // some events are lost
				if !ok {
					return
				}
			}
			s.lost(reachable())
		}
	}()
	return func() { _ = w.Close() }
}

func (s *server) lost(reachable bool) {
	if !reachable {
		s.drain("its socket is gone")
	}
}
