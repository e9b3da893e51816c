// Package registry loads hooks, selects the hooks that an event concerns, runs
// them, and merges what they answer.
//
// Stage: the whole pipeline from discovery to merge; a host imports it, or the
// root package, which wires it with every handler. Open it at startup, call
// Dispatch at each point of the agent's life, and obey the Outcome:
//
//	reg, err := registry.Open(ctx, registry.Options{Workspace: "."})
//	…
//	out, err := reg.Dispatch(ctx, hook.PreToolUse{ToolName: "Bash", ToolInput: input})
//	if err != nil || !out.MayProceed() {
//		return refuse(out.Reason)
//	}
//
// A hook that did not run never looks like a hook that approved: each hook that
// an event concerns leaves a Result with a status and a reason.
package registry
