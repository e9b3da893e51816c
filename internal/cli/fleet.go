package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/fleetstate"
	"github.com/tenterhook/tenterhook/internal/jobs"
	"github.com/tenterhook/tenterhook/internal/pack"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/internal/source"
)

// fleetProgram has the commands that reach beyond this machine: what they need
// is linked there alone.
const fleetProgram = "tenterhook-fleet"

func (a *app) packCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "pack",
		Short: "Move folders of hooks through registries, by digest (with " + fleetProgram + ")",
		Long: "Runs the program " + fleetProgram + ", which is beside this one or on PATH, and has its own help:\n" +
			"a folder of hooks becomes an OCI artifact in a registry or a layout directory, and the settings\n" +
			"packs = [\"REF@sha256:…\"] let the hooks of a digest run.",
		Example:            "  tenterhook pack push ./hooks registry.example.com/team/guards:v1\n  tenterhook pack pull registry.example.com/team/guards:v1\n  tenterhook pack --help",
		DisableFlagParsing: true,
		ValidArgsFunction:  completeFleet,
		RunE:               func(cmd *cobra.Command, args []string) error { return a.runFleet(cmd, args) },
	}
}

func (a *app) fleetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "fleet",
		Short: "Give many machines one audit, one policy and one switch (with " + fleetProgram + ")",
		Long: "Runs the program " + fleetProgram + ", which is beside this one or on PATH, and has its own help: machines\n" +
			"enroll at a hub, ship what their hooks did, and get the policy.",
		Example:            "  tenterhook fleet hub\n  tenterhook fleet enroll https://hub.example.com:4223 TOKEN\n  tenterhook fleet --help",
		DisableFlagParsing: true,
		ValidArgsFunction:  completeFleet,
		RunE:               func(cmd *cobra.Command, args []string) error { return a.runFleet(cmd, args) },
	}
}

// completeFleet asks the program itself.
func completeFleet(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	program, err := findFleet()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	asked := append([]string{cobra.ShellCompRequestCmd, cmd.Name()}, append(args, prefix)...)
	out, err := exec.CommandContext(cmd.Context(), program, asked...).Output()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	words := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	last := len(words) - 1
	directive, err := strconv.Atoi(strings.TrimPrefix(words[last], ":"))
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return words[:last], cobra.ShellCompDirective(directive)
}

// fleetDiagnostics are about what does not work between this machine and its fleet.
// No decision depends on it.
func (a *app) fleetDiagnostics() []hook.Diagnostic {
	var list []hook.Diagnostic
	for _, t := range fleetstate.Troubles(a.stateDir(), time.Now()) {
		list = append(list, hook.Diagnostic{Severity: hook.SeverityWarning, Code: t.Code, Message: t.Message, Hint: t.Hint})
	}
	return list
}

// examineFleet says what does not work between this machine and its fleet, and what
// waits for it.
func (a *app) examineFleet() []problem {
	problems := problemsOf(append(a.fleetDiagnostics(), a.jobDiagnostics()...))
	for i := range problems {
		problems[i].Subject = "fleet"
	}
	return problems
}

// How long a job may wait for the agent, and for a worker, before that is a warning.
const (
	carriedWithin = time.Minute
	doneWithin    = 15 * time.Minute
)

// jobDiagnostics are about the hooks of this machine that wait for a worker.
func (a *app) jobDiagnostics() (list []hook.Diagnostic) {
	spool := jobs.In(a.stateDir())
	waiting, sent := spool.Count()
	oldest, oldestSent := spool.Since()
	say := func(n int, since time.Time, within time.Duration, what, hint string) {
		if n == 0 {
			return
		}
		d := hook.Diagnostic{Severity: hook.SeverityInfo, Code: "fleet_jobs", Message: fmt.Sprintf("%s %s, the oldest since %s", phrase.Count(n, "job"), what, since.Format(time.RFC3339)), Hint: hint}
		if time.Since(since) > within {
			d.Severity = hook.SeverityWarning
		}
		list = append(list, d)
	}
	start := "the agent carries them: tenterhook fleet agent"
	if !fleetstate.Enrolled(a.stateDir()) {
		start = "enroll this machine: tenterhook fleet enroll URL TOKEN"
	}
	say(waiting, oldest, carriedWithin, "not carried to the hub yet", start)
	say(sent, oldestSent, doneWithin, "at the hub without a result", "see whether a worker of their queue runs: tenterhook fleet jobs")
	return list
}

