package decl

import (
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// Key describes one key of a declaration. The list of them is the one place that
// knows keys: readers, the schemas, the reference and suggestions follow from it.
type Key struct {
	Name    string      // as it is written, "requires.bins" for one in a table
	Kinds   []hook.Kind // the kinds of hooks that take it; nil = all
	Takes   Type
	Value   string // what it takes, in Markdown; "" = as its type says
	Default string // in Markdown; "" = nothing
	Doc     string // what it does, in Markdown

	Must  bool // its kinds cannot do without it
	Idle  bool // without effect on a hook that starts nothing
	Other bool // of another product's files, not of ours

	Words []string // the values of a Choice
	Inner []Key    // the keys of the table that it takes, or of each of its tables

	// field is where the value is kept; nil = among [hook.Params], or for a key of
	// all kinds it is read by a function of its own.
	field func(*hook.Hook) any
}

// Type is what a key takes.
type Type string

// The types of values.
const (
	Text    Type = "text"
	Prose   Type = "text for people" // a wrong value does no harm
	Texts   Type = "list of texts"
	Words   Type = "a text, or a list of texts"
	Rules   Type = "a permission rule, or a list of them"
	Globs   Type = "a path pattern, or a list of them"
	Named   Type = "texts by name"
	Flag    Type = "true, false"
	Integer Type = "a number"
	Time    Type = "seconds, or `\"500ms\"`, `\"5s\"`, `\"2m\"`"
	Size    Type = "a size, as `\"512MiB\"`"
	Age     Type = "days or a duration, as `\"14d\"`"
	Choice  Type = "one of some words"

	Expression Type = "a CEL expression"
	Object     Type = "a table"
	Anything   Type = "a value"
)

// Words of keys that hooks have no list of.
var (
	shells = []string{"sh", "bash", "powershell", "cmd"}
	cwds   = []string{"hook", CwdSession}
)

// CwdSession is the value of cwd that starts a command in the session's directory.
const CwdSession = "session"

// Policies are the values of on_failure.
var Policies = []hook.FailurePolicy{hook.FailureContinue, hook.FailureBlock}

func only(kinds ...hook.Kind) []hook.Kind { return kinds }

func kindsWhere(is func(*hook.KindInfo) bool) []hook.Kind {
	return slices.DeleteFunc(hook.Kinds(), func(k hook.Kind) bool { return !is(k.Info()) })
}

func strs[T ~string](words []T) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return list
}

var (
	command = only(hook.KindCommand)
	http    = only(hook.KindHTTP)
	mcp     = only(hook.KindMCP)
	models  = only(hook.KindPrompt, hook.KindAgent)
	plugin  = only(hook.KindPlugin)
	rule    = only(hook.KindRule)
	boxed   = kindsWhere(func(k *hook.KindInfo) bool { return k.Contained && !k.Packaged })
)

