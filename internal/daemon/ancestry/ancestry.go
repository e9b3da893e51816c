package ancestry

import (
	"path/filepath"
	"slices"
	"strings"
)

// Process is a running process.
type Process struct {
	PID, Parent int
	Start       uint64 // with PID it names a process for ever; 0 = unknown
	TTY         bool   // it has a controlling terminal
}

// Look returns a process; false if there is none, or none can be seen.
func Look(pid int) (Process, bool) { return look(pid) }

// maxDepth bounds a walk.
const maxDepth = 64

// Of returns a process and its ancestors, the nearest first. It
// is empty where processes cannot be seen.
func Of(pid int) []Process { return upTo(pid, func(Process) bool { return false }) }

// upTo is Of as far as the first process that is the last one to look at.
func upTo(pid int, last func(Process) bool) []Process {
	chain := make([]Process, 0, 8)
	for pid > 0 && len(chain) < maxDepth {
		p, ok := look(pid)
		if !ok {
			break
		}
		if chain = append(chain, p); last(p) {
			break
		}
		pid = p.Parent
	}
	return chain
}

var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "ash", "busybox", "fish"}

// IsShell reports whether the process is a shell.
func (p Process) IsShell() bool { return isShell(p.Args()) }

func isShell(args []string) bool {
	return len(args) > 0 && slices.Contains(shells, filepath.Base(strings.TrimPrefix(args[0], "-")))
}

// interactive reports whether arguments are those of a shell that a person types
// into: a shell that was given neither a command nor a script.
func interactive(args []string) bool {
	if !isShell(args) {
		return false
	}
	for _, arg := range args[1:] {
		if !strings.HasPrefix(arg, "-") || !strings.HasPrefix(arg, "--") && strings.Contains(arg, "c") {
			return false
		}
	}
	return true
}

// Agent is the process that started a hook entry: its parent, or the parent of
// the shell that runs the entry's command line. It is false for an entry that a
// person typed into a shell. known reports whether a process is one already.
func Agent(entry []Process, known func(Process) bool) (Process, bool) {
	if len(entry) == 0 {
		return Process{}, false
	}
	for _, p := range entry[1:] {
		if known(p) {
			return p, true
		}
		args := p.Args()
		if p.PID <= 1 || interactive(args) {
			return Process{}, false
		}
		if !isShell(args) || !runsLine(args) {
			return p, true
		}
	}
	return Process{}, false
}

// runsLine reports whether a shell was given a command line.
func runsLine(args []string) bool {
	return len(args) > 1 && strings.HasPrefix(args[1], "-") && !strings.HasPrefix(args[1], "--") && strings.Contains(args[1], "c")
}

// Orphan reports whether the program that started a process has ended: nothing but shells
// without a terminal is above it.
func Orphan(chain []Process) bool {
	if len(chain) == 0 || chain[0].TTY {
		return false
	}
	for _, p := range chain[1:] {
		if p.PID > 1 && !p.IsShell() {
			return false
		}
	}
	return chain[len(chain)-1].PID == 1
}
