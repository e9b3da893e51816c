package dialect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/decl"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// hooksValue reads what stands under "hooks". Some wrap it twice, and some have
// a list in which each entry names its event: no product reads that, but it is
// no file without hooks either.
func (r *configReader) hooksValue(n *decl.Node, depth int) {
	switch v := n.Value.(type) {
	case nil:
	case []decl.Pair:
		inner := n.At("hooks")
		if depth == 0 && inner.IsTable() {
			r.Warn(inner.Line, "nested_hooks", `"hooks" stands within "hooks"`, "leave one of them out")
			r.hooksValue(inner, depth+1)
			return
		}
		r.events(n)
	case []*decl.Node:
		if r.p.listed == "" {
			r.Error(n.Line, "wrong_type", "hooks: want a table of events, got a list", `write {"hooks": {"PreToolUse": […]}}`)
		}
		for i, item := range v {
			if r.p.listed != "" {
				r.listedHook(fmt.Sprintf("%s[%d]", cmp.Or(r.p.root, "hooks"), i), item)
				continue
			}
			name := item.At("event")
			named := name.Text() != ""
			if !named {
				name = item.At("type")
			}
			if named || isEventName(name.Text()) {
				r.invalid(r.eventOf(name.Text(), name.Line), fmt.Sprintf("hooks[%d]", i), item, "it stands in a list that no product reads")
			}
		}
	default:
		r.Error(n.Line, "wrong_type", "hooks: want a table of events, got "+n.What(), "")
	}
}

// named are the names of events in a hook of a list, at least one, which may be "".
func (p *product) named(n *decl.Node) []*decl.Node {
	at := n.At(p.listed)
	if names := at.List(); len(names) > 0 {
		return names
	}
	if at == nil {
		at = n
	}
	return []*decl.Node{at}
}

// listedHook reads a hook of a list, for each event that it names.
func (r *configReader) listedHook(at string, n *decl.Node) {
	for _, name := range r.p.named(n) {
		if r.full(n.Line) {
			return
		}
		r.group(r.eventOf(name.Text(), name.Line), at, n)
	}
}

// events reads a table of events.
func (r *configReader) events(table *decl.Node) {
	seen := make(map[string]int)
	for _, p := range table.Pairs() {
		switch {
		case strings.HasPrefix(p.Key, "//"):
			if r.Once("comment_key", "") {
				r.Note(hook.Diagnostic{Severity: hook.SeverityInfo, Line: p.Line, Code: "comment_key", Message: phrase.Quote(p.Key) + " is taken for a comment, and so are all keys like it"})
			}
			continue
		case decl.IsComment(p.Key), slices.Contains(r.p.besides, p.Key), (p.Key == "version" || p.Key == "description") && p.Node.List() == nil:
			continue
		}
		if line := seen[p.Key]; line > 0 {
			r.Warn(p.Line, "duplicate_key",
				fmt.Sprintf("%s stands here a second time, after line %d; both are read here, other readers take one", phrase.Quote(p.Key), line), "join them")
		}
		if seen[p.Key] = p.Line; len(seen) > maxConfigEvents {
			r.Error(p.Line, "too_many", fmt.Sprintf("more than %d events; the rest is not read", maxConfigEvents), "")
			return
		}
		r.event(r.eventOf(p.Key, p.Line), p)
	}
}

