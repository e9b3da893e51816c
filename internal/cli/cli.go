package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/daemon"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/output"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/internal/recording"
	"github.com/tenterhook/tenterhook/registry"
)

// Streams are what the command reads and prints to.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// The exit codes of run; every command ends with exitError when something is
// wrong.
const (
	exitOK    = 0
	exitError = 1
	exitDeny  = 2
	exitUsage = 2 // a subcommand is missing or unknown
	exitAsk   = 3
)

// How long a command waits for its record to be written: before it answers, and
// after that before it ends.
const (
	recordWithin = 2 * time.Second
	closeWithin  = 3 * time.Second
)

// app is one invocation.
type app struct {
	Streams
	args []string
	json bool
	opts tenterhook.Options
	code int // set by a command that ends well, but not with 0

	recording *recording.Recorder // nil = this command records nothing
}

// Main runs the command line and returns the exit code.
func Main(ctx context.Context, args []string, streams Streams) int {
	out := &output.Writer{Writer: streams.Out}
	streams.Out = out
	a := &app{Streams: streams, args: args}
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if a.recording != nil {
		if err := a.recording.CloseWithin(closeWithin); err != nil {
			fmt.Fprintln(a.Err, "tenterhook: this run is not recorded: "+phrase.Printable(err.Error()))
		}
	}
	if err != nil {
		a.complain(err)
		if e := (*located)(nil); errors.As(err, &e) && e.code == noSubcommand {
			return exitUsage
		}
		return exitError
	}
	if out.Err != nil && a.code == exitOK {
		a.complain(fmt.Errorf("the output is lost: %w", out.Err))
		return exitError
	}
	return a.code
}

// behind is the stream that Main was given.
func behind(w io.Writer) io.Writer {
	if o, ok := w.(*output.Writer); ok {
		return o.Writer
	}
	return w
}

// fileOf is the file that a command prints to; ok is false if it is none.
func fileOf(w io.Writer) (f *os.File, ok bool) {
	f, ok = behind(w).(*os.File)
	return f, ok
}

// Command returns the command tree, from which man pages and completions are
// generated.
func Command() *cobra.Command {
	return (&app{Streams: Streams{strings.NewReader(""), io.Discard, io.Discard}}).root()
}

func (a *app) root() *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:           "tenterhook",
		Short:         "Hooks for AI agents: see them, check them, try them",
		Long:          "tenterhook loads hooks from its scope directories and runs them for events.\nIt also lists them, says what is wrong with them, and which of them would run and why.",
		Example:       "  tenterhook new guard --matcher Bash\n  tenterhook list\n  tenterhook run PreToolUse --tool Bash --input '{\"command\":\"rm -rf /\"}'",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if showVersion {
				return a.printVersion()
			}
			return cmd.Help()
		},

		PersistentPreRunE: a.refuseAgents,
	}
	root.Flags().BoolVar(&showVersion, "version", false, "print the version, the commit and the version of Go")
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see '%s --help'", err, cmd.CommandPath())
	})
	flags := root.PersistentFlags()
	flags.StringArrayVar(&a.opts.Dirs, "dir", nil, "a folder of NAME/HOOK.md to load too (repeatable)")
	flags.StringVar(&a.opts.Workspace, "workspace", ".", "a directory of the project, whose root is found from there")
	flags.StringArrayVar(&a.opts.Approvals, "approvals", nil, "a file of approvals, made by 'trust --export' (repeatable)")
	flags.StringSliceVar(&a.opts.Compat, "compat", nil, "also read these products' files: claude, caliban, codex, …, or all")
	flags.BoolVar(&a.opts.NoHooks, "no-hooks", false, "switch every hook off except managed hooks, and say so (managed settings can include those: allow_no_hooks)")
	flags.BoolVar(&a.json, "json", false, "print JSON for scripts")
	_ = root.MarkPersistentFlagDirname("dir")
	_ = root.MarkPersistentFlagDirname("workspace")
	root.AddCommand(a.listCommand(), a.checkCommand(), a.whyCommand(), a.runCommand(), a.eventsCommand(), a.newCommand(), a.trustCommand(),
		a.watchCommand(), a.logCommand(), a.showCommand(), a.statsCommand(), a.topCommand(), a.replayCommand(), a.testCommand(), a.doctorCommand(), a.disableCommand(), a.enableCommand(), a.breakerCommand(), a.pluginCommand(), a.schemaCommand(), a.installCommand(), a.uninstallCommand(), a.agentsCommand(),
		a.daemonCommand(), a.bridgeCommand())
	root.AddCommand(a.versionCommand())
	root.AddCommand(a.packCommand(), a.fleetCommand(), a.catalogCommand(), a.addCommand(), a.updateCommand(), a.removeCommand(), a.outdatedCommand(), a.importCommand())
	_ = root.RegisterFlagCompletionFunc("compat", cobra.FixedCompletions(append(dialect.Products(), "all"), cobra.ShellCompDirectiveNoFileComp))
	root.SetHelpCommand(helpCommand(root))
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.HasSubCommands() && c.RunE == nil {
			c.Args, c.RunE, c.Run = cobra.ArbitraryArgs, needSubcommand, nil
		}
	}
	a.addCompletions(root)
	sayUsage(root)
	return root
}

// noSubcommand is the code of the error that one is missing or unknown.
const noSubcommand = "unknown_subcommand"

