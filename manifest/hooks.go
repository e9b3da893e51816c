package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/decl"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// reader turns front matter into hooks, and notes what is odd on the way.
type reader struct {
	*decl.Table
	src  Source
	from origin
}

// foreignKeys are those of other hosts that mean something here (metadata,
// trigger, the requirements at the top) or that mean nothing to anybody's
// machine.
var foreignKeys = []string{
	"metadata", "trigger", "bins", "any_bins", "anyBins", "envs", "os",
	"author", "category", "emoji", "homepage", "license", "tags", "version",
}

// takes reports that a key counts: in a HOOK.md each does.
func takes(string) bool { return true }

// hooks makes a hook for each event of the document.
func (r *reader) hooks() []*hook.Hook {
	events := r.events()
	base := r.definition()
	if !r.Lenient {
		r.Only(slices.Concat(decl.Top(), foreignKeys))
	}
	off := r.Choice("enabled")

	var hooks []*hook.Hook
	for _, ev := range events {
		matcher := cmp.Or(base.Matcher, ev.mapping.Matcher)
		if slices.ContainsFunc(hooks, func(h *hook.Hook) bool { return h.Event == ev.mapping.Event && h.Matcher == matcher }) {
			r.Warn("duplicate_event", r.from.key, "names "+string(ev.mapping.Event)+" twice", "keep one of them")
			continue
		}
		h := *base
		h.Event, h.Matcher = ev.mapping.Event, matcher
		r.settle(&h, ev)
		hooks = append(hooks, &h)
	}
	if len(hooks) == 0 {
		r.missingEvent()
		r.settle(base, event{})
		hooks = append(hooks, base)
	}
	for _, h := range hooks {
		if off != nil && !*off {
			h.State, h.Why = hook.StateDisabled, "its manifest has enabled = false"
		}
	}
	for i := range r.Notes {
		r.Notes[i].Hook = base.ID
	}
	return hooks
}

// definition reads everything but the events.
func (r *reader) definition() *hook.Hook {
	h := &hook.Hook{
		Name:      cmp.Or(r.Name("name"), r.src.Folder),
		Matcher:   r.matcher(),
		If:        r.Rules("if"),
		Kind:      r.kind(),
		Scope:     r.src.Scope,
		Source:    r.src.Source,
		Protocol:  r.from.protocol,
		Timeout:   cmp.Or(r.Duration("timeout", time.Second), r.from.timeout),
		OnFailure: r.Policy(),
		Requires:  r.requires(),
		Breaker:   r.Breaker(),
		State:     hook.StateReady,
	}
	if !isList(r.Get("env")) {
		h.Env = r.Env()
	}
	h.ID = r.src.ID(h.Name)
	h.Source.Line = r.line(r.from.key)
	r.Protocol(h)
	if r.Lenient {
		r.Fields(h, takes)
		h.Why = "it is written for another host, as its key " + r.from.key + " tells"
		r.Warn("foreign_manifest", r.from.key, "this key is another host's, so the hook does not run here", "name the event with event, and what to run with command")
		return h
	}
	if !h.Kind.Info().IsDefault() || r.Has("type", "command") {
		r.Misplaced(h)
	}
	if h.Kind.Info().IsDefault() {
		r.command(h)
	} else {
		r.Fields(h, takes)
		r.Params(h, takes)
	}
	return h
}

// line is that of a key, or of the opening fence.
func (r *reader) line(key string) int {
	if key != "" && r.Line(key) != r.Node.Line {
		return r.Line(key)
	}
	return r.Node.Line
}

// matcher reads matcher. In a manifest for another host it may be something
// else altogether.
func (r *reader) matcher() string {
	if r.Lenient {
		return r.Get("matcher").Text()
	}
	return r.Str("matcher")
}

// kind reads type, in any of the words for it.
func (r *reader) kind() hook.Kind {
	var words []string
	for _, k := range hook.Kinds() {
		words = append(words, k.Info().Words...)
	}
	if k, ok := hook.KindOf(decl.Word(r.Table, "type", words)); ok {
		return k.Kind
	}
	usual, _ := hook.KindOfKey("")
	return usual.Kind
}

