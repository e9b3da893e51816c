package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/internal/recording"
	"github.com/tenterhook/tenterhook/journal"
)

func (a *app) stateDir() string { return cmp.Or(a.opts.StateDir, discovery.DefaultStateDir()) }

// journalOptions are the options that the settings in force describe.
func (a *app) journalOptions(ctx context.Context) (journal.Options, error) {
	settings := recording.New(a.stateDir(), nil, nil)
	defer func() { _ = settings.Close() }() // it has nothing to write
	opts := a.opts
	opts.Recorder = settings
	reg, err := tenterhook.Open(ctx, opts)
	if err != nil {
		return journal.Options{}, err
	}
	return settings.Options(), reg.Close()
}

// journalHint is what to do where the journal cannot be used.
func (a *app) journalHint(err error) string {
	dir := recording.Dir(a.stateDir())
	switch {
	case errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrExist):
		return "remove the file that stands in the way of " + dir
	case errors.Is(err, journal.ErrExposed):
		return "chmod go-w " + a.stateDir()
	case errors.Is(err, fs.ErrPermission):
		return "chmod -R u+rwX " + dir + ", or chown it if another user made it"
	}
	return "free space, or make the state directory writable"
}

// journalDiagnostics say if what hooks do cannot be recorded.
func (a *app) journalDiagnostics() []hook.Diagnostic {
	err := recording.Writable(a.stateDir())
	if err == nil {
		return nil
	}
	return []hook.Diagnostic{{Severity: hook.SeverityWarning, Code: "not_recorded", Message: err.Error(), Hint: a.journalHint(err)}}
}

// withJournal opens the journal with everything in it that processes have
// written so far. What does not prevent that is reported on standard error.
func (a *app) withJournal(ctx context.Context, ask func(*journal.Journal) error) error {
	return a.useJournal(ctx, a.tell, ask)
}

// tell says on standard error what is wrong, and what prevents nothing.
func (a *app) tell(err error) { fmt.Fprintln(a.Err, "tenterhook: "+phrase.Printable(err.Error())) }

func (a *app) useJournal(ctx context.Context, told func(error), ask func(*journal.Journal) error) error {
	o, err := a.journalOptions(ctx)
	if err != nil {
		return err
	}
	err = recording.Use(ctx, a.stateDir(), o, told, ask)
	if aside := (*recording.AsideError)(nil); errors.As(err, &aside) {
		return &located{"journal_damaged", aside.Error(), "run the command again"}
	}
	if errors.Is(err, recording.ErrOpen) {
		return &located{"journal", err.Error(), a.journalHint(err)}
	}
	return err
}

// logFlags choose lines of the log.
type logFlags struct {
	hook, event, agent, session, verdict, since string
	failed, follow                              bool
	limit                                       int
}

func (f *logFlags) filter() (journal.Filter, error) {
	since, err := journal.ParseSince(f.since)
	if err != nil {
		return journal.Filter{}, err
	}
	if f.verdict != "" {
		if err := new(hook.Verdict).UnmarshalText([]byte(f.verdict)); err != nil {
			return journal.Filter{}, fmt.Errorf("--verdict: %w", err)
		}
	}
	return journal.Filter{Hook: f.hook, Event: f.event, Agent: f.agent, Session: f.session, Verdict: f.verdict,
		Failed: f.failed, Since: since, Limit: f.limit}, nil
}

