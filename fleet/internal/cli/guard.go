package cli

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/fleetpolicy"
)

func (a *app) guardCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "guard",
		Short: "Deny or ask on every machine at once, or stop that",
		Long: "Signs a document of the channel guard and publishes it at the hub. A machine that is connected obeys\n" +
			"it within a second, another one as soon as it connects. A guard denies, asks and switches hooks off;\n" +
			"it can bring no code, and switches off nothing that a machine's own managed folder declares.",
		Example: "  tenterhook fleet guard on --reason 'incident 7' --key oncall.key --connection publisher.json\n  tenterhook fleet guard off --reason 'incident 7 is over' --key oncall.key --connection publisher.json",
		Args:    cobra.ArbitraryArgs, RunE: needCommand,
	}
	cmd.AddCommand(a.guardOnCommand(), a.guardOffCommand())
	return cmd
}

// guard is what a guard does.
type guard struct {
	events, rules, disabled []string
	matcher, file           string
	ask                     bool
}

// settings are those of its document.
func (g *guard) settings(reason string) (json.RawMessage, error) {
	if g.file != "" {
		if len(g.events)+len(g.rules)+len(g.disabled) > 0 || g.matcher != "" || g.ask {
			return nil, problem.New("usage", "--file says all that the guard does", "leave the other flags out, or --file", nil)
		}
		return draft(g.file)
	}
	said := map[string]any{}
	if len(g.disabled) > 0 {
		said["disabled"] = g.disabled
	}
	if len(g.disabled) == 0 || len(g.events)+len(g.rules) > 0 || g.matcher != "" || g.ask {
		hooks := make(map[string][]map[string]any)
		if len(g.events) == 0 {
			g.events = []string{string(hook.EventPreToolUse)}
		}
		for _, event := range g.events {
			if info, known := hook.Lookup(hook.Event(event)); !known || info.Block != hook.BlockAction {
				return nil, problem.New("unknown_event", fmt.Sprintf("--event: %q is no event that can be denied", event), "'tenterhook events' lists them", nil)
			}
			rule := map[string]any{"type": "rule", "name": event, "decision": hook.DecisionDeny, "reason": reason}
			if g.ask {
				rule["decision"] = hook.DecisionAsk
			}
			if g.matcher != "" {
				rule["matcher"] = g.matcher
			}
			if len(g.rules) > 0 {
				rule["if"] = g.rules
			}
			hooks[event] = []map[string]any{rule}
		}
		said["hooks"] = hooks
	}
	return json.Marshal(said)
}

func (a *app) guardOnCommand() *cobra.Command {
	var s signing
	var g guard
	var reason string
	var here bool
	cmd := &cobra.Command{
		Use:   "on",
		Short: "Deny every tool call, or some, on every machine",
		Long: "Without more flags every tool call is denied. It takes the place of an earlier guard. When it expires\n" +
			"it stays in force, and is stale: 'guard off' ends it.",
		Example: "  tenterhook fleet guard on --reason 'incident 7' --key oncall.key --connection publisher.json\n" +
			"  tenterhook fleet guard on --reason 'no pushes today' --matcher Bash --if 'Bash(git push *)' --ask --key oncall.key\n" +
			"  tenterhook fleet guard on --reason 'it hangs' --disable plugin/guards/slow --key oncall.key\n" +
			"  tenterhook fleet guard on --reason 'incident 7' --key oncall.key --here",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := g.settings(reason)
			if err != nil {
				return err
			}
			return a.guarded(cmd, &s, reason, settings, here)
		},
	}
	s.flags(cmd, 24*time.Hour)
	cmd.Flags().StringArrayVar(&g.events, "event", nil, "the `EVENT` that is denied (repeatable; default PreToolUse)")
	cmd.Flags().StringVar(&g.matcher, "matcher", "", "deny what this matcher takes alone, such as 'Bash|Write'")
	cmd.Flags().StringArrayVar(&g.rules, "if", nil, "deny what this rule matches alone, such as 'Bash(git push *)' (repeatable)")
	cmd.Flags().BoolVar(&g.ask, "ask", false, "ask a person in place of denying")
	cmd.Flags().StringArrayVar(&g.disabled, "disable", nil, "switch the hook of this `ID` off (repeatable); alone it denies nothing")
	cmd.Flags().StringVar(&g.file, "file", "", "take hooks and disabled from this settings `FILE`")
	guardFlags(cmd, &reason, &here)
	return cmd
}

func (a *app) guardOffCommand() *cobra.Command {
	var s signing
	var reason string
	var here bool
	cmd := &cobra.Command{
		Use: "off", Short: "End what the guard denies, asks and switches off",
		Example: "  tenterhook fleet guard off --reason 'incident 7 is over' --key oncall.key --connection publisher.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.guarded(cmd, &s, reason, json.RawMessage(`{}`), here)
		},
	}
	s.flags(cmd, 365*24*time.Hour)
	guardFlags(cmd, &reason, &here)
	return cmd
}

func guardFlags(cmd *cobra.Command, reason *string, here *bool) {
	cmd.Flags().StringVar(reason, "reason", "", "why, for whoever is denied, and for the journal")
	cmd.Flags().BoolVar(here, "here", false, hereHelp)
	_ = cmd.MarkFlagRequired("reason")
}

func (a *app) guarded(cmd *cobra.Command, s *signing, reason string, settings json.RawMessage, here bool) error {
	return a.atDesk(cmd.Context(), func(d *desk) error { return d.issue(cmd, s, fleetpolicy.ChannelGuard, reason, settings, here) })
}
