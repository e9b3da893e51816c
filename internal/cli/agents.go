package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/agents"
	"github.com/tenterhook/tenterhook/internal/daemon"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/internal/protect"
)

// listedAgent is an agent as --json shows it.
type listedAgent struct {
	Agent       string                 `json:"agent"`
	Title       string                 `json:"title"`
	Here        bool                   `json:"here"`
	By          string                 `json:"by,omitempty"`
	Version     string                 `json:"version,omitempty"`
	Tested      string                 `json:"tested"` // "" = not verified
	Installed   []agents.Scope         `json:"installed"`
	Enforces    map[string]listedLevel `json:"enforces"`
	Diagnostics []hook.Diagnostic      `json:"diagnostics"`
	Live        *agents.Live           `json:"live,omitempty"`
}

type listedLevel struct {
	Level string `json:"level"` // yes, partly, stricter, later, no
	Note  string `json:"note,omitempty"`
}

func (a *app) agentsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "agents",
		Short:   "List agents: which are here, installed, and what each can enforce",
		Example: "  tenterhook agents\n  tenterhook agents verify\n  tenterhook agents verify claude --live",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			env, err := a.agentEnv()
			if err != nil {
				return err
			}
			var list []listedAgent
			for _, agent := range bridge.Agents() {
				state := env.State(agent)
				l := listAgent(state)
				for _, scope := range state.Installed {
					l.Diagnostics = append(l.Diagnostics, env.Verify(state, scope)...)
				}
				list = append(list, l)
			}
			protection := a.protection(cmd)
			if a.json {
				return a.printJSON(map[string]any{"agents": list, "self_protection": protection})
			}
			a.printAgents(list)
			fmt.Fprintln(a.Out, "self-protection: "+phrase.Printable(protection))
			return nil
		},
	}
	cmd.AddCommand(a.verifyCommand())
	return cmd
}

// protection says whether agents are kept from changing their guards.
func (a *app) protection(cmd *cobra.Command) string {
	if len(daemon.Guards(os.Environ())) == 0 {
		return daemon.NothingInstalled
	}
	reg, err := a.open(cmd.Context())
	if err != nil {
		return "unknown: " + err.Error()
	}
	defer reg.Close()
	for _, l := range reg.List() {
		if l.Hook.ID == "managed/"+protect.Name && l.State != hook.StateReady {
			return "off: " + l.Why
		}
	}
	return "on"
}

func listAgent(s agents.State) listedAgent {
	l := listedAgent{Agent: s.Agent.Name, Title: s.Agent.Title, Here: s.By != "", By: s.By, Version: s.Version, Tested: s.Agent.Version(),
		Installed: orEmpty(s.Installed), Enforces: make(map[string]listedLevel), Diagnostics: []hook.Diagnostic{}}
	for _, what := range bridge.Abilities() {
		c := s.Agent.Can(what)
		level := string(c.Level)
		if c.Level == bridge.No {
			level = "no"
		}
		l.Enforces[string(what)] = listedLevel{level, c.Note}
	}
	return l
}

func (a *app) printAgents(list []listedAgent) {
	style := a.styleOf(a.Out)
	var rows [][]string
	for _, l := range list {
		here, tested, installed := style.dim("–"), l.Tested, style.dim("no")
		if l.Here {
			here = phrase.Printable(l.By)
			if l.Version != "" {
				here = l.Version + " " + style.dim(here)
			}
		}
		if tested == "" {
			tested = "not verified"
		}
		if len(l.Installed) > 0 {
			var scopes []string
			for _, s := range l.Installed {
				scopes = append(scopes, string(s))
			}
			installed = style.green(strings.Join(scopes, ", "))
			if hook.HasErrors(l.Diagnostics) {
				installed = style.red(strings.Join(scopes, ", ") + ": not in effect")
			}
		}
		var short []string
		for _, what := range bridge.Abilities() {
			if l.Enforces[string(what)].Level == "no" {
				short = append(short, string(what))
			}
		}
		rows = append(rows, []string{l.Agent, installed, tested, here, style.dim(strings.Join(short, "; "))})
	}
	table(a.Out, style, []string{"AGENT", "INSTALLED", "TESTED WITH", "HERE", "DOES NOT"}, rows)
	fmt.Fprintln(a.Out, style.dim("docs/agents.md has what each can enforce; 'tenterhook agents verify' checks what is installed"))
}

