package registry

import (
	"bytes"
	"reflect"
	"slices"
	"time"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/stamp"
	"github.com/tenterhook/tenterhook/trust"
)

// memory is what was loaded, by path, so that a reload reads and parses only
// what changed. A nil memory knows nothing.
type memory struct {
	folders map[string]remembered[*definition]
	configs map[string]remembered[*configFile]
	stats   bool // files have stamps: they are the machine's
}

// remembered is something that was made of a file.
type remembered[T any] struct {
	value T
	stamp stamp.Stamp
	sure  bool // the stamp tells that the file is the one that was read
}

// remember keeps what was loaded since began. A file that changed since then
// may not be the one that was read.
func remember(l *loaded, began time.Time, stats bool) *memory {
	m := &memory{folders: make(map[string]remembered[*definition], len(l.definitions)),
		configs: make(map[string]remembered[*configFile], len(l.read)), stats: stats}
	for _, d := range l.definitions {
		if d.config == nil {
			m.folders[d.path] = recall(d.path, d, began, stats && !d.listed)
		}
	}
	for _, c := range l.read {
		m.configs[c.path] = recall(c.path, c, began, stats)
	}
	return m
}

func recall[T any](path string, value T, began time.Time, stats bool) remembered[T] {
	k := remembered[T]{value: value}
	if stats {
		at, err := stamp.Of(path, true)
		k.stamp, k.sure = at, err == nil && !at.Young(began)
	}
	return k
}

// fresh returns what is remembered of a path whose file is untouched.
func (k remembered[T]) fresh(path string) (T, bool) {
	if k.sure {
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
	d := m.folders[f.Path].value
	if d == nil || d.listed || d.stale || !bytes.Equal(d.data, f.Data) || !sameProblem(d.disowned, problem) {
		return nil
	}
	if f.Problem == nil && d.problem != "" || f.Problem != nil && f.Problem.Message != d.problem {
		return nil
	}
	return d
}

// orGood returns a definition that was just parsed, or in its place what is
// remembered of it: if that is the same, and if d is broken and it was not.
func (m *memory) orGood(d *definition) *definition {
	if m == nil {
		return d
	}
	last := m.folders[d.path].value
	switch {
	case last == nil:
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

// sameConfig is sameFolder for a config file.
func (m *memory) sameConfig(f *discovery.ConfigFile, problem *trust.Problem) *configFile {
	if m == nil {
		return nil
	}
	c := m.configs[f.Path].value
	if c == nil || f.Problem != nil || !bytes.Equal(c.data, f.Data) || !sameProblem(c.disowned, problem) {
		return nil
	}
	return c
}

// orGoodConfig is orGood for a config file.
func (m *memory) orGoodConfig(c *configFile) *configFile {
	if m == nil || !c.broken {
		return c
	}
	last := m.configs[c.path].value
	if last == nil || last.broken {
		return c
	}
	own := *last
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