func (a *app) logCommand() *cobra.Command {
	var f logFlags
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Show what hooks did, the newest first",
		Long: "Shows each hook's result: when it ran, what it said, and why it failed.\n" +
			"'tenterhook show RUN' shows one event with all its hooks.",
		Example: "  tenterhook log\n  tenterhook log --hook user/guard --failed --since 7d\n  tenterhook log -f --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := f.filter()
			if err != nil {
				return err
			}
			return a.withJournal(cmd.Context(), func(j *journal.Journal) error { return a.printLog(cmd.Context(), j, filter, f.follow) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.hook, "hook", "", "only this hook's results, by its ID")
	flags.StringVar(&f.event, "event", "", "only results for this event")
	flags.StringVar(&f.agent, "agent", "", "only results for this agent")
	flags.StringVar(&f.session, "session", "", "only results of this session")
	flags.StringVar(&f.verdict, "verdict", "", "only results with this verdict: none, allow, ask, defer, deny")
	flags.StringVar(&f.since, "since", "", "only results since then: 90s, 2h, 7d, or a date")
	flags.BoolVar(&f.failed, "failed", false, "only failures")
	flags.BoolVarP(&f.follow, "follow", "f", false, "wait for new results and show them as they come")
	flags.IntVarP(&f.limit, "limit", "n", 50, "how many results, at most")
	return cmd
}

// followEvery is how often log --follow looks for new results.
const followEvery = 100 * time.Millisecond

func (a *app) printLog(ctx context.Context, j *journal.Journal, filter journal.Filter, follow bool) error {
	if !follow {
		lines, err := j.Log(ctx, filter)
		if err != nil {
			return err
		}
		return a.printLines(lines, true)
	}
	next := following(j, filter)
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		lines, err := next(ctx)
		if err == nil {
			err = a.printLines(lines, false)
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// following returns a function that returns what is new in the journal each time,
// the oldest first; the first time what the filter chooses.
func following(j *journal.Journal, f journal.Filter) func(context.Context) ([]journal.Line, error) {
	began := false
	return func(ctx context.Context) ([]journal.Line, error) {
		if began {
			f.Limit = 1000
			if _, err := j.Ingest(ctx); err != nil && recording.Fatal(err) {
				return nil, err // else what is new waits, which was reported at the beginning
			}
		}
		newest, err := j.Last(ctx)
		if err != nil {
			return nil, err
		}
		lines, err := j.Log(ctx, f)
		if err != nil {
			return nil, err
		}
		if f.After == 0 {
			slices.Reverse(lines)
		}
		if !began {
			f.After = newest
		}
		for _, l := range lines {
			f.After = max(f.After, l.Seq)
		}
		began = true
		return lines, nil
	}
}

// printLines prints results: a table, or lines as they come; as JSON a line each.
func (a *app) printLines(lines []journal.Line, whole bool) error {
	if a.json {
		for i := range lines {
			if err := a.printJSONLine(&lines[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if len(lines) == 0 {
		if whole {
			fmt.Fprintln(a.Out, "no result fits; hooks leave results when 'tenterhook run' or an agent fires an event")
		}
		return nil
	}
	style := a.styleOf(a.Out)
	head := []string{"TIME", "RUN", "STATUS", "HOOK", "VERDICT", "EVENT", "TOOK", "WHY"}
	inFleet := slices.ContainsFunc(lines, func(l journal.Line) bool { return l.Policy != nil })
	if inFleet {
		head = slices.Insert(head, len(head)-1, "POLICY")
	}
	rows := make([][]string, len(lines))
	for i, l := range lines {
		status := style.failed(l.Status, l.Failure)
		event := string(l.Event)
		if l.Tool != "" {
			event += " " + l.Tool
		}
		rows[i] = []string{l.Time.Local().Format("01-02 15:04:05"), oneLine(l.Run), status, oneLine(l.Hook), l.Verdict.String(), oneLine(event),
			fmt.Sprintf("%.1f ms", l.ElapsedMS), oneLine(l.Reason)}
		if inFleet {
			rows[i] = slices.Insert(rows[i], len(rows[i])-1, l.Policy.String())
		}
	}
	if whole {
		table(a.Out, style, head, rows)
		return nil
	}
	for _, row := range rows { // lines that come later cannot be aligned with
		fmt.Fprintln(a.Out, strings.TrimRight(strings.Join(row, "  "), " "))
	}
	return nil
}

func (a *app) statsCommand() *cobra.Command {
	var hookID, since string
	cmd := &cobra.Command{
		Use:     "stats",
		Short:   "Show how often each hook runs, denies and fails, and how long it takes",
		Long:    "Counts the runs of the journal by hook. Times are exact to 5 %.",
		Example: "  tenterhook stats\n  tenterhook stats --hook user/guard --since 24h --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			from, err := journal.ParseSince(since)
			if err != nil {
				return err
			}
			return a.withJournal(cmd.Context(), func(j *journal.Journal) error {
				stats, err := j.Stats(cmd.Context(), hookID, from)
				if err != nil {
					return err
				}
				losses, err := j.Losses(cmd.Context())
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"hooks": stats, "losses": losses})
				}
				a.printStats(stats, losses)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&hookID, "hook", "", "only this hook, by its ID")
	cmd.Flags().StringVar(&since, "since", "7d", "only runs since then: 90s, 2h, 7d, or a date")
	return cmd
}

func (a *app) printStats(stats []journal.HookStats, losses journal.Losses) {
	style := a.styleOf(a.Out)
	if len(stats) == 0 {
		fmt.Fprintln(a.Out, "no run was recorded in this time")
	} else {
		rows := make([][]string, len(stats))
		for i, s := range stats {
			failed := strconv.FormatInt(s.Failed, 10)
			if s.Failed > 0 {
				failed = style.red(failed)
			}
			rows[i] = []string{oneLine(s.Hook), strconv.FormatInt(s.Runs, 10), strconv.FormatInt(s.Denied, 10), failed,
				fmt.Sprintf("%.1f", s.P50MS), fmt.Sprintf("%.1f", s.P95MS), fmt.Sprintf("%.1f", s.P99MS),
				s.Last.Local().Format("01-02 15:04"), sparkline(s.Hourly)}
		}
		table(a.Out, style, []string{"HOOK", "RUNS", "DENIED", "FAILED", "P50 MS", "P95 MS", "P99 MS", "LAST", "LAST 24 HOURS"}, rows)
	}
	if losses.Dropped+losses.Damaged > 0 {
		fmt.Fprintln(a.Out, "\n"+lossWords(losses))
	}
}

// sparkline draws counts as a line of blocks; a dot is none.
func sparkline(counts []int64) string {
	var most int64
	for _, n := range counts {
		most = max(most, n)
	}
	blocks := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, n := range counts {
		if n == 0 {
			b.WriteRune('·')
			continue
		}
		b.WriteRune(blocks[(n*int64(len(blocks))-1)/max(most, 1)])
	}
	return b.String()
}

// survivePipes makes a write to a pipe that nobody reads an error. Without it such a write to stdout ends the process.
func survivePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// record makes the registry that this command opens write to the journal, also if
// what the command prints is not read.
func (a *app) record() {
	survivePipes() // the record is written even if the output is not read
	a.recording = recording.New(a.stateDir(), os.Environ(), nil)
	a.opts.Recorder = a.recording
}

// recorded waits until what was decided is written, and reports whether it is.
func (a *app) recorded(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, recordWithin)
	defer cancel()
	err := a.recording.Flush(ctx) // Main says what is wrong
	return err == nil && a.recording.Recording() && a.recording.Dropped() == 0
}
