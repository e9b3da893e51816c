package cli

import (
	"cmp"
	"fmt"

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
	State     hook.State         `json:"state"`
	Why       string             `json:"why"`
	OnFailure hook.FailurePolicy `json:"on_failure"`
	TimeoutMS int64              `json:"timeout_ms"`
	Priority  int                `json:"priority"`
	Breaker   string             `json:"breaker"`
	Unbound   string             `json:"unbound"`
}

type listedSource struct {
	Path string `json:"path"`
	Line int    `json:"line"`
}

func (a *app) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "Show every hook and plugin: where it is from, whether it can run, and why not",
		Example: "  tenterhook list\n  tenterhook list --dir ./hooks --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			reg, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer reg.Close()
			list, diagnostics := reg.List(), reg.Diagnostics()
			plugins, _ := a.plugins() // what is wrong with them, the registry says
			if a.json {
				hooks := make([]listedHook, len(list))
				for i, l := range list {
					hooks[i] = listed(l)
				}
				return a.printJSONOf(reg.Workspace(), map[string]any{"hooks": hooks, "plugins": plugins, "diagnostics": orEmpty(diagnostics)})
			}
			a.printList(list)
			a.printRoot(reg.Workspace())
			if len(plugins) > 0 {
				fmt.Fprintln(a.Out)
				a.printPlugins(plugins)
			}
			a.printDiagnostics(diagnostics)
			return nil
		},
	}
}

func listed(l registry.Listed) listedHook {
	h := l.Hook
	policy := h.OnFailure
	if policy == "" {
		policy = hook.FailureContinue
	}
	return listedHook{h.ID, h.Name, h.Event, h.Kind, h.Matcher, h.If, h.Scope, listedSource{h.Source.Path, h.Source.Line},
		l.State, l.Why, policy, l.Timeout.Milliseconds(), h.Priority, l.Breaker.State.String(), l.Unbound}
}

func (a *app) printList(list []registry.Listed) {
	if len(list) == 0 {
		fmt.Fprintln(a.Out, "no hooks found; make one with: tenterhook new NAME")
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
