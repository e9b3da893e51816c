package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/breaker"
	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/journal"
	"github.com/tenterhook/tenterhook/registry"
)

// problem is what doctor found, as --json prints it.
type problem struct {
	Severity hook.Severity `json:"severity"`
	Code     string        `json:"code"`
	Subject  string        `json:"subject"` // a hook, an agent or a file
	Message  string        `json:"message"`
	Hint     string        `json:"hint"`

	path string
	line int
}

// The bounds beyond which doctor complains about a hook's runs.
const (
	doctorSince  = 7 * 24 * time.Hour
	failedInARow = 5
	slowMS       = 2000
)

func (a *app) doctorCommand() *cobra.Command {
	var strict bool
	var format string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Tell everything that is wrong, the worst first, and what to do",
		Long: "Asks everything that check, list, agents verify and the journal know. The exit code is 1\n" +
			"if something is an error, with --strict also if there is a warning.",
		Example: "  tenterhook doctor\n  tenterhook doctor --strict --json\n  tenterhook doctor --format github",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "text" && format != "github" {
				return &located{code: "usage", message: fmt.Sprintf("--format: there is no format %q", format), hint: "use text or github"}
			}
			problems, err := a.examine(cmd)
			if err != nil {
				return err
			}
			for _, p := range problems {
				if p.Severity == hook.SeverityError || strict && p.Severity == hook.SeverityWarning {
					a.code = exitError
				}
			}
			switch {
			case a.json:
				return a.printJSON(map[string]any{"problems": orEmpty(problems)})
			case format == "github":
				printAnnotations(a.Out, problems)
			default:
				a.printProblems(problems)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "end with exit code 1 on warnings too")
	cmd.Flags().StringVar(&format, "format", "text", "text, or github for annotations of a workflow")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "github"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// examine collects problems, the worst first.
func (a *app) examine(cmd *cobra.Command) ([]problem, error) {
	report, err := tenterhook.Check(cmd.Context(), a.opts)
	if err != nil {
		return nil, err
	}
	problems := problemsOf(report.Diagnostics)
	listed, err := a.examineHooks(cmd.Context(), problems)
	if err != nil {
		return nil, err
	}
	problems = append(problems, listed...)
	if verified, err := a.examineAgents(); err != nil {
		problems = append(problems, problem{Severity: hook.SeverityWarning, Code: "agents", Subject: "agents", Message: err.Error()})
	} else {
		problems = append(problems, verified...)
	}
	recorded, err := a.examineJournal(cmd.Context())
	if err != nil { // what it says of hooks is not known, all else is
		recorded = []problem{{Severity: hook.SeverityError, Code: "journal", Subject: "journal", Message: err.Error(),
			Hint: "free space, or make the state directory writable"}}
	}
	problems = append(problems, recorded...)
	slices.SortStableFunc(problems, func(a, b problem) int { return cmp.Compare(rank(a.Severity), rank(b.Severity)) })
	return problems, nil
}

func rank(s hook.Severity) int {
	return slices.Index([]hook.Severity{hook.SeverityError, hook.SeverityWarning, hook.SeverityInfo}, s)
}

func problemsOf(ds []hook.Diagnostic) []problem {
	var problems []problem
	for _, d := range ds {
		problems = append(problems, problem{d.Severity, d.Code, cmp.Or(d.Hook, d.Path), d.Message, d.Hint, d.Path, d.Line})
	}
	return problems
}

// examineHooks says which hooks cannot run, or are not asked now, where check
// has not said so.
func (a *app) examineHooks(ctx context.Context, known []problem) ([]problem, error) {
	reg, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	defer reg.Close()
	var problems []problem
	for _, l := range a.list(reg) {
		said := slices.ContainsFunc(known, func(p problem) bool { return p.Subject == l.Hook.ID && p.Severity != hook.SeverityInfo })
		if p, ok := problemOf(l); ok && !said {
			problems = append(problems, p)
		}
	}
	return problems, nil
}

func problemOf(l registry.Listed) (problem, bool) {
	p := problem{Severity: hook.SeverityWarning, Code: string(l.State), Subject: l.Hook.ID, Message: l.Why, Hint: l.Hint,
		path: l.Hook.Source.Path, line: l.Hook.Source.Line}
	switch {
	case l.State == hook.StateReady && l.Breaker.State == breaker.Open:
		p.Code = "breaker_open"
	case l.State == hook.StateReady:
		return p, false
	case l.State == hook.StateDisabled, l.State == hook.StateShadowed:
		p.Severity = hook.SeverityInfo
	}
	if l.State == hook.StateUntrusted && p.Hint == "" {
		p.Hint = "tenterhook trust " + l.Hook.ID
	}
	return p, true
}

// examineAgents verifies what is installed.
func (a *app) examineAgents() ([]problem, error) {
	env, err := a.agentEnv()
	if err != nil {
		return nil, err
	}
	var problems []problem
	for _, agent := range bridge.Agents() {
		state := env.State(agent)
		for _, scope := range state.Installed {
			for _, p := range problemsOf(env.Verify(state, scope)) {
				p.Subject = agent.Name
				problems = append(problems, p)
			}
		}
	}
	return problems, nil
}

// examineJournal says which hooks fail or are slow, and what was lost.
func (a *app) examineJournal(ctx context.Context) (problems []problem, err error) {
	say := func(s hook.Severity, code, subject, message, hint string) {
		problems = append(problems, problem{Severity: s, Code: code, Subject: subject, Message: message, Hint: hint})
	}
	err = a.withJournal(ctx, func(j *journal.Journal) error {
		if j.SetAside != "" {
			say(hook.SeverityWarning, "journal_damaged", "journal", "the journal was damaged; it is now "+j.SetAside, "remove it if nobody needs it")
		}
		losses, err := j.Losses(ctx)
		if err != nil {
			return err
		}
		if losses.Dropped+losses.Damaged > 0 {
			say(hook.SeverityWarning, "journal_lost", "journal", fmt.Sprintf("%d records were dropped and %d lines were damaged since the journal began", losses.Dropped, losses.Damaged),
				"look for a full disk, or hooks that run very often")
		}
		stats, err := j.Stats(ctx, "", time.Now().Add(-doctorSince))
		if err != nil {
			return err
		}
		for _, s := range stats {
			last, err := j.Log(ctx, journal.Filter{Hook: s.Hook, Limit: failedInARow})
			if err != nil {
				return err
			}
			failed := func(l journal.Line) bool { return l.Failure != "" }
			if len(last) == failedInARow && !slices.ContainsFunc(last, func(l journal.Line) bool { return !failed(l) }) {
				say(hook.SeverityError, "always_fails", s.Hook, fmt.Sprintf("its last %d runs failed; the newest (%s): %s", failedInARow, last[0].Failure, last[0].Reason),
					cmp.Or(last[0].Hint, "tenterhook show "+last[0].Run))
			}
			if s.P95MS > slowMS {
				say(hook.SeverityWarning, "slow", s.Hook, fmt.Sprintf("one run in twenty takes longer than %.1f s", s.P95MS/1000), "make it faster, or a worker, or set async = true if nobody waits for its answer")
			}
		}
		return nil
	})
	return problems, err
}

func (a *app) printProblems(problems []problem) {
	style := a.styleOf(a.Out)
	worst := 0
	for _, p := range problems {
		fmt.Fprintf(a.Out, "%s %s: %s\n", style.severity(p.Severity), oneLine(p.Subject), oneLine(p.Message))
		if p.Hint != "" {
			fmt.Fprintln(a.Out, "  "+style.dim(oneLine(p.Hint)))
		}
		if p.Severity != hook.SeverityInfo {
			worst++
		}
	}
	if worst == 0 {
		fmt.Fprintln(a.Out, style.green("all is well"))
	}
}

// printAnnotations prints workflow commands of GitHub Actions.
func printAnnotations(w io.Writer, problems []problem) {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	level := map[hook.Severity]string{hook.SeverityError: "error", hook.SeverityWarning: "warning", hook.SeverityInfo: "notice"}
	for _, p := range problems {
		var where string
		if p.path != "" {
			where = fmt.Sprintf(" file=%s,line=%d,title=%s", property.Replace(p.path), max(p.line, 1), property.Replace(p.Subject))
		}
		text := p.Subject + ": " + p.Message
		if p.Hint != "" {
			text += " (" + p.Hint + ")"
		}
		fmt.Fprintf(w, "::%s%s::%s\n", level[p.Severity], where, data.Replace(printable(text)))
	}
}