// runFleet hands a command over, and ends with its exit code.
func (a *app) runFleet(cmd *cobra.Command, args []string) error {
	program, err := findFleet()
	if err != nil && slices.ContainsFunc(args, func(arg string) bool { return arg == "--help" || arg == "-h" }) {
		return cmd.Help()
	}
	if err != nil {
		a.json = slices.Contains(args, "--json") // the flags are that program's to read
		return noFleet("'" + cmd.CommandPath() + "'")
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM) // a hub does not outlive this process
	defer stop()
	child := exec.CommandContext(ctx, program, append([]string{cmd.Name()}, args...)...)
	child.Stdin, child.Stdout, child.Stderr = a.In, behind(a.Out), a.Err
	child.Cancel = func() error { return child.Process.Signal(os.Interrupt) }
	err = child.Run()
	if child.ProcessState != nil && child.ProcessState.Success() { // it ended well, also because it was asked to
		return nil
	}
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() > 0 { // it said why
		a.code = ended.ExitCode()
		return nil
	}
	if ended != nil {
		if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGPIPE {
			a.code = 128 + int(syscall.SIGPIPE) // who reads it has seen enough, as in 'pack list | head -1'
			return nil
		}
	}
	if err != nil {
		return &located{"fleet_failed", fmt.Sprintf("%s: %v", program, err), "run it by itself to see why"}
	}
	return nil
}

// noFleet says that something needs the program of the fleet.
func noFleet(what string) error {
	return &located{"no_fleet", fmt.Sprintf("%s needs the program %s, which is neither beside tenterhook nor on PATH", what, fleetProgram),
		"in a checkout of tenterhook, build it: go build -o " + shellQuote(besideUs("")) + " ./fleet/cmd/" + fleetProgram}
}

// askFleet runs a command of that program, and reads its JSON into answer.
func askFleet(ctx context.Context, answer any, args ...string) error {
	program, err := findFleet()
	if err != nil {
		return noFleet("a pack")
	}
	child := exec.CommandContext(ctx, program, append(args, "--json")...)
	child.Cancel = func() error { return child.Process.Signal(os.Interrupt) }
	out, err := child.Output()
	var failed struct{ Diagnostics []hook.Diagnostic }
	if err != nil && json.Unmarshal(out, &failed) == nil && len(failed.Diagnostics) > 0 {
		d := failed.Diagnostics[0]
		return &located{d.Code, d.Message, d.Hint}
	}
	if err == nil {
		err = json.Unmarshal(out, answer)
	}
	if err != nil {
		return &located{"fleet_failed", fmt.Sprintf("%s: %v", program, err), "run it by itself to see why"}
	}
	return nil
}

// getPack brings a pack into the store, and reads its hooks that want takes.
func (a *app) getPack(ctx context.Context, spec source.Spec, want func(string) bool) (*source.Fetched, error) {
	ref, err := spec.Pack()
	if err != nil {
		return nil, err
	}
	var pulled struct{ Digest string }
	if err := askFleet(ctx, &pulled, "pack", "pull", ref.String()); err != nil {
		return nil, err
	}
	p, err := pack.Open(discovery.DefaultStateDir(), pulled.Digest) // that program's store
	if err != nil {
		return nil, err
	}
	return source.FromPack(spec, p, want)
}

// newestPack returns the tag that an update of a pack goes to, and the digest that
// it names now. A pack that is named by its digest stays.
func (a *app) newestPack(ctx context.Context, spec source.Spec) (tag, digest string, err error) {
	ref, err := spec.Pack()
	if err != nil || ref.Digest != "" {
		return spec.Ref, ref.Digest, err
	}
	ref.Tag = ""
	var listed struct {
		Tags []struct{ Tag, Digest string }
	}
	if err := askFleet(ctx, &listed, "pack", "list", ref.String()); err != nil {
		return "", "", err
	}
	digests := make(map[string]string)
	for _, t := range listed.Tags {
		digests[t.Tag] = t.Digest
	}
	tag = source.NewestTag(spec.Ref, slices.Sorted(maps.Keys(digests)))
	if digests[tag] == "" {
		return "", "", &located{"not_found", fmt.Sprintf("%s has no tag %s any more", spec.At, tag), "name another with --ref"}
	}
	return tag, digests[tag], nil
}

// findFleet looks beside this program, then on PATH.
func findFleet() (string, error) {
	name := fleetProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if beside := besideUs(name); beside != "" {
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	return exec.LookPath(name)
}

// besideUs is the path of a file beside this program, links followed; "" if that
// is not known.
func besideUs(name string) string {
	own, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(own); err == nil {
		own = real
	}
	return filepath.Dir(own) + string(filepath.Separator) + name
}