// needSubcommand is what a command does that does nothing by itself.
func needSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		e := &located{noSubcommand, fmt.Sprintf("unknown command %q of '%s'", args[0], cmd.CommandPath()), "it has '" + strings.Join(subcommands(cmd), "', '") + "'"}
		if near := hook.Nearest(args[0], commandNames(cmd)); near != "" {
			e.hint = "did you mean '" + strings.Join(append([]string{cmd.CommandPath(), near}, args[1:]...), " ") + "'?"
		}
		return e
	}
	return &located{noSubcommand, "'" + cmd.CommandPath() + "' needs a command", "as in '" + strings.Join(subcommands(cmd), "', '") + "'"}
}

// subcommands are the lines that call the commands of a command.
func subcommands(cmd *cobra.Command) []string {
	var lines []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			lines = append(lines, cmd.CommandPath()+" "+c.Use)
		}
	}
	return lines
}

func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND…]", Short: "Print the help of a command", Example: "  tenterhook help run",
		ValidArgsFunction: func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			cmd, _, err := root.Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return beginning(commandNames(cmd), prefix, nil), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd, args[len(args)-max(len(rest), 1):])
			}
			return cmd.Help()
		},
	}
}

// sayUsage makes each command say which arguments it takes where it gets others.
func sayUsage(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		sayUsage(c)
		check := c.Args
		if check == nil {
			continue
		}
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if e := (*located)(nil); err == nil || errors.As(err, &e) {
				return err
			}
			return argsError(c, args)
		}
	}
}

// argsError is the error of a command that got too few or too many arguments.
func argsError(c *cobra.Command, args []string) error {
	e := &located{"bad_args", fmt.Sprintf("'%s' does not take %q", c.CommandPath(), strings.Join(args, " ")), "'" + c.CommandPath() + " --help' shows what it takes"}
	if _, wants, _ := strings.Cut(c.Use, " "); len(args) == 0 {
		e.message = fmt.Sprintf("'%s' needs %s", c.CommandPath(), wants)
	}
	if example, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n"); example != "" {
		e.hint = "as in '" + example + "'"
	}
	return e
}

// instead is the command line that was given, with another command in it, which
// runs nothing and so takes no --strict.
func (a *app) instead(given, other string) string {
	words := []string{"tenterhook"}
	for _, arg := range a.args {
		if arg == "--strict" || strings.HasPrefix(arg, "--strict=") {
			continue
		}
		if arg == given {
			arg, given = other, ""
		}
		words = append(words, shellQuote(arg))
	}
	return strings.Join(words, " ")
}

// unknownCommand names the command that a misspelt one most likely meant.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	e := &located{code: "unknown_command", message: fmt.Sprintf("unknown command %q", args[0]), hint: "'tenterhook --help' lists them"}
	if near := hook.Nearest(args[0], commandNames(cmd)); near != "" {
		e.hint = "did you mean " + near + "?"
	}
	return e
}

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return names
}

// open loads the registry that the flags describe.
func (a *app) open(ctx context.Context) (*registry.Registry, error) {
	return a.openIn(ctx, a.opts.Workspace)
}

// openIn is open for another workspace.
func (a *app) openIn(ctx context.Context, workspace string) (*registry.Registry, error) {
	opts := a.opts
	opts.Workspace = workspace
	opts.Guards = daemon.Guards(os.Environ())
	return tenterhook.Open(ctx, opts)
}

// complain prints an error for a person, or as JSON.
func (a *app) complain(err error) {
	if a.json {
		var d *located
		diagnostic := hook.Diagnostic{Severity: hook.SeverityError, Code: "failed", Message: err.Error()}
		if errors.As(err, &d) {
			diagnostic.Code, diagnostic.Hint = d.code, d.hint
			diagnostic.Message = strings.TrimSuffix(diagnostic.Message, "; "+d.hint) // it stands in hint
		}
		_ = a.printJSON(map[string]any{"error": err.Error(), "diagnostics": []hook.Diagnostic{diagnostic}})
	}
	fmt.Fprintln(a.Err, "tenterhook: "+phrase.Printable(err.Error()))
}

// located is an error with a code and a remedy.
type located struct{ code, message, hint string }

func (e *located) Error() string {
	if e.hint == "" {
		return e.message
	}
	return e.message + "; " + e.hint
}

func (a *app) printJSON(v any) error { return a.encode(v, "  ") }

// encode prints a value as JSON that drives no terminal.
func (a *app) encode(v any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := a.Out.Write(phrase.PrintableJSON(b.Bytes()))
	return err
}

// printJSONOf prints a JSON object with the project's root in it.
func (a *app) printJSONOf(root string, object any) error {
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	rest, comma := data[1:], ","
	if rest[0] == '}' {
		comma = ""
	}
	return a.printJSON(json.RawMessage(fmt.Sprintf(`{"workspace":%s%s%s`, quoted(root), comma, rest)))
}

// printRoot tells a person which project's hooks these are, where that is not
// the directory that was named.
func (a *app) printRoot(root string) {
	if named, err := filepath.Abs(a.opts.Workspace); err == nil && named != root {
		fmt.Fprintln(a.Out, a.styleOf(a.Out).dim("project: "+oneLine(root)))
	}
}

// printDiagnostics tells a person what loading found.
func (a *app) printDiagnostics(ds []hook.Diagnostic) {
	style := a.styleOf(a.Err)
	for _, d := range ds {
		fmt.Fprintf(a.Err, "%s %s\n", style.severity(d.Severity), phrase.Printable(d.String()))
	}
}

// printJSONLine prints a value on one line, for output that comes piece by piece.
func (a *app) printJSONLine(v any) error { return a.encode(v, "") }

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
