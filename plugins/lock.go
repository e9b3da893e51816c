package plugins

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/stamp"
	"github.com/tenterhook/tenterhook/plugins/internal/wire"
)

// Lock is a lock file: which bytes of which plugins somebody approved. A plugin
// in the lock file's own folder, or below it, is named relative to it, so that
// the two can move together. A Lock is for one goroutine.
type Lock struct {
	path string
	read stamp.Stamp    // of the file that was read; zero = there was none
	pins map[string]Pin // by the path of the executable
}

// Pin approves one plugin.
type Pin struct {
	SHA256  string   `json:"sha256"`            // of the executable, in hex
	Version string   `json:"version,omitempty"` // what the plugin calls itself; for people
	Env     []string `json:"env,omitempty"`     // variables that it gets beside the usual ones

	// Sandbox is what its process may do; nil = what the settings say of packages, which is strict by default.
	Sandbox *hook.Sandbox `json:"sandbox,omitempty"`
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
	at, err := stampOf(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return &Lock{path: abs, pins: make(map[string]Pin)}, nil
	}
	data, err := readFile(abs, maxLock)
	if err != nil {
		return nil, about(CodeLock, abs, err, restoreLock)
	}
	l, p := parseLock(abs, data)
	if p == nil {
		l.read = at
	}
	return l, p
}

const restoreLock = "restore it, or remove it and approve the plugins again with: tenterhook plugin lock"

// parseLock reads a lock file's text. What this host would not write back is an
// error: an approval must not be lost by another one.
func parseLock(path string, data []byte) (*Lock, *Problem) {
	l := &Lock{path: path, pins: make(map[string]Pin)}
	wrong := func(reason string) (*Lock, *Problem) {
		return nil, &Problem{Code: CodeLock, Path: path, Reason: wire.FirstLine(reason), Hint: restoreLock}
	}
	if err := hook.CheckJSON(data); err != nil {
		return wrong(err.Error())
	}
	var file lockFile
	err := json.Unmarshal(data, &file)
	if file.Version != lockVersion && (err == nil || file.Version > lockVersion) {
		return wrong(fmt.Sprintf("it is of version %d, this host reads %d", file.Version, lockVersion))
	}
	if err == nil {
		err = onlyKnown(data)
	}
	if err != nil {
		return wrong(err.Error())
	}
	for name, pin := range file.Plugins {
		if !isDigest(pin.SHA256) {
			return wrong(fmt.Sprintf("the sha256 of %q is none", wire.FirstLine(name)))
		}
		if reason := wrongBox(pin.Sandbox); reason != "" {
			return wrong(fmt.Sprintf("the sandbox of %q: %s", wire.FirstLine(name), reason))
		}
		binary, ok := l.binary(name)
		if !ok {
			return wrong(fmt.Sprintf("%q is no plugin's path: want a full one, or one below the lock file's folder", wire.FirstLine(name)))
		}
		if _, twice := l.Pin(binary); twice {
			return wrong(fmt.Sprintf("it names %q twice, in two ways", wire.FirstLine(binary)))
		}
		l.Set(binary, pin)
	}
	return l, nil
}

// onlyKnown refuses keys that a Lock has no room for, and those that are known
// in another case alone, which encoding/json takes.
func onlyKnown(data []byte) error {
	check := func(object []byte, known ...string) (map[string]json.RawMessage, error) {
		var keys map[string]json.RawMessage
		if err := json.Unmarshal(object, &keys); err != nil {
			return nil, err
		}
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if !slices.Contains(known, key) {
				return nil, fmt.Errorf("the key %q is not known", wire.FirstLine(key))
			}
		}
		return keys, nil
	}
	top, err := check(data, "version", "plugins")
	if err != nil {
		return err
	}
	var pins map[string]json.RawMessage
	if raw, ok := top["plugins"]; ok {
		if err := json.Unmarshal(raw, &pins); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pins)) {
		pin, err := check(pins[name], "sha256", "version", "env", "sandbox")
		if err != nil {
			return err
		}
		if box, ok := pin["sandbox"]; ok {
			if _, err := check(box, hook.SandboxKeys()...); err != nil {
				return err
			}
		}
	}
	return nil
}

// isDigest reports whether s is a sha256 in hex, in the one way that it is
// written here: it names files, too.
func isDigest(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == sha256.Size && s == strings.ToLower(s)
}

// Pin returns the approval of a plugin, by the path of its executable.
func (l *Lock) Pin(binary string) (Pin, bool) {
	pin, ok := l.pins[filepath.Clean(binary)]
	return pin, ok
}

// Set approves a plugin, in the place of what was approved before.
func (l *Lock) Set(binary string, pin Pin) { l.pins[filepath.Clean(binary)] = pin }

// Remove takes an approval back, and reports whether there was one.
func (l *Lock) Remove(binary string) bool {
	_, had := l.Pin(binary)
	delete(l.pins, filepath.Clean(binary))
	return had
}

// Binaries lists the paths of the plugins with an approval, in order.
func (l *Lock) Binaries() []string { return slices.Sorted(maps.Keys(l.pins)) }

// Write puts the lock in the place of its file, whole or not at all, readable
// by this user alone. It refuses where the file is not the one that was read any
// more: somebody else's approval, or the end of one, would be lost.
func (l *Lock) Write() error {
	now, err := stampOf(l.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return about(CodeLock, l.path, err, "make its folder readable for this user")
	}
	if now != l.read {
		return &Problem{Code: CodeLock, Path: l.path, Reason: "it was changed since it was read", Hint: "try again"}
	}
	data, p := l.encode()
	if p != nil {
		return p
	}
	if err := writeFile(l.path, data); err != nil {
		return about(CodeLock, l.path, err, "make its folder writable for this user")
	}
	if l.read, err = stampOf(l.path); err != nil {
		return about(CodeLock, l.path, err, "")
	}
	return nil
}

// encode is the file's text, which parseLock reads.
func (l *Lock) encode() ([]byte, *Problem) {
	file := lockFile{lockVersion, make(map[string]Pin, len(l.pins))}
	for binary, pin := range l.pins {
		if !utf8.ValidString(binary) {
			return nil, &Problem{Code: CodeLock, Path: l.path, Reason: fmt.Sprintf("it cannot name %q, whose path is no UTF-8", wire.FirstLine(binary)),
				Hint: "rename the plugin, or its folder"}
		}
		file.Plugins[l.key(binary)] = pin
	}
	data, _ := json.MarshalIndent(file, "", "  ") // texts alone: it never fails
	if data = append(data, '\n'); len(data) > maxLock {
		return nil, &Problem{Code: CodeLock, Path: l.path, Reason: fmt.Sprintf("it would be larger than %d bytes", maxLock), Hint: "take out what is not in use"}
	}
	return data, nil
}

// key names a plugin in the file.
func (l *Lock) key(binary string) string {
	if rel, err := filepath.Rel(filepath.Dir(l.path), binary); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(filepath.Clean(binary))
}

// binary is the path of the plugin that the file names so.
func (l *Lock) binary(key string) (string, bool) {
	path := filepath.FromSlash(key)
	switch {
	case filepath.IsAbs(path):
		return filepath.Clean(path), true
	case filepath.IsLocal(path):
		return filepath.Join(filepath.Dir(l.path), path), true
	}
	return "", false
}

func notApproved(path, have, want string) *Problem {
	return &Problem{Code: CodeChanged, Path: path,
		Reason: fmt.Sprintf("its sha256 is %s, approved is %s", have, want),
		Hint:   "find out who changed it; if it is meant, approve it with: tenterhook plugin lock"}
}
