package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/journal"
)

func (a *app) showCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show RUN|HOOK",
		Short: "Show one run with all its hooks, or one hook with its last runs",
		Long: "RUN is a name from 'tenterhook log'; a unique beginning is enough.\n" +
			"HOOK is an ID from 'tenterhook list', such as user/guard.",
		Example: "  tenterhook show dn3ga4f0\n  tenterhook show user/guard --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withJournal(cmd.Context(), func(j *journal.Journal) error {
				if strings.Contains(args[0], "/") {
					return a.showHook(cmd.Context(), j, args[0])
				}
				e, err := j.Run(cmd.Context(), args[0])
				if errors.Is(err, journal.ErrNoRun) {
					return &located{code: "unknown_run", message: err.Error(), hint: a.insteadOfRun(cmd.Context(), args[0])}
				}
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(e)
				}
				a.printRun(e)
				return nil
			})
		},
	}
}

func (a *app) printRun(e *journal.Entry) {
	style := a.styleOf(a.Out)
	line := style.verdict(e.Verdict)
	if e.Reason != "" {
		line += ": " + phrase.Printable(e.Reason)
	}
	if e.Error != "" {
		line = style.red("not decided") + ": " + phrase.Printable(e.Error)
	}
	fmt.Fprintln(a.Out, line)
	fact := func(name, value string) {
		if value != "" {
			fmt.Fprintf(a.Out, "%-10s %s\n", name, oneLine(value))
		}
	}
	fact("run", e.Run)
	fact("time", e.Time.Local().Format(time.RFC3339))
	fact("took", fmt.Sprintf("%.1f ms", e.ElapsedMS))
	fact("event", strings.TrimSpace(string(e.Event)+" "+e.Tool))
	fact("agent", e.Agent)
	fact("session", e.Session)
	fact("workspace", e.Workspace)
	fact("policy", e.Policy.String())
	fact("input", string(e.Payload))
	fact("no input", e.Omitted)
	if len(e.Results) > 0 {
		fmt.Fprintln(a.Out)
	}
	starts, whole := startsOf(e.Results)
	for i := range e.Results {
		a.printResult(style, &e.Results[i], starts[i], whole)
	}
	if e.Payload != nil {
		fmt.Fprintln(a.Out, style.dim("\n'tenterhook replay "+oneLine(e.Run)+"' asks today's hooks"))
	}
}

// startsOf are when the hooks of a dispatch started after it began, in
// milliseconds, and how long all of them took: those of one turn ran side by side,
// after those of the turn before.
func startsOf(results []journal.Result) (starts []float64, whole float64) {
	ends := make(map[int]float64) // of the turns
	last := 0
	for _, r := range results {
		if !r.Background {
			ends[r.Turn], last = max(ends[r.Turn], r.ElapsedMS), max(last, r.Turn)
		}
	}
	for turn := 1; turn <= last; turn++ {
		ends[turn] += ends[turn-1]
	}
	for _, r := range results {
		starts = append(starts, ends[max(r.Turn, 1)-1])
		whole = max(whole, starts[len(starts)-1]+r.ElapsedMS)
	}
	return starts, whole
}

// barWidth is how wide the bars of a dispatch are.
const barWidth = 24

func (a *app) printResult(style style, r *journal.Result, start, whole float64) {
	columns := barWidth / max(whole, 0.001)
	before := min(int(start*columns), barWidth-1)
	length := max(1, min(int(r.ElapsedMS*columns), barWidth-before))
	bar := strings.Repeat(" ", before) + strings.Repeat("█", length) + strings.Repeat(" ", barWidth-before-length)
	status := style.failed(r.Status, r.Failure)
	if r.Background {
		status += " in the background"
	}
	fmt.Fprintf(a.Out, "%s %8.1f ms  %s  %s  %s\n", bar, r.ElapsedMS, oneLine(r.Hook), r.Verdict, status)
	for _, more := range []struct{ name, text string }{{"why", r.Reason}, {"hint", r.Hint}, {"stderr", r.Stderr}, {"source", r.Source}} {
		if more.text != "" && (more.name != "source" || r.Failure != "") {
			fmt.Fprintf(a.Out, "  %s: %s\n", more.name, oneLine(more.text))
		}
	}
	said, _ := hook.Members(r.Output)
	for _, m := range said {
		text := string(m.Value)
		_ = json.Unmarshal(m.Value, &text) // a text without its quotes
		fmt.Fprintf(a.Out, "  %s: %s\n", strings.ReplaceAll(oneLine(m.Key), "_", " "), oneLine(text))
	}
	if len(said) == 0 && r.Output != nil {
		fmt.Fprintf(a.Out, "  no output: %s\n", oneLine(string(r.Output)))
	}
	if r.ExitCode != nil {
		fmt.Fprintf(a.Out, "  exit code: %d\n", *r.ExitCode)
	}
}
