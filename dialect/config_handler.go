package dialect

import (
	"cmp"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// kindOfType are the words for the kinds of hooks.
var kindOfType = map[string]hook.Kind{
	"command": hook.KindCommand, "http": hook.KindHTTP, "mcp_tool": hook.KindMCP, "mcp": hook.KindMCP,
	"prompt": hook.KindPrompt, "agent": hook.KindAgent, "plugin": hook.KindPlugin, "rule": hook.KindRule,
}

// kindOfKey are the keys that tell the kind of a handler without a type.
var kindOfKey = map[string]hook.Kind{
	"command": hook.KindCommand, "bash": hook.KindCommand, "powershell": hook.KindCommand, "windows": hook.KindCommand,
	"linux": hook.KindCommand, "osx": hook.KindCommand, "command_windows": hook.KindCommand,
	"url": hook.KindHTTP, "server": hook.KindMCP, "mcp": hook.KindMCP, "prompt": hook.KindPrompt,
}

// configParam is a key that belongs to some kinds alone. It is kept as it is,
// under the name that the protocol has for it.
type configParam struct {
	key   string
	wants wanted
	kinds []hook.Kind
	must  bool
	as    string // "" = key
}

var (
	forHTTP   = []hook.Kind{hook.KindHTTP}
	forMCP    = []hook.Kind{hook.KindMCP}
	forModels = []hook.Kind{hook.KindPrompt, hook.KindAgent}
	forRules  = []hook.Kind{hook.KindRule}
)

var configParams = []configParam{
	{key: "url", wants: wantString, kinds: forHTTP, must: true},
	{key: "headers", wants: wantObject, kinds: forHTTP},
	{key: "allowed_env_vars", wants: wantStrings, kinds: []hook.Kind{hook.KindHTTP, hook.KindRule}, as: "allowedEnvVars"},
	{key: "method", wants: wantString, kinds: forHTTP},
	{key: "mcp", wants: wantString, kinds: forMCP, as: "server"},
	{key: "server", wants: wantString, kinds: forMCP, must: true},
	{key: "tool", wants: wantString, kinds: forMCP, must: true},
	{key: "input", wants: wantObject, kinds: forMCP},
	{key: "agent", wants: wantString, kinds: []hook.Kind{hook.KindAgent}},
	{key: "prompt", wants: wantString, kinds: forModels, must: true},
	{key: "model", wants: wantString, kinds: forModels},
	{key: "schema", wants: wantAny, kinds: forModels},
	{key: "continue_on_block", wants: wantBool, kinds: []hook.Kind{hook.KindPrompt}, as: "continueOnBlock"},
	{key: "hook", wants: wantString, kinds: []hook.Kind{hook.KindPlugin}},
	{key: "plugin", wants: wantString, kinds: []hook.Kind{hook.KindPlugin}},
	{key: "unless", wants: wantWords, kinds: forRules},
	{key: "when", wants: wantString, kinds: forRules},
	{key: "touches", wants: wantWords, kinds: forRules},
	{key: "reads", wants: wantWords, kinds: forRules},
	{key: "writes", wants: wantWords, kinds: forRules},
	{key: "network", wants: wantBool, kinds: forRules},
	{key: "destructive", wants: wantBool, kinds: forRules},
	{key: "decision", wants: wantString, kinds: forRules},
	{key: "reason", wants: wantString, kinds: forRules},
	{key: "text", wants: wantString, kinds: forRules},
	{key: "set", wants: wantObject, kinds: forRules},
	{key: "suppress_prompt", wants: wantBool, kinds: forRules, as: "suppressPrompt"},
}

// handler makes a hook of a handler. g is the group around it, nil if it stands
// alone.
func (r *configReader) handler(ev declaredEvent, g, e *entry) {
	h := &hook.Hook{
		Event: ev.event, Protocol: r.p.protocol, State: hook.StateReady,
		Source: r.src.Source,
	}
	e.inherit(g)
	h.Name, h.Description = e.title(g), e.caption("description")
	if g != nil {
		h.Description = cmp.Or(h.Description, g.caption("description"))
	}
	e.choose(h, ev, g)
	var runs bool
	h.Kind, runs = e.kind(h)
	h.Timeout = e.timeout(h.Kind)
	if e.takes("on_failure") {
		h.OnFailure = e.policy()
	}
	h.Once = e.takes("once") && e.flag("once")
	if e.takes("status_message") {
		h.StatusMessage = e.caption("status_message")
	}
	if e.takes("env") {
		h.Env = e.env()
	}
	if runs {
		e.run(h)
	}
	if r.p == &tenterhookConfig {
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
	e.wrong = cmp.Or(g.wrong, e.wrong)
	outer := g.pattern
	if e.p.inner && e.get("matcher") != nil {
		e.matcher()
		if outer != "" && outer != "*" && outer != e.pattern {
			e.warn("matcher_twice", "matcher", "the group has a matcher as well; this one counts", "keep one of them")
		}
		return
	}
	e.pattern = outer
}

// title is the hook's name: its own, that of its group, or where it stands.
func (e *entry) title(g *entry) string {
	at := []*entry{e}
	if g != nil && len(g.get("hooks").list())+len(g.get("handlers").list()) == 1 {
		at = append(at, g)
	}
	for _, from := range at {
		for _, key := range []string{"name", "id"} {
			if name := strings.TrimSpace(from.caption(key)); name != "" && len(name) <= 100 {
				return e.unique(name)
			}
		}
	}
	return e.unique(e.place(e.at))
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
	word := e.str("type")
	if word == "" {
		for _, p := range configParams {
			if of, ok := kindOfKey[p.key]; ok && e.get(p.key) != nil && e.takes(p.key) && e.get("command") == nil {
				e.noType()
				return of, true
			}
		}
		e.noType()
		return hook.KindCommand, true
	}
	if k, ok := kindOfType[word]; ok && (k != hook.KindPlugin && k != hook.KindRule || e.p == &tenterhookConfig) {
		return k, true
	}
	h.Why = "there is no kind of hook " + quote(word)
	hint := ""
	if near := hook.Nearest(word, []string{"command", "http", "mcp_tool", "prompt", "agent"}); near != "" {
		hint = "did you mean " + quote(near) + "?"
	}
	e.warn("unknown_type", "type", h.Why, hint)
	return hook.Kind(shorten(word, 40)), false
}

func (e *entry) noType() {
	if !e.p.flat && e.get("type") == nil {
		e.once(hook.SeverityWarning, e.table.line, "missing_type", "", e.about("")+"it has no type", `add "type": "command": other readers want it`)
	}
}

// run reads what the hook runs: the keys of its kind.
func (e *entry) run(h *hook.Hook) {
	if h.Kind != hook.KindCommand {
		h.Params = e.params(h.Kind)
		if h.Kind == hook.KindRule {
			e.rule(h)
		}
		return
	}
	h.Async, h.AsyncRewake = e.takes("async") && e.flag("async"), e.takes("async_rewake") && e.flag("async_rewake")
	e.command(h, runtime.GOOS)
	if worker := e.takes("worker") && e.flag("worker"); h.Command != nil {
		h.Command.Worker = worker
	}
	if dir := cmp.Or(e.dir("cwd"), e.dir("working_directory")); dir != "" {
		h.Source.Dir = dir
	}
}

// rule checks the keys of a rule.
func (e *entry) rule(h *hook.Hook) {
	_, problems := hook.RuleOf(h.Params)
	for _, p := range problems {
		e.fail(p.Code, e.line(p.Key), p.Key, p.Text, p.Hint)
	}
}

// command reads the command for a system.
func (e *entry) command(h *hook.Hook, goos string) {
	c := &hook.Command{}
	if e.takes("shell") {
		c.Shell = e.word("shell", []string{"sh", "bash", "powershell"})
	}
	c.Args = e.strings("args")
	for _, key := range e.commandKeys(goos) {
		n := e.get(key)
		if n == nil {
			continue
		}
		c.Line = e.commandLine(key, n, c)
		if key == "bash" || key == "powershell" {
			c.Shell = key
		}
		if !e.takes(key) {
			e.once(hook.SeverityWarning, e.line(key), "foreign_key", key,
				e.about(e.keys[key].key)+"no key of "+e.p.name+"'s hooks; it is taken for the command", "write command as well: "+e.p.name+" passes the hook over")
		}
		if c.Line != "" {
			h.Command = c
			return
		}
		if e.wrong != "" {
			return
		}
	}
	for _, key := range systemCommands {
		if e.get(key) != nil {
			h.Why = "it has no command for this system, only one under " + e.keys[key].key
			e.warn("other_system", key, h.Why, "")
			return
		}
	}
	e.fail("missing_command", e.table.line, "", "a command hook needs a command", `add "command": "…"`)
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
	before := func(a, b string) int { // those that the product has not come last
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

// commandLine reads a command: a line for the shell, or a list of the program
// and its arguments.
func (e *entry) commandLine(key string, n *node, c *hook.Command) string {
	switch v := n.value.(type) {
	case string:
		return strings.TrimSpace(v)
	case []*node:
		list := e.strings(key)
		if len(list) > 0 && c.Args != nil {
			e.fail("wrong_type", e.line(key), e.keys[key].key, "want a string beside args, got a list", "leave one of the two lists out")
		} else if len(list) > 0 {
			c.Args = list[1:]
			return list[0]
		}
	default:
		e.wrongType(key, "a string", n)
	}
	return ""
}

// dir is a folder that a command starts in; "" for the session's.
func (e *entry) dir(key string) string {
	if !e.takes(key) {
		return ""
	}
	dir := e.str(key)
	if dir == "" || path.Clean(slashed(dir)) == "." {
		return ""
	}
	if path.IsAbs(slashed(dir)) || strings.Contains(dir, ":") {
		return dir
	}
	if strings.HasPrefix(dir, "$") || strings.HasPrefix(dir, "~") {
		e.warn("no_effect", key, "variables are not expanded here, so the hook starts in the session's directory", "write the folder out")
		return ""
	}
	return path.Join(projectRoot(slashed(e.src.Path)), slashed(dir))
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

// params reads the keys of a kind other than command.
func (e *entry) params(of hook.Kind) hook.Params {
	kept := make(hook.Params)
	for _, p := range configParams {
		if !slices.Contains(p.kinds, of) || !e.takes(p.key) {
			continue
		}
		n, name := e.get(p.key), cmp.Or(p.as, p.key)
		if n == nil || n.value == "" {
			if p.must && kept[name] == nil {
				e.fail("missing_"+p.key, e.table.line, "", fmt.Sprintf("a hook of type %q needs a %s", of, p.key), "")
			}
			continue
		}
		raw := n.json()
		switch odd := n.noText(); {
		case p.key == "headers" && n.isTable() && odd != nil:
			e.wrongType(p.key, "a string for each", odd)
		case n.list() != nil && p.wants == wantStrings && odd != nil:
			e.wrongType(p.key, string(p.wants), odd)
		case !p.wants.is(raw):
			e.wrongType(p.key, string(p.wants), n)
		default:
			kept[name] = raw
		}
	}
	return kept
}
