package sandbox

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// Mode says how far a run is contained. Each mode includes the ones before it.
type Mode string

// The modes, from the weakest on. The zero Mode means None.
const (
	None     Mode = "none"      // nothing is contained
	Reap     Mode = "reap"      // no process outlives the run, none signals or traces others
	ReadOnly Mode = "read-only" // it writes to Policy.Write and its own temporary directory alone
	Strict   Mode = "strict"    // it reads the system and Policy.Read alone, and has no network
)

// Modes lists the modes from the weakest on.
func Modes() []Mode { return []Mode{None, Reap, ReadOnly, Strict} }

// OfOthers is the mode of code that others wrote, where none is chosen. It is Strict, and Reap on Windows, which
// limits neither files nor the network.
func OfOthers() Mode {
	if runtime.GOOS == "windows" {
		return Reap
	}
	return Strict
}

// Known reports whether m is one of the modes; "" is none.
func (m Mode) Known() bool { return slices.Contains(Modes(), m) }

// AtLeast reports whether m contains all that other does.
func (m Mode) AtLeast(other Mode) bool {
	return slices.Index(Modes(), m) >= slices.Index(Modes(), other)
}

// Policy is what a run may do. The zero value allows everything. A Policy is not changed once it is used.
type Policy struct {
	Mode Mode
	// Write and Read are absolute paths. What is beneath one may be written (which includes reading it),
	// or read. A path that does not exist is passed over. Mode Reap ignores them, Mode ReadOnly ignores Read.
	Write, Read []string
	// Deny are absolute paths that stay unreadable although a path above them may be read. What comes
	// into being beside one of them after the start is not readable either. Mode Reap ignores them.
	Deny []string
	// Ports are the TCP ports that may be connected to. Nil: those of the mode, which is none for Strict
	// and any for the others. Empty: none.
	Ports []uint16
	// Serve allows to listen on unix sockets beneath Write, and not to connect by them: what a plugin needs.
	Serve bool
	// lacks are the mechanisms that it does without, see Enforceable.
	lacks []Mechanism

	// Memory bounds the data of each process, in bytes, and with it come [MaxFile], [MaxFiles], and no core
	// files. Zero: no bound.
	Memory uint64
}

// The bounds of each process that come with [Policy.Memory].
const (
	MaxFile  = 1 << 30 // bytes that a file may grow to
	MaxFiles = 4096    // open at once
)

// Contains reports whether the policy asks for anything.
func (p *Policy) Contains() bool { return p != nil && p.Mode != "" && p.Mode != None }

// offline reports whether the policy narrows the network.
func (p *Policy) offline() bool {
	return (p.Mode == Strict || p.Ports != nil) && !p.without(MechanismNetwork)
}

// files reports whether the policy narrows what may be read or written.
func (p *Policy) files() bool {
	return (p.Mode == ReadOnly || p.Mode == Strict) && !p.without(MechanismFiles)
}

// without reports whether the policy does without a mechanism.
func (p *Policy) without(m Mechanism) bool { return slices.Contains(p.lacks, m) }

// Enforceable returns the part of the policy that this machine enforces; nil = nothing of it. It is for what may
// run with less than it asks for.
func (p *Policy) Enforceable() *Policy {
	part := *p
	for _, f := range p.Missing() {
		part.lacks = append(slices.Clip(part.lacks), f.Mechanism)
	}
	if len(part.Needs()) == 0 {
		return nil
	}
	return &part
}

// Mechanism is one thing that a machine can enforce.
type Mechanism string

// The mechanisms.
const (
	MechanismReap    Mechanism = "reap"    // no process outlives its run
	MechanismFiles   Mechanism = "files"   // which files may be read and written
	MechanismNetwork Mechanism = "network" // no socket can be opened
	MechanismPorts   Mechanism = "ports"   // only some TCP ports can be connected to
	MechanismMemory  Mechanism = "memory"  // a bound on the memory of a process
)

// Finding is what a mechanism does on this machine.
type Finding struct {
	Mechanism Mechanism
	By        string // what enforces it, such as "Landlock"
	Why       string // why it is not enforced; "" = it is
	Remedy    string // what to do about that
}

// Needs lists the mechanisms that a policy needs.
func (p *Policy) Needs() []Mechanism {
	if !p.Contains() {
		return nil
	}
	needs := []Mechanism{MechanismReap}
	if p.files() {
		needs = append(needs, MechanismFiles)
	}
	if p.offline() {
		needs = append(needs, MechanismNetwork)
		if len(p.Ports) > 0 {
			needs = append(needs, MechanismPorts)
		}
	}
	if p.Memory > 0 {
		needs = append(needs, MechanismMemory)
	}
	return slices.DeleteFunc(needs, p.without)
}

// Missing returns what the policy needs and this machine does not enforce. It probes the machine at its
// first call, which takes a few milliseconds.
func (p *Policy) Missing() []Finding {
	var missing []Finding
	for _, need := range p.Needs() {
		if f := found(need); f.Why != "" {
			missing = append(missing, f)
		}
	}
	return missing
}

// found is what the probe says of a mechanism.
func found(m Mechanism) Finding {
	for _, f := range Probe() {
		if f.Mechanism == m {
			return f
		}
	}
	return Finding{Mechanism: m, Why: "this system has no such mechanism"}
}

// Error says that a policy cannot be enforced, or that its enforcement failed. Nothing was started.
type Error struct {
	Missing []Finding // what the machine does not enforce; empty if a step failed
	Err     error     // the step that failed
}

func (e *Error) Error() string {
	if len(e.Missing) == 0 {
		return "the sandbox could not be set up: " + e.Err.Error()
	}
	var parts []string
	for _, f := range e.Missing {
		parts = append(parts, fmt.Sprintf("%s: %s", f.Mechanism, f.Why))
	}
	return "this machine cannot enforce its sandbox: " + strings.Join(parts, "; ")
}

// Unwrap returns what the system said.
func (e *Error) Unwrap() error { return e.Err }

// Remedy says what to do about it.
func (e *Error) Remedy() string {
	for _, f := range e.Missing {
		if f.Remedy != "" {
			return f.Remedy
		}
	}
	return `see "sandbox" in docs/containment.md`
}
