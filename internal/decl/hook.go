package decl

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// Fields reads the keys that have a field of the hook, of all kinds and of its
// own. Those in tables are read by functions of their own. takes says which keys
// count.
func (t *Table) Fields(h *hook.Hook, takes func(key string) bool) {
	for i := range keys {
		k := &keys[i]
		own := k.Kinds == nil || slices.Contains(k.Kinds, h.Kind)
		if k.field != nil && own && !strings.Contains(k.Name, ".") && takes(k.Name) && t.Has(k.Name) {
			t.into(k, k.field(h))
		}
	}
}

// into reads a key into a field.
func (t *Table) into(k *Key, field any) {
	switch field := field.(type) {
	case *bool:
		*field = t.Flag(k.Name)
	case *int:
		*field = t.Int(k.Name)
	case *[]string:
		*field = t.List(k.Name)
	case *string:
		switch k.Takes {
		case Choice:
			*field = Word(t, k.Name, k.Words)
		case Prose:
			*field = t.Caption(k.Name)
		default:
			*field = t.Str(k.Name)
		}
	}
}

// Policy reads on_failure. A misspelt "block" still means that: the hook is
// invalid, and its author wants this failure to block too.
func (t *Table) Policy() hook.FailurePolicy {
	policy := Word(t, "on_failure", Policies)
	if policy == "" {
		policy = Nearest(hook.FailurePolicy(t.Get("on_failure").Text()), Policies)
	}
	return policy
}

// Protocol reads protocol, and gives the hook the syntax of matchers that goes
// with it.
func (t *Table) Protocol(h *hook.Hook) {
	if p := Word(t, "protocol", hook.Protocols()); p != "" {
		h.Protocol = p
	}
	if h.Protocol == hook.ProtocolStarpod {
		h.Syntax = hook.SyntaxRegexp // as starpod searches its matchers
	}
}

// Env reads the environment that the hook gets, under the key env.
func (t *Table) Env() map[string]string {
	table := t.Sub("env")
	if table == nil || len(table.Node.Pairs()) == 0 {
		return nil
	}
	env := make(map[string]string)
	for _, p := range table.Node.Pairs() {
		value := ""
		switch v := p.Node.Value.(type) {
		case string:
			value = v
		case bool:
			value = strconv.FormatBool(v)
		case json.Number:
			value = v.String()
			if _, err := v.Int64(); err != nil || p.Node.Written != "" { // a fraction may have been written in another way
				table.failAt("wrong_type", p.Line, p.Key, "want a string, got "+p.Node.What(), "put it in quotes")
			}
		default:
			table.failAt("wrong_type", p.Line, p.Key, "want a string, got "+p.Node.What(), typeHint("a string", p.Node))
		}
		if p.Key == "" || strings.ContainsAny(p.Key, "=\x00") || strings.ContainsRune(value, 0) {
			table.failAt("unknown_value", p.Line, p.Key, "is no name, or no value, that a variable can have", "")
			continue
		}
		if _, twice := env[p.Key]; twice {
			table.failAt("duplicate_key", p.Line, p.Key, "stands here a second time", "keep one of them")
		}
		env[p.Key] = value
	}
	return env
}

// Breaker reads the table breaker.
func (t *Table) Breaker() hook.BreakerSettings {
	table := t.Group("breaker")
	if table == nil {
		return hook.BreakerSettings{}
	}
	return hook.BreakerSettings{Failures: table.Int("failures"), Cooldown: table.Duration("cooldown", time.Second)}
}

// Group is Sub, and warns of keys that have no effect in the table. more are keys
// that count beside our own.
func (t *Table) Group(key string, more ...string) *Table {
	table := t.Sub(key)
	if table != nil {
		table.Only(append(Names(below(key, keys)), more...))
	}
	return table
}

// Require adds what the table requires, under the keys of requires.
func (t *Table) Require(need *hook.Requires) {
	if t == nil {
		return
	}
	need.Bins = append(need.Bins, t.Words("bins")...)
	need.AnyBins = append(need.AnyBins, t.Words("any_bins")...)
	need.Envs = append(need.Envs, t.Words("envs")...)
	need.OS = append(need.OS, t.Systems()...)
}

// Systems reads the systems under the key os.
func (t *Table) Systems() (list []string) {
	for _, name := range t.Words("os") {
		name = strings.ToLower(name)
		name = cmp.Or(otherSystems[name], name)
		if near := hook.Nearest(name, systems); near != "" && !slices.Contains(systems, name) {
			t.Warn("unknown_value", "os", "there is no system "+phrase.Quote(name), "did you mean "+phrase.Quote(near)+"?")
		}
		list = append(list, name)
	}
	return list
}

