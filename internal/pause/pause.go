// Package pause keeps which hooks an operator has switched off, and until when.
//
// Stage: status. Package registry asks it whether a hook is paused, the command
// line changes it. It imports hook and trust.
package pause

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/safefile"
	"github.com/tenterhook/tenterhook/trust"
)

// lockTime bounds how long a change waits for another process.
const lockTime = time.Minute

// Pause is a hook that is switched off.
type Pause struct {
	Hook   string    `json:"hook"`             // its ID
	Source string    `json:"source,omitempty"` // the file that declares it; "" = any hook of that ID
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until,omitzero"` // zero = until it is switched on
	Reason string    `json:"reason,omitempty"`
}

// String says until when and why, as it stands behind "switched off".
func (p Pause) String() string {
	text := "until it is enabled"
	if !p.Until.IsZero() {
		text = "until " + p.Until.Local().Format("2006-01-02 15:04:05")
	}
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}

// fileName is the list's name in the state directory.
const fileName = "disabled.json"

// lookEvery is how long a list that was read counts without another look.
const lookEvery = time.Second

// key is what a pause is kept by: a project's hook may have an ID that another
// project's has.
type key struct{ hook, source string }

func (p *Pause) key() key { return key{p.Hook, p.Source} }

// List is the list of a state directory. It is safe for concurrent use, by
// several processes too.
type List struct {
	path string

	mu     sync.Mutex // guards all below
	looked time.Time
	stamp  fs.FileInfo // of the file that was read; nil = there was none
	all    map[key]Pause
	err    error
}

// Open returns the list of a state directory. It reads nothing yet.
func Open(stateDir string) *List { return &List{path: filepath.Join(stateDir, fileName)} }

// Of returns the pause in force of a hook that a file declares. Another process's
// change counts within a second.
func (l *List) Of(id, source string) (Pause, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.looked.IsZero() || now.Sub(l.looked) >= lookEvery {
		l.look(now)
	}
	if len(l.all) == 0 {
		return Pause{}, false
	}
	for _, p := range l.all {
		if p.Hook == id && p.inForce(now) && p.means(source) {
			return p, true
		}
	}
	return Pause{}, false
}

// means reports whether the pause is of the hook that a file declares.
func (p *Pause) means(source string) bool {
	return p.Source == "" || p.Source == source || p.Source == canonical(source)
}

// clockSkew is how far the system's clock may be set back before a pause that ends at a
// time is over: it would last longer than its author meant.
const clockSkew = time.Minute

func (p *Pause) inForce(now time.Time) bool {
	return p.Until.IsZero() || now.Before(p.Until) && !now.Before(p.Since.Add(-clockSkew))
}

// canonical is a file's path without links, if it is there.
func canonical(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// Err says why the list cannot be relied on: then no hook is paused. nil = it
// can, or there is none.
func (l *List) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.look(time.Now())
	return l.err
}

// look reads the file if it is another than the last time. The caller holds mu.
func (l *List) look(now time.Time) {
	l.looked = now
	info, err := os.Lstat(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		l.stamp, l.all, l.err = nil, nil, nil
		return
	}
	if err == nil && l.stamp != nil && l.err == nil && os.SameFile(info, l.stamp) && info.ModTime().Equal(l.stamp.ModTime()) && info.Size() == l.stamp.Size() {
		return
	}
	l.stamp = info
	l.all, l.err = read(l.path)
}

// maxList bounds the file, in bytes.
const maxList = 16 << 20

// read reads a list that no other user could have written.
func read(path string) (map[key]Pause, error) {
	if err := trust.Owned(trust.OwnerOf(hook.ScopeUser), path); err != nil {
		return nil, err
	}
	data, err := safefile.Read(path, maxList)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var list []Pause
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("%s: %w; remove it, and disable hooks again", path, err)
	}
	all := make(map[key]Pause, len(list))
	for _, p := range list {
		all[p.key()] = p
	}
	return all, nil
}

// All returns the pauses that are in force, by hook.
func (l *List) All() ([]Pause, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.look(time.Now())
	return inForce(l.all), l.err
}

func inForce(all map[key]Pause) []Pause {
	var list []Pause
	for _, p := range all {
		if p.inForce(time.Now()) {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b Pause) int { return cmp.Or(cmp.Compare(a.Hook, b.Hook), cmp.Compare(a.Source, b.Source)) })
	return list
}

// Set switches a hook off, in place of an earlier pause of it. It waits for a change
// that is under way, for a minute.
func (l *List) Set(ctx context.Context, p Pause) error {
	if p.Source != "" {
		p.Source = canonical(p.Source)
	}
	return l.change(ctx, func(all map[key]Pause) { all[p.key()] = p })
}

// Remove switches a hook on that a file declares; source "" = each hook of that ID.
// It reports whether one was off, and waits as Set does.
func (l *List) Remove(ctx context.Context, id, source string) (was bool, err error) {
	err = l.change(ctx, func(all map[key]Pause) {
		for k, p := range all {
			if p.Hook == id && (source == "" || p.means(source)) {
				was = was || p.inForce(time.Now())
				delete(all, k)
			}
		}
	})
	return was, err
}

// change replaces the file, under a lock. Pauses that are over go.
func (l *List) change(ctx context.Context, edit func(map[key]Pause)) (err error) {
	if err := trust.Owned(trust.OwnerOf(hook.ScopeUser), l.path); err != nil { // before anything is put there, which its user could not use
		return err
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	lock := safefile.Lock(l.path + ".lock")
	wait, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	if _, err := lock.TryLockContext(wait, 20*time.Millisecond); err != nil && wait.Err() == nil {
		return fmt.Errorf("%w; let the user who runs the agent write there", err)
	} else if err != nil {
		return fmt.Errorf("another 'tenterhook disable' or 'enable' holds %s: %w; wait until it ends", lock.Path(), err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.look(time.Now()); l.err != nil {
		return l.err
	}
	all := maps.Clone(l.all)
	if all == nil {
		all = make(map[key]Pause)
	}
	edit(all)
	list := inForce(all)
	if len(list) == 0 { // a file would say that this directory decides something
		if err := os.Remove(l.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		l.look(time.Now())
		return l.err
	}
	data, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	if err := safefile.Write(l.path, append(data, '\n'), 0o600); err != nil {
		return err
	}
	l.look(time.Now())
	return l.err
}
