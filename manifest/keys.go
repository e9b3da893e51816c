package manifest

import "slices"

// camelCase are the keys that have another spelling beside their own.
var camelCase = map[string]string{
	"on_failure":        "onFailure",
	"async_rewake":      "asyncRewake",
	"status_message":    "statusMessage",
	"any_bins":          "anyBins",
	"allow_write":       "allowWrite",
	"allow_read":        "allowRead",
	"deny_read":         "denyRead",
	"allow_net":         "allowNet",
	"allowed_env_vars":  "allowedEnvVars",
	"continue_on_block": "continueOnBlock",
	"suppress_prompt":   "suppressPrompt",
}

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
	requiresKeys = newKeySet(append(tableKeys("requires"), "config")...) // config is another host's
	breakerKeys  = newKeySet(tableKeys("breaker")...)
)

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