// otherSystems are names that declarations have for a system beside its own.
var otherSystems = map[string]string{"darwin": "macos", "win32": "windows"}

var systems = []string{"linux", "macos", "windows", "freebsd", "openbsd", "netbsd", "dragonfly", "solaris", "illumos", "android", "ios", "aix"}

// Sandbox reads the sandbox that a hook asks for; nil = none is declared.
func (t *Table) Sandbox() *hook.Sandbox {
	n := t.Get("sandbox")
	if n == nil {
		return nil
	}
	raw, ok := n.JSON()
	if !ok {
		t.WrongType("sandbox", "a mode or a table", n)
		return nil
	}
	box, problems := hook.SandboxOf(raw)
	t.Report(problems)
	return box
}

// Command reads args, shell and worker, and the command under a key: a line for
// the shell, or a list of the program and its arguments. The hook has no command
// if there is none.
func (t *Table) Command(h *hook.Hook, key string, takes func(key string) bool) {
	h.Command = &hook.Command{}
	t.Fields(h, takes)
	t.queue(h)
	c := h.Command
	if n := t.Get(key); n != nil {
		switch v := n.Value.(type) {
		case string:
			c.Line = strings.TrimSpace(v)
		case []*Node:
			list := t.List(key)
			if len(list) > 0 && c.Args != nil {
				t.Fail("wrong_type", key, "want a string beside args, got a list", "leave one of the two lists out")
			} else if len(list) > 0 {
				c.Line, c.Args = list[0], list[1:]
			}
		default:
			t.WrongType(key, "a string", n)
		}
	}
	if strings.ContainsRune(c.Line+strings.Join(c.Args, ""), 0) {
		t.Fail("unknown_value", key, "holds a NUL character, which no program can be given", "remove it")
	}
	if c.Line == "" {
		h.Command = nil
	} else if c.Shell != "" && c.Args != nil {
		t.Warn("no_effect", "shell", "a command with args runs without a shell", "")
	}
}

// queue judges the queue of a hook, which is for hooks of the background.
func (t *Table) queue(h *hook.Hook) {
	switch {
	case h.Queue == "":
	case !hook.ValidQueue(h.Queue):
		t.Fail("unknown_value", "queue", phrase.Quote(h.Queue)+" cannot be the name of a queue", "use up to 63 of a-z, 0-9, '-' and '_'")
	case !h.Async && !h.AsyncRewake:
		t.Fail("queue_waits", "queue", "a hook that others run elsewhere cannot be waited for", "add async = true")
	case h.Once || h.Command.Worker:
		t.Fail("queue_alone", "queue", "once and worker are of this machine, and a queue is of others", "leave once and worker out, or queue")
	}
}

// Params reads the keys of the hook's kind that are kept as they are, and what
// the kind makes of them.
func (t *Table) Params(h *hook.Hook, takes func(key string) bool) {
	h.Params = make(hook.Params)
	var wrong []string // codes of what is not missing, but wrong
	for i := range keys {
		k := &keys[i]
		if !k.isParam() || !slices.Contains(k.Kinds, h.Kind) || !takes(k.Name) {
			continue
		}
		name, n := Camel(k.Name), t.Get(k.Name)
		if k.Name == "mcp" {
			name = "server"
		}
		if n == nil || n.Value == "" && k.Takes.hasEmpty() {
			if k.Must && h.Params[name] == nil {
				t.Fail("missing_"+k.Name, "type", fmt.Sprintf("a hook of type %q needs a %s", h.Kind, k.Name), "")
			}
			continue
		}
		if want, odd := k.Takes.odd(n); odd != nil {
			t.WrongType(k.Name, want, odd)
			wrong = append(wrong, "missing_"+k.Name)
		} else if raw, ok := n.JSON(); !ok {
			t.Fail("wrong_type", k.Name, "holds a value that JSON does not have", "write numbers that are finite")
		} else {
			h.Params[name] = raw
			t.param(k, h.Kind.Info())
		}
	}
	if read := h.Kind.Info().Read; read != nil {
		declared, problems := read(h.Params)
		t.Report(slices.DeleteFunc(problems, func(p hook.Diagnostic) bool { return slices.Contains(wrong, p.Code) }))
		h.Rewrites = declared.IsRewriter()
		if len(problems)+len(wrong) == 0 {
			for _, key := range declared.Unused() {
				t.Warn("unused_key", key, "has no effect on a "+declared.String(), "")
			}
		}
	}
}

// param judges what a type alone does not say of a value. A kind that reads its
// keys judges its own words.
func (t *Table) param(k *Key, of *hook.KindInfo) {
	switch k.Takes {
	case Integer:
		t.Int(k.Name)
	case Time:
		t.Duration(k.Name, time.Second)
	case Size:
		t.Size(k.Name)
	case Age:
		t.Age(k.Name)
	case Choice:
		if of.Read == nil {
			Word(t, k.Name, k.Words)
		}
	}
}

