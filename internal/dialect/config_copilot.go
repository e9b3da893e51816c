package dialect

import (
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// copilotEvents are the names of GitHub Copilot in camelCase. It takes the
// table's names too.
var copilotEvents = productEvents{
	product: "copilot",
	names: map[string]counterpart{
		"sessionStart":        {event: hook.EventSessionStart},
		"sessionEnd":          {event: hook.EventSessionEnd},
		"userPromptSubmitted": {event: hook.EventUserPromptSubmit},
		"preToolUse":          {event: hook.EventPreToolUse},
		"postToolUse":         {event: hook.EventPostToolUse},
		"postToolUseFailure":  {event: hook.EventPostToolUseFailure},
		"permissionRequest":   {event: hook.EventPermissionRequest},
		"notification":        {event: hook.EventNotification},
		"agentStop":           {event: hook.EventStop},
		"subagentStart":       {event: hook.EventSubagentStart},
		"subagentStop":        {event: hook.EventSubagentStop},
		"preCompact":          {event: hook.EventPreCompact},
		"errorOccurred":       {},
	},
}

// copilotConfig reads the hooks files of Copilot, those of the CLI, of the cloud
// agent and of VS Code.
var copilotConfig = product{
	name: "copilot",
	files: []configFile{
		{pattern: ".github/hooks/*.json", shared: true, only: hook.ScopeProject},
		{pattern: ".github/hooks.json", shared: true, only: hook.ScopeProject},
		{pattern: ".copilot/hooks/*.json", only: hook.ScopeUser},
	},
	events: copilotEvents,
	tools: map[string][]string{
		"bash": {"Bash"}, "powershell": {"PowerShell"}, "view": {"Read"}, "create": {"Write"}, "edit": {"Edit", "MultiEdit"},
		"grep": {"Grep"}, "rg": {"Grep"}, "glob": {"Glob"}, "web_fetch": {"WebFetch"}, "task": {"Task"}, "ask_user": {"AskUserQuestion"},
	},
	keys: []string{
		"bash", "powershell", "windows", "linux", "osx", "cwd", "env", "timeout_sec",
		"url", "headers", "allowed_env_vars", "prompt",
	},
	flat:     true,
	regexp:   true,
	unit:     time.Second,
	timeout:  30 * time.Second,
	protocol: hook.ProtocolCopilot,
	settle:   settleCopilot,
	marks:    []string{"bash", "timeoutSec"},
}

// settleCopilot keeps a guard closed: before a tool runs, a hook of Copilot
// that fails denies. A hook for another system is none of that.
func settleCopilot(h *hook.Hook, _ *entry, _ string) {
	if h.Event == hook.EventPreToolUse && h.Why == "" {
		h.OnFailure = hook.FailureBlock
	}
}
