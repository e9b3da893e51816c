// Package cli is the command line of tenterhook-fleet.
//
// Stage: the outermost. cmd/tenterhook-fleet runs it; package oci does the work.
package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/output"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/internal/version"
)

// app is one invocation.
type app struct {
	out, err io.Writer
	json     bool
	version  bool // --version
	timeout  time.Duration

	connection string // the file of a credential; "" = this machine's
}

// Main runs the command line and returns the exit code: 0, 1 for an error, 2 for
// a command that is missing or unknown.
func Main(ctx context.Context, args []string, out, errs io.Writer) int {
	kept := &output.Writer{Writer: out}
	a := &app{out: kept, err: errs}
	root := a.root()
	root.SetArgs(whole(root, args))
	err := root.ExecuteContext(ctx)
	if err == nil && kept.Err != nil {
		err = fmt.Errorf("the output is lost: %w", kept.Err)
	}
	if err == nil {
		return 0
	}
	if errors.Is(err, errSaid) {
		return 1
	}
	a.complain(err)
	if errors.Is(err, errUsage) {
		return 2
	}
	return 1
}

// whole puts "fleet" before its commands, which this program is named for.
func whole(root *cobra.Command, args []string) []string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") || args[0] == "help" ||
		slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == args[0] }) {
		return args
	}
	return append([]string{"fleet"}, args...)
}

// errUsage is that a command is missing or unknown.
var errUsage = errors.New("usage")

// Command returns the command tree, from which man pages are generated.
func Command() *cobra.Command { return (&app{out: io.Discard, err: io.Discard}).root() }

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "tenterhook", Short: "The commands of tenterhook that reach beyond this machine",
		Example:      "  tenterhook pack push ./hooks registry.example.com/team/guards:v1",
		SilenceUsage: true, SilenceErrors: true,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !a.version {
				return needCommand(cmd, args)
			}
			if a.json {
				return a.printJSON(version.This())
			}
			_, err := fmt.Fprintln(a.out, version.This().Line("tenterhook-fleet"))
			return err
		},
	}
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see '%s --help'", err, cmd.CommandPath())
	})
	root.Flags().BoolVar(&a.version, "version", false, "print the version, the commit and the version of Go")
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON for scripts")
	root.AddCommand(a.packCommand(), a.fleetCommand())
	root.InitDefaultCompletionCmd()
	return root
}

// needCommand is what a command does that does nothing by itself.
func needCommand(cmd *cobra.Command, args []string) error {
	var names, lines []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names, lines = append(names, c.Name()), append(lines, cmd.CommandPath()+" "+c.Use)
		}
	}
	e := &problem.Error{Code: "unknown_subcommand", Message: "'" + cmd.CommandPath() + "' needs a command", Hint: "as in '" + strings.Join(lines, "', '") + "'"}
	if len(args) > 0 {
		e.Message = fmt.Sprintf("unknown command %q of '%s'", args[0], cmd.CommandPath())
		if near := hook.Nearest(args[0], names); near != "" {
			e.Hint = "did you mean '" + cmd.CommandPath() + " " + near + "'?"
		}
	}
	return errors.Join(e, errUsage)
}

// complain prints an error for a person, or as JSON.
func (a *app) complain(err error) {
	d := hook.Diagnostic{Severity: hook.SeverityError, Code: "failed", Message: err.Error()}
	text := err.Error()
	if e := (*problem.Error)(nil); errors.As(err, &e) {
		d.Code, d.Message, d.Hint, text = e.Code, e.Message, e.Hint, e.Message
	}
	if d.Hint != "" {
		text += "; " + d.Hint
	}
	if a.json {
		_ = a.printJSON(map[string]any{"error": text, "diagnostics": []hook.Diagnostic{d}})
	}
	fmt.Fprintln(a.err, "tenterhook: "+phrase.Printable(text))
}

func (a *app) printJSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := a.out.Write(phrase.PrintableJSON(b.Bytes()))
	return err
}