// singles reads the hooks that stand alone under keys of the settings.
func (r *configReader) singles(doc *decl.Node) {
	for _, p := range doc.Pairs() {
		if event, ok := r.p.single[p.Key]; ok && p.Node.IsTable() {
			r.handler(declaredEvent{name: p.Key, event: event}, nil, r.newEntry(p.Key, p.Node))
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
// another product, and at last the one that differs in
// the case of letters alone.
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
		r.Error(line, "unknown_event", "an event has no name", "write PreToolUse, say")
		return ev
	}
	near := hook.NearestEvent(name)
	what := phrase.Quote(name) + " is no event"
	switch {
	case r.p.strict && near != "":
		ev.wrong = what
		r.Error(line, "unknown_event", what, "did you mean "+string(near)+"?")
	case near != "" && strings.EqualFold(strings.ReplaceAll(name, "_", ""), string(near)):
		ev.event = near
		r.Warn(line, "unknown_event", what+" of "+r.p.name+"; it is taken for "+string(near), "")
	default:
		if m, other := MapEvent(name); other {
			ev.event, ev.matcher = m.Event, m.Matcher
			r.Warn(line, "unknown_event", what+" of "+r.p.name+"; it is read as "+m.Product+" has it", "")
			return ev
		}
		hint := "its hooks run if the host fires an event of that name"
		if near != "" {
			hint = "did you mean " + string(near) + "? " + hint
		}
		r.Warn(line, "unknown_event", "no event "+phrase.Quote(name)+" is known", hint)
	}
	return ev
}

// event reads the groups of an event.
func (r *configReader) event(ev declaredEvent, p decl.Pair) {
	groups := p.Node.List()
	switch {
	case groups != nil, p.Node.Value == nil:
	case r.p.short && (p.Node.IsTable() || p.Node.Text() != ""):
		groups = []*decl.Node{p.Node}
	case p.Node.IsTable():
		r.Warn(p.Line, "wrong_type", phrase.Quote(p.Key)+": want a list, got a table; it is taken for a list of one", "put it in []")
		groups = []*decl.Node{p.Node}
	default:
		message := phrase.Quote(p.Key) + ": want a list of hooks, got " + p.Node.What()
		r.Error(p.Line, "wrong_type", message, `write [{"hooks": [{"type": "command", "command": "…"}]}]`)
		r.invalid(ev, p.Key, &decl.Node{Line: p.Line}, message)
		return
	}
	for i, g := range groups {
		if r.full(g.Line) {
			return
		}
		r.group(ev, fmt.Sprintf("%s[%d]", p.Key, i), g)
	}
}

// group reads a group of handlers with one matcher, or a handler alone.
func (r *configReader) group(ev declaredEvent, at string, n *decl.Node) {
	if line := n.Text(); r.p.short && line != "" {
		n = decl.Value(n.Line, []decl.Pair{decl.Member("command", n)})
	}
	if !n.IsTable() {
		message := at + ": want a table, got " + n.What()
		r.Error(n.Line, "wrong_type", message, `write {"type": "command", "command": "…"}`)
		r.invalid(ev, at, n, message)
		return
	}
	g := r.newEntry(at, n)
	g.matcher()
	key := "hooks"
	if g.Get(key) == nil {
		key = "handlers"
	}
	inner := g.Get(key)
	switch {
	case inner == nil && g.isHandler():
		if !r.p.flat && r.Once("flat_handler", "") {
			r.Warn(n.Line, "flat_handler", at+": the handler stands where its group should be",
				`write {"matcher": "…", "hooks": [{…}]}: other readers pass it over`)
		}
		g.strange(r.p.takes)
		r.handler(ev, nil, g)
		return
	case inner == nil:
		g.Fail("missing_hooks", "", "it has no handler", `add hooks = [{"type": "command", "command": "…"}]`)
		r.invalid(ev, at, n, g.Wrong())
		return
	case inner.IsTable():
		g.Warn("wrong_type", key, "want a list, got a table; it is taken for a list of one", "put it in []")
		inner = decl.Value(inner.Line, []*decl.Node{inner})
	case inner.List() == nil:
		g.WrongType(key, "a list of handlers", inner)
		r.invalid(ev, at, n, g.Wrong())
		return
	case len(inner.List()) == 0:
		g.Warn("missing_hooks", key, "the list is empty, so nothing runs", "")
	}
	g.strange(g.groupKey)
	for i, h := range inner.List() {
		if r.full(h.Line) {
			return
		}
		at := at + "." + strconv.Itoa(i)
		if !h.IsTable() {
			message := at + ": want a table, got " + h.What()
			r.Error(h.Line, "wrong_type", message, `write {"type": "command", "command": "…"}`)
			r.invalid(ev, at, h, message)
			continue
		}
		e := r.newEntry(at, h)
		e.strange(func(key string) bool { return r.p.takes(key) && (key != "matcher" || r.p.inner) })
		r.handler(ev, g, e)
	}
}

// isHandler reports whether a table in the place of a group runs something.
func (e *entry) isHandler() bool {
	return slices.ContainsFunc(e.Node.Pairs(), func(p decl.Pair) bool {
		key := e.p.ours(decl.Snake(p.Key))
		_, runs := hook.KindOfKey(key)
		return runs || key == "type"
	})
}

// groupKey reports whether a key counts on a group of handlers.
func (e *entry) groupKey(key string) bool {
	switch key {
	case "matcher", "hooks", "handlers", "description", "name", "id":
		return true
	}
	return key == "if" && e.p.inner
}

func (p *product) handlerKeys() []string {
	return slices.Concat(sharedHandlerKeys, p.keys, slices.Sorted(maps.Keys(p.alias)))
}

// invalid adds the hook that stands for an entry which is none.
func (r *configReader) invalid(ev declaredEvent, at string, n *decl.Node, why string) {
	r.add(&hook.Hook{Name: r.unique(r.place(at)), Event: ev.event, Matcher: ev.matcher, Kind: hook.KindCommand,
		State: hook.StateInvalid, Why: why}, n.Line)
}

// place names a hook after where it stands: settings.json:PreToolUse[0].1.
func (r *configReader) place(at string) string {
	if r.prefix != "" {
		at = phrase.Clip(r.prefix, 60) + "." + at
	}
	return r.base() + ":" + phrase.Clip(at, 100)
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
	if r.Once("too_many", "") {
		r.Error(line, "too_many", fmt.Sprintf("more than %d hooks; the rest is not read", maxConfigHooks), "divide the file")
	}
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
			r.Warn(h.Source.Line, "duplicate_hook",
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
	key, _ := json.Marshal([]any{h.Kind, h.Command.Line, h.Command.Args, h.Command.Worker, h.If, h.Env, h.Source.Dir, h.Protocol}) // texts alone
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
