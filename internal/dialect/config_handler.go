package dialect

import (
	"cmp"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/decl"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// handler makes a hook of a handler. g is the group around it, nil if it stands
// alone.
func (r *configReader) handler(ev declaredEvent, g, e *entry) {
	h := &hook.Hook{
		Event: ev.event, Protocol: r.p.protocol, State: hook.StateReady,
		Source: r.src.Source,
	}
	e.inherit(g)
	h.Name = e.title(g)
	e.choose(h, ev, g)
	var runs bool
	h.Kind, runs = e.kind(h)
	h.Timeout = e.timeout(h.Kind.Info())
	if e.takes("on_failure") {
		h.OnFailure = e.Policy()
	}
	if e.takes("env") {
		h.Env = e.Env()
	}
	switch {
	case !runs:
	case h.Kind.Info().IsDefault():
		e.command(h, runtime.GOOS)
		if dir := cmp.Or(e.dir("cwd"), e.dir("working_directory")); dir != "" {
			h.Source.Dir = dir
		}
	default:
		e.Fields(h, e.takes)
		e.Params(h, e.takes)
	}
	if g != nil {
		h.Description = cmp.Or(h.Description, g.Caption("description"))
	}
	if r.p.own {
		e.ours(h)
	}
	if r.p.settle != nil {
		r.p.settle(h, e, ev.name)
	}
	e.finish(h, ev)
}

// takes reports whether a key counts in files of the product.
func (e *entry) takes(key string) bool { return e.p.takes(key) }

// inherit takes over what the group is and lacks.
func (e *entry) inherit(g *entry) {
	if g == nil {
		return
	}
	e.Inherit(g.Table)
	outer := g.pattern
	if e.p.inner && e.Get("matcher") != nil {
		e.matcher()
		if outer != "" && outer != "*" && outer != e.pattern {
			e.Warn("matcher_twice", "matcher", "the group also has a matcher; this one counts", "keep one of them")
		}
		return
	}
	e.pattern = outer
}

// title is the hook's name: its own, that of its group, or where it stands.
func (e *entry) title(g *entry) string {
	at := []*entry{e}
	if g != nil && len(g.Get("hooks").List())+len(g.Get("handlers").List()) == 1 {
		at = append(at, g)
	}
	for _, from := range at {
		for _, key := range []string{"name", "id"} {
			switch name := strings.TrimSpace(from.Caption(key)); {
			case name == "":
			case decl.IsName(name):
				return e.r.unique(name)
			default:
				from.Warn("unknown_value", key, phrase.Quote(name)+" cannot be a name, so the hook is called after its place", "use a line of up to 100 bytes")
			}
		}
	}
	return e.r.unique(e.r.place(e.At))
}

// choose reads the matcher and the rule.
func (e *entry) choose(h *hook.Hook, ev declaredEvent, g *entry) {
	if e.takes("if") {
		h.If = e.rules("if")
		if g != nil && e.p.inner && len(h.If) == 0 {
			h.If = g.rules("if")
		}
	}
	e.applyMatcher(h, ev)
}

// kind reads type. It returns false, and gives the hook a Why, if there is no
// such kind.
func (e *entry) kind(h *hook.Hook) (hook.Kind, bool) {
	word := e.Str("type")
	if word == "" {
		if !e.p.flat && e.Get("type") == nil && e.Once("missing_type", "") {
			e.Warn("missing_type", "", "it has no type", `add "type": "command": other readers want it`)
		}
		return e.untyped().Kind, true
	}
	if k, ok := hook.KindOf(word); ok && (!k.Own || e.p.own) {
		return k.Kind, true
	}
	h.Why = "there is no kind of hook " + phrase.Quote(word)
	hint := ""
	if near := hook.Nearest(word, foreignTypes()); near != "" {
		hint = "did you mean " + phrase.Quote(near) + "?"
	}
	e.Warn("unknown_type", "type", h.Why, hint)
	return hook.Kind(phrase.Clip(word, 40)), false
}

// foreignTypes are the types of hooks that files of other products may have.
func foreignTypes() (words []string) {
	for _, k := range hook.Kinds() {
		if info := k.Info(); !info.Own {
			words = append(words, info.Words...)
		}
	}
	return words
}

// untyped is the kind of a handler without a type, as its keys tell it.
func (e *entry) untyped() *hook.KindInfo {
	common, _ := hook.KindOfKey("")
	if e.Has("command") {
		return common
	}
	for _, k := range hook.Kinds() {
		for _, mark := range k.Info().Marks {
			if !k.Info().IsDefault() && e.takes(mark) && e.Has(mark) {
				return k.Info()
			}
		}
	}
	return common
}

// command reads the command for a system.
func (e *entry) command(h *hook.Hook, goos string) {
	for _, key := range e.commandKeys(goos) {
		if e.Get(key) == nil {
			continue
		}
		e.Table.Command(h, key, e.takes)
		if !e.takes(key) && e.Once("foreign_key", key) {
			e.Warn("foreign_key", key, "no key of "+e.p.name+"'s hooks; it is taken for the command", "write command as well: "+e.p.name+" passes the hook over")
		}
		if h.Command != nil && slices.Contains([]string{"bash", "powershell"}, key) {
			h.Command.Shell = key
		}
		if h.Command != nil || e.Wrong() != "" {
			return
		}
	}
	for _, key := range systemCommands {
		if e.Get(key) != nil {
			h.Why = "it has no command for this system, only one under " + e.Spelt(key)
			e.Warn("other_system", key, h.Why, "")
			return
		}
	}
	e.Table.Command(h, "command", e.takes)
	e.Fail("missing_command", "", "a command hook needs a command", `add "command": "…"`)
}

// commandKeys are the keys that may hold the command for a system, the best
// first: those for the system, if the product has them, then command.
func (e *entry) commandKeys(goos string) []string {
	keys := []string{"linux", "bash"}
	switch goos {
	case "windows":
		keys = []string{"windows", "command_windows", "powershell", "bash"}
	case "darwin":
		keys = []string{"osx", "bash"}
	}
	before := func(a, b string) int { // foreign keys come last
		rank := func(key string) int {
			switch {
			case key == "command":
				return 1
			case !e.takes(key) || goos == "windows" && key == "bash":
				return 2
			}
			return 0
		}
		return rank(a) - rank(b)
	}
	keys = append(keys, "command")
	slices.SortStableFunc(keys, before)
	return keys
}

// systemCommands are the keys for the commands of one system.
var systemCommands = []string{"windows", "command_windows", "powershell", "osx", "linux", "bash"}

// dir is a folder that a command starts in; "" for the session's.
func (e *entry) dir(key string) string {
	if !e.takes(key) {
		return ""
	}
	dir := e.Str(key)
	if dir == "" || path.Clean(slashed(dir)) == "." {
		return ""
	}
	if path.IsAbs(slashed(dir)) || strings.Contains(dir, ":") {
		return dir
	}
	if strings.HasPrefix(dir, "$") || strings.HasPrefix(dir, "~") {
		e.Warn("no_effect", key, "variables are not expanded here, so the hook starts in the session's directory", "write the folder out")
		return ""
	}
	return path.Join(projectRoot(slashed(e.r.src.Path)), slashed(dir))
}

// projectRoot is the folder around the product's own folder.
func projectRoot(name string) string {
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if base := path.Base(dir); strings.HasPrefix(base, ".") && base != ".." {
			return path.Dir(dir)
		}
	}
	return path.Dir(name)
}

