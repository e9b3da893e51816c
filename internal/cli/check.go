package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

func (a *app) checkCommand() *cobra.Command {
	var strict bool
	var format string
	cmd := &cobra.Command{
		Use:   "check [PATH…]",
		Short: "Report everything wrong with definitions, without running them",
		Long: "Checks HOOK.md files, hook folders, or folders of hook folders. Without a path it\n" +
			"checks everything that would be loaded. The exit code is 1 if something cannot work, with\n--strict also if there is a warning.",
		Example: "  tenterhook check\n  tenterhook check ./hooks/guard/HOOK.md --json\n  tenterhook check --strict --format github",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := knownFormat(format); err != nil {
				return err
			}
			report, err := tenterhook.Check(cmd.Context(), a.opts, args...)
			if err != nil {
				return err
			}
			if hook.HasErrors(report.Diagnostics) || report.Unable > 0 || strict && slices.ContainsFunc(report.Diagnostics, isWarning) {
				a.code = exitError
			}
			if a.json {
				return a.printJSONOf(report.Workspace, map[string]any{"files": report.Files, "hooks": report.Hooks, "unable": report.Unable, "diagnostics": orEmpty(report.Diagnostics)})
			}
			if format == "github" {
				printAnnotations(a.Out, problemsOf(report.Diagnostics))
				return nil
			}
			style := a.styleOf(a.Out)
			for _, d := range report.Diagnostics {
				fmt.Fprintf(a.Out, "%s %s\n", style.severity(d.Severity), phrase.Printable(d.String()))
			}
			fmt.Fprintf(a.Out, "%s, %s: %s\n", phrase.Count(report.Files, "file"), phrase.Count(report.Hooks, "hook"), summary(report.Diagnostics))
			if report.Unable > 0 {
				fmt.Fprintf(a.Out, "%s cannot run on this machine\n", phrase.Count(report.Unable, "hook"))
			}
			if len(args) == 0 {
				a.printRoot(report.Workspace)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "end with exit code 1 on warnings too")
	registerFormat(cmd, &format)
	return cmd
}

func isWarning(d hook.Diagnostic) bool { return d.Severity == hook.SeverityWarning }

// summary counts diagnostics: "1 error, 2 warnings".
func summary(ds []hook.Diagnostic) string {
	errors, warnings := 0, 0
	for _, d := range ds {
		switch d.Severity {
		case hook.SeverityError:
			errors++
		case hook.SeverityWarning:
			warnings++
		}
	}
	if errors+warnings == 0 {
		return "nothing wrong"
	}
	return phrase.Count(errors, "error") + ", " + phrase.Count(warnings, "warning")
}
