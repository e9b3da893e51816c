package cli

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tenterhook/tenterhook/internal/daemon"
	"github.com/tenterhook/tenterhook/internal/pause"
	"github.com/tenterhook/tenterhook/internal/top"
	"github.com/tenterhook/tenterhook/journal"
)

func (a *app) topCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "top",
		Short: "Watch hooks live: results, latency, failures, breakers, sessions",
		Long: "A view of the whole terminal: results as they come, how long each hook takes and how often\n" +
			"it fails, open breakers, agents and sessions. Keys filter, open a run and disable a hook; ?\n" +
			"lists them. It needs a terminal; 'tenterhook log -f' and 'tenterhook stats' do not.",
		Example: "  tenterhook top",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.top(cmd) },
	}
}

// topLines is how many results top begins with.
const topLines = 200

func (a *app) top(cmd *cobra.Command) error {
	out, ok := fileOf(a.Out)
	if !ok || !term.IsTerminal(int(out.Fd())) || !a.interactive() || os.Getenv("TERM") == "dumb" || os.Getenv("TERM") == "" || a.json {
		return &located{"no_terminal", "top draws on the whole of a terminal, and there is none that it can draw on", "use 'tenterhook log -f' or 'tenterhook stats', which take --json too"}
	}
	ctx := cmd.Context()
	return a.withJournal(ctx, func(j *journal.Journal) error {
		return top.Run(ctx, top.Options{In: a.In, Out: out, Env: os.Environ(), Text: oneLine, Feed: top.Feed{
			News: following(j, journal.Filter{Limit: topLines}),
			Stats: func(ctx context.Context) ([]journal.HookStats, error) {
				return j.Stats(ctx, "", time.Now().Add(-24*time.Hour))
			},
			Breakers: openBreakers,
			Off:      a.switchedOff,
			Run:      j.Run,
			Disable: func(ctx context.Context, id string, length time.Duration) error {
				if err := a.agentsMayNot(cmd, "disable"); err != nil {
					return err
				}
				_, err := a.disable(cmd, id, length, "disabled in 'tenterhook top'")
				return err
			},
		}})
	})
}

// openBreakers are those by which hooks are skipped now.
func openBreakers() ([]top.Breaker, error) {
	all, err := daemon.Breakers(os.Environ())
	var list []top.Breaker
	for _, b := range all {
		if b.Open() {
			list = append(list, top.Breaker{Hook: b.Hook, By: caller(b), Failures: b.Failures, RetryAt: b.RetryAt})
		}
	}
	return list, err
}

// switchedOff are the hooks that 'disable' switched off.
func (a *app) switchedOff() (map[string]string, error) {
	pauses, err := pause.Open(a.stateDir()).All()
	off := make(map[string]string, len(pauses))
	for _, p := range pauses {
		off[p.Hook] = p.String()
	}
	return off, err
}
