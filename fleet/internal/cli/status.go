package cli

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/internal/fleetstate"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/internal/recording"
	"github.com/tenterhook/tenterhook/journal"
)

func (a *app) statusCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the state of this machine, or of every machine of the fleet",
		Long: "On a machine: whether its agent runs and reaches the hub, and how many records wait. With --dir of a\n" +
			"hub, or --connection of a publisher or an admin: the same of every machine, and what the archive has.",
		Example: "  tenterhook fleet status\n  tenterhook fleet status --dir /srv/hub --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir != "" || a.connection != "" {
				return a.fleetStatus(cmd.Context(), dir)
			}
			return a.machineStatus(cmd.Context())
		},
	}
	hubDir(cmd, &dir)
	return cmd
}

// machineReport is how this machine does.
type machineReport struct {
	Fleet    string               `json:"fleet"`
	Machine  string               `json:"machine"`
	URL      string               `json:"url"`
	Running  bool                 `json:"running"` // the agent
	Backlog  int64                `json:"backlog"`
	Agent    *fleetstate.State    `json:"agent,omitempty"` // as it said last
	Troubles []fleetstate.Trouble `json:"troubles"`
}

func (a *app) machineStatus(ctx context.Context) error {
	state, err := stateDir()
	if err != nil {
		return err
	}
	c, err := a.connected()
	if err != nil {
		return err
	}
	now := time.Now()
	r := machineReport{Fleet: c.Fleet, Machine: c.Name, URL: c.Place(), Troubles: append([]fleetstate.Trouble{}, fleetstate.Troubles(state, now)...)}
	if r.Agent, err = fleetstate.Read(state); err != nil {
		return err
	}
	if r.Running = r.Agent.Running(now); r.Running {
		r.Backlog = r.Agent.Audit.Backlog()
	} else if r.Backlog, err = backlog(ctx, state); err != nil {
		r.Troubles = append(r.Troubles, fleetstate.Trouble{Code: "journal", Message: err.Error(), Hint: "see 'tenterhook doctor'"})
	}
	if err := recording.Writable(state); err != nil {
		r.Troubles = append(r.Troubles, fleetstate.Trouble{Code: "not_recorded", Message: err.Error(), Hint: "free space, or make the state directory writable"})
	}
	if a.json {
		return a.printJSON(r)
	}
	fmt.Fprintf(a.out, "%s of the fleet %s, hub %s\n", r.Machine, r.Fleet, phrase.Printable(r.URL))
	if r.Running {
		fmt.Fprintf(a.out, "the agent runs; last contact with the hub: %s\n", ago(r.Agent.Contact, now))
	}
	fmt.Fprintf(a.out, "%s to ship\n", phrase.Count(int(r.Backlog), "record"))
	if r.Agent != nil {
		for _, name := range slices.Sorted(maps.Keys(r.Agent.Parts)) {
			fmt.Fprintf(a.out, "%s: %s\n", phrase.Printable(name), cellOf(partText(r.Agent, name, now)))
		}
	}
	for _, t := range r.Troubles {
		fmt.Fprintf(a.out, "! %s; %s\n", phrase.Printable(t.Message), t.Hint)
	}
	return nil
}

// backlog counts the records that wait while no agent runs.
func backlog(ctx context.Context, state string) (n int64, err error) {
	if _, err := os.Stat(recording.Dir(state)); err != nil {
		return 0, nil // nothing was ever recorded
	}
	o, err := journalOptions(ctx, state)
	if err != nil {
		return 0, err
	}
	err = recording.Use(ctx, state, o, func(error) {}, func(j *journal.Journal) error {
		s, last, err := j.Shipped(ctx)
		n = last - s.Seq
		return err
	})
	return n, err
}

// ago is how long ago a time was, for people.
func ago(at, now time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return now.Sub(at).Round(time.Second).String() + " ago"
}

// cellOf is a text in one line, without what would drive a terminal.
func cellOf(s string) string {
	return strings.Join(strings.Fields(phrase.Printable(s)), " ")
}
