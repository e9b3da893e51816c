//go:build !linux || !(amd64 || arm64)

package sandbox

// remedyOptional is what to do where a system cannot enforce a mode.
const remedyOptional = `set sandbox_required = false to run hooks with what is enforced, or sandbox = "none" for hooks that may run uncontained`
