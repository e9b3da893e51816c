package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/tenterhook/tenterhook/bridge"
)

// Change is what an installation does to one file.
type Change struct {
	Path   string // with links resolved
	Old    []byte // nil = there is none
	New    []byte // nil = it is deleted
	mode   fs.FileMode
	base   []byte   // without our entries; nil = there would be no file
	made   []string // containers that are made for our entries
	target target
}

// Same reports whether nothing is to be done.
func (c *Change) Same() bool { return bytes.Equal(c.Old, c.New) && (c.Old == nil) == (c.New == nil) }

// planFile works out what a file is without our entries, and with them.
func (e Env) planFile(t target, a *bridge.Agent, r *Receipt) (*Change, error) {
	path, data, mode, err := readTarget(t.path)
	if err != nil {
		return nil, err
	}
	c := &Change{Path: path, Old: data, mode: mode, target: t}
	if c.base, err = e.without(c, a, r.file(path)); err != nil {
		return nil, err
	}
	if t.own != nil {
		c.New = t.own
		return c, nil
	}
	text := c.base
	if text == nil {
		text = []byte(t.fresh)
	}
	d, err := readDocument(path, text, t.syntax)
	if err != nil {
		return nil, err
	}
	if err := voids(d, path, a); err != nil {
		return nil, err
	}
	c.made = d.missing(t.keys, a.Events())
	for _, event := range a.Events() {
		if err := d.place(t.keys, event, path); err != nil {
			return nil, err
		}
		if err := d.addEntry(t.keys, event, t.shape.element(e.Program, a, event)); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	c.New = d.bytes()
	return c, nil
}

// place checks that what stands where our entries go can hold them.
func (d *document) place(keys []string, event, path string) error {
	for i := range keys {
		if v := d.at(keys[:i+1]...); v != nil && v.Value.Kind() != '{' {
			return fmt.Errorf("%s:%d: %q is no object; correct it first", path, d.line(v.StartOffset), keys[i])
		}
	}
	if v := d.at(append(slices.Clone(keys), event)...); v != nil && v.Value.Kind() != '[' {
		return fmt.Errorf("%s:%d: %q is no list; correct it first", path, d.line(v.StartOffset), event)
	}
	return nil
}

// readTarget reads a file behind its links.
func readTarget(path string) (resolved string, data []byte, mode fs.FileMode, err error) {
	resolved, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if info, lerr := os.Lstat(path); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", nil, 0, fmt.Errorf("%s is a link to a file that is not there; make the file or remove the link", path)
		}
		return path, nil, 0o644, nil
	}
	if err != nil {
		return "", nil, 0, err
	}
	info, err := os.Stat(resolved)
	switch {
	case err != nil:
		return "", nil, 0, err
	case !info.Mode().IsRegular():
		return "", nil, 0, fmt.Errorf("%s is no regular file", resolved)
	case info.Mode().Perm()&0o200 == 0:
		return "", nil, 0, fmt.Errorf("%s is read-only; make it writable (chmod u+w) if tenterhook may change it", resolved)
	case links(info) > 1:
		return "", nil, 0, fmt.Errorf("%s has %d names (hard links), which a new file would part; replace the others by symbolic links", resolved, links(info))
	}
	data, err = os.ReadFile(resolved)
	if data == nil {
		data = []byte{}
	}
	return resolved, data, info.Mode().Perm(), err
}

// without returns a file's bytes without our entries: the very bytes of before
// if nobody else changed the file, and else all but what is ours. nil means that
// there would be no file.
func (e Env) without(c *Change, a *bridge.Agent, r *FileReceipt) ([]byte, error) {
	if c.Old == nil {
		return nil, nil
	}
	if r != nil && digest(c.Old) == r.After {
		if !r.Existed {
			return nil, nil
		}
		data, err := os.ReadFile(r.Backup)
		if err == nil && digest(data) == r.Before {
			return data, nil
		}
	}
	if c.target.own != nil {
		if !bytes.Contains(c.Old, []byte("tenterhook")) {
			return nil, fmt.Errorf("%s is not tenterhook's; move it away first", c.Path)
		}
		return nil, nil
	}
	d, err := readDocument(c.Path, c.Old, c.target.syntax)
	if err != nil {
		return nil, err
	}
	if err := d.removeOurs(c.target, a, r); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Path, err)
	}
	if r != nil && !r.Existed && len(spans(&d.root)) == 0 && bytes.TrimSpace(d.text)[0] == '{' && len(bytes.Fields(d.text)) <= 2 {
		return nil, nil
	}
	return d.bytes(), nil
}

