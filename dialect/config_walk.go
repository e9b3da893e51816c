package dialect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// hooksValue reads what stands under "hooks". Some wrap it twice, and some have
// a list in which each entry names its event: no product reads that, but it is
// no file without hooks either.
func (r *configReader) hooksValue(n *node, depth int) {
	switch v := n.value.(type) {
	case nil:
	case []pair:
		inner := n.at("hooks")
		if depth == 0 && inner.isTable() {
			r.note(hook.SeverityWarning, inner.line, "nested_hooks", `"hooks" stands within "hooks"`, "leave one of them out")
			r.hooksValue(inner, depth+1)
			return
		}
		r.events(n)
	case []*node:
		r.note(hook.SeverityError, n.line, "wrong_type", "hooks: want a table of events, got a list", `write {"hooks": {"PreToolUse": […]}}`)
		for i, item := range v {
			name := cmp.Or(item.at("event").text(), item.at("type").text())
			if item.isTable() && (item.at("event").text() != "" || isEventName(name)) {
				r.invalid(r.eventOf(name, item.line), index("hooks", i), item, "it stands in a list that no product reads")
			}
		}
	default:
		r.note(hook.SeverityError, n.line, "wrong_type", "hooks: want a table of events, got "+n.what(), "")
	}
}

// events reads a table of events.
func (r *configReader) events(table *node) {
	seen := make(map[string]int)
	for _, p := range table.pairs() {
		switch {
		case strings.HasPrefix(p.key, "//"):
			r.once(hook.SeverityInfo, p.line, "comment_key", "", quote(p.key)+" is taken for a comment, and so are all keys like it", "")
			continue
		case isComment(p.key), slices.Contains(r.p.besides, p.key), (p.key == "version" || p.key == "description") && p.node.list() == nil:
			continue
		}
		if line := seen[p.key]; line > 0 {
			r.note(hook.SeverityWarning, p.line, "duplicate_key",
				fmt.Sprintf("%s stands here a second time, after line %d; both are read here, other readers take one", quote(p.key), line), "join them")
		}
		if seen[p.key] = p.line; len(seen) > maxConfigEvents {
			r.note(hook.SeverityError, p.line, "too_many", fmt.Sprintf("more than %d events; the rest is not read", maxConfigEvents), "")
			return
		}
		r.event(r.eventOf(p.key, p.line), p)
	}
}

// singles reads the hooks that stand alone under keys of the settings.
func (r *configReader) singles(doc *node) {
	for _, p := range doc.pairs() {
		if event, ok := r.p.single[p.key]; ok && p.node.isTable() {
			r.handler(declaredEvent{name: p.key, event: event}, nil, r.newEntry(p.key, p.node))
		}
	}
}

// declaredEvent is an event as a file names it.
type declaredEvent struct {
	name    string
	event   hook.Event
	matcher string // that narrows the event to what its name meant
	wrong   string // why there is no such event
}

// eventOf finds the event of a name: the product's own, the table's, that of
// another product, and at last the one that it differs from in its letters'
// case alone.
func (r *configReader) eventOf(name string, line int) declaredEvent {
	ev := declaredEvent{name: name, event: hook.Event(name)}
	if own, ok := r.p.events.names[name]; ok {
		ev.event, ev.matcher = cmp.Or(own.event, ev.event), own.matcher
		return ev
	}
	if _, known := hook.Lookup(ev.event); known {
		return ev
	}
	if strings.TrimSpace(name) == "" {
		ev.wrong = "its event has no name"
		r.note(hook.SeverityError, line, "unknown_event", "an event has no name", "write PreToolUse, say")
		return ev
	}
	near := hook.NearestEvent(name)
	what := quote(name) + " is no event"
	switch {
	case r.p.strict && near != "":
		ev.wrong = what
		r.note(hook.SeverityError, line, "unknown_event", what, "did you mean "+string(near)+"?")
	case near != "" && strings.EqualFold(strings.ReplaceAll(name, "_", ""), string(near)):
		ev.event = near
		r.note(hook.SeverityWarning, line, "unknown_event", what+" of "+r.p.name+"; it is taken for "+string(near), "")
	default:
		if m, other := MapEvent(name); other {
			ev.event, ev.matcher = m.Event, m.Matcher
			r.note(hook.SeverityWarning, line, "unknown_event", what+" of "+r.p.name+"; it is read as "+m.Product+" has it", "")
			return ev
		}
		hint := "its hooks run if the host fires an event of that name"
		if near != "" {
			hint = "did you mean " + string(near) + "? " + hint
		}
		r.note(hook.SeverityWarning, line, "unknown_event", "no event "+quote(name)+" is known", hint)
	}
	return ev
}

