package dialect

import (
	"path"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/decl"
)

// ConfigFiles are patterns (of path.Match, with slashes) for the config files of
// some products, or of all if none is named, in a project, a home directory or
// a plugin's root. Not every file that fits declares hooks.
func ConfigFiles(of ...string) []string {
	var patterns []string
	for _, p := range products {
		if len(of) > 0 && !slices.Contains(of, p.name) {
			continue
		}
		for _, f := range p.files {
			if strings.HasPrefix(f.pattern, ".") {
				patterns = append(patterns, f.pattern)
			}
		}
	}
	if len(of) == 0 {
		patterns = append(patterns, "hooks/hooks.json", "hooks.json", "plugin.json")
	}
	return patterns
}

// recognized is whose file a file is, and what else it holds.
type recognized struct {
	product *product
	form    form
	by      evidence
}

// evidence is how strongly a path or a content speaks for a product.
type evidence uint8

const (
	byName   evidence = iota // the file's name, which many products use, or events that several have
	byFolder                 // it is in the product's folder
	byFile                   // the product has files of exactly that name
	byMark                   // it has what only this product has
)

// recognize tells a file by its path and by its content. The product whose
// folder it is in is meant, unless the content is surely another's. Of a file
// that cannot be parsed doc is nil.
func recognize(name string, doc *decl.Node) (recognized, bool) {
	place, placed := byPath(name)
	if doc == nil {
		return place, placed
	}
	if doc.At("$schema") != nil && doc.At("properties") != nil && doc.At("hooks") == nil {
		return recognized{}, false // a JSON Schema
	}
	shape, shaped := byShape(doc)
	switch {
	case placed && place.form == formManifest:
		return place, true
	case !shaped: // nothing declared, which is fine for settings alone
		return place, placed && place.form == formSettings
	case !placed, place.by == byName:
		if place.form == formSettings {
			shape.form = formSettings
		}
		return shape, true
	case shape.by == byMark && shape.product != place.product && !place.product.knowsSome(doc),
		place.product.guest && shape.form != formShape:
		return shape, true
	}
	if shape.form == formShape || place.form == formShape {
		place.form = shape.form
	}
	return place, true
}

// recognizeAs identifies a file whose product the caller names: p, nil =
// none is named.
func recognizeAs(p *product, name string, doc *decl.Node) (recognized, bool) {
	f, known := recognize(name, doc)
	if p == nil || known && f.by == byMark && !p.knowsSome(doc) {
		return f, known
	}
	if f.product = p; !known && p.settings {
		f.form = formSettings
	}
	return f, true
}

// byPath tells a file by its path.
func byPath(name string) (recognized, bool) {
	for _, p := range products {
		for _, f := range p.files {
			if matchesEnd(f.pattern, name) {
				return recognized{p, f.form, byFile}, true
			}
		}
	}
	for _, part := range slices.Backward(strings.Split(path.Dir(name), "/")) {
		for _, p := range products {
			if slices.ContainsFunc(p.files, func(f configFile) bool { return f.speaksFor(part) }) {
				return recognized{p, formHooks, byFolder}, true
			}
		}
	}
	switch base := path.Base(name); {
	case base == "plugin.json":
		return recognized{typical(), formManifest, byName}, true
	case base == "settings.json" || base == "settings.local.json":
		return recognized{typical(), formSettings, byName}, true
	case strings.Contains(base, "hooks") && path.Ext(base) == ".json":
		return recognized{typical(), formHooks, byName}, true
	}
	return recognized{}, false
}

// speaksFor reports whether a folder is the product's own.
func (f configFile) speaksFor(folder string) bool {
	first, _, _ := strings.Cut(f.pattern, "/")
	return first == folder && strings.HasPrefix(folder, ".") && !f.shared && f.form != formManifest
}

// matchesEnd holds a pattern against the end of a path, part by part.
func matchesEnd(pattern, name string) bool {
	want, have := strings.Split(pattern, "/"), strings.Split(name, "/")
	if len(have) < len(want) {
		return false
	}
	for i, part := range have[len(have)-len(want):] {
		if ok, _ := path.Match(want[i], part); !ok {
			return false
		}
	}
	return true
}