// keys are those of hooks, in the order of the reference.
var keys = []Key{
	{Name: "name", Takes: Text, Default: "the folder's name", Doc: "half of the hook's ID, `scope/name`: a line of at most 100 bytes"},
	{Name: "description", Takes: Prose, Doc: "for people", field: func(h *hook.Hook) any { return &h.Description }},
	{Name: "event", Takes: Words, Value: "a name, or a list of names", Default: "required", Doc: "see the event table; a list makes a hook for each"},
	{Name: "events", Takes: Words, Value: "a name, or a list of names", Doc: "the same as `event`"},
	{Name: "matcher", Takes: Text, Default: "every call", Doc: "a name, a list `A|B`, else a JavaScript regular expression"},
	{Name: "if", Takes: Rules, Default: "every call", Doc: "`Bash(git *)`, `Read(secrets/**)`; of a list any rule is enough; on events about a tool"},
	{Name: "type", Takes: Choice, Words: strs(hook.Kinds()), Default: "`command`", Doc: "the kind of hook"},
	{Name: "timeout", Takes: Time, Idle: true, Default: "by kind and event", Doc: "after which the hook is ended"},
	{Name: "on_failure", Takes: Choice, Words: strs(Policies), Default: "`continue`", Doc: "what it means that the hook fails"},
	{Name: "once", Takes: Flag, Default: "false", Doc: "leaves after its first success in a session", field: func(h *hook.Hook) any { return &h.Once }},
	{Name: "priority", Takes: Integer, Default: "0", Doc: "higher ones go first within their scope", field: func(h *hook.Hook) any { return &h.Priority }},
	{Name: "rewrites", Takes: Flag, Idle: true, Default: "false", Doc: "it rewrites tool inputs: run in sequence, before the others judge", field: func(h *hook.Hook) any { return &h.Rewrites }},
	{Name: "protocol", Takes: Choice, Words: strs(hook.Protocols()), Default: "`claude`", Doc: "how its answers are read"},
	{Name: "enabled", Takes: Flag, Default: "true", Doc: "switched off where false"},
	{Name: "status_message", Takes: Prose, Idle: true, Doc: "what an interactive host shows while it runs", field: func(h *hook.Hook) any { return &h.StatusMessage }},
	{Name: "env", Takes: Named, Idle: true, Doc: "variables that the command gets; a list of names is taken for `requires.envs`; a number other than whole decimal digits needs quotes"},
	{Name: "requires.bins", Takes: Words, Value: "list of texts", Default: "nothing", Doc: "programs that must all be on PATH; else the hook is `ineligible`", field: func(h *hook.Hook) any { return &h.Requires.Bins }},
	{Name: "requires.any_bins", Takes: Words, Value: "list of texts", Default: "nothing", Doc: "programs of which one must be on PATH", field: func(h *hook.Hook) any { return &h.Requires.AnyBins }},
	{Name: "requires.envs", Takes: Words, Value: "list of texts", Default: "nothing", Doc: "variables that must be set", field: func(h *hook.Hook) any { return &h.Requires.Envs }},
	{Name: "requires.env", Takes: Words, Value: "list of texts", Default: "nothing", Doc: "the same as `requires.envs`"},
	{Name: "requires.os", Takes: Words, Value: "list of texts", Default: "every system", Doc: "`linux`, `macos`, `windows`, …", field: func(h *hook.Hook) any { return &h.Requires.OS }},
	{Name: "breaker.failures", Takes: Integer, Idle: true, Default: "5", Doc: "after how many failures in a row the hook is skipped; -1 = never", field: func(h *hook.Hook) any { return &h.Breaker.Failures }},
	{Name: "breaker.cooldown", Takes: Time, Idle: true, Value: "as `timeout`", Default: "60 s", Doc: "for how long it is skipped, until one call tries it again", field: func(h *hook.Hook) any { return &h.Breaker.Cooldown }},
	{Name: "sandbox.mode", Kinds: boxed, Takes: Choice, Words: strs(hook.SandboxModes()), Default: "that of its scope", Doc: "how far its processes are contained, see [containment](containment.md); `sandbox = \"strict\"` says the same"},
	{Name: "sandbox.allow_write", Kinds: boxed, Takes: Texts, Value: "list of paths", Default: "nothing", Doc: "what it may write to beneath, beside its own temporary directory"},
	{Name: "sandbox.allow_read", Kinds: boxed, Takes: Texts, Value: "list of paths", Default: "nothing", Doc: "what it may read beneath, beside the system, its folder and the workspace"},
	{Name: "sandbox.deny_read", Kinds: boxed, Takes: Texts, Value: "list of paths", Default: "nothing", Doc: "what it may not read all the same"},
	{Name: "sandbox.allow_net", Kinds: boxed, Takes: Texts, Value: "list of ports", Default: "those of the mode", Doc: "TCP ports that it may connect to, as `\"tcp:443\"`"},
	{Name: "sandbox.memory", Kinds: boxed, Takes: Size, Default: "no bound", Doc: "how much data each of its processes may have"},
	{Name: "command", Kinds: command, Takes: Text, Default: "required", Doc: "a shell command line; with `args` a program"},
	{Name: "args", Kinds: command, Takes: Texts, Doc: "the program's arguments: no shell is used", field: ofCommand(func(c *hook.Command) any { return &c.Args })},
	{Name: "shell", Kinds: command, Takes: Choice, Words: shells, Default: "`sh`", Doc: "the program that reads the command line", field: ofCommand(func(c *hook.Command) any { return &c.Shell })},
	{Name: "cwd", Kinds: command, Takes: Choice, Words: cwds, Default: "`hook`", Doc: "where the command starts: in the hook's folder, or in the session's directory, without HOOK_DIR"},
	{Name: "async", Kinds: command, Takes: Flag, Default: "false", Doc: "run in the background; its decision does not count", field: func(h *hook.Hook) any { return &h.Async }},
	{Name: "async_rewake", Kinds: command, Takes: Flag, Default: "false", Doc: "the same, and exit code 2 wakes the agent", field: func(h *hook.Hook) any { return &h.AsyncRewake }},
	{Name: "queue", Kinds: command, Takes: Text, Value: "a name", Doc: "with `async`: a worker of the fleet runs it, see [fleet](fleet.md#workers); for hooks of packs", field: func(h *hook.Hook) any { return &h.Queue }},
	{Name: "worker", Kinds: command, Takes: Flag, Default: "false", Doc: "the command stays, and answers an event in a line, see [handlers](handlers.md)", field: ofCommand(func(c *hook.Command) any { return &c.Worker })},
	{Name: "url", Kinds: http, Takes: Text, Must: true, Default: "required", Doc: "what the event is posted to"},
	{Name: "headers", Kinds: http, Takes: Named, Doc: "headers of the request; `${NAME}` is replaced, where it is allowed"},
	{Name: "allowed_env_vars", Kinds: only(hook.KindHTTP, hook.KindRule), Takes: Texts, Default: "none", Doc: "the variables that `headers`, or the expressions of a rule, may name"},
	{Name: "method", Kinds: http, Takes: Text, Default: "`POST`", Doc: "the method of the request"},
	{Name: "mcp", Kinds: mcp, Takes: Text, Other: true, Doc: "the same as `server`"},
	{Name: "server", Kinds: mcp, Takes: Text, Must: true, Default: "required", Doc: "a server of `mcp_servers`, or of the host"},
	{Name: "tool", Kinds: mcp, Takes: Text, Must: true, Default: "required", Doc: "the tool that is called"},
	{Name: "input", Kinds: mcp, Takes: Object, Default: "the event", Doc: "the arguments of the call; `${tool_input.command}` and the like are replaced"},
	{Name: "agent", Kinds: only(hook.KindAgent), Takes: Text, Other: true, Doc: "the agent that is asked"},
	{Name: "prompt", Kinds: models, Takes: Text, Must: true, Default: "required", Doc: "the rule; `$ARGUMENTS` is replaced by the event"},
	{Name: "model", Kinds: models, Takes: Text, Default: "the settings' model", Doc: "the model that is asked"},
	{Name: "schema", Kinds: models, Takes: Anything, Value: "a JSON Schema", Doc: "what the answer must satisfy beside `ok` and `reason`"},
	{Name: "continue_on_block", Kinds: only(hook.KindPrompt), Takes: Flag, Default: "false", Doc: "a block does not end the agent's turn"},
	{Name: "hook", Kinds: plugin, Takes: Text, Default: "the name", Doc: "the hook of the plugin"},
	{Name: "plugin", Kinds: plugin, Takes: Text, Default: "the only one", Doc: "the plugin of the package, where it has several"},
	{Name: "unless", Kinds: rule, Takes: Rules, Doc: "none of these may match"},
	{Name: "when", Kinds: rule, Takes: Expression, Doc: "which must be true"},
	{Name: "touches", Kinds: rule, Takes: Globs, Doc: "the call names one of these paths"},
	{Name: "reads", Kinds: rule, Takes: Globs, Doc: "the call may read one of these paths"},
	{Name: "writes", Kinds: rule, Takes: Globs, Doc: "the call may change one of these paths"},
	{Name: "network", Kinds: rule, Takes: Flag, Default: "not asked", Doc: "whether the call speaks to the network"},
	{Name: "destructive", Kinds: rule, Takes: Flag, Default: "not asked", Doc: "whether the call would lose data that cannot be restored"},
	{Name: "decision", Kinds: rule, Takes: Choice, Words: strs(hook.Decisions()), Default: "required", Doc: "what the rule decides where its conditions hold"},
	{Name: "reason", Kinds: rule, Takes: Text, Default: "required for deny, ask and warn", Doc: "what the model, or a person, reads"},
	{Name: "text", Kinds: rule, Takes: Text, Default: "required for context", Doc: "what is added to the context"},
	{Name: "set", Kinds: rule, Takes: Named, Value: "CEL expressions by key", Default: "required for rewrite", Doc: "new values for keys of the tool's input"},
	{Name: "suppress_prompt", Kinds: rule, Takes: Flag, Default: "false", Doc: "of deny on UserPromptSubmit: the host does not keep the prompt"},
}

