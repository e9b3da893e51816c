// Package closed holds what a hook entry answers when nothing could be decided:
// the daemon is unreachable, the payload cannot be read, the program is gone.
//
// Stage: the end of a bridged call. The stand-alone client, package bridge and
// the lines that install writes import it; it imports the standard library
// alone, and no encoder, so that the client stays small.
//
// A gate (an event that can still prevent something, such as PreToolUse) fails
// closed, in the words that its agent enforces. An observer and a Stop fail
// open: an agent that may neither act nor stop would never end.
package closed

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// Answer is what an entry prints and how it exits.
type Answer struct {
	Stdout, Stderr string
	ExitCode       int
}

// Class is how an event of an agent fails.
type Class uint8

// The classes of events. The zero Class is that of a name that the table does
// not have.
const (
	Unknown  Class = iota
	Gate           // fails closed
	Observer       // fails open
)

// words are the ways to refuse. %s in a row's template stands for the reason,
// as a JSON string.
type words struct {
	stdout string
	code   int // with a code other than 0 the reason goes to stderr too
}

const (
	toolDeny = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":%s}}`
	askDeny  = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":%s}}}`
	block    = `{"decision":"block","reason":%s}`
	decline  = `{"decision":"deny","reason":%s}`
)

var (
	byCode    = words{"", 2}
	byTool    = words{toolDeny, 2}
	byRequest = words{askDeny, 0}
	byDecline = words{decline, 2}
	byBlock   = words{block, 0}
	// Copilot takes a reason from JSON with exit code 0 alone.
	copilotTool = words{toolDeny, 0}
	byOwn       = words{`{"deny":%s}`, 0} // of the plugins that install writes
	byCancel    = words{`{"cancel":true,"errorMessage":%s}`, 0}
	byCursor    = words{`{"permission":"deny","user_message":%[1]s,"agent_message":%[1]s}`, 2}
	byContinue  = words{`{"continue":false,"user_message":%s}`, 2}
)

// gates are the events of each agent that fail closed. Like the observers, they are
// not needed for a call that is answered: the client starts sooner without them.
var gates = sync.OnceValue(func() map[string]map[string]words {
	return map[string]map[string]words{
		"claude": {
			"PreToolUse": byTool, "PermissionRequest": byRequest,
			"UserPromptSubmit": byCode, "UserPromptExpansion": byCode, "TaskCreated": byCode, "ConfigChange": byCode,
			"PreCompact": byCode, "PreModelSwitch": byCode, "Elicitation": byCode, "ElicitationResult": byCode,
		},
		"codex":   {"PreToolUse": byTool, "PermissionRequest": byRequest, "UserPromptSubmit": byCode},
		"gemini":  {"BeforeTool": byDecline, "BeforeAgent": byDecline},
		"copilot": {"PreToolUse": copilotTool, "PermissionRequest": byRequest, "UserPromptSubmit": byBlock},
		"qwen":    {"PreToolUse": byTool, "PermissionRequest": byRequest, "UserPromptSubmit": byCode},

		"opencode": {"tool.execute.before": byOwn, "chat.message": byOwn},
		"pi":       {"tool_call": byOwn, "input": byOwn, "user_bash": byOwn},
		"cline":    {"PreToolUse": byCancel, "UserPromptSubmit": byCancel},

		"vscode":  {"PreToolUse": byTool, "UserPromptSubmit": byCode},
		"factory": {"PreToolUse": byTool, "UserPromptSubmit": byCode, "PreCompact": byCode},
		"kiro":    {"preToolUse": byCode, "userPromptSubmit": byCode},
		"cursor": {
			"preToolUse": byCursor, "beforeShellExecution": byCursor, "beforeMCPExecution": byCursor,
			"beforeReadFile": byCursor, "beforeSubmitPrompt": byContinue,
		},
		"windsurf": {
			"pre_user_prompt": byCode, "pre_read_code": byCode, "pre_write_code": byCode,
			"pre_run_command": byCode, "pre_mcp_tool_use": byCode,
		},
	}
})