// hasEmpty reports whether an empty text says as much as no value at all.
func (k Type) hasEmpty() bool { return k == Text || k == Choice }

// odd is the first value in n that is not of the type, and what is wanted instead;
// nil = there is none.
func (k Type) odd(n *Node) (want string, odd *Node) {
	switch k {
	case Text, Prose, Choice, Expression, Size, Age:
		_, ok := n.Value.(string)
		return "a string", n.unless(ok)
	case Flag:
		_, ok := n.Value.(bool)
		return "true or false", n.unless(ok)
	case Object:
		return "a table", n.unless(n.IsTable())
	case Named:
		if n.IsTable() {
			return "a table of strings", n.noText()
		}
		return "a table of strings", n
	case Texts:
		if isList(n) {
			return "a list of strings", n.noText()
		}
		return "a list of strings", n
	case Rules, Globs, Words:
		if _, ok := n.Value.(string); ok {
			return "", nil
		}
		if isList(n) {
			return "a string or a list of strings", n.noText()
		}
		return "a string or a list of strings", n
	}
	return "", nil
}

func (n *Node) unless(ok bool) *Node {
	if ok {
		return nil
	}
	return n
}

// Misplaced warns of keys that belong to hooks of another kind.
func (t *Table) Misplaced(h *hook.Hook) {
	info := h.Kind.Info()
	told := make(map[string]bool)
	for i := range keys {
		k := &keys[i]
		name, _, _ := strings.Cut(k.Name, ".")
		switch {
		case told[name] || t.Get(name) == nil:
		case info.Instant && k.Idle:
			t.Warn("unused_key", name, fmt.Sprintf("has no effect on a %s, which starts nothing", h.Kind), "leave it out")
			told[name] = true
		case k.Kinds != nil && !slices.Contains(k.Kinds, h.Kind):
			t.Warn("unused_key", name, fmt.Sprintf("has no effect on a %s hook", h.Kind), fmt.Sprintf("it belongs to type = %q", k.Kinds[0]))
			told[name] = true
		}
	}
	if info.Instant {
		h.Timeout, h.Breaker, h.Env, h.StatusMessage = 0, hook.BreakerSettings{}, nil, ""
	}
}

// KindHint is for an author who gave the keys of a kind and left out its name.
func (t *Table) KindHint() string {
	for i := range keys {
		if k := &keys[i]; k.isParam() && t.Get(k.Name) != nil {
			return fmt.Sprintf("%s needs type = %q beside it", t.Spelt(k.Name), k.Kinds[0])
		}
	}
	return `add command = "./run.sh"`
}

// Judge warns of keys that the hook's event takes no notice of, and returns why
// the hook never runs on it; "" = it does.
func (t *Table) Judge(h *hook.Hook, matcher string) (never string) {
	info := hook.Info(h.Event)
	if matcher != "" && matcher != "*" && matcher != ".*" && info.MatcherField == "" {
		t.Warn("no_effect", "matcher", fmt.Sprintf("%s has nothing that a matcher could test, so each one matches", h.Event), "leave the matcher out")
	}
	if t.Has("on_failure") && h.OnFailure == hook.FailureBlock {
		switch {
		case info.NoPolicy || info.Block == hook.BlockNothing:
			t.Warn("no_effect", "on_failure", fmt.Sprintf("a failed hook does not block %s", h.Event), "")
		case h.Async || h.AsyncRewake:
			t.Warn("no_effect", "on_failure", "a hook in the background blocks nothing", "")
		}
	}
	if t.Has("rewrites") && h.Rewrites && !info.Fields.Has(hook.FieldUpdatedInput) && !info.Fields.Has(hook.FieldRequest) {
		t.Warn("no_effect", "rewrites", fmt.Sprintf("%s has no input that a hook can rewrite", h.Event), "")
	}
	switch {
	case !info.Takes(h.Kind):
		never = fmt.Sprintf("%s takes no %s hooks, only %s", h.Event, h.Kind, phrase.Either(info.Kinds()...))
		t.Warn("unsupported_kind", "type", never, "")
	case len(h.If) > 0 && !info.TakesIf:
		never = fmt.Sprintf("%s has no tool call that the rule could test, so the hook never runs", h.Event)
		t.Warn("if_never", "if", never, "leave the rule out, or use a matcher")
	case h.Declared() != nil:
		if never = h.Declared().Never(info); never != "" {
			t.Warn("no_effect", "decision", never, "")
		}
	}
	return never
}