func ofCommand(field func(*hook.Command) any) func(*hook.Hook) any {
	return func(h *hook.Hook) any {
		if h.Command == nil {
			return nil
		}
		return field(h.Command)
	}
}

// Wants says what the key takes, in Markdown.
func (k Key) Wants() string {
	switch {
	case k.Value != "":
		return k.Value
	case k.Takes == Choice:
		return "`" + strings.Join(k.Words, "`, `") + "`"
	case k.Takes == Prose:
		return string(Text)
	}
	return string(k.Takes)
}

// Keys returns the keys that are ours, in the order of the reference.
func Keys() []Key {
	return slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return k.Other })
}

// InTable returns the keys of a table of a hook, under their names in it.
func InTable(table string) []Key { return below(table, keys) }

// Top returns the names of the keys that stand at the top of a declaration, each
// once: for those of a table the table's.
func Top() []string {
	var names []string
	for _, k := range Keys() {
		if name, _, _ := strings.Cut(k.Name, "."); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// below returns the keys of a table, such as requires.
func below(table string, keys []Key) []Key {
	var inner []Key
	for _, k := range keys {
		if name, ok := strings.CutPrefix(k.Name, table+"."); ok {
			k.Name = name
			inner = append(inner, k)
		}
	}
	return inner
}

// Names returns the names of keys.
func Names(keys []Key) []string {
	list := make([]string, len(keys))
	for i, k := range keys {
		list[i] = k.Name
	}
	return list
}

// isParam reports whether the key is kept among [hook.Params], under its name in
// camelCase.
func (k *Key) isParam() bool {
	return k.field == nil && k.Kinds != nil && !strings.Contains(k.Name, ".") && !slices.ContainsFunc(k.Kinds, func(kind hook.Kind) bool { return kind.Info().IsDefault() })
}

// Field returns where a hook keeps the value: a pointer, nil if the hook has no
// place for it, as for a key that is a parameter.
func (k *Key) Field(h *hook.Hook) any {
	if k.field == nil {
		return nil
	}
	return k.field(h)
}