// observers are the other events of each agent that have an entry.
var observers = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"claude": {
			"SessionStart", "Setup", "InstructionsLoaded", "PermissionDenied", "PostToolUse", "PostToolUseFailure", "PostToolBatch",
			"Notification", "SubagentStart", "SubagentStop", "TaskCompleted", "Stop", "StopFailure", "TeammateIdle", "CwdChanged",
			"DirectoryAdded", "FileChanged", "PostCompact", "PostModelSwitch", "SessionEnd",
		},
		"codex":    {"SessionStart", "PostToolUse", "SubagentStart", "SubagentStop", "Stop", "PreCompact", "PostCompact", "SessionEnd"},
		"gemini":   {"SessionStart", "SessionEnd", "AfterAgent", "AfterTool", "PreCompress", "Notification"},
		"copilot":  {"SessionStart", "SessionEnd", "PostToolUse", "PostToolUseFailure", "Stop", "SubagentStart", "SubagentStop", "PreCompact", "Notification"},
		"qwen":     {"SessionStart", "SessionEnd", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification", "SubagentStart", "SubagentStop", "Stop", "StopFailure", "PreCompact", "PostCompact"},
		"opencode": {"tool.execute.after", "session.created", "session.idle"},
		"pi":       {"session_start", "session_shutdown", "before_agent_start", "tool_result", "agent_end"},
		"cline":    {"TaskStart", "TaskResume", "TaskCancel", "TaskComplete", "PostToolUse", "PreCompact"},
		"vscode":   {"SessionStart", "PostToolUse", "PreCompact", "SubagentStart", "SubagentStop", "Stop"},
		"factory":  {"SessionStart", "SessionEnd", "PostToolUse", "Notification", "Stop", "SubagentStop"},
		"kiro":     {"agentSpawn", "postToolUse", "stop"},
		"cursor":   {"sessionStart", "sessionEnd", "postToolUse", "postToolUseFailure", "afterFileEdit", "subagentStart", "subagentStop", "preCompact", "stop"},
		"windsurf": {"post_read_code", "post_write_code", "post_run_command", "post_mcp_tool_use", "post_cascade_response"},
	}
})

// Classify returns how an event of an agent fails, by the agent's own name for
// it.
func Classify(agent, event string) Class {
	if _, ok := gates()[agent][event]; ok {
		return Gate
	}
	if slices.Contains(observers()[agent], event) {
		return Observer
	}
	return Unknown
}

// Undecided is the answer of an entry for which nothing could be decided. An
// agent or an event that the table does not have is answered as a gate whose
// exit code counts.
func Undecided(agent, event, why string) Answer {
	why = "tenterhook could not decide: " + oneLine(why)
	if Classify(agent, event) == Observer {
		return Answer{Stderr: why + "\n"}
	}
	w, ok := gates()[agent][event]
	if !ok {
		w = byCode
	}
	a := Answer{Stderr: why + "\n", ExitCode: w.code}
	if w.stdout != "" {
		a.Stdout = strings.NewReplacer("%[1]s", quote(why), "%s", quote(why)).Replace(w.stdout) + "\n"
	}
	return a
}

// Unheard is the exit code of an entry that could not print its answer; code is the answer's own. A gate refuses by the
// code alone: an answer that ends with 0 would be taken for consent.
func Unheard(agent, event string, code int) int {
	if Classify(agent, event) == Observer {
		return max(code, 1)
	}
	return byCode.code
}

const (
	longest = 630 * time.Second // above the longest default of a hook, 600 s
	margin  = 10 * time.Second
)

// Timeout is the limit that an entry declares to its agent.
func Timeout(agent, event string) time.Duration {
	if event == "SessionEnd" || event == "sessionEnd" {
		switch agent {
		case "codex":
			return 3 * time.Second // it allows no more
		case "claude":
			return 60 * time.Second
		}
	}
	return longest
}

// Deadline is when the entry itself gives up, below its Timeout: what comes
// later, the agent would no longer read.
func Deadline(agent, event string) time.Duration {
	limit := Timeout(agent, event)
	return limit - min(margin, limit/6)
}

// oneLine keeps a reason on one line of bounded length.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) > 500 {
		s = strings.ToValidUTF8(s[:500], "") + "…"
	}
	return s
}

// quote writes a JSON string.
func quote(s string) string {
	const hex = "0123456789abcdef"
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			b.WriteString(`\u00`)
			b.WriteByte(hex[r>>4])
			b.WriteByte(hex[r&15])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
