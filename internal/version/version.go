// Package version reports what a program was built from.
//
// Stage: none; the commands and the daemon print it. It imports internal/version/linked.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/tenterhook/tenterhook/internal/version/linked"
)

// Build is what a program was built from.
type Build struct {
	Version string `json:"version"` // "devel" for a build that is no release
	Commit  string `json:"commit"`  // "unknown" outside of a repository; "+dirty" marks edits
	Go      string `json:"go"`
}

// This returns the build of this program.
func This() Build {
	info, _ := debug.ReadBuildInfo()
	version, commit := linked.Version()
	return of(info, version, commit)
}

// of prefers what the linker set to what Go's toolchain noted.
func of(info *debug.BuildInfo, version, commit string) Build {
	b := Build{Version: version, Commit: commit, Go: runtime.Version()}
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

// Line returns the line that --version of a program prints.
func (b Build) Line(program string) string { return linked.Line(program, b.Version, b.Commit) }

// String returns the version and the commit.
func (b Build) String() string { return b.Version + " " + b.Commit }
