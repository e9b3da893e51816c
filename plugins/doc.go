// Package plugins runs hooks that live in a plugin: an executable that serves
// them over gRPC after the handshake of hashicorp/go-plugin, for the price of a
// call and not of a process.
//
// Stage: dispatch. The root package and the command line wire a [Host] as the
// handler of hooks of kind "plugin"; the registry calls it, and knows nothing of
// gRPC. Plugin authors import plugins/serve; the contract is plugins/proto.
//
// # Packages
//
// A package is a folder with one or more executables tenterhook-plugin-NAME in
// it, and an optional plugin.toml: version, description, sandbox, and env, a list of
// variables that its plugins want. [Host.Learn] asks a plugin for its hooks.
// [Host.Describe] lists the hooks from then on, with what has to be approved, and
// starts nothing. Package trust keeps the approvals.
//
// # What runs
//
// An approval binds the sha256 of an executable, its hooks, its variables and its
// sandbox. At each call the file that is in the package is held against it, for a
// stat; a changed file is refused. What is executed is a private copy, whose
// digest was taken of the bytes that were copied. What an interpreter loads beside a script is
// not covered: bundle a plugin in such a language into one file.
//
// # What holds, whatever a plugin does
//
// One process serves all hooks and calls of a plugin. It is started by the first
// call or by [Host.Prewarm], by package internal/process: in a process group of
// its own, which dies with it and with the host; its stdin is empty, its
// environment an allow-list. Each call returns by the end of its context. After
// a call that took too long or lost its connection, and before a call that follows a
// long pause, the plugin is asked whether it works; if it does not answer, its
// group is killed. The first crash costs one call, and the next one a start;
// after more in a row starts are spaced by up to 30 s and calls fail at once,
// which opens the registry's breaker. When other bytes are approved, a process of
// these takes over, and the old one ends with its last call. So does one whose
// approval was taken back, once a call or a look at its hooks finds that.
//
// # Tiers
//
// On Windows plugins listen on TCP, with certificates on both sides; owners of
// files are not judged, and a file that changed is noticed by its size and
// modification time.
package plugins
