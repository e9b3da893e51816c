// Package linked holds what the linker writes into a released program.
//
// Stage: none; every program prints it. It imports the runtime alone, so that
// tenterhook-bridge stays small.
package linked

import "runtime"

// A release sets both, as in
// -ldflags "-X github.com/tenterhook/tenterhook/internal/version/linked.version=v1.2.3".
// They are empty in every other build.
var version, commit string

// Version returns the version and the commit of a release; both are empty in
// every other build.
func Version() (number, revision string) { return version, commit }

// Line returns the line that --version prints. An empty version is "devel", an
// empty commit "unknown".
func Line(program, version, commit string) string {
	if version == "" {
		version = "devel"
	}
	if commit == "" {
		commit = "unknown"
	}
	return program + " " + version + " (commit " + commit + ", " + runtime.Version() + ")"
}
