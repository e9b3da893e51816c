package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/fleet/internal/archive"
	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/journal"
)

// archivePath is the archive in a hub's folder.
func archivePath(dir string) (string, error) {
	path, err := hubPath(dir)
	return filepath.Join(path, "archive", "archive.db"), err
}

// operator is the connection of the fleet's operator: that of --connection, or
// the hub's own.
func (a *app) operator(dir string) (*hub.Connection, error) {
	if a.connection != "" {
		return a.connected()
	}
	d, err := openHub(dir)
	if err != nil {
		return nil, err
	}
	return d.Admin()
}

func (a *app) archiveCommand() *cobra.Command {
	var dir string
	var once bool
	cmd := &cobra.Command{
		Use:   "archive",
		Short: "Move what machines ship into the archive, until it is stopped",
		Long: "A hub does so by itself, unless it was started with --archive=false. Elsewhere, or with an existing\n" +
			"cluster, this does it with the credential of an admin. Each record is kept once.",
		Example: "  tenterhook fleet archive --once --json\n  tenterhook fleet archive --dir /srv/archive --connection admin.json\n  tenterhook fleet archive gaps",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.operator(dir)
			if err != nil {
				return err
			}
			added, err := consume(cmd.Context(), c, dir, once, slog.New(slog.NewTextHandler(a.err, nil)))
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(added)
			}
			fmt.Fprintf(a.out, "archived %s; %d came again, %d were refused\n", phrase.Count(added.New, "record"), added.Copies, added.Refused)
			return nil
		},
	}
	hubDir(cmd, &dir)
	cmd.Flags().BoolVar(&once, "once", false, "end when nothing more waits")
	cmd.AddCommand(a.gapsCommand(&dir))
	return cmd
}

// consume archives with a connection of its own.
func consume(ctx context.Context, c *hub.Connection, dir string, once bool, log *slog.Logger) (archive.Added, error) {
	nc, js, err := dial(c, !once)
	if err != nil {
		return archive.Added{}, err
	}
	defer nc.Close()
	return archiveInto(ctx, js, dir, once, log)
}

// archiveInto moves what machines ship into the archive of a hub's folder.
func archiveInto(ctx context.Context, js jetstream.JetStream, dir string, once bool, log *slog.Logger) (archive.Added, error) {
	path, err := archivePath(dir)
	if err != nil {
		return archive.Added{}, err
	}
	to, err := archive.Open(ctx, path)
	if err != nil {
		return archive.Added{}, err
	}
	defer func() { _ = to.Close() }() // all of it is on disk
	return to.Consume(ctx, js, once, log)
}

// opened calls ask with the archive.
func opened(ctx context.Context, dir string, ask func(*archive.Archive) error) error {
	path, err := archivePath(dir)
	if err != nil {
		return err
	}
	from, err := archive.OpenExisting(ctx, path)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // it was only read
	return ask(from)
}

const maxGaps = 1000 // that are listed

func (a *app) gapsCommand(dir *string) *cobra.Command {
	return &cobra.Command{
		Use: "gaps", Short: "List what did not arrive, though later records did",
		Long:    "Ends with exit code 1 while there are gaps. A gap that stays is what a machine lost, or its user deleted.",
		Example: "  tenterhook fleet archive gaps --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return opened(cmd.Context(), *dir, func(from *archive.Archive) error {
				gaps, err := from.Gaps(cmd.Context(), maxGaps)
				if err != nil {
					return err
				}
				refused, err := from.Refused(cmd.Context())
				if err != nil {
					return err
				}
				if a.json {
					err = a.printJSON(map[string]any{"gaps": append([]archive.Gap{}, gaps...), "refused": append([]archive.Refusal{}, refused...)})
				}
				for _, g := range gaps {
					if !a.json {
						fmt.Fprintln(a.out, phrase.Printable(g.String()))
					}
				}
				for _, r := range refused {
					if !a.json {
						fmt.Fprintf(a.out, "%d messages of %s were refused: %s\n", r.Count, phrase.Printable(r.Subject), r.Why)
					}
				}
				if err != nil || len(gaps) > 0 {
					return orFailed(err)
				}
				if !a.json {
					fmt.Fprintln(a.out, "there are no gaps")
				}
				return nil
			})
		},
	}
}

// errSaid ends a command with exit code 1 that has said why.
var errSaid = errors.New("said")

func orFailed(err error) error {
	if err != nil {
		return err
	}
	return errSaid
}

// filterFlags choose lines of the archive.
type filterFlags struct {
	archive.Filter
	since string
}

func (f *filterFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Machine, "machine", "", "of this `MACHINE`")
	cmd.Flags().StringVar(&f.Hook, "hook", "", "of the hook with this `ID`")
	cmd.Flags().StringVar(&f.since, "since", "", "since a time, such as 90s, 2h, 7d or 2026-01-31")
}

// ask calls do with the archive and what the flags choose of it.
func (f *filterFlags) ask(ctx context.Context, dir string, do func(*archive.Archive, archive.Filter) error) error {
	filter, err := f.read()
	if err != nil {
		return err
	}
	return opened(ctx, dir, func(from *archive.Archive) error { return do(from, filter) })
}