// byShape tells a file by its content: the names of its events, and keys that
// only one product has.
func byShape(doc *decl.Node) (recognized, bool) {
	if p := productWhere(func(p *product) bool { return p.shape != nil && p.shape.tells(doc) }); p != nil {
		return recognized{p, formShape, byMark}, true
	}
	if p := productWhere(func(p *product) bool { return p.root != "" && p.knowsSome(doc) }); p != nil {
		return recognized{p, formHooks, byMark}, true
	}
	events, at := eventTable(doc)
	if events == nil {
		return recognized{}, false
	}
	form := formHooks
	if at == atHooksKey && doc.At("description") == nil && doc.At("version") == nil {
		form = formSettings
	}
	if p := byMarks(events); p != nil {
		return recognized{p, form, byMark}, true
	}
	best, tells := byEvents(events)
	switch {
	case best == nil:
		return recognized{typical(), form, byName}, true
	case !tells: // camelCase, as several have it
		return recognized{productWhere(func(p *product) bool { return p.casual }), form, byName}, true
	}
	return recognized{best, form, byMark}, true
}

// byEvents finds the product that has most of the events as names of its own,
// and whether that tells: it is the only one, by more than the case of letters.
func byEvents(events *decl.Node) (best *product, tells bool) {
	most, only := 0, false
	for _, p := range products {
		n, marked := 0, false
		for _, e := range events.Pairs() {
			if _, own := p.events.names[e.Key]; own {
				n++
				marked = marked || configNames()[e.Key].Product == p.name
			}
		}
		switch {
		case n > most:
			best, most, only, tells = p, n, true, marked
		case n == most:
			only = false
		}
	}
	return best, only && tells
}

// eventsAt is where a file has its events.
type eventsAt uint8

const (
	atHooksKey eventsAt = iota
	atRoot
)

// eventTable finds the table of events, or the list that some have in its
// place; nil if there is none.
func eventTable(doc *decl.Node) (*decl.Node, eventsAt) {
	if hooks := doc.At("hooks"); hooks != nil {
		if inner := hooks.At("hooks"); inner.IsTable() {
			hooks = inner
		}
		return hooks, atHooksKey
	}
	for _, p := range doc.Pairs() {
		if isEventName(p.Key) && (p.Node.List() != nil || p.Node.IsTable()) {
			return doc, atRoot
		}
	}
	return nil, atRoot
}

func isEventName(name string) bool {
	if _, known := hook.Lookup(hook.Event(name)); known {
		return true
	}
	return slices.ContainsFunc(products, func(p *product) bool { _, own := p.events.names[name]; return own })
}

func (p *product) knowsSome(doc *decl.Node) bool {
	events, _ := eventTable(doc)
	if p.root != "" {
		events = p.rooted(doc)
	}
	return slices.ContainsFunc(events.Pairs(), func(e decl.Pair) bool { return p.knows(e.Key) }) ||
		p.listed != "" && slices.ContainsFunc(events.List(), func(n *decl.Node) bool { return p.knows(p.named(n)[0].Text()) })
}

// rooted is what stands under the product's own root; nil = nothing does.
func (p *product) rooted(doc *decl.Node) *decl.Node {
	for key := range strings.SplitSeq(p.root, ".") {
		doc = doc.At(key)
	}
	return doc
}

// byMarks finds the product that alone has a key which a handler, or a group, has.
func byMarks(events *decl.Node) *product {
	for _, e := range events.Pairs() {
		for _, group := range e.Node.List() {
			for _, n := range slices.Concat([]*decl.Node{group}, group.At("hooks").List(), group.At("handlers").List()) {
				for _, p := range n.Pairs() {
					if of := productWhere(func(of *product) bool { return slices.Contains(of.marks, p.Key) }); of != nil {
						return of
					}
				}
			}
		}
	}
	return nil
}

// productWhere returns the first product of which something is true, nil if it is
// of none.
func productWhere(is func(*product) bool) *product {
	if i := slices.IndexFunc(products, is); i >= 0 {
		return products[i]
	}
	return nil
}

// typical is the product whose files many others have the shape of.
func typical() *product { return productWhere(func(p *product) bool { return p.typical }) }