// event reads the groups of an event.
func (r *configReader) event(ev declaredEvent, p pair) {
	groups := p.node.list()
	switch {
	case groups != nil, p.node.value == nil:
	case p.node.isTable():
		r.note(hook.SeverityWarning, p.line, "wrong_type", quote(p.key)+": want a list, got a table; it is taken for a list of one", "put it in []")
		groups = []*node{p.node}
	default:
		message := quote(p.key) + ": want a list of hooks, got " + p.node.what()
		r.note(hook.SeverityError, p.line, "wrong_type", message, `write [{"hooks": [{"type": "command", "command": "…"}]}]`)
		r.invalid(ev, p.key, &node{line: p.line}, message)
		return
	}
	for i, g := range groups {
		if r.full(g.line) {
			return
		}
		r.group(ev, index(p.key, i), g)
	}
}

// group reads a group of handlers with one matcher, or a handler alone.
func (r *configReader) group(ev declaredEvent, at string, n *node) {
	if !n.isTable() {
		message := at + ": want a table, got " + n.what()
		r.note(hook.SeverityError, n.line, "wrong_type", message, `write {"type": "command", "command": "…"}`)
		r.invalid(ev, at, n, message)
		return
	}
	g := r.newEntry(at, n)
	g.matcher()
	key := "hooks"
	if g.get(key) == nil {
		key = "handlers"
	}
	inner := g.get(key)
	switch {
	case inner == nil && g.isHandler():
		if !r.p.flat {
			r.once(hook.SeverityWarning, n.line, "flat_handler", "", at+": the handler stands where its group should be",
				`write {"matcher": "…", "hooks": [{…}]}: other readers pass it over`)
		}
		g.unknown(r.p.takes, r.p.handlerKeys())
		r.handler(ev, nil, g)
		return
	case inner == nil:
		g.fail("missing_hooks", n.line, "", "it has no handler", `add hooks = [{"type": "command", "command": "…"}]`)
		r.invalid(ev, at, n, g.wrong)
		return
	case inner.isTable():
		g.warn("wrong_type", key, "want a list, got a table; it is taken for a list of one", "put it in []")
		inner = &node{inner.line, []*node{inner}}
	case inner.list() == nil:
		g.wrongType(key, "a list of handlers", inner)
		r.invalid(ev, at, n, g.wrong)
		return
	case len(inner.list()) == 0:
		g.warn("missing_hooks", key, "the list is empty, so nothing runs", "")
	}
	g.unknown(g.groupKey, r.p.handlerKeys())
	for i, h := range inner.list() {
		if r.full(h.line) {
			return
		}
		at := at + "." + strconv.Itoa(i)
		if !h.isTable() {
			message := at + ": want a table, got " + h.what()
			r.note(hook.SeverityError, h.line, "wrong_type", message, `write {"type": "command", "command": "…"}`)
			r.invalid(ev, at, h, message)
			continue
		}
		e := r.newEntry(at, h)
		e.unknown(func(key string) bool { return r.p.takes(key) && (key != "matcher" || r.p.inner) }, r.p.handlerKeys())
		r.handler(ev, g, e)
	}
}

// isHandler reports whether a table in the place of a group runs something.
func (e *entry) isHandler() bool {
	for key := range e.keys {
		if _, runs := kindOfKey[key]; runs || key == "type" {
			return true
		}
	}
	return false
}