func (f *filterFlags) read() (archive.Filter, error) {
	var err error
	f.Since, err = journal.ParseSince(f.since)
	if err == nil && f.Verdict != "" {
		if err = new(hook.Verdict).UnmarshalText([]byte(f.Verdict)); err != nil {
			err = fmt.Errorf("--verdict: %w", err)
		}
	}
	return f.Filter, err
}

func (a *app) logCommand() *cobra.Command {
	var f filterFlags
	var dir string
	var follow bool
	cmd := &cobra.Command{
		Use:     "log",
		Short:   "Show what hooks did on all machines, the newest first",
		Example: "  tenterhook fleet log --verdict deny --since 7d\n  tenterhook fleet log --machine laptop-7 -f --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.ask(cmd.Context(), dir, func(from *archive.Archive, filter archive.Filter) error {
				last, err := from.Last(cmd.Context())
				if err != nil {
					return err
				}
				lines, err := from.Log(cmd.Context(), filter)
				if err == nil {
					err = a.printLines(lines, !follow)
				}
				if err != nil || !follow {
					return err
				}
				return a.followLog(cmd.Context(), from, filter, last)
			})
		},
	}
	hubDir(cmd, &dir)
	f.add(cmd)
	cmd.Flags().StringVar(&f.Event, "event", "", "about this `EVENT`")
	cmd.Flags().StringVar(&f.Filter.Agent, "agent", "", "of this `AGENT`, such as claude-code")
	cmd.Flags().StringVar(&f.Session, "session", "", "of this session")
	cmd.Flags().StringVar(&f.Verdict, "verdict", "", "with this `VERDICT`, such as deny")
	cmd.Flags().BoolVar(&f.Failed, "failed", false, "failures only")
	cmd.Flags().IntVarP(&f.Limit, "limit", "n", 50, "how many lines")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "continue with what comes")
	return cmd
}

// followLog prints what comes, in the order in which it comes.
func (a *app) followLog(ctx context.Context, from *archive.Archive, f archive.Filter, last int64) error {
	f.Limit = 1000
	for {
		f.After = max(last, 1)
		lines, err := from.Log(ctx, f)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			err = a.printLines(lines, false)
		}
		if err != nil {
			return err
		}
		if len(lines) > 0 {
			last = lines[len(lines)-1].Seq
			continue
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return nil
		}
	}
}

func (a *app) printLines(lines []archive.Line, whole bool) error {
	if a.json { // a line each, for programs that read while it runs
		for i := range lines {
			if err := json.NewEncoder(a.out).Encode(&lines[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if len(lines) == 0 && whole {
		fmt.Fprintln(a.out, "no result fits")
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	if len(lines) > 0 && whole {
		fmt.Fprintln(w, "TIME\tMACHINE\tRUN\tSTATUS\tHOOK\tVERDICT\tEVENT\tTOOK\tPOLICY\tWHY")
	}
	for _, l := range lines {
		status := string(l.Status)
		if l.Failure != "" {
			status += " " + string(l.Failure)
		}
		event := string(l.Event)
		if l.Tool != "" {
			event += " " + l.Tool
		}
		for i, cell := range []string{l.Time.Local().Format("01-02 15:04:05"), l.Machine, l.Run, status, l.Hook, l.Verdict.String(), event, fmt.Sprintf("%.1f ms", l.ElapsedMS), l.Policy.String(), l.Reason} {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, cellOf(cell))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

func (a *app) statsCommand() *cobra.Command {
	var f filterFlags
	var dir string
	var by bool
	cmd := &cobra.Command{
		Use:     "stats",
		Short:   "Count the results of hooks on all machines",
		Long:    "Counts runs, denials and failures of each hook, and how long it took.",
		Example: "  tenterhook fleet stats --since 7d\n  tenterhook fleet stats --by-machine --hook managed/guard --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.ask(cmd.Context(), dir, func(from *archive.Archive, filter archive.Filter) error {
				stats, err := from.Stats(cmd.Context(), filter, by)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"hooks": stats})
				}
				if len(stats) == 0 {
					fmt.Fprintln(a.out, "no run was archived in this time")
					return nil
				}
				w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "HOOK\tMACHINE\tRUNS\tDENIED\tFAILED\tSKIPPED\tP50\tP95\tP99\tLAST")
				for _, s := range stats {
					where := s.Machine
					if where == "" {
						where = phrase.Count(s.Machines, "machine")
					}
					fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%.1f ms\t%.1f ms\t%.1f ms\t%s\n", cellOf(s.Hook), cellOf(where), s.Runs, s.Denied, s.Failed, s.Skipped,
						s.P50MS, s.P95MS, s.P99MS, s.Last.Local().Format("01-02 15:04:05"))
				}
				return w.Flush()
			})
		},
	}
	hubDir(cmd, &dir)
	f.add(cmd)
	cmd.Flags().BoolVar(&by, "by-machine", false, "a line for each machine")
	return cmd
}
