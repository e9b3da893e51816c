package dialect

import (
	"cmp"
	"slices"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// Settings are what a settings file says beside its hooks. A nil pointer, a nil
// list and a zero value say nothing; an empty list allows none.
type Settings struct {
	DisableAllHooks           *bool
	AllowManagedHooksOnly     *bool
	AllowNoHooks              *bool // --no-hooks switches managed hooks off too
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
	// AuditOnFailure says what it means that a record cannot be written; "" = continue.
	AuditOnFailure hook.FailurePolicy
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
	AllowedEnvVars []string          // the variables that headers may name

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

// Over returns m, and what it does not say as other has it.
func (m ModelSettings) Over(other ModelSettings) ModelSettings {
	if m.Provider != "" && other.Provider != "" && m.Provider != other.Provider {
		return m // another provider's model, address and key mean nothing to it
	}
	return ModelSettings{Provider: cmp.Or(m.Provider, other.Provider), Model: cmp.Or(m.Model, other.Model),
		BaseURL: cmp.Or(m.BaseURL, other.BaseURL), APIKeyEnv: cmp.Or(m.APIKeyEnv, other.APIKeyEnv)}
}
