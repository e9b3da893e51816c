package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

type listedHook struct {
	ID        string             `json:"id"`
	Name      string             `json:"name"`
	Event     hook.Event         `json:"event"`
	Kind      hook.Kind          `json:"kind"`
	Matcher   string             `json:"matcher"`
	If        hook.Rules         `json:"if"`
	Scope     hook.Scope         `json:"scope"`
	Source    listedSource       `json:"source"`
	Pack      string             `json:"pack,omitempty"` // the reference of the pack that it comes with
	State     hook.State         `json:"state"`
	Why       string             `json:"why"`
	OnFailure hook.FailurePolicy `json:"on_failure"`
	TimeoutMS int64              `json:"timeout_ms"`
	Priority  int                `json:"priority"`
	Breaker   string             `json:"breaker"`
	Unbound   string             `json:"unbound"`

	Description   string              `json:"description"`
	StatusMessage string              `json:"status_message"`
	Command       string              `json:"command"`
	Args          []string            `json:"args"`
	Shell         string              `json:"shell"`
	Worker        bool                `json:"worker"`
	Params        []string            `json:"params"` // the keys; a value can be a secret
	Env           []string            `json:"env"`    // the names, for the same reason
	Syntax        hook.MatcherSyntax  `json:"syntax"`
	Protocol      hook.Protocol       `json:"protocol"`
	Rewrites      bool                `json:"rewrites"`
	Async         bool                `json:"async"`
	AsyncRewake   bool                `json:"async_rewake"`
	Queue         string              `json:"queue"` // of the fleet's workers that run it; "" = this machine does
	Once          bool                `json:"once"`
	Requires      map[string][]string `json:"requires"`
	Limits        listedLimits        `json:"breaker_limits"`
	Sandbox       *listedSandbox      `json:"sandbox"`              // null = none
	Shortfalls    []shortfall         `json:"shortfalls,omitempty"` // with --agent
}

// listedLimits are what the hook sets for its breaker; 0 = the default.
type listedLimits struct {
	Failures   int   `json:"failures"`
	CooldownMS int64 `json:"cooldown_ms"`
}

type listedSource struct {
	Path string `json:"path"`
	Line int    `json:"line"`
}

func (a *app) listCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Show every hook and plugin: where it is from, whether it can run, and why not",
		Example: "  tenterhook list\n  tenterhook list --dir ./hooks --json\n  tenterhook list --agent codex",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			agent, err := agentFlag(name)
			if err != nil {
				return err
			}
			reg, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer reg.Close()
			list, diagnostics := a.list(reg), slices.Concat(reg.Diagnostics(), a.journalDiagnostics(), a.fleetDiagnostics())
			plugins, _ := a.plugins() // what is wrong with them, the registry says
			if a.json {
				hooks := make([]listedHook, len(list))
				for i, l := range list {
					hooks[i] = listed(l)
					hooks[i].Shortfalls = shortfallsOf(agent, l.Hook.Event)
				}
				return a.printJSONOf(reg.Workspace(), map[string]any{"hooks": hooks, "plugins": plugins, "policies": orEmpty(reg.Policies()), "diagnostics": orEmpty(diagnostics)})
			}
			a.printList(list)
			for _, l := range list {
				a.printShortfalls(agent, oneLine(l.Hook.ID), l.Hook.Event)
			}
			a.printRoot(reg.Workspace())
			a.printPolicies(reg)
			if len(plugins) > 0 {
				fmt.Fprintln(a.Out)
				a.printPlugins(plugins)
			}
			a.printDiagnostics(diagnostics)
			if len(list) > 0 {
				fmt.Fprintln(a.Out, a.styleOf(a.Out).dim("'tenterhook log' shows what they did"))
			}
			return nil
		},
	}
	registerAgent(cmd, &name)
	return cmd
}

func listed(l registry.Listed) listedHook {
	h := l.Hook
	policy := h.OnFailure
	if policy == "" {
		policy = hook.FailureContinue
	}
	shown := listedHook{
		ID: h.ID, Name: h.Name, Event: h.Event, Kind: h.Kind, Matcher: h.Matcher, If: h.If, Scope: h.Scope,
		Source: listedSource{h.Source.Path, h.Source.Line}, Pack: h.Source.Pack, State: l.State, Why: l.Why, OnFailure: policy,
		TimeoutMS: l.Timeout.Milliseconds(), Priority: h.Priority, Breaker: l.Breaker.State.String(), Unbound: l.Unbound,
		Description: h.Description, StatusMessage: h.StatusMessage, Params: slices.Sorted(maps.Keys(h.Params)),
		Env: slices.Sorted(maps.Keys(h.Env)), Syntax: h.Syntax, Protocol: cmp.Or(h.Protocol, hook.ProtocolClaude),
		Rewrites: h.Rewrites, Async: h.Async, AsyncRewake: h.AsyncRewake, Queue: h.Queue, Once: h.Once, Requires: requirements(h.Requires),
		Limits: listedLimits{h.Breaker.Failures, h.Breaker.Cooldown.Milliseconds()}, Sandbox: sandboxOf(h.Sandbox),
	}
	if c := h.Command; c != nil {
		shown.Command, shown.Args, shown.Shell, shown.Worker = c.Line, c.Args, c.Shell, c.Worker
	}
	return shown
}

// requirements are what a hook asks for, without what it does not ask for.
func requirements(r hook.Requires) map[string][]string {
	asked := map[string][]string{"bins": r.Bins, "any_bins": r.AnyBins, "envs": r.Envs, "os": r.OS}
	maps.DeleteFunc(asked, func(_ string, list []string) bool { return len(list) == 0 })
	return asked
}

const noHooks = "no hooks found; make one with: tenterhook new NAME"

func (a *app) printList(list []registry.Listed) {
	if len(list) == 0 {
		fmt.Fprintln(a.Out, noHooks)
		return
	}
	style := a.styleOf(a.Out)
	rows := make([][]string, len(list))
	for i, l := range list {
		rows[i] = []string{style.state(l.State), oneLine(l.Hook.ID), oneLine(string(l.Hook.Event)),
			oneLine(shown(l.Hook)), string(l.Hook.Kind), oneLine(cmp.Or(l.Why, unboundNote(l.Unbound)))}
	}
	table(a.Out, style, []string{"STATE", "HOOK", "EVENT", "MATCHES", "KIND", "WHY"}, rows)
}

// shown is what a hook matches, for a person.
func shown(h *hook.Hook) string {
	switch {
	case len(h.If) > 2:
		return fmt.Sprintf("if %s or %d more", h.If[0], len(h.If)-1)
	case len(h.If) > 0:
		return "if " + h.If.String()
	case h.Matcher == "":
		return "*"
	}
	return h.Matcher
}
