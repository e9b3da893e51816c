package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/daemon"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/registry"
)

func (a *app) runCommand() *cobra.Command {
	var strict bool
	cmd := a.eventCommand(&cobra.Command{
		PreRun: func(*cobra.Command, []string) { a.record() },

		Use:   "run EVENT",
		Short: "Fire an event, run its hooks, and show what they decide",
		Long:  "Fires an event as an agent would. The exit code is the decision:\n0 none or allow, 2 deny, 3 ask or defer, 1 nothing could be decided, or a folder\nthat --dir names is not there, or with --strict a hook failed, and the decision is none or allow.",
		Example: "  tenterhook run PreToolUse --tool Bash --input '{\"command\":\"rm -rf /\"}'\n" +
			"  tenterhook run UserPromptSubmit --prompt 'deploy it' --json\n" +
			"  tenterhook run --payload event.json",
	}, func(ctx context.Context, reg *registry.Registry, in hook.Input) error {
		out, err := daemon.WithBreakers(ctx, os.Environ(), reg, in)
		recorded := a.recorded(ctx) // before anything is printed: what was answered is in the log
		if err != nil {
			return err
		}
		out.Diagnostics = append(reg.Diagnostics(), out.Diagnostics...)
		a.code = exitCode(out.Verdict)
		gone := slices.ContainsFunc(out.Diagnostics, func(d hook.Diagnostic) bool { return d.Code == "dir_missing" }) // perhaps the guard's
		if a.code == exitOK && (gone || strict && len(out.Failures()) > 0) {
			a.code = exitError
		}
		if a.json {
			return a.printJSONOf(reg.Workspace(), out)
		}
		var others int
		out.Diagnostics, others = concerning(out)
		a.printOutcome(out)
		if others > 0 {
			fmt.Fprintf(a.Err, "%s in other hooks: tenterhook check\n", phrase.Count(others, "more problem"))
		}
		a.printRoot(reg.Workspace())
		if out.Run != "" && recorded {
			fmt.Fprintln(a.Out, a.styleOf(a.Out).dim("recorded: 'tenterhook show "+out.Run+"' shows it again, 'tenterhook log' all runs"))
		}
		return nil
	})
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 1 if a hook failed, although nothing blocks")
	return cmd
}

// concerning returns the diagnostics that are about no single hook, or about one
// that has a result, and counts the others.
func concerning(out *hook.Outcome) (own []hook.Diagnostic, others int) {
	for _, d := range out.Diagnostics {
		asked := func(r hook.Result) bool { return r.Hook.ID == d.Hook || r.Hook.Source.Path == d.Path }
		if d.Hook == "" && !strings.HasSuffix(d.Path, "HOOK.md") || slices.ContainsFunc(out.Results, asked) {
			own = append(own, d)
		} else {
			others++
		}
	}
	return own, others
}

func exitCode(v hook.Verdict) int {
	switch v {
	case hook.Deny:
		return exitDeny
	case hook.Ask, hook.Defer:
		return exitAsk
	}
	return exitOK
}

func (a *app) printOutcome(out *hook.Outcome) {
	style := a.styleOf(a.Out)
	line := style.verdict(out.Verdict)
	if out.Reason != "" {
		line += ": " + inset(out.Reason)
		if id := decider(out); id != "" {
			line += style.dim(" (" + oneLine(id) + ")")
		}
	}
	if failed := failures(out); failed != "" {
		line += "; " + style.red(failed)
	}
	fmt.Fprintln(a.Out, line)
	if out.Stop {
		fmt.Fprintln(a.Out, style.red("stop")+": "+inset(out.StopReason))
	}
	if out.UpdatedInput != nil {
		fmt.Fprintln(a.Out, "updated input: "+inset(string(out.UpdatedInput)))
	}
	for _, text := range out.Contexts {
		fmt.Fprintln(a.Out, "context: "+inset(text))
	}
	for _, text := range out.SystemMessages {
		fmt.Fprintln(a.Out, "message: "+inset(text))
	}
	for _, text := range out.Texts {
		fmt.Fprintln(a.Out, phrase.Printable(text))
	}
	if len(out.Results) > 0 {
		fmt.Fprintln(a.Out)
		rows := make([][]string, len(out.Results))
		for i := range out.Results {
			r := &out.Results[i]
			status := style.failed(r.Status, r.Failure)
			why := oneLine(r.Reason)
			if r.Hint != "" {
				why += style.dim("; " + oneLine(r.Hint))
			}
			rows[i] = []string{status, oneLine(r.Hook.ID), r.Verdict().String(), fmt.Sprintf("%.1f ms", r.Elapsed.Seconds()*1000), why}
		}
		table(a.Out, style, []string{"STATUS", "HOOK", "VERDICT", "TIME", "WHY"}, rows)
	} else {
		fmt.Fprintln(a.Out, style.dim("no hook is concerned; this says why: "+phrase.Printable(a.instead("run", "why"))))
	}
	a.printDiagnostics(out.Diagnostics)
}

// inset makes a hook's text safe to print, with its further lines set in, so
// that none passes for a line of this command's.
func inset(text string) string { return strings.ReplaceAll(phrase.Printable(text), "\n", "\n    ") }

// maxNamed bounds the failed hooks that the first line names.
const maxNamed = 3

// failures names the hooks that failed, "" = none did.
func failures(out *hook.Outcome) string {
	failed := out.Failures()
	if len(failed) == 0 {
		return ""
	}
	var names []string
	for i, r := range failed {
		if i == maxNamed {
			names = append(names, "…")
			break
		}
		names = append(names, fmt.Sprintf("%s (%s)", oneLine(r.Hook.ID), r.Failure))
	}
	noun := "hooks"
	if len(failed) == 1 {
		noun = "hook"
	}
	return fmt.Sprintf("%d %s failed: %s", len(failed), noun, strings.Join(names, ", "))
}

// decider is the hook whose word the reason is, "" = no hook's, or the reason
// names it.
func decider(out *hook.Outcome) string {
	for i := range out.Results {
		if r := &out.Results[i]; r.Verdict() == out.Verdict {
			if strings.Contains(out.Reason, "hook "+r.Hook.ID) {
				return ""
			}
			return r.Hook.ID
		}
	}
	return ""
}
