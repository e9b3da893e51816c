package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/breaker"
	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
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

func (a *app) doctorCommand() *cobra.Command {
	var strict, probe bool
	var format string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Report everything wrong, worst first, with remedies",
		Long: "Asks everything that check, list, agents verify, the daemon and the journal know. The exit\n" +
			"code is 1 if something is an error, with --strict also if there is a warning. --probe also\n" +
			"connects to the URLs of hooks, and starts MCP servers and plugins.",
		Example: "  tenterhook doctor\n  tenterhook doctor --strict --json\n  tenterhook doctor --probe\n  tenterhook doctor --format github",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := knownFormat(format); err != nil {
				return err
			}
			problems, err := a.examine(cmd.Context(), probe)
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
	cmd.Flags().BoolVar(&probe, "probe", false, "connect to the URLs of hooks, and start MCP servers and plugins")
	registerFormat(cmd, &format)
	return cmd
}

// The ways in which check and doctor print for people and for machines.
var formats = []string{"text", "github"}

func registerFormat(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVar(format, "format", "text", "text, or github for annotations of a workflow")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

func knownFormat(format string) error {
	if !slices.Contains(formats, format) {
		return &located{code: "usage", message: fmt.Sprintf("--format: there is no format %q", format), hint: "use text or github"}
	}
	return nil
}

// examine collects problems, the worst first. What cannot be asked is a problem
// of its own, and all else is asked.
func (a *app) examine(ctx context.Context, probe bool) ([]problem, error) {
	report, err := tenterhook.Check(ctx, a.opts)
	if err != nil {
		return nil, err
	}
	reg, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	defer reg.Close()
	problems := problemsOf(report.Diagnostics)
	list := a.list(reg)
	problems = append(problems, examineHooks(list, problems)...)
	problems = append(problems, examineSandboxes(list)...)
	if probe {
		problems = append(problems, examineServers(ctx, reg)...)
	}
	problems = append(problems, a.examinePaths(ctx, list)...)
	problems = append(problems, a.examineAgents()...)
	problems = append(problems, examineDaemon()...)
	problems = append(problems, a.examineFleet()...)
	problems = append(problems, examinePolicies(reg)...)
	problems = append(problems, a.examineJournal(ctx, reg, list)...)
	slices.SortStableFunc(problems, func(a, b problem) int { return cmp.Compare(rank(a.Severity), rank(b.Severity)) })
	return tidied(problems), nil
}

// gatherFrom is how many problems that differ in a detail alone are shown as one.
const gatherFrom = 4

// tidied leaves out what was said before, gathers problems of one cause, and says
// of each what to do. The worst come first.
func tidied(problems []problem) []problem {
	type cause struct {
		severity            hook.Severity
		code, subject, hint string
	}
	causeOf := func(p problem) cause { return cause{p.Severity, p.Code, p.Subject, p.Hint} }
	counts := make(map[cause]int)
	var list []problem
	for _, p := range problems {
		said := slices.ContainsFunc(list, func(q problem) bool {
			same := q.Subject == p.Subject || q.path != "" && q.path == p.path
			return same && (p.Message == q.Message || p.Message == "it cannot run: "+q.Message)
		})
		if said {
			continue
		}
		if p.Hint == "" && p.path != "" {
			p.Hint = "see " + p.path + lineSuffix(p.line)
		}
		counts[causeOf(p)]++
		list = append(list, p)
	}
	var tidy []problem
	for _, p := range list {
		n := counts[causeOf(p)]
		if n >= gatherFrom {
			counts[causeOf(p)] = 0 // the others are in this one
			p.Message += fmt.Sprintf(" (and %d more like this)", n-1)
		}
		if n > 0 {
			tidy = append(tidy, p)
		}
	}
	return tidy
}

func rank(s hook.Severity) int {
	return slices.Index([]hook.Severity{hook.SeverityError, hook.SeverityWarning, hook.SeverityInfo}, s)
}

func problemsOf(ds []hook.Diagnostic) []problem {
	var problems []problem
	for _, d := range ds {
		problems = append(problems, problem{d.Severity, d.Code, cmp.Or(d.Hook, d.Path+lineSuffix(d.Line)), d.Message, d.Hint, d.Path, d.Line})
	}
	return problems
}

// examineHooks says which hooks cannot run, or are not asked now, where check
// has not said so.
func examineHooks(list []registry.Listed, known []problem) (problems []problem) {
	for _, l := range list {
		said := slices.ContainsFunc(known, func(p problem) bool { return p.Subject == l.Hook.ID && p.Severity != hook.SeverityInfo })
		if p, ok := problemOf(l); ok && !said {
			problems = append(problems, p)
		}
	}
	return problems
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
func (a *app) examineAgents() (problems []problem) {
	env, err := a.agentEnv()
	if err != nil {
		return []problem{{Severity: hook.SeverityWarning, Code: "agents", Subject: "agents", Message: err.Error(), Hint: "tenterhook agents"}}
	}
	for _, agent := range bridge.Agents() {
		state := env.State(agent)
		for _, scope := range state.Installed {
			for _, p := range problemsOf(env.Verify(state, scope)) {
				p.Subject = agent.Name
				problems = append(problems, p)
			}
		}
	}
	return problems
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
			where = fmt.Sprintf(" file=%s,line=%d,title=%s", property.Replace(filepath.ToSlash(p.path)), max(p.line, 1), property.Replace(p.Subject))
		}
		text := p.Subject + ": " + p.Message
		if p.Hint != "" {
			text += " (" + p.Hint + ")"
		}
		fmt.Fprintf(w, "::%s%s::%s\n", level[p.Severity], where, data.Replace(phrase.Printable(text)))
	}
}
