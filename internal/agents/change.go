package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
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
	owner  owner
	base   []byte   // without our entries; nil = there would be no file
	made   []string // containers that are made for our entries
	target target
}

// Same reports whether nothing is to be done.
func (c *Change) Same() bool { return bytes.Equal(c.Old, c.New) && (c.Old == nil) == (c.New == nil) }

// planFile works out what a file is without our entries, and with them.
func (e Env) planFile(t target, p *Plan) (*Change, error) {
	a, s, r := p.Agent, p.Scope, p.receipt
	c, err := e.read(t, s)
	if err != nil {
		return nil, err
	}
	if c.base, err = e.without(c, a, r.file(c.Path)); err != nil {
		return nil, err
	}
	if t.own != nil {
		c.New = t.own
		return c, nil
	}
	if t.door != nil {
		if err := c.hide(); err != nil {
			return nil, err
		}
	}
	text := c.base
	if text == nil {
		text = []byte(t.fresh)
	}
	d, err := readDocument(c.Path, text, t.syntax)
	if err != nil {
		return nil, err
	}
	if err := voids(d, c.Path, a); err != nil {
		return nil, err
	}
	c.made = d.missing(t.keys, a.Events())
	if err := d.place(t.keys, a.Events(), c.Path); err != nil {
		return nil, err
	}
	if err := d.addEntries(t.keys, a.Events(), func(event string) string { return t.element(e.caller(a.Name), a, event) }); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Path, err)
	}
	c.New = d.bytes()
	return c, nil
}

// read looks at one file of an installation. A project's files must be in the
// project: a repository may come with a link in place of one.
func (e Env) read(t target, s Scope) (*Change, error) {
	f, err := readTarget(t.path)
	if err != nil {
		return nil, err
	}
	if s == Project {
		root, err := resolve(e.Project)
		if err != nil {
			return nil, err
		}
		if !inside(f.path, root) {
			return nil, fmt.Errorf("%s leads out of the project, to %s; put a file or a directory in the place of the link", t.path, f.path)
		}
	}
	return &Change{Path: f.path, Old: f.data, mode: f.mode, owner: f.owner, target: t}, nil
}

// place checks that what stands where our entries go can hold them.
func (d *document) place(keys, events []string, path string) error {
	for i := range keys {
		if v := d.at(keys[:i+1]...); v != nil && v.Value.Kind() != '{' {
			return fmt.Errorf("%s:%d: %q is no object; correct it first", path, d.line(v.StartOffset), keys[i])
		}
	}
	for _, event := range events {
		if v := d.at(append(slices.Clone(keys), event)...); v != nil && v.Value.Kind() != '[' {
			return fmt.Errorf("%s:%d: %q is no list; correct it first", path, d.line(v.StartOffset), event)
		}
	}
	return nil
}

// without returns a file's bytes without our entries: the same bytes as before
// if no other program changed the file, and else all but what is ours. nil means that
// there would be no file.
func (e Env) without(c *Change, a *bridge.Agent, r *FileReceipt) ([]byte, error) {
	if c.Old == nil {
		return nil, nil
	}
	if r != nil && digest(c.Old) == r.After {
		if !r.Existed {
			return nil, nil
		}
		data, err := readBounded(r.Backup)
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
	hooks := d.at(t.keys...)
	if hooks == nil || hooks.Value.Kind() != '{' {
		return nil
	}
	var events, above []string // that an installation made
	if r != nil {
		for _, path := range slices.Backward(r.Created) { // the innermost first
			if event, ok := strings.CutPrefix(path, strings.Join(t.keys, "/")+"/"); ok {
				events = append(events, event)
			} else {
				above = append(above, path)
			}
		}
	}
	err := d.each([]*hujson.Value{hooks}, func(_ int, hooks *document) error {
		_, lists := hooks.lists(a.Events())
		err := hooks.each(lists, func(_ int, list *document) error { return list.removeEntries(a) })
		for _, event := range events {
			err = errors.Join(err, hooks.removeEmpty(event))
		}
		return err
	})
	for _, path := range above {
		err = errors.Join(err, d.removeEmpty(path))
	}
	return err
}

// removeEntries takes our entries out of the list of an event.
func (d *document) removeEntries(a *bridge.Agent) error {
	for {
		i := slices.IndexFunc(spans(&d.root), func(s span) bool { return isOurs(d.standard(s), a.Name) })
		if i < 0 {
			return nil
		}
		if err := d.remove(&d.root, i); err != nil {
			return err
		}
	}
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
