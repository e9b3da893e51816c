package plugins

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// Lock is a lock file: which bytes of which plugins somebody approved. A plugin
// in the lock file's own folder, or below it, is named relative to it, so that
// the two can move together. A Lock is for one goroutine.
type Lock struct {
	path string
	pins map[string]Pin
}

// Pin approves one plugin.
type Pin struct {
	SHA256  string   `json:"sha256"`            // of the executable, in hex
	Version string   `json:"version,omitempty"` // what the plugin calls itself; for people
	Env     []string `json:"env,omitempty"`     // variables that it gets beside the usual ones
}

const (
	lockVersion = 1
	maxLock     = 4 << 20 // bytes
)

type lockFile struct {
	Version int            `json:"version"`
	Plugins map[string]Pin `json:"plugins"`
}

// ReadLock reads a lock file. One that does not exist approves nothing and is no
// error. The error is a [*Problem]: a file that others can write, or that cannot
// be read in one way only.
func ReadLock(path string) (*Lock, error) {
	l, p := readLock(path)
	if p != nil {
		return nil, p
	}
	return l, nil
}

func readLock(path string) (*Lock, *Problem) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, about(CodeLock, path, err, "give its full path")
	}
	l := &Lock{path: abs, pins: make(map[string]Pin)}
	data, err := readFile(abs, maxLock)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	const hint = "restore it, or remove it and approve the plugins again with: tenterhook plugin lock"
	if err != nil {
		return nil, about(CodeLock, abs, err, hint)
	}
	wrong := func(reason string) (*Lock, *Problem) {
		return nil, &Problem{Code: CodeLock, Path: abs, Reason: reason, Hint: hint}
	}
	if err := hook.CheckJSON(data); err != nil {
		return wrong(err.Error())
	}
	var file lockFile
	if err := json.Unmarshal(data, &file); err != nil {
		return wrong(err.Error())
	}
	if file.Version != lockVersion {
		return wrong(fmt.Sprintf("it is of version %d, this host reads %d", file.Version, lockVersion))
	}
	for name, pin := range file.Plugins {
		if raw, err := hex.DecodeString(pin.SHA256); err != nil || len(raw) != 32 || pin.SHA256 != strings.ToLower(pin.SHA256) {
			return wrong(fmt.Sprintf("the sha256 of %q is none", name))
		}
		l.pins[name] = pin
	}
	return l, nil
}

// Pin returns the approval of a plugin, by the path of its executable.
func (l *Lock) Pin(binary string) (Pin, bool) {
	pin, ok := l.pins[l.key(binary)]
	return pin, ok
}

// Set approves a plugin, in the place of what was approved before.
func (l *Lock) Set(binary string, pin Pin) { l.pins[l.key(binary)] = pin }

// Remove takes an approval back, and reports whether there was one.
func (l *Lock) Remove(binary string) bool {
	_, had := l.pins[l.key(binary)]
	delete(l.pins, l.key(binary))
	return had
}

// Binaries lists the paths of the plugins with an approval, in order.
func (l *Lock) Binaries() []string {
	var paths []string
	for _, key := range slices.Sorted(maps.Keys(l.pins)) {
		path := filepath.FromSlash(key)
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(l.path), path)
		}
		paths = append(paths, path)
	}
	return paths
}

// Write puts the lock in the place of its file, whole or not at all, readable
// by this user alone.
func (l *Lock) Write() error {
	data, err := json.MarshalIndent(lockFile{lockVersion, l.pins}, "", "  ")
	if err != nil {
		return err
	}
	if err := writeFile(l.path, append(data, '\n')); err != nil {
		return about(CodeLock, l.path, err, "make its folder writable for this user")
	}
	return nil
}

// key names a plugin in the file.
func (l *Lock) key(binary string) string {
	if rel, err := filepath.Rel(filepath.Dir(l.path), binary); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(binary)
}

func notApproved(path, have, want string) *Problem {
	return &Problem{Code: CodeChanged, Path: path,
		Reason: fmt.Sprintf("its sha256 is %s, approved is %s", have, want),
		Hint:   "find out who changed it; if it is meant, approve it with: tenterhook plugin lock"}
}
