package daemon

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/breaker"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// Breaker is the circuit breaker of a hook that failed, for one agent in one
// project.
type Breaker struct {
	Hook      string    `json:"hook"`
	Path      string    `json:"path"`
	Agent     string    `json:"agent"` // "" = 'tenterhook run'
	Workspace string    `json:"workspace"`
	State     string    `json:"state"` // closed, open, half-open
	Failures  int       `json:"failures"`
	RetryAt   time.Time `json:"retry_at,omitzero"` // when one call may try it again
	Live      bool      `json:"live"`              // the daemon has it in memory
}

// Open reports whether calls are refused now.
func (b Breaker) Open() bool { return b.State == breaker.Open.String() }

// Breakers lists the breakers that have failures, of the daemon that runs and of
// processes that decided without one, by hook, agent and project.
func Breakers(env []string) ([]Breaker, error) {
	var list []Breaker
	if status, err := Ask(env); err == nil {
		list = status.Breakers
	} else if !errors.Is(err, ErrNoDaemon) {
		return nil, err
	}
	err := eachStore(env, func(s *store) error {
		file := s.read()
		if slices.ContainsFunc(list, func(b Breaker) bool { return b.Live && b.Agent == file.Agent && b.Workspace == file.Workspace }) {
			return nil
		}
		list = append(list, breakersOf(file, false)...)
		return nil
	})
	slices.SortFunc(list, func(a, b Breaker) int {
		return cmp.Or(cmp.Compare(a.Hook, b.Hook), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Workspace, b.Workspace), cmp.Compare(a.Path, b.Path))
	})
	return list, err
}

func breakersOf(file stored, live bool) []Breaker {
	var list []Breaker
	for key, m := range file.Breakers {
		id, path := registry.BreakerHook(key)
		list = append(list, Breaker{id, path, file.Agent, file.Workspace, m.State(time.Now()).String(), m.Failures, m.RetryAt, live})
	}
	return list
}

// eachStore calls do with each file of the state directory.
func eachStore(env []string, do func(*store) error) error {
	state := userOf(env, nil).kept
	if state == "" {
		return nil
	}
	entries, err := os.ReadDir(storeDir(state))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.Type().IsRegular() && filepath.Ext(e.Name()) == ".json" && !strings.HasPrefix(e.Name(), sessionPrefix) {
			err = errors.Join(err, do(&store{path: filepath.Join(storeDir(state), e.Name())}))
		}
	}
	return err
}

// ResetBreakers closes the breakers of a hook, "" = of every hook: those of the
// daemon, and the breakers that are in the state directory. It returns the hooks of
// the breakers that had failures.
func ResetBreakers(ctx context.Context, env []string, id string) ([]string, error) {
	ids, err := askReset(env, id)
	if err != nil && !errors.Is(err, ErrNoDaemon) {
		return nil, err
	}
	err = eachStore(env, func(s *store) error {
		unlock, err := lockState(ctx, s.path+".lock")
		if err != nil {
			return err
		}
		defer unlock()
		file, changed := s.read(), false
		for key := range file.Breakers {
			if own, _ := registry.BreakerHook(key); id == "" || own == id {
				delete(file.Breakers, key)
				ids, changed = append(ids, own), true
			}
		}
		if !changed {
			return nil
		}
		return s.write(file)
	})
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// breakers are those of all open registries of a state directory.
func (rs *registries) breakers() []Breaker {
	var list []Breaker
	for _, s := range rs.loaded() {
		list = append(list, breakersOf(stored{s.key.agent, s.key.root, s.Registry.State()}, true)...)
	}
	return list
}

// reset closes breakers in all open registries.
func (rs *registries) reset(id string) []string {
	ids := []string{}
	for _, s := range rs.loaded() {
		if reset := s.ResetBreakers(id); len(reset) > 0 {
			ids = append(ids, reset...)
			s.remember()
		}
	}
	return ids
}

// loaded are the registries that are open now.
func (rs *registries) loaded() []*shared {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	var list []*shared
	for _, s := range rs.order {
		select {
		case <-s.ready:
			if s.Registry != nil {
				list = append(list, s)
			}
		default:
		}
	}
	return list
}

// WithBreakers fires an event for a command that ends after it: with the breakers
// that earlier commands of the project left behind, and it leaves them behind for
// later ones. Where nothing can be kept, it fires it all the same.
func WithBreakers(ctx context.Context, env []string, r *registry.Registry, in hook.Input) (*hook.Outcome, error) {
	s := openStore(registryKey{root: r.Workspace(), user: userOf(env, nil)})
	s.onlyBreakers = true
	s.restore(r) // the file is replaced whole, so reading takes no lock
	out, err := r.Dispatch(ctx, in)
	if s.path == "" || reflect.DeepEqual(s.stateOf(r), s.last) || os.MkdirAll(filepath.Dir(s.path), 0o700) != nil {
		return out, err
	}
	if unlock, lockErr := lockState(ctx, s.path+".lock"); lockErr == nil {
		defer unlock()
		_ = s.save(r) // what it taught is lost; the decision stands
	}
	return out, err
}