// groupKey reports whether a key counts on a group of handlers.
func (e *entry) groupKey(key string) bool {
	switch key {
	case "matcher", "hooks", "handlers", "description", "name", "id":
		return true
	}
	return key == "if" && e.p.inner
}

func (p *product) handlerKeys() []string { return slices.Concat(sharedHandlerKeys, p.keys) }

// invalid adds the hook that stands for an entry which is none.
func (r *configReader) invalid(ev declaredEvent, at string, n *node, why string) {
	r.add(&hook.Hook{Name: r.unique(r.place(at)), Event: ev.event, Matcher: ev.matcher, Kind: hook.KindCommand,
		State: hook.StateInvalid, Why: why}, n.line)
}

// place names a hook after where it stands: settings.json:PreToolUse[0].1.
func (r *configReader) place(at string) string {
	if r.prefix != "" {
		at = shorten(r.prefix, 60) + "." + at
	}
	return r.base() + ":" + shorten(at, 100)
}

// unique makes a name that no other hook of the file has.
func (r *configReader) unique(name string) string {
	r.names[name]++
	for n := r.names[name]; n > 1; n++ {
		if other := name + "#" + strconv.Itoa(n); r.names[other] == 0 {
			r.names[name], r.names[other] = n, 1
			return other
		}
	}
	return name
}

// add appends a hook.
func (r *configReader) add(h *hook.Hook, line int) {
	h.ID = HookID(r.src.Scope, r.src.Package, h.Name)
	h.Scope, h.Source = r.src.Scope, cmp.Or(h.Source, r.src.Source)
	h.Source.Line = line
	r.config.Hooks = append(r.config.Hooks, h)
}

// full reports whether the file may have no more hooks, and says so.
func (r *configReader) full(line int) bool {
	if len(r.config.Hooks) < maxConfigHooks {
		return false
	}
	r.once(hook.SeverityError, line, "too_many", "", fmt.Sprintf("more than %d hooks; the rest is not read", maxConfigHooks), "divide the file")
	return true
}

// duplicates reports command hooks that stand twice in one event: the last one
// runs.
func (r *configReader) duplicates() {
	type place struct {
		event         hook.Event
		matcher, runs string
	}
	seen := make(map[place]*hook.Hook)
	for _, h := range r.config.Hooks {
		key := place{h.Event, h.Matcher, LegacyKey(h)}
		if key.runs == "" || h.State == hook.StateInvalid {
			continue
		}
		if first := seen[key]; first != nil {
			r.note(hook.SeverityWarning, h.Source.Line, "duplicate_hook",
				fmt.Sprintf("%s runs the same as %s (line %d)", h.Name, first.Name, first.Source.Line), "remove one of them: it runs once")
			continue
		}
		seen[key] = h
	}
}

// LegacyKey is what Claude Code compares to run a command hook of one scope once:
// its command, args and rules. Hooks that differ in what that protocol does not
// know stay apart: their environment, their folder, the dialect of their answers,
// and whether they are workers. "" = the hook is the same as no other.
func LegacyKey(h *hook.Hook) string {
	if h.Command == nil {
		return ""
	}
	key, err := json.Marshal([]any{h.Kind, h.Command.Line, h.Command.Args, h.Command.Worker, h.If, h.Env, h.Source.Dir, h.Protocol})
	if err != nil {
		return ""
	}
	return string(key)
}

// WholeKey has everything of a hook that decides what runs, and how. What only
// says who declared it, when it is asked and what its failure means is left out:
// both hooks are asked, and the stricter failure policy counts. "" = the hook is
// the same as no other.
func WholeKey(h *hook.Hook) string {
	own := *h
	own.ID, own.Name, own.Description, own.StatusMessage = "", "", "", ""
	own.Scope, own.Source = 0, hook.Source{Dir: h.Source.Dir}
	own.Event, own.Matcher, own.Syntax, own.Priority = "", "", "", 0
	own.OnFailure, own.State, own.Why, own.Handler = "", "", "", nil
	key, err := json.Marshal(&own)
	if err != nil {
		return ""
	}
	return string(key)
}
