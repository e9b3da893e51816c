package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// The linker sets these in a release, as in
// -ldflags "-X github.com/tenterhook/tenterhook/internal/cli.version=v1.2.3".
var version, commit string

// build is what this program was built from.
type build struct {
	Version string `json:"version"` // "devel" for a build that is no release
	Commit  string `json:"commit"`  // "unknown" outside of a repository; "+dirty" marks edits
	Go      string `json:"go"`
}

func thisBuild() build {
	info, _ := debug.ReadBuildInfo()
	return buildOf(info, version, commit)
}

// buildOf takes what the linker set before what Go's toolchain noted.
func buildOf(info *debug.BuildInfo, version, commit string) build {
	b := build{Version: version, Commit: commit, Go: runtime.Version()}
	edited := false
	if info != nil {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" && b.Commit == "":
				b.Commit = fmt.Sprintf("%.12s", s.Value)
			case s.Key == "vcs.modified" && commit == "":
				edited = s.Value == "true"
			}
		}
		if b.Version == "" && info.Main.Version != "(devel)" {
			b.Version = info.Main.Version
		}
	}
	if b.Version == "" {
		b.Version = "devel"
	}
	if b.Commit == "" {
		b.Commit = "unknown"
	} else if edited {
		b.Commit += "+dirty"
	}
	return b
}

// String is the line that --version prints.
func (b build) String() string {
	return fmt.Sprintf("tenterhook %s (commit %s, %s)", b.Version, b.Commit, b.Go)
}

// printVersion answers --version and the command.
func (a *app) printVersion() error {
	if a.json {
		return a.printJSON(thisBuild())
	}
	_, err := fmt.Fprintln(a.Out, thisBuild())
	return err
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version, the commit and the version of Go", Args: cobra.NoArgs,
		Example: "  tenterhook version --json",
		RunE:    func(*cobra.Command, []string) error { return a.printVersion() },
	}
}