// removeOurs takes our entries out, and the keys that an installation made for
// them if nothing else is in them.
func (d *document) removeOurs(t target, a *bridge.Agent, r *FileReceipt) error {
	for _, event := range a.Events() {
		keys := append(slices.Clone(t.keys), event)
		for removed := true; removed; {
			removed = false
			list := d.at(keys...)
			if list == nil || list.Value.Kind() != '[' {
				break
			}
			for i, s := range spans(list) {
				if isOurs(d.standard(s), a.Name) {
					if err := d.remove(list, i); err != nil {
						return err
					}
					removed = true
					break
				}
			}
		}
	}
	if r == nil {
		return nil
	}
	for i := len(r.Created) - 1; i >= 0; i-- { // the innermost last
		if err := d.removeEmpty(r.Created[i]); err != nil {
			return err
		}
	}
	return nil
}

// standard is an item as plain JSON.
func (d *document) standard(s span) []byte {
	plain, err := hujson.Standardize(bytes.Clone(d.text[s.start:s.end]))
	if err != nil {
		return nil
	}
	return plain
}

// missing lists the containers of our entries that are not there, outermost
// first, as keys with slashes between them.
func (d *document) missing(keys []string, events []string) []string {
	var list []string
	for i := range keys {
		if d.at(keys[:i+1]...) == nil {
			list = append(list, strings.Join(keys[:i+1], "/"))
		}
	}
	for _, event := range events {
		if path := append(slices.Clone(keys), event); d.at(path...) == nil {
			list = append(list, strings.Join(path, "/"))
		}
	}
	return list
}

// removeEmpty removes a container if nothing is in it.
func (d *document) removeEmpty(path string) error {
	keys := strings.Split(path, "/")
	v := d.at(keys...)
	if v == nil || len(spans(v)) > 0 || len(bytes.TrimSpace(d.text[v.StartOffset+1:v.EndOffset-1])) > 0 {
		return nil
	}
	parent := d.at(keys[:len(keys)-1]...)
	i := slices.IndexFunc(spans(parent), func(s span) bool { return s.key == keys[len(keys)-1] })
	return d.remove(parent, i)
}

// voids reports what else in a file makes its agent ignore all of it.
func voids(d *document, path string, a *bridge.Agent) error {
	if a.Name != "claude" && a.Name != "codex" {
		return nil
	}
	fail := func(offset int, what string) error {
		return fmt.Errorf("%s:%d: %s, for which %s ignores every hook of the file; correct it first", path, d.line(offset), what, a.Title)
	}
	if a.Name == "codex" {
		for _, s := range spans(&d.root) {
			if s.key != "hooks" && s.key != "description" {
				return fail(s.start, fmt.Sprintf("the key %q", s.key))
			}
		}
	}
	hooks := d.at("hooks")
	if hooks == nil {
		return nil
	}
	for _, event := range spans(hooks) {
		for _, group := range spans(event.value) {
			list := childAt(group.value, "hooks")
			if list == nil {
				continue
			}
			for _, h := range spans(list) {
				if v := childAt(h.value, "timeout"); v != nil && v.Value.Kind() != '0' {
					return fail(v.StartOffset, "a timeout that is no number")
				}
				v := childAt(h.value, "type")
				if v == nil || v.Value.Kind() != '"' || !slices.Contains(handlerTypes, v.Value.(hujson.Literal).String()) {
					return fail(h.start, "a handler without a type that it knows")
				}
			}
		}
	}
	return nil
}

var handlerTypes = []string{"command", "prompt", "agent", "http", "mcp_tool"}

func childAt(v *hujson.Value, key string) *hujson.Value {
	for _, s := range spans(v) {
		if s.key == key {
			return s.value
		}
	}
	return nil
}
