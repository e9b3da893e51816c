package agents

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// cut is a part of the text and what takes its place.
type cut struct {
	start, end int
	with       string
}

// splice replaces parts of the text, in their order, and parses it again.
func (d *document) splice(cuts ...cut) error {
	size := len(d.text)
	for _, k := range cuts {
		size += len(k.with) - (k.end - k.start)
	}
	text, at := make([]byte, 0, size), 0
	for _, k := range cuts {
		text = append(append(text, d.text[at:k.start]...), k.with...)
		at = k.end
	}
	d.text = append(text, d.text[at:]...)
	if err := d.parse(); err != nil {
		return fmt.Errorf("the edit would break the file:%w", err)
	}
	return nil
}

// each edits values of the text, in their order, as documents of their own, so
// that the whole is parsed once and not for each edit.
func (d *document) each(values []*hujson.Value, edit func(i int, value *document) error) error {
	var cuts []cut
	for i, v := range values {
		part := &document{text: bytes.Clone(d.text[v.StartOffset:v.EndOffset]), nl: d.nl, unit: d.unit, flat: d.flat, within: d, from: v.StartOffset}
		if err := part.parse(); err != nil {
			return err
		}
		if err := edit(i, part); err != nil {
			return err
		}
		cuts = append(cuts, cut{v.StartOffset, v.EndOffset, string(part.text)})
	}
	return d.splice(cuts...)
}

const blank = " \t\r\n"

// add puts items at the end of an object or an array, and adds bytes alone.
func (d *document) add(c *hujson.Value, items ...string) error {
	if len(items) == 0 {
		return nil
	}
	open, end := c.StartOffset, c.EndOffset-1
	base, _ := d.indent(open)
	kids := spans(c)
	if len(kids) == 0 {
		inner := string(d.text[open+1 : end])
		at := open + 1 + len(strings.TrimRight(inner, blank))
		if d.flat {
			return d.splice(cut{at, at, strings.Join(items, ", ")})
		}
		gap := d.nl + base + d.unit
		with := gap + strings.Join(items, ","+gap)
		if !strings.Contains(string(d.text[at:end]), "\n") {
			with += d.nl + base
		}
		return d.splice(cut{at, at, with})
	}
	last := kids[len(kids)-1]
	gap := " "
	if strings.Contains(string(d.text[open:end]), "\n") {
		indent, own := d.indent(last.start)
		if !own {
			indent = base + d.unit
		}
		gap = d.nl + indent
	}
	with := gap + strings.Join(items, ","+gap)
	comments := strings.TrimRight(string(d.text[last.end:end]), blank)
	if comments == "" {
		return d.splice(cut{last.end, last.end, "," + with})
	}
	return d.splice(cut{last.end, last.end, ","}, cut{last.end + len(comments), last.end + len(comments), with})
}

// addEntries appends an element to the list of each event. The lists are below
// keys; what is not there is made.
func (d *document) addEntries(keys, events []string, element func(event string) string) error {
	for i, key := range keys {
		if d.at(keys[:i+1]...) == nil {
			if err := d.add(d.at(keys[:i]...), compact(key)+": {}"); err != nil {
				return err
			}
		}
	}
	return d.each([]*hujson.Value{d.at(keys...)}, func(_ int, hooks *document) error {
		var missing []string
		for _, event := range events {
			if hooks.at(event) == nil {
				missing = append(missing, compact(event)+": []")
			}
		}
		if err := hooks.add(&hooks.root, missing...); err != nil {
			return err
		}
		of, lists := hooks.lists(events)
		return hooks.each(lists, func(i int, list *document) error { return list.add(&list.root, element(of[i])) })
	})
}

// lists are the lists of events in an object, in the order of the text, and the
// event of each.
func (d *document) lists(events []string) (of []string, lists []*hujson.Value) {
	for _, s := range spans(&d.root) {
		if slices.Contains(events, s.key) && s.value.Value.Kind() == '[' {
			of, lists = append(of, s.key), append(lists, s.value)
		}
	}
	return of, lists
}

// remove takes the item at an index out of an object or an array, with the white
// space in front of it where that is possible, and leaves comments.
func (d *document) remove(c *hujson.Value, index int) error {
	kids, open := spans(c), c.StartOffset
	it := kids[index]
	before := len(strings.TrimRight(string(d.text[:it.start]), blank)) // where the text before it ends
	var cuts []cut
	switch {
	case index < len(kids)-1:
		behind := string(d.text[it.end:it.comma])
		if index == 0 && behind == "" && strings.TrimSpace(string(d.text[it.comma+1:kids[1].start])) == "" {
			cuts = append(cuts, cut{it.start, kids[1].start, ""})
		}
		cuts = append(cuts, cut{before, it.comma + 1, behind}, cut{it.start, it.comma + 1, behind})
	case index > 0:
		comma := kids[index-1].comma
		between := ""
		if before > comma {
			between = string(d.text[comma+1 : before])
		}
		cuts = append(cuts, cut{comma, it.end, between}, cut{comma, it.end, string(d.text[comma+1 : it.start])})
	default:
		if end := c.EndOffset - 1; before == open+1 && strings.TrimSpace(string(d.text[it.end:end])) == "" {
			cuts = append(cuts, cut{before, end, ""})
		}
		cuts = append(cuts, cut{before, it.end, ""}, cut{it.start, it.end, ""})
	}
	saved := *d
	for _, k := range cuts {
		if d.splice(k) == nil && d.holds(open, len(kids)-1) {
			return nil
		}
		*d = saved
	}
	return fmt.Errorf("%d: the entry cannot be removed without changing what is around it; remove it by hand", d.line(it.start))
}

// holds reports whether the object or array at an offset has so many items and
// no comma behind the last.
func (d *document) holds(open, items int) bool {
	for v := range d.root.All() {
		if v.StartOffset == open && (v.Value.Kind() == '{' || v.Value.Kind() == '[') {
			kids := spans(v)
			return len(kids) == items && (items == 0 || commaIn(d.text, kids[items-1].end, v.EndOffset-1) < 0)
		}
	}
	return false
}

// bytes is the whole file.
func (d *document) bytes() []byte { return append(append([]byte(nil), d.bom...), d.text...) }
