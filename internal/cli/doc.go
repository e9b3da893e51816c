// Package cli is the tenterhook command: what a person types to see, check,
// explain, try and make hooks.
//
// Stage: outside the pipeline; it opens a registry as any agent does. Only
// cmd/tenterhook imports it.
//
// Every command prints a short table for a person and, with --json, an object
// for a script. Exit codes: 0 done; for run 0 none or allow, 2 deny, 3 ask or
// defer; 1 something is wrong, and said.
package cli
