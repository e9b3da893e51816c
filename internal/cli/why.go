package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/daemon"
	"github.com/tenterhook/tenterhook/registry"
	"github.com/tenterhook/tenterhook/trust"
)

func (a *app) whyCommand() *cobra.Command {
	var name string
	cmd := a.eventCommand(&cobra.Command{
		Use:   "why EVENT",
		Short: "Say which hooks would run for an event, and why the others would not",
		Long:  "Runs nothing. Takes the event as 'run' does.",
		Example: "  tenterhook why PreToolUse --tool Bash --input '{\"command\":\"sudo git push\"}'\n" +
			"  tenterhook why Stop --json\n  tenterhook why PreToolUse --tool Bash --agent codex",
	}, func(_ context.Context, reg *registry.Registry, in hook.Input) error {
		agent, err := agentFlag(name)
		if err != nil {
			return err
		}
		sel := reg.Select(in)
		if a.json {
			return a.printSelectionJSON(reg, agent, sel, in.Event())
		}
		a.printSelection(reg, agent, sel)
		a.printPolicies(reg)
		for _, s := range sel.Selected {
			a.printShortfalls(agent, oneLine(s.Hook.ID), in.Event())
		}
		return nil
	})
	registerAgent(cmd, &name)
	return cmd
}

// printSelectionJSON prints a selection with the fleet's policies, and with what an
// agent cannot enforce of its hooks.
func (a *app) printSelectionJSON(reg *registry.Registry, agent *bridge.Agent, sel registry.Selection, event hook.Event) error {
	data, err := json.Marshal(sel)
	if err != nil {
		return err
	}
	fields := make(map[string]any)
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	var open []daemon.Breaker
	for _, s := range sel.Selected {
		open = append(open, skippedBy(reg, s.Hook, agent)...)
	}
	fields["breakers"] = orEmpty(open)
	fields["plugins"] = orEmpty(unasked(reg))
	if fields["policies"] = orEmpty(reg.Policies()); agent != nil {
		fields["shortfalls"] = orEmpty(shortfallsOf(agent, event))
	}
	return a.printJSONOf(reg.Workspace(), fields)
}

// unasked are the plugins whose hooks are not known.
func unasked(reg *registry.Registry) []listedSubject {
	var list []listedSubject
	for _, s := range reg.Subjects() {
		if s.Plugin && len(s.Hooks) == 0 {
			list = append(list, listedSubject{ID: s.ID(), Path: s.Path(), Approved: s.Verdict.Approved, Changes: []trust.Change{},
				Why: s.Verdict.Why + "; which hooks it has is not known"})
		}
	}
	return list
}

func (a *app) printSelection(reg *registry.Registry, agent *bridge.Agent, sel registry.Selection) {
	style := a.styleOf(a.Out)
	var rows [][]string
	for _, s := range sel.Selected {
		word, why := style.green("runs"), joined(joined(s.By, unboundNote(s.Unbound)), sandboxNote(s.Hook.Sandbox))
		for _, b := range skippedBy(reg, s.Hook, agent) {
			why = joined(why, openWhy(reg, b))
			if agent != nil || b.Agent == "" {
				word = style.red("breaker")
			}
		}
		rows = append(rows, []string{word, oneLine(s.Hook.ID), oneLine(why)})
	}
	for _, s := range sel.Skipped() {
		rows = append(rows, []string{style.dim(s.Why), oneLine(s.Hook.ID), oneLine(s.Detail)})
	}
	for _, s := range unasked(reg) {
		rows = append(rows, []string{style.dim("untrusted"), oneLine(s.ID), oneLine(s.Why)})
	}
	if len(rows) == 0 {
		fmt.Fprintln(a.Out, noHooks)
	} else {
		table(a.Out, style, []string{"", "HOOK", "WHY"}, rows)
	}
	a.printRoot(reg.Workspace())
}
