package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

func (a *app) whyCommand() *cobra.Command {
	return a.eventCommand(&cobra.Command{
		Use:   "why EVENT",
		Short: "Say which hooks would run for an event, and why the others would not",
		Long:  "Runs nothing. Takes the event as 'run' does.",
		Example: "  tenterhook why PreToolUse --tool Bash --input '{\"command\":\"sudo git push\"}'\n" +
			"  tenterhook why Stop --json",
	}, func(_ context.Context, reg *registry.Registry, in hook.Input) error {
		return a.printSelection(reg.Workspace(), reg.Select(in))
	})
}

func (a *app) printSelection(root string, sel registry.Selection) error {
	if a.json {
		return a.printJSONOf(root, sel)
	}
	style := a.styleOf(a.Out)
	var rows [][]string
	for _, s := range sel.Selected {
		rows = append(rows, []string{style.green("runs"), oneLine(s.Hook.ID), oneLine(joined(s.By, unboundNote(s.Unbound)))})
	}
	for _, s := range sel.Skipped() {
		rows = append(rows, []string{style.dim(s.Why), oneLine(s.Hook.ID), oneLine(s.Detail)})
	}
	table(a.Out, style, []string{"", "HOOK", "WHY"}, rows)
	a.printRoot(root)
	return nil
}
