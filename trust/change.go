package trust

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/tenterhook/tenterhook/internal/phrase"
)

// ChangeKind is what happened to a part of a subject.
type ChangeKind string

const (
	ChangeField   ChangeKind = "field"   // of the definition; Old and New are JSON, "" = not declared
	ChangeAdded   ChangeKind = "added"   // a file; New says what it is
	ChangeRemoved ChangeKind = "removed" // a file; Old says what it was
	ChangeContent ChangeKind = "content" // of a file; Old and New say what it was and is
	ChangeMode    ChangeKind = "mode"    // a file may be executed now, or may not any more
	ChangeUnbound ChangeKind = "unbound" // the files of its command cannot all be located any more; New says why
)

// Change is one difference between what was approved and what is there.
type Change struct {
	Kind ChangeKind `json:"kind"`
	Name string     `json:"name"` // of the field or the file
	Old  string     `json:"old,omitempty"`
	New  string     `json:"new,omitempty"`
}

// String is a sentence without its end: "run.sh changed".
func (c Change) String() string {
	name := show(c.Name)
	switch {
	case c.Kind == ChangeField && c.Old == "":
		return fmt.Sprintf("its %s was added (%s)", name, clip(c.New))
	case c.Kind == ChangeField && c.New == "":
		return fmt.Sprintf("its %s was removed (%s)", name, clip(c.Old))
	case c.Kind == ChangeField:
		return fmt.Sprintf("its %s changed from %s to %s", name, clip(c.Old), clip(c.New))
	case c.Kind == ChangeUnbound:
		return "its command became unbound (" + clip(c.New) + ")"
	case c.Kind == ChangeMode:
		return fmt.Sprintf("%s became %s", name, c.New)
	case c.Kind == ChangeContent:
		return name + " changed"
	}
	return fmt.Sprintf("%s was %s", name, c.Kind)
}

// clip keeps a sentence short and harmless.
func clip(s string) string { return show(phrase.Clip(s, 80)) }

// changes lists the differences between an approval and what is there now,
// those of the definition first. The zero Approval is nothing, of which
// everything differs.
func changes(old *Approval, now *Seal) []Change {
	list := fieldChanges(old.Definition, now.definition)
	list = fileChanges(list, old.Folder, now.folder)
	if old.Unbound {
		return list
	}
	if why := now.Unbound(); why != "" {
		list = append(list, Change{ChangeUnbound, "command", "", why})
	}
	return fileChanges(list, old.Files, now.files)
}

// same reports whether an approval binds exactly what is there now. An unbound
// approval leaves open which files the command runs.
func (a *Approval) same(now *Seal) bool {
	return string(a.Definition) == string(now.definition) && slices.Equal(a.Folder, now.folder) &&
		(a.Unbound || now.Unbound() == "" && slices.Equal(a.Files, now.files))
}

// fieldChanges compares definitions entry by entry, field by field. What is no
// definition of Define is compared as one field.
func fieldChanges(old, now json.RawMessage) []Change {
	if string(old) == string(now) {
		return nil
	}
	before, ok := entries(old)
	after, also := entries(now)
	if !ok || !also {
		return []Change{{ChangeField, "definition", string(old), string(now)}}
	}
	var list []Change
	first := 1 // the number of the first entry, which may be a plugin itself
	if len(after) > 0 && after[0]["events"] == nil && string(after[0]["type"]) == `"plugin"` {
		first = 0
	}
	for i := range max(len(before), len(after)) {
		var a, b map[string]json.RawMessage
		suffix := ""
		if i < len(before) {
			a = before[i]
		}
		if i < len(after) {
			b = after[i]
		}
		if n := i + first; n > 0 && max(len(before), len(after)) > 1 {
			suffix = fmt.Sprintf(" of hook %d", n)
		}
		fields := maps.Clone(a)
		if fields == nil {
			fields = make(map[string]json.RawMessage)
		}
		maps.Copy(fields, b)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if string(a[name]) != string(b[name]) {
				list = append(list, Change{ChangeField, name + suffix, string(a[name]), string(b[name])})
			}
		}
	}
	return list
}

func entries(definition json.RawMessage) (list []map[string]json.RawMessage, ok bool) {
	if len(definition) == 0 {
		return nil, true
	}
	return list, json.Unmarshal(definition, &list) == nil
}

// fileChanges appends the differences of two lists that are sorted by name.
func fileChanges(list []Change, old, now []File) []Change {
	for len(old)+len(now) > 0 {
		switch {
		case len(now) == 0 || len(old) > 0 && old[0].Name < now[0].Name:
			list = append(list, Change{ChangeRemoved, old[0].Name, old[0].describe(), ""})
			old = old[1:]
			continue
		case len(old) == 0 || now[0].Name < old[0].Name:
			list = append(list, Change{ChangeAdded, now[0].Name, "", now[0].describe()})
			now = now[1:]
			continue
		}
		a, b := old[0], now[0]
		old, now = old[1:], now[1:]
		name := a.Name
		switch {
		case a.Missing && !b.Missing:
			list = append(list, Change{ChangeAdded, name, "", b.describe()})
		case b.Missing && !a.Missing:
			list = append(list, Change{ChangeRemoved, name, a.describe(), ""})
		case a.Size != b.Size || a.describe() != b.describe():
			list = append(list, Change{ChangeContent, name, a.describe(), b.describe()})
		}
		if a.Exec != b.Exec && !a.Missing && !b.Missing {
			list = append(list, Change{ChangeMode, name, mode(a), mode(b)})
		}
	}
	return list
}

func mode(f File) string {
	if f.Exec {
		return "executable"
	}
	return "not executable"
}
