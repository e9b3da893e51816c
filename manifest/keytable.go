package manifest

import (
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// Key describes a key of a HOOK.md's frontmatter.
type Key struct {
	Name    string      // as it is written, "requires.bins" for one in a table
	Kinds   []hook.Kind // the kinds of hooks that take it; nil = all
	Value   string      // what it takes, in Markdown
	Default string      // in Markdown; "" = nothing
	Doc     string      // what it does, in Markdown

	want want        // of a key that is kept as a parameter; "" = it is read by itself
	must []hook.Kind // the kinds that cannot do without
}

// Keys returns the keys that are ours, in the order of the reference.
func Keys() []Key { return slices.Clone(keyTable) }

// keyTable is the one list of our own keys: what the reader knows, the schema and
// the reference are made from it.
var keyTable = []Key{
	{"name", nil, "text", "the folder's name", "half of the hook's ID, `scope/name`", "", nil},
	{"description", nil, "text", "", "for people", "", nil},
	{"event", nil, "a name, or a list of names", "required", "see the event table; a list makes a hook for each", "", nil},
	{"events", nil, "a name, or a list of names", "", "the same as `event`", "", nil},
	{"matcher", nil, "text", "every call", "a name, a list `A|B`, else a JavaScript regular expression", "", nil},
	{"if", nil, "a permission rule, or a list of them", "every call", "`Bash(git *)`, `Read(secrets/**)`; of a list any rule is enough; on events about a tool", "", nil},
	{"type", nil, orWords(words(hook.Kinds())), "`command`", "the kind of hook", "", nil},
	{"timeout", nil, "seconds, or `\"500ms\"`, `\"5s\"`, `\"2m\"`", "by kind and event", "after which the hook is ended", "", nil},
	{"on_failure", nil, "`\"continue\"`, `\"block\"`", "`\"continue\"`", "what it means that the hook fails", "", nil},
	{"once", nil, "true, false", "false", "leaves after its first success in a session", "", nil},
	{"priority", nil, "a number", "0", "higher ones go first within their scope", "", nil},
	{"rewrites", nil, "true, false", "false", "it rewrites tool inputs: run in sequence, before the others judge", "", nil},
	{"protocol", nil, orWords(protocolWords), "`claude`", "how its answers are read", "", nil},
	{"enabled", nil, "true, false", "true", "switched off where false", "", nil},
	{"status_message", nil, "text", "", "what an interactive host shows while it runs", "", nil},
	{"env", nil, "texts by name", "", "variables that the command gets; a list of names is taken for `requires.envs`", "", nil},
	{"requires.bins", nil, "list of texts", "nothing", "programs that must all be on PATH; else the hook is `ineligible`", "", nil},
	{"requires.any_bins", nil, "list of texts", "nothing", "programs of which one must be on PATH", "", nil},
	{"requires.envs", nil, "list of texts", "nothing", "variables that must be set", "", nil},
	{"requires.env", nil, "list of texts", "nothing", "the same as `requires.envs`", "", nil},
	{"requires.os", nil, "list of texts", "every system", "`linux`, `macos`, `windows`, …", "", nil},
	{"breaker.failures", nil, "a number", "5", "after how many failures in a row the hook is skipped; -1 = never", "", nil},
	{"breaker.cooldown", nil, "as `timeout`", "60 s", "for how long it is skipped, until one call tries it again", "", nil},
	{"sandbox.mode", kinds(hook.KindCommand), orWords(words(hook.SandboxModes())), "that of its scope", "how far its processes are contained, see [containment](containment.md); `sandbox = \"strict\"` says the same", "", nil},
	{"sandbox.allow_write", kinds(hook.KindCommand), "list of paths", "nothing", "what it may write to beneath, beside its own temporary directory", "", nil},
	{"sandbox.allow_read", kinds(hook.KindCommand), "list of paths", "nothing", "what it may read beneath, beside the system, its folder and the workspace", "", nil},
	{"sandbox.deny_read", kinds(hook.KindCommand), "list of paths", "nothing", "what it may not read all the same", "", nil},
	{"sandbox.allow_net", kinds(hook.KindCommand), "list of ports", "those of the mode", "TCP ports that it may connect to, as `\"tcp:443\"`", "", nil},
	{"sandbox.memory", kinds(hook.KindCommand), "a size, as `\"512MiB\"`", "no bound", "how much data each of its processes may have", "", nil},
	{"command", kinds(hook.KindCommand), "text", "required", "a shell command line; with `args` a program", "", nil},
	{"args", kinds(hook.KindCommand), "list of texts", "", "the program's arguments: no shell is used", "", nil},
	{"shell", kinds(hook.KindCommand), "`sh`, `bash`, `powershell`", "`sh`", "the program that reads the command line", "", nil},
	{"cwd", kinds(hook.KindCommand), "`hook`, `session`", "`hook`", "where the command starts: in the hook's folder, or in the session's directory, without HOOK_DIR", "", nil},
	{"async", kinds(hook.KindCommand), "true, false", "false", "run in the background; its decision does not count", "", nil},
	{"async_rewake", kinds(hook.KindCommand), "true, false", "false", "the same, and exit code 2 wakes the agent", "", nil},
	{"worker", kinds(hook.KindCommand), "true, false", "false", "the command stays, and answers an event in a line, see [handlers](handlers.md)", "", nil},
	{"url", kinds(hook.KindHTTP), "text", "required", "what the event is posted to", wantText, kinds(hook.KindHTTP)},
	{"headers", kinds(hook.KindHTTP), "texts by name", "", "headers of the request; `${NAME}` is replaced, where it is allowed", wantTexts, nil},
	{"allowed_env_vars", kinds(hook.KindHTTP, hook.KindRule), "list of texts", "none", "the variables that `headers`, or the expressions of a rule, may name", wantList, nil},
	{"method", kinds(hook.KindHTTP), "text", "`POST`", "the method of the request", wantText, nil},
	{"server", kinds(hook.KindMCP), "text", "required", "a server of `mcp_servers`, or of the host", wantText, kinds(hook.KindMCP)},
	{"tool", kinds(hook.KindMCP), "text", "required", "the tool that is called", wantText, kinds(hook.KindMCP)},
	{"input", kinds(hook.KindMCP), "a table", "the event", "the arguments of the call; `${tool_input.command}` and the like are replaced", wantTable, nil},
	{"prompt", kinds(hook.KindPrompt, hook.KindAgent), "text", "required", "the rule; `$ARGUMENTS` is replaced by the event", wantText, kinds(hook.KindPrompt, hook.KindAgent)},
	{"model", kinds(hook.KindPrompt, hook.KindAgent), "text", "the settings' model", "the model that is asked", wantText, nil},
	{"schema", kinds(hook.KindPrompt, hook.KindAgent), "a JSON Schema", "", "what the answer must satisfy beside `ok` and `reason`", wantAny, nil},
	{"continue_on_block", kinds(hook.KindPrompt), "true, false", "false", "a block does not end the agent's turn", wantFlag, nil},
	{"hook", kinds(hook.KindPlugin), "text", "the name", "the hook of the plugin", wantText, nil},
	{"plugin", kinds(hook.KindPlugin), "text", "the only one", "the plugin of the package, where it has several", wantText, nil},
	{"unless", kinds(hook.KindRule), "a permission rule, or a list of them", "", "none of these may match", wantWords, nil},
	{"when", kinds(hook.KindRule), "a CEL expression", "", "which must be true", wantText, nil},
	{"touches", kinds(hook.KindRule), "a path pattern, or a list of them", "", "the call names one of these paths", wantWords, nil},
	{"reads", kinds(hook.KindRule), "a path pattern, or a list of them", "", "the call may read one of these paths", wantWords, nil},
	{"writes", kinds(hook.KindRule), "a path pattern, or a list of them", "", "the call may change one of these paths", wantWords, nil},
	{"network", kinds(hook.KindRule), "true, false", "not asked", "whether the call speaks to the network", wantFlag, nil},
	{"destructive", kinds(hook.KindRule), "true, false", "not asked", "whether the call would lose what nobody can restore", wantFlag, nil},
	{"decision", kinds(hook.KindRule), orWords(words(hook.Decisions())), "required", "what the rule decides where its conditions hold", wantText, nil},
	{"reason", kinds(hook.KindRule), "text", "required for deny, ask and warn", "what the model, or a person, reads", wantText, nil},
	{"text", kinds(hook.KindRule), "text", "required for context", "what is added to the context", wantText, nil},
	{"set", kinds(hook.KindRule), "CEL expressions by key", "required for rewrite", "what becomes of the keys of the tool's input", wantTexts, nil},
	{"suppress_prompt", kinds(hook.KindRule), "true, false", "false", "of deny on UserPromptSubmit: the host does not keep the prompt", wantFlag, nil},
}

// orWords lists words as the reference does.
func orWords(words []string) string { return "`" + strings.Join(words, "`, `") + "`" }

func kinds(ks ...hook.Kind) []hook.Kind { return ks }

// keysOf returns the names of the keys that a test takes.
func keysOf(take func(Key) bool) []string {
	var names []string
	for _, k := range keyTable {
		if take(k) {
			names = append(names, k.Name)
		}
	}
	return names
}

// tableKeys returns the keys of a table, such as requires.
func tableKeys(table string) []string {
	var names []string
	for _, k := range keyTable {
		if name, ok := strings.CutPrefix(k.Name, table+"."); ok {
			names = append(names, name)
		}
	}
	return names
}

// sharedKeys belong to hooks of every kind, commandKeys to command hooks.
var (
	sharedKeys = append(keysOf(func(k Key) bool { return k.Kinds == nil && !strings.Contains(k.Name, ".") }), "breaker", "requires")

	commandKeys = append(keysOf(func(k Key) bool {
		return slices.Equal(k.Kinds, kinds(hook.KindCommand)) && !strings.Contains(k.Name, ".")
	}), "sandbox")
)

// param is a key that belongs to some kinds alone. It is kept as it is, under
// the name that the protocol has for it.
type param struct {
	key   string
	want  want
	kinds []hook.Kind
	must  []hook.Kind // the kinds that cannot do without
}

var params = func() (list []param) {
	for _, k := range keyTable {
		if k.want != "" {
			list = append(list, param{k.Name, k.want, k.Kinds, k.must})
		}
	}
	return list
}()
