//go:build !darwin && (!linux || !(amd64 || arm64))

package sandbox

import "runtime"

// Inside is what the function of a [Do] finds on its thread.
type Inside struct {
	// Dir is the run's own directory, which is removed afterwards. "" = the mode needs none.
	Dir string
}

// Command returns what is started in the place of a program: that.
func (in *Inside) Command(path string, argv []string) (string, []string) { return path, argv }

// Reaped reports whether everything that the function starts dies with it.
func (in *Inside) Reaped() bool { return false }

// Limited reports whether a child needs limits.
func (in *Inside) Limited() bool { return false }

// Release lets a child go that was stopped for its limits.
func (in *Inside) Release(int) error { return nil }

// Probe says what this machine enforces: on Windows that no process outlives its run, and nothing elsewhere.
func Probe() []Finding {
	var all []Finding
	if runtime.GOOS == "windows" {
		all = append(all, Finding{Mechanism: MechanismReap, By: "job object"})
	} else {
		all = append(all, unenforced(MechanismReap))
	}
	for _, m := range []Mechanism{MechanismFiles, MechanismNetwork, MechanismPorts, MechanismMemory} {
		all = append(all, unenforced(m))
	}
	return all
}

func unenforced(m Mechanism) Finding {
	return Finding{Mechanism: m, Why: "not available on " + runtime.GOOS + "/" + runtime.GOARCH,
		Remedy: remedyOptional}
}

// Do refuses every policy that asks for something.
func Do(p *Policy, fn func(*Inside)) error {
	if missing := p.Missing(); len(missing) > 0 {
		return &Error{Missing: missing}
	}
	fn(&Inside{})
	return nil
}

// Forget ends what is kept ready: nothing, here.
func Forget() {}