func (a *app) verifyCommand() *cobra.Command {
	var live bool
	cmd := &cobra.Command{
		Use:   "verify [AGENT…]",
		Short: "Check that the installed entries are in effect",
		Long: "Finds what silently disarms hooks: entries that are gone or changed, programs that moved,\n" +
			"switches in the project and the user's settings, trust that ended, untested versions of the\n" +
			"client. --live runs the real client on a model on loopback, whose one call a canary must deny.",
		Example: "  tenterhook agents verify\n  tenterhook agents verify codex --live --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.verifyAgents(cmd, args, live)
		},
	}
	cmd.Flags().BoolVar(&live, "live", false, "run the real client against a model on loopback")
	return cmd
}

func (a *app) verifyAgents(cmd *cobra.Command, args []string, live bool) error {
	env, err := a.agentEnv()
	if err != nil {
		return err
	}
	chosen, err := agentsNamed(args, func() []*bridge.Agent {
		var here []*bridge.Agent
		for _, agent := range bridge.Agents() {
			if env.HasReceipt(agent) {
				here = append(here, agent)
			}
		}
		return here
	})
	if err != nil {
		return err
	}
	if len(chosen) == 0 {
		return &located{"no_agent", "tenterhook is installed into no agent", "'tenterhook install' installs it"}
	}
	var list []listedAgent
	for _, agent := range chosen {
		list = append(list, verifyAgent(cmd, env, agent, live))
	}
	for _, l := range list {
		if hook.HasErrors(l.Diagnostics) {
			a.code = exitError
		}
	}
	if a.json {
		return a.printJSON(map[string]any{"agents": list})
	}
	for _, l := range list {
		a.printVerified(l)
	}
	return nil
}

func verifyAgent(cmd *cobra.Command, env agents.Env, agent *bridge.Agent, live bool) listedAgent {
	state := env.State(agent)
	l := listAgent(state)
	if len(state.Installed) == 0 {
		l.Diagnostics = append(l.Diagnostics, hook.Diagnostic{Severity: hook.SeverityError, Code: "not_installed",
			Message: "tenterhook is not installed into " + agent.Title, Hint: "'tenterhook install " + agent.Name + "' installs it"})
	}
	for _, scope := range state.Installed {
		l.Diagnostics = append(l.Diagnostics, env.Verify(state, scope)...)
	}
	if !live {
		return l
	}
	shown, err := env.VerifyLive(cmd.Context(), state)
	l.Live = shown
	switch {
	case err != nil && shown == nil:
		l.Diagnostics = append(l.Diagnostics, hook.Diagnostic{Severity: hook.SeverityError, Code: "live_failed", Message: err.Error()})
	case err != nil || !shown.Denied && !shown.Ran:
		l.Diagnostics = append(l.Diagnostics, hook.Diagnostic{Severity: hook.SeverityError, Code: "live_unclear",
			Message: errors.Join(errors.New("the canary's call did not run, but the model was not told of a denial"), err).Error()})
	case shown.Ran:
		l.Diagnostics = append(l.Diagnostics, hook.Diagnostic{Severity: hook.SeverityError, Code: "live_open",
			Message: "the real client ran a call that a canary denies: its hooks are not in effect"})
	}
	return l
}

func (a *app) printVerified(l listedAgent) {
	style := a.styleOf(a.Out)
	state := style.green("in effect, as far as can be seen")
	switch {
	case hook.HasErrors(l.Diagnostics):
		state = style.red("not in effect")
	case l.Live != nil:
		state = style.green(fmt.Sprintf("in effect: the real client did not run the canary's call (%.1f s)", l.Live.Elapsed.Seconds()))
	}
	fmt.Fprintf(a.Out, "%s: %s\n", l.Title, state)
	for _, d := range l.Diagnostics {
		if d.Path != "" {
			d.Path = filepath.Clean(d.Path)
		}
		fmt.Fprintf(a.Out, "  %s %s\n", style.severity(d.Severity), phrase.Printable(d.String()))
	}
	if l.Live != nil && l.Live.Output != "" {
		fmt.Fprintln(a.Out, style.dim("  the client printed:\n"+phrase.Printable(l.Live.Output)))
	}
}
