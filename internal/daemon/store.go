package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sync"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/safefile"
	"github.com/tenterhook/tenterhook/registry"
)

// store keeps what a registry remembers in a file of the state directory, so
// that it outlives the process. A file that cannot be read or written is no
// reason not to decide.
type store struct {
	path         string // "" = there is no state directory
	agent, root  string
	onlyBreakers bool // it remembers nothing else

	mu   sync.Mutex     // guards last
	last registry.State // as it was read or written last
}

func openStore(key registryKey) *store {
	if key.kept == "" {
		return &store{}
	}
	name := sha256.Sum256([]byte(key.agent + "\x00" + key.root))
	return &store{path: filepath.Join(storeDir(key.kept), fmt.Sprintf("%x.json", name[:12])), agent: key.agent, root: key.root}
}

func storeDir(state string) string { return filepath.Join(state, "sessions") }

// stored is what a file says, and whose it is.
type stored struct {
	Agent     string `json:"agent,omitempty"` // "" = the command
	Workspace string `json:"workspace"`
	registry.State
}

// read returns what the file says. The caller holds the file's lock.
func (s *store) read() (file stored) {
	_ = safefile.ReadJSON(s.path, &file)
	return file
}

// write replaces the file. The caller holds its lock.
func (s *store) write(file stored) error {
	data, err := json.Marshal(file)
	if err != nil {
		return err
	}
	return safefile.Put(s.path, data)
}

// stateOf is what the store keeps of a registry.
func (s *store) stateOf(r *registry.Registry) registry.State {
	state := r.State()
	if s.onlyBreakers {
		state.Once, state.Stops = nil, nil
	}
	return state
}

// restore gives a registry what an earlier process remembered.
func (s *store) restore(r *registry.Registry) {
	if s.path == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = s.read().State
	r.Restore(s.last)
	s.last = s.stateOf(r) // without what it has no use for
}

// save writes what changed since the last time.
func (s *store) save(r *registry.Registry) error {
	if s.path == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.stateOf(r)
	if reflect.DeepEqual(now, s.last) {
		return nil
	}
	file := s.read()
	file.Agent, file.Workspace = s.agent, s.root
	file.Merge(s.last, now)
	if err := s.write(file); err != nil {
		return err
	}
	s.last = now
	return nil
}

// inTurn reports whether calls of other processes must wait for this one: what
// it leaves behind decides about them.
func inTurn(r *registry.Registry, in hook.Input) bool {
	if hook.Info(in.Event()).Block == hook.BlockStop {
		return true
	}
	for _, l := range r.List() {
		if l.Hook.Once && l.Hook.Event == in.Event() {
			return true
		}
	}
	return false
}

// alone runs a call of a process that decides without a daemon: it reads what
// earlier ones left behind, and leaves the same for later ones.
func (s *store) alone(ctx context.Context, r *registry.Registry, in hook.Input, nested bool, decide func() (*hook.Outcome, error)) (*hook.Outcome, error) {
	if s.path == "" || os.MkdirAll(filepath.Dir(s.path), 0o700) != nil {
		return decide()
	}
	unlock := func() {}
	if !nested { // below a hook, the one around it holds the lock
		var err error
		if unlock, err = lockState(ctx, s.path+".lock"); err != nil {
			return nil, err
		}
	}
	s.restore(r)
	if !nested && !inTurn(r, in) {
		unlock()
		unlock = nil
	}
	out, err := decide()
	if unlock == nil {
		again, lockErr := lockState(ctx, s.path+".lock")
		if lockErr != nil {
			return out, err // the decision stands; what it taught is lost
		}
		unlock = again
	}
	defer unlock()
	_ = s.save(r)
	return out, err
}
