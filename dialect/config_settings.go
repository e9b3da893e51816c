package dialect

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// Settings are what a settings file says beside its hooks. A nil pointer, a nil
// list and a zero value say nothing; an empty list allows none.
type Settings struct {
	DisableAllHooks           *bool
	AllowManagedHooksOnly     *bool
	AllowNoHooks              *bool // --no-hooks switches managed hooks off as well
	AllowedHTTPHookURLs       []string
	HTTPHookAllowedEnvVars    []string
	AllowLocalHTTPHookTargets *bool
	SelfProtection            *bool // the hooks of registry.Options.Guards run; nil = they do
	DefaultOnFailure          hook.FailurePolicy
	Disabled                  []string // IDs of hooks
	Packs                     []string // references of packs, each with a digest
	MaxAsync                  int      // hooks in the background at once
	Breaker                   hook.BreakerSettings
	MCPServers                map[string]MCPServer // by the name that hooks call them by
	Model                     ModelSettings
	Journal                   JournalSettings
	// Sandbox is, by scope, the mode of hooks that declare no sandbox.
	Sandbox map[string]hook.SandboxMode
	// SandboxRequired says whether a hook fails whose sandbox cannot be enforced; nil = it does.
	SandboxRequired *bool
	Fleet           FleetSettings
}

// JournalSettings say what the command line and the daemon keep of what hooks
// did. Zero values say nothing.
type JournalSettings struct {
	Record  string        // "full", "results" or "off"
	Keep    time.Duration // how long a run is kept
	MaxSize int64         // of the journal, in bytes
	Redact  []string      // regular expressions (RE2) whose matches are masked
}

// Over returns s, with what it does not say from other. The patterns of both
// count.
func (s JournalSettings) Over(other JournalSettings) JournalSettings {
	return JournalSettings{Record: cmp.Or(s.Record, other.Record), Keep: cmp.Or(s.Keep, other.Keep), MaxSize: cmp.Or(s.MaxSize, other.MaxSize),
		Redact: slices.Concat(s.Redact, other.Redact)}
}

// MCPServer says how an MCP server is reached: a command that speaks the
// protocol on its stdin and stdout, or a URL.
type MCPServer struct {
	Command string // the program; started without a shell
	Args    []string
	Env     map[string]string // beside what hooks inherit

	URL            string            // of a streamable HTTP endpoint
	Headers        map[string]string // values may name variables as ${VAR}
	AllowedEnvVars []string          // those that headers may name

	// Sandbox says what the program may do; nil = that of hooks of its scope. A server with a URL has none.
	Sandbox *hook.Sandbox

	Source hook.Source // the settings that declare it
}

// ModelSettings choose the model that prompt and agent hooks ask. What is not
// said comes from the provider's own variables of the environment.
type ModelSettings struct {
	Provider  string // "anthropic", or "openai" for every endpoint that speaks its protocol
	Model     string // of hooks that name none
	BaseURL   string
	APIKeyEnv string // the variable that holds the key
}

// settingKeys are the keys of our own settings.
var settingKeys = []string{
	"disable_all_hooks", "allow_managed_hooks_only", "allow_no_hooks", "allowed_http_hook_urls", "http_hook_allowed_env_vars",
	"allow_local_http_hook_targets", "default_on_failure", "disabled", "max_async", "breaker", "mcp_servers", "model", "journal", "self_protection", "sandbox", "sandbox_required", "packs", "fleet", "hooks",
}

// SettingKeys are the keys of our own settings.
func SettingKeys() []string { return slices.Clone(settingKeys) }

// SettingKey is the one spelling of a key of the settings.
func SettingKey(key string) string { return snake(key) }

// settings reads the keys at the top of a settings file, in snake_case or in
// camelCase. Other products' files have many more, but none that is nearly one
// of these.
func (r *configReader) settings(doc *node) {
	var ours []pair
	for _, p := range doc.pairs() {
		if p.key != "hooks" && slices.Contains(settingKeys, snake(p.key)) {
			ours = append(ours, p)
		}
	}
	e := r.newEntry("settings", &node{doc.line, ours})
	s := &r.config.Settings
	s.DisableAllHooks = e.choice("disable_all_hooks")
	s.AllowManagedHooksOnly = e.choice("allow_managed_hooks_only")
	s.AllowNoHooks = e.choice("allow_no_hooks")
	s.AllowedHTTPHookURLs = e.strings("allowed_http_hook_urls")
	s.HTTPHookAllowedEnvVars = e.strings("http_hook_allowed_env_vars")
	s.AllowLocalHTTPHookTargets = e.choice("allow_local_http_hook_targets")
	if r.p == &tenterhookConfig {
		s.SelfProtection = e.choice("self_protection")
		words := []string{string(hook.FailureContinue), string(hook.FailureBlock)}
		s.DefaultOnFailure = hook.FailurePolicy(e.word("default_on_failure", words))
		s.Disabled = e.strings("disabled")
		s.Packs = e.strings("packs")
		if s.MaxAsync = e.integer("max_async"); s.MaxAsync < 0 {
			e.fail("unknown_value", e.line("max_async"), "max_async", "want how many hooks may run in the background at once", "leave it out for the default")
			s.MaxAsync = 0
		}
		s.Breaker = e.breaker()
		s.MCPServers = e.servers()
		s.Model = e.model()
		s.Journal = e.journal()
		s.Sandbox = e.sandboxes()
		s.SandboxRequired = e.choice("sandbox_required")
		s.Fleet = e.fleet()
	}
	for _, p := range doc.pairs() {
		key := snake(p.key)
		if slices.Contains(settingKeys, key) || isComment(p.key) || isEventName(p.key) {
			continue
		}
		if r.p == &tenterhookConfig || r.strange < maxUnknownKeys && hook.Nearest(key, settingKeys) != "" {
			r.strangeKey(p, quote(p.key)+": no such setting; it has no effect", key, settingKeys)
		}
	}
}

// choice is a flag that may be left open. A value that is no flag leaves it open,
// too: a slip must not switch a protection off.
func (e *entry) choice(key string) *bool {
	n := e.get(key)
	if n == nil {
		return nil
	}
	switch v := n.value.(type) {
	case bool:
		return &v
	case string:
		if on, err := strconv.ParseBool(v); err == nil {
			e.warn("wrong_type", key, "want true or false, got "+n.what(), "leave out the quotes")
			return &on
		}
	}
	e.wrongType(key, "true or false", n)
	return nil
}

// flag is a choice that is false unless it is made.
func (e *entry) flag(key string) bool {
	on := e.choice(key)
	return on != nil && *on
}
