package bridge

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// maxImplied bounds the inputs that one call stands for.
const maxImplied = 64

// decideAll asks about an input and about all that it implies. The strictest
// verdict counts.
func (a *Agent) decideAll(in hook.Input, decide func(hook.Input) (*hook.Outcome, error)) (*hook.Outcome, error) {
	out, err := decide(in)
	if err != nil || out == nil || out.Verdict == hook.Deny {
		return out, err
	}
	implied := a.implied(in)
	if len(implied) > maxImplied {
		return nil, fmt.Errorf("the call stands for more than %d others", maxImplied)
	}
	for _, other := range implied {
		more, err := decide(other)
		if err != nil || more == nil {
			return more, err
		}
		out = stricter(out, more, other)
	}
	return out, nil
}

// stricter adds what was decided about an implied input.
func stricter(out, more *hook.Outcome, about hook.Input) *hook.Outcome {
	both := *out
	if more.Verdict > both.Verdict && more.Verdict != hook.Allow {
		both.Verdict, both.Reason = more.Verdict, more.Reason
	}
	if _, input, ok := toolOf(about); ok && more.UpdatedInput != nil && !sameJSON(more.UpdatedInput, input) && both.Verdict != hook.Deny {
		both.Verdict = hook.Deny
		both.Reason = fmt.Sprintf("A hook changed a part of this call, which cannot be applied. It is to be: %s", more.UpdatedInput)
	}
	if both.Verdict == hook.Deny {
		both.UpdatedInput = nil
	}
	both.Stop = both.Stop || more.Stop
	if both.StopReason == "" {
		both.StopReason = more.StopReason
	}
	both.Contexts = append(append([]string(nil), out.Contexts...), more.Contexts...)
	both.SystemMessages = append(append([]string(nil), out.SystemMessages...), more.SystemMessages...)
	both.Results = append(append([]hook.Result(nil), out.Results...), more.Results...)
	return &both
}

// implied are further inputs that one call stands for: the rest of a list, the files
// that a patch writes, and the other tools that an ambiguous name can mean.
func (a *Agent) implied(in hook.Input) []hook.Input {
	call, ok := hook.As[hook.PreToolUse](in)
	if !ok {
		return nil
	}
	var list []hook.Input
	said := nativeOf(in)
	if parts := a.parts(said.Tool, said.Input); len(parts) > 1 {
		for _, part := range parts[1:] {
			other := call
			other.ToolInput = part
			list = append(list, other)
		}
	}
	if native := cmp.Or(said.Tool, call.ToolName); a == &codex || native == "apply_patch" || native == "patch" {
		raw := call.ToolInput
		if len(said.Input) > 0 {
			raw = said.Input
		}
		for _, f := range patchedFiles(raw, call.Cwd) {
			other := call
			other.ToolName, other.ToolInput, other.MCPServer = f.tool, f.input(), nil
			if f.tool != call.ToolName || !sameJSON(other.ToolInput, call.ToolInput) {
				list = append(list, other)
			}
		}
	}
	if joint := a.joint(in); joint != "" && call.MCPServer != nil && !strings.Contains(said.Tool, "/") {
		for i := range said.Tool {
			server, tool := said.Tool[:i], strings.TrimPrefix(said.Tool[i:], joint)
			if strings.HasPrefix(said.Tool[i:], joint) && server != call.MCPServer.Name && server != "" && tool != "" {
				other := call
				other.ToolName, other.MCPServer = "mcp__"+server+"__"+tool, &hook.MCPServer{Name: server, Source: call.MCPServer.Source}
				list = append(list, other)
			}
		}
	}
	return list
}

// joint is what stands between a server and its tool in the agent's names, if names of
// servers and tools may hold it too; "" = nothing that they may hold.
func (a *Agent) joint(in hook.Input) string {
	switch {
	case isCopilotPayload(a, in):
		return "-"
	case a == &cline:
		return "__"
	}
	return ""
}