// timeout reads the time limit, under whichever key the product has it.
func (e *entry) timeout(of *hook.KindInfo) time.Duration {
	for _, key := range []struct {
		name string
		unit time.Duration
	}{{"timeout", e.p.unit}, {"timeout_sec", time.Second}, {"timeout_ms", time.Millisecond}} {
		if e.takes(key.name) && e.Has(key.name) {
			if d := e.Duration(key.name, key.unit); d > 0 {
				return d
			}
		}
	}
	if of.IsDefault() {
		return e.p.timeout
	}
	return 0
}

// ours reads the keys that only our own settings have, as HOOK.md has them.
func (e *entry) ours(h *hook.Hook) {
	e.Protocol(h)
	h.Breaker = e.Breaker()
	h.Sandbox = e.Sandbox()
	if need := e.Group("requires"); need != nil {
		need.Require(&h.Requires)
		h.Requires.Envs = append(h.Requires.Envs, need.Words("env")...)
	}
	if on := e.Choice("enabled"); on != nil && !*on {
		h.State, h.Why = hook.StateDisabled, "it has enabled = false"
	}
	e.Misplaced(h)
}

// finish judges whether the hook can run on its event, and adds it.
func (e *entry) finish(h *hook.Hook, ev declaredEvent) {
	if h.Why == "" && h.State != hook.StateDisabled && ev.wrong == "" && e.Wrong() == "" {
		h.Why = e.Judge(h, e.pattern)
	}
	switch {
	case h.State == hook.StateDisabled:
	case e.Wrong() != "" || ev.wrong != "":
		h.State, h.Why = hook.StateInvalid, cmp.Or(e.Wrong(), ev.wrong)
	case h.Why != "":
		h.State = hook.StateUnsupported
	}
	e.r.add(h, e.Node.Line)
	for i := min(e.first, len(e.Notes)); i < len(e.Notes); i++ {
		e.Notes[i].Hook = h.ID
	}
}
