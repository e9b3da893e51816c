package cli

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/breaker"
	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/daemon"
	"github.com/tenterhook/tenterhook/registry"
)

func (a *app) breakerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "breaker",
		Short: "Show hooks that are skipped after failures, and let them run again",
		Long: "A hook that fails five times in a row is skipped for a minute; then one call tries it again.\n" +
			"Each agent counts for itself in each project, and so does 'tenterhook run'.",
		Example: "  tenterhook breaker list\n  tenterhook breaker reset user/guard",
	}
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "Show the breakers of hooks that failed", Args: cobra.NoArgs,
		Long:    "Lists what the daemon has in memory, and what processes without a daemon left behind.",
		Example: "  tenterhook breaker list\n  tenterhook breaker list --json",
		RunE:    func(*cobra.Command, []string) error { return a.listBreakers() },
	}, a.breakerResetCommand())
	return cmd
}

func (a *app) breakerResetCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "reset ID…", Short: "Close the breakers of a hook, so that it is asked again at once",
		Long:    "Closes them for every agent and project of this user. Agents cannot run this command.",
		Example: "  tenterhook breaker reset user/guard\n  tenterhook breaker reset --all",
		RunE: func(cmd *cobra.Command, ids []string) error {
			if all == (len(ids) > 0) {
				return &located{"usage", "which hook?", "give its ID, or --all; 'tenterhook breaker list' lists them"}
			}
			if err := a.haveBreakers(cmd, ids); err != nil {
				return err
			}
			if all {
				ids = []string{""}
			}
			reset := []string{}
			for _, id := range ids {
				hooks, err := daemon.ResetBreakers(cmd.Context(), os.Environ(), id)
				if err != nil {
					return err
				}
				reset = append(reset, hooks...)
			}
			if a.json {
				return a.printJSON(map[string]any{"reset": reset})
			}
			for _, id := range reset {
				fmt.Fprintln(a.Out, oneLine(id)+" is asked again")
			}
			if len(reset) == 0 {
				fmt.Fprintln(a.Out, "every breaker was closed already")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "those of every hook")
	return cmd
}

// haveBreakers fails for an ID that neither a loaded hook nor a breaker has.
func (a *app) haveBreakers(cmd *cobra.Command, ids []string) error {
	breakers, err := daemon.Breakers(os.Environ())
	if err != nil {
		return err
	}
	for _, id := range ids {
		if slices.ContainsFunc(breakers, func(b daemon.Breaker) bool { return b.Hook == id }) {
			continue
		}
		if _, err := a.loaded(cmd, id); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) listBreakers() error {
	breakers, err := daemon.Breakers(os.Environ())
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"breakers": orEmpty(breakers)})
	}
	if len(breakers) == 0 {
		fmt.Fprintln(a.Out, "no hook failed since it was asked last: every breaker is closed")
		return nil
	}
	style := a.styleOf(a.Out)
	rows := make([][]string, len(breakers))
	for i, b := range breakers {
		state := b.State
		if b.Open() {
			state = style.red(state)
		}
		rows[i] = []string{state, oneLine(b.Hook), strconv.Itoa(b.Failures), retryWords(b), oneLine(caller(b)), oneLine(b.Workspace)}
	}
	table(a.Out, style, []string{"BREAKER", "HOOK", "FAILURES", "ASKED AGAIN", "BY", "PROJECT"}, rows)
	return nil
}

// caller is who counts the failures of a breaker.
func caller(b daemon.Breaker) string {
	if b.Agent == "" {
		return "tenterhook run"
	}
	return b.Agent
}

func retryWords(b daemon.Breaker) string {
	if b.Open() {
		return "in " + max(time.Until(b.RetryAt), 0).Round(time.Second).String()
	}
	return "at the next call"
}

// list is what a registry lists, with the breakers of all processes.
func (a *app) list(reg *registry.Registry) []registry.Listed {
	list := reg.List()
	breakers, err := daemon.Breakers(os.Environ())
	if err != nil { // the daemon does not answer: doctor says so
		return list
	}
	for i := range list {
		l := &list[i]
		for _, b := range breakers {
			if b.Hook != l.Hook.ID || b.Path != l.Hook.Source.Path || !b.Open() || l.Breaker.State == breaker.Open {
				continue
			}
			l.Breaker.State, l.Breaker.Failures, l.Breaker.RetryAfter = breaker.Open, b.Failures, time.Until(b.RetryAt)
			why := openWhy(reg, b)
			if l.State != hook.StateReady { // a dispatch asks some of these too
				l.Why = strings.TrimPrefix(l.Why+"; "+why, "; ")
				continue
			}
			l.Why = why
			l.Hint = "tenterhook breaker reset " + l.Hook.ID
		}
	}
	return list
}

// openWhy says why a hook is skipped.
func openWhy(reg *registry.Registry, b daemon.Breaker) string {
	why := fmt.Sprintf("its breaker is open for %s: it failed %d times in a row, and is asked again %s", caller(b), b.Failures, retryWords(b))
	if b.Workspace != reg.Workspace() {
		why += ", in " + b.Workspace
	}
	return why
}

// skippedBy are the open breakers by which agents skip a hook in a project: those of
// one agent, nil = of all.
func skippedBy(reg *registry.Registry, h *hook.Hook, agent *bridge.Agent) (open []daemon.Breaker) {
	breakers, _ := daemon.Breakers(os.Environ()) // where the daemon does not answer, doctor says so
	for _, b := range breakers {
		if b.Open() && b.Hook == h.ID && b.Path == h.Source.Path && b.Workspace == reg.Workspace() && (agent == nil || b.Agent == agent.Name) {
			open = append(open, b)
		}
	}
	return open
}
