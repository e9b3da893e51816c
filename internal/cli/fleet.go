package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
)

// fleetProgram has the commands that reach beyond this machine: what they need
// is linked there alone.
const fleetProgram = "tenterhook-fleet"

func (a *app) packCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "pack",
		Short: "Move folders of hooks through registries, by digest (with " + fleetProgram + ")",
		Long: "Runs the program " + fleetProgram + ", which lies beside this one or on PATH, and has its own help:\n" +
			"a folder of hooks becomes an OCI artifact in a registry or a layout directory, and the settings\n" +
			"packs = [\"REF@sha256:…\"] let the hooks of a digest run.",
		Example:            "  tenterhook pack push ./hooks registry.example.com/team/guards:v1\n  tenterhook pack pull registry.example.com/team/guards:v1\n  tenterhook pack --help",
		DisableFlagParsing: true,
		RunE:               func(cmd *cobra.Command, args []string) error { return a.runFleet(cmd, args) },
	}
}

// runFleet hands a command over, and ends with its exit code.
func (a *app) runFleet(cmd *cobra.Command, args []string) error {
	program, err := findFleet()
	if err != nil && slices.ContainsFunc(args, func(arg string) bool { return arg == "--help" || arg == "-h" }) {
		return cmd.Help()
	}
	if err != nil {
		a.json = slices.Contains(args, "--json") // the flags are that program's to read
		return &located{"no_fleet", fmt.Sprintf("'%s' needs the program %s, which is neither beside tenterhook nor on PATH", cmd.CommandPath(), fleetProgram),
			"in a checkout of tenterhook, build it: go build -o " + shellQuote(besideUs("")) + " ./fleet/cmd/" + fleetProgram}
	}
	child := exec.CommandContext(cmd.Context(), program, append([]string{cmd.Name()}, args...)...)
	child.Stdin, child.Stdout, child.Stderr = a.In, a.Out, a.Err
	child.Cancel = func() error { return child.Process.Signal(os.Interrupt) }
	err = child.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() > 0 { // it said why
		a.code = ended.ExitCode()
		return nil
	}
	if err != nil {
		return &located{"fleet_failed", fmt.Sprintf("%s: %v", program, err), "run it by itself to see why"}
	}
	return nil
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
