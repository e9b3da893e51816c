package match

import "slices"

// aliasOf returns the other name of a tool that was renamed, or "". The client
// selects Agent by the matcher Task, and the reverse keeps old payloads
// guarded.
func aliasOf(name string) string {
	switch name {
	case "Task":
		return "Agent"
	case "Agent":
		return "Task"
	}
	return ""
}

// builtinTools are names by which a slip is recognised: a matcher in another
// case, a permission rule in the wrong place. Nothing is selected by them.
var builtinTools = []string{
	"Agent", "AskUserQuestion", "Bash", "BashOutput", "Edit", "ExitPlanMode", "Glob", "Grep", "KillShell", "LS",
	"MultiEdit", "NotebookEdit", "NotebookRead", "PowerShell", "Read", "Skill", "SlashCommand", "Task",
	"TodoWrite", "WebFetch", "WebSearch", "Write",
}

func isBuiltinTool(name string) bool { return slices.Contains(builtinTools, name) }
