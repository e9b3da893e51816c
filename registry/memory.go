package registry

import (
	"bytes"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/stamp"
	"github.com/tenterhook/tenterhook/trust"
)

// memory is what was loaded, by path, so that a reload reads and parses only
// what changed. A nil memory knows nothing.
type memory struct {
	folders map[string]*remembered[*definition]
	plugins map[string]*definition // by ID
	configs map[string]*remembered[*configFile]
}

// remembered is something that was made of a file.
type remembered[T comparable] struct {
	value T
	stamp stamp.Stamp
	sure  bool        // the stamp tells that the file is the one that was read
	moved atomic.Bool // it was read again, and has the same content
}

// remember keeps what was loaded since began. A file that changed since then
// may not be the one that was read. What last remembered and the load took from
// there is as it was.
func remember(l *loaded, began time.Time, stats bool, last *memory) *memory {
	m := &memory{folders: make(map[string]*remembered[*definition], len(l.definitions)),
		plugins: make(map[string]*definition), configs: make(map[string]*remembered[*configFile], len(l.read))}
	for _, d := range l.definitions {
		if d.described {
			m.plugins[d.hooks[0].ID] = d
		} else if d.config == nil {
			var k *remembered[*definition]
			if last != nil {
				k = last.folders[d.path]
			}
			m.folders[d.path] = k.renewed(d.path, d, began, stats && !d.listed)
		}
	}
	for _, c := range l.read {
		var k *remembered[*configFile]
		if last != nil {
			k = last.configs[c.path]
		}
		m.configs[c.path] = k.renewed(c.path, c, began, stats)
	}
	return m
}

// renewed remembers value; a stamp that holds is kept.
func (k *remembered[T]) renewed(path string, value T, began time.Time, stats bool) *remembered[T] {
	if k != nil && k.sure && k.value == value && !k.moved.Load() {
		return k
	}
	k = &remembered[T]{value: value}
	if stats {
		at, err := stamp.Of(path, true)
		k.stamp, k.sure = at, err == nil && !at.Young(began)
	}
	return k
}

// fresh returns what is remembered of a path whose file is untouched.
func (k *remembered[T]) fresh(path string) (T, bool) {
	if k != nil && k.sure {
		if now, err := stamp.Of(path, true); err == nil && now == k.stamp {
			return k.value, true
		}
	}
	var none T
	return none, false
}

func (m *memory) folder(path string) (*definition, bool) {
	if m == nil {
		return nil, false
	}
	return m.folders[path].fresh(path)
}

func (m *memory) config(path string) (*configFile, bool) {
	if m == nil {
		return nil, false
	}
	return m.configs[path].fresh(path)
}

// sameFolder is what is remembered of a folder whose manifest was read again and
// has not changed.
func (m *memory) sameFolder(f *discovery.Found, problem *trust.Problem) *definition {
	if m == nil {
		return nil
	}
	k := m.folders[f.Path]
	if k == nil {
		return nil
	}
	d := k.value
	if d.listed || d.stale || !bytes.Equal(d.data, f.Data) || !sameProblem(d.disowned, problem) {
		return nil
	}
	if f.Problem == nil && d.problem != "" || f.Problem != nil && f.Problem.Message != d.problem {
		return nil
	}
	k.moved.Store(true)
	return d
}

// orGood returns a definition that was just parsed, or in its place what is
// remembered of it: if that is the same, and if d is broken and it was not.
func (m *memory) orGood(d *definition) *definition {
	if m == nil {
		return d
	}
	k := m.folders[d.path]
	if k == nil {
		return d
	}
	last := k.value
	switch {
	case d.disowned != "": // whoever broke it may have changed its scripts
	case d.broken() && !last.broken():
		own := *last
		own.stale, own.data, own.problem, own.notes = true, d.data, d.problem, append(slices.Clip(d.notes), keptNote(d.path))
		if last.stale && bytes.Equal(last.data, d.data) && last.problem == d.problem {
			return last
		}
		return &own
	case d.listed && !last.stale && reflect.DeepEqual(d.hooks, last.hooks) && slices.Equal(d.notes, last.notes):
		return last
	}
	return d
}

// broken reports whether nothing of a hook folder can be used.
func (d *definition) broken() bool {
	return !slices.ContainsFunc(d.hooks, func(h *hook.Hook) bool { return h.State != hook.StateInvalid })
}

// sameDescribed is what is remembered of a plugin's hook, if it is the same.
func (m *memory) sameDescribed(d *definition) *definition {
	if m == nil {
		return d
	}
	if last := m.plugins[d.hooks[0].ID]; last != nil && last.path == d.path && reflect.DeepEqual(last.hooks, d.hooks) {
		return last
	}
	return d
}

// sameConfig is sameFolder for a config file.
func (m *memory) sameConfig(f *discovery.ConfigFile, problem *trust.Problem) *configFile {
	if m == nil {
		return nil
	}
	k := m.configs[f.Path]
	if k == nil || f.Problem != nil || !bytes.Equal(k.value.data, f.Data) || !sameProblem(k.value.disowned, problem) {
		return nil
	}
	k.moved.Store(true)
	return k.value
}

// orGoodConfig is orGood for a config file.
func (m *memory) orGoodConfig(c *configFile) *configFile {
	if m == nil || !c.broken || c.disowned != "" {
		return c
	}
	k := m.configs[c.path]
	if k == nil || k.value.broken {
		return c
	}
	own := *k.value
	own.stale, own.data, own.notes = true, c.data, append(slices.Clip(c.notes), keptNote(c.path))
	return &own
}

func keptNote(path string) hook.Diagnostic {
	return hook.Diagnostic{Severity: hook.SeverityError, Code: "kept_last_good", Path: path,
		Message: "it is broken by now, so what it last declared stays in force", Hint: "mend it, or remove it"}
}

func sameProblem(before string, now *trust.Problem) bool {
	if now == nil {
		return before == ""
	}
	return before == now.Error()
}