// command reads what a command hook runs. What keeps a hook from running and is
// not a mistake becomes its Why.
func (r *reader) command(h *hook.Hook) {
	h.Sandbox = r.Sandbox()
	r.Command(h, "command", takes)
	if decl.Word(r.Table, "cwd", []string{"hook", decl.CwdSession}) == decl.CwdSession {
		h.Source.Dir = ""
	}
	switch {
	case h.Command != nil || r.Has("command") && r.Wrong() != "":
	case r.Has("type"):
		r.Fail("missing_command", "type", "a command hook needs a command", `add command = "./run.sh"`)
	default:
		h.Why = r.noCommand()
		key := r.from.key
		if r.Has("command") {
			key = "command"
		}
		r.Warn("missing_command", key, h.Why, r.KindHint())
	}
}

// noCommand says what a hook without a command is.
func (r *reader) noCommand() string {
	if r.src.Files != nil {
		files := r.src.Files()
		slices.Sort(files)
		for _, name := range files {
			stem, ext, _ := strings.Cut(name, ".")
			if stem == "handler" && (ext == "ts" || ext == "js") || stem == "index" && ext != "" {
				return fmt.Sprintf("its handler is code for another host (%s), and it has no command", name)
			}
		}
	}
	if r.from.host != "" {
		return fmt.Sprintf("its handler is code for another host (%s), and it has no command", r.from.host)
	}
	return "it has no command, so there is nothing to run"
}

// requires gathers the requirements from wherever hosts look for them: a table
// of their own, the top, and metadata, unless that says that they always hold.
func (r *reader) requires() (need hook.Requires) {
	take := func(t *decl.Table) {
		if t == nil {
			return
		}
		t.Require(&need)
		need.Envs = append(need.Envs, t.Words("env")...)
		if t.Has("config") && r.Has("command") {
			t.Warn("no_effect", "config", "settings of another host are not looked up", "")
		}
	}
	take(r.Group("requires", "config"))
	r.Require(&need)
	if isList(r.Get("env")) {
		need.Envs = append(need.Envs, r.List("env")...)
	}
	if meta := r.from.meta; meta != nil && !meta.Flag("always") {
		take(meta.Sub("requires"))
		need.OS = append(need.OS, meta.Systems()...)
	}
	return need
}

func isList(n *decl.Node) bool { return n.List() != nil }

// settle finds out whether a hook of the manifest can run for its event, and
// tells what its event ignores.
func (r *reader) settle(h *hook.Hook, ev event) {
	never := h.Why // of the manifest as a whole
	if ev.name != "" && ev.wrong == "" {
		never = cmp.Or(never, r.Judge(h, h.Matcher))
	}
	switch wrong := cmp.Or(r.Wrong(), ev.wrong); {
	case wrong != "":
		h.State, h.Why = hook.StateInvalid, wrong
	case never != "":
		h.State, h.Why = hook.StateUnsupported, never
	}
}

// event is an event that the manifest names.
type event struct {
	name    string
	mapping dialect.Mapping
	wrong   string // why there is no such event
}

// meaning finds the event of a name.
func (r *reader) meaning(name string, from origin) event {
	m, known := dialect.MapEvent(name)
	ev := event{name: name, mapping: m}
	if known {
		return ev
	}
	ev.mapping = dialect.Mapping{Event: hook.Event(name)}
	if from.host != "" {
		return ev // another host may well have it
	}
	if near := hook.NearestEvent(name); near != "" {
		what, hint := "there is no event "+phrase.Quote(name), fmt.Sprintf("did you mean %s?", near)
		r.Error(r.line(from.key), "unknown_event", r.About(from.key)+what, hint)
		ev.wrong = r.About(from.key) + what + "; " + hint
		return ev
	}
	r.Warn("unknown_event", from.key, "no event "+phrase.Quote(name)+" is known", "the hook runs if the host fires an event of that name")
	return ev
}

func (r *reader) missingEvent() {
	if r.Wrong() != "" && r.from.key != "" {
		return // the key is there, and what is wrong with it was said
	}
	hint := `add event = "PreToolUse"`
	if r.from.loose {
		hint = `name them beside metadata, as events = ["PreToolUse"], or as metadata.openclaw.events`
	}
	r.Fail("missing_event", r.from.key, "the manifest names no event, so the hook never runs", hint)
}
