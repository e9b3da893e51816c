package cli

import (
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/registry"
)

func (a *app) watchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "watch",
		Short: "Print what changes as hooks are edited, until interrupted",
		Long: "Watches the directories that hooks are loaded from. For each change it prints\n" +
			"hooks that were added (+), changed (~) or removed (-), hooks that are kept as they last\n" +
			"were because their file is broken (=), those whose state changed, as when an edit\n" +
			"ended an approval, and what is wrong. With --json, one line of JSON a change.",
		Example: "  tenterhook watch\n  tenterhook watch --dir ./hooks --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			reg, err := a.open(ctx)
			if err != nil {
				return err
			}
			defer reg.Close()
			if !a.json {
				fmt.Fprintf(a.Out, "watching %s; Ctrl-C ends\n", phrase.Count(len(reg.List()), "hook"))
			}
			a.printDiagnostics(reg.Diagnostics())
			return reg.Watch(ctx, a.printReload)
		},
	}
}

func (a *app) printReload(c *registry.Reloaded) {
	if a.json {
		_ = a.printJSONLine(map[string]any{"states": orEmpty(c.States), "added": orEmpty(c.Added), "removed": orEmpty(c.Removed), "changed": orEmpty(c.Changed),
			"kept": orEmpty(c.Kept), "settings": c.Settings, "diagnostics": orEmpty[hook.Diagnostic](c.Diagnostics)})
		return
	}
	var parts []string
	for _, list := range []struct {
		sign string
		ids  []string
	}{{"+", c.Added}, {"~", c.Changed}, {"-", c.Removed}, {"=", c.Kept}} {
		for _, id := range list.ids {
			parts = append(parts, list.sign+oneLine(id))
		}
	}
	if c.Settings {
		parts = append(parts, "settings")
	}
	if len(parts) > 0 {
		fmt.Fprintln(a.Out, "reloaded:", strings.Join(parts, " "))
	}
	style := a.styleOf(a.Out)
	for _, s := range c.States {
		line := fmt.Sprintf("%s (%s): %s, was %s", oneLine(s.ID), oneLine(string(s.Event)), style.state(s.To), s.From)
		if s.Why != "" {
			line += ": " + oneLine(s.Why)
		}
		fmt.Fprintln(a.Out, line)
	}
	a.printDiagnostics(c.Diagnostics)
}
