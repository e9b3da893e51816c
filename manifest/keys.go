package manifest

import (
	"slices"

	"github.com/tenterhook/tenterhook/hook"
)

// camelCase are the keys that have another spelling beside their own.
var camelCase = map[string]string{
	"on_failure":        "onFailure",
	"async_rewake":      "asyncRewake",
	"status_message":    "statusMessage",
	"any_bins":          "anyBins",
	"allowed_env_vars":  "allowedEnvVars",
	"continue_on_block": "continueOnBlock",
}

// sharedKeys belong to hooks of every kind.
var sharedKeys = []string{
	"name", "description", "event", "events", "matcher", "if", "type", "timeout", "on_failure", "once", "priority",
	"rewrites", "protocol", "enabled", "status_message", "env", "breaker", "requires",
}

// commandKeys belong to command hooks.
var commandKeys = []string{"command", "args", "shell", "async", "async_rewake", "worker"}

// runKeys have no effect on a rule, which starts nothing that could take long or
// break.
var runKeys = []string{"timeout", "breaker", "env", "status_message", "rewrites"}

// foreignKeys are those of other hosts that mean something here (metadata,
// trigger, the requirements at the top) or that mean nothing to anybody's
// machine.
var foreignKeys = []string{
	"metadata", "trigger", "bins", "any_bins", "envs", "os",
	"author", "category", "emoji", "homepage", "license", "tags", "version",
}

var (
	requiresKeys = newKeySet("bins", "any_bins", "envs", "env", "os", "config")
	breakerKeys  = newKeySet("failures", "cooldown")
)

// param is a key that belongs to some kinds alone. It is kept as it is, under
// the name that the protocol has for it.
type param struct {
	key   string
	want  want
	kinds []hook.Kind
	must  []hook.Kind // the kinds that cannot do without
}

var params = []param{
	{"url", wantText, kinds(hook.KindHTTP), kinds(hook.KindHTTP)},
	{"headers", wantTexts, kinds(hook.KindHTTP), nil},
	{"allowed_env_vars", wantList, kinds(hook.KindHTTP, hook.KindRule), nil},
	{"method", wantText, kinds(hook.KindHTTP), nil},
	{"server", wantText, kinds(hook.KindMCP), kinds(hook.KindMCP)},
	{"tool", wantText, kinds(hook.KindMCP), kinds(hook.KindMCP)},
	{"input", wantTable, kinds(hook.KindMCP), nil},
	{"prompt", wantText, kinds(hook.KindPrompt, hook.KindAgent), kinds(hook.KindPrompt, hook.KindAgent)},
	{"model", wantText, kinds(hook.KindPrompt, hook.KindAgent), nil},
	{"schema", wantAny, kinds(hook.KindPrompt, hook.KindAgent), nil},
	{"continue_on_block", wantFlag, kinds(hook.KindPrompt), nil},
	{"hook", wantText, kinds(hook.KindPlugin), nil},
	{"plugin", wantText, kinds(hook.KindPlugin), nil},
	{"unless", wantWords, kinds(hook.KindRule), nil},
	{"when", wantText, kinds(hook.KindRule), nil},
	{"touches", wantWords, kinds(hook.KindRule), nil},
	{"reads", wantWords, kinds(hook.KindRule), nil},
	{"writes", wantWords, kinds(hook.KindRule), nil},
	{"network", wantFlag, kinds(hook.KindRule), nil},
	{"destructive", wantFlag, kinds(hook.KindRule), nil},
	{"decision", wantText, kinds(hook.KindRule), nil},
	{"reason", wantText, kinds(hook.KindRule), nil},
	{"text", wantText, kinds(hook.KindRule), nil},
	{"set", wantTexts, kinds(hook.KindRule), nil},
}

func kinds(ks ...hook.Kind) []hook.Kind { return ks }

// name is the key under which a param is kept.
func (p param) name() string {
	if camel, ok := camelCase[p.key]; ok {
		return camel
	}
	return p.key
}

// knownKeys are all keys that may stand at the top of a manifest.
var knownKeys = func() keySet {
	keys := slices.Concat(sharedKeys, commandKeys, foreignKeys)
	for _, p := range params {
		keys = append(keys, p.key)
	}
	return newKeySet(keys...)
}()

// keySet are the keys that a table may have, in both their spellings.
type keySet struct {
	list []string
	set  map[string]bool
}

func newKeySet(keys ...string) keySet {
	for _, key := range keys {
		if camel, ok := camelCase[key]; ok {
			keys = append(keys, camel)
		}
	}
	set := make(map[string]bool, len(keys))
	for _, key := range keys {
		set[key] = true
	}
	return keySet{keys, set}
}
