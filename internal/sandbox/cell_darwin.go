package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// sandboxExec puts a program behind a profile, and becomes it. Untested on macOS.
const sandboxExec = "/usr/bin/sandbox-exec"

// Inside is what the function of a [Do] finds.
type Inside struct {
	// Dir is the run's own directory, which is removed afterwards. "" = the mode needs none.
	Dir     string
	profile string
}

// Command returns what is started in the place of a program.
func (in *Inside) Command(path string, argv []string) (string, []string) {
	return sandboxExec, append([]string{"sandbox-exec", "-p", in.profile, path}, argv[1:]...)
}

// Reaped reports whether everything that the function starts dies with it.
func (in *Inside) Reaped() bool { return false }

// Limited reports whether a child needs limits.
func (in *Inside) Limited() bool { return false }

// Release lets a child go that was stopped for its limits.
func (in *Inside) Release(int) error { return nil }

// Probe says what this machine enforces. It tries, once a process.
var Probe = sync.OnceValue(func() []Finding {
	all := []Finding{{Mechanism: MechanismReap, Why: "macOS has no way to find what a run leaves behind", Remedy: remedyOptional}}
	why := ""
	if err := tryProfile(); err != nil {
		why = err.Error()
	}
	for _, m := range []Mechanism{MechanismFiles, MechanismNetwork, MechanismPorts} {
		f := Finding{Mechanism: m, By: "sandbox-exec"}
		if why != "" {
			f = Finding{Mechanism: m, Why: why, Remedy: remedyOptional}
		}
		all = append(all, f)
	}
	return append(all, Finding{Mechanism: MechanismMemory, Why: "not available on macOS", Remedy: remedyOptional})
})

// tryProfile writes to a file behind a profile that forbids it.
func tryProfile() error {
	dir, err := os.MkdirTemp("", "tenterhook-probe-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	in := Inside{profile: (&Policy{Mode: ReadOnly}).profile(dir)}
	run := func(file string) error {
		path, argv := in.Command("/bin/sh", []string{"sh", "-c", `: > "$0"`, file})
		return exec.Command(path, argv[1:]...).Run()
	}
	if err := run(filepath.Join(dir, "inside")); err != nil {
		return errors.New("sandbox-exec does not work here, as within another sandbox: " + err.Error())
	}
	outside, err := os.MkdirTemp("", "tenterhook-probe-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(outside)
	if run(filepath.Join(outside, "file")) == nil {
		return errors.New("sandbox-exec takes a profile and does not enforce it")
	}
	return nil
}

// Do calls fn, and what it starts by [Inside.Command] is contained. The error is an [*Error], and fn was not
// called then.
func Do(p *Policy, fn func(*Inside)) error {
	if missing := p.Missing(); len(missing) > 0 {
		return &Error{Missing: missing}
	}
	in := &Inside{}
	if p.files() {
		dir, err := os.MkdirTemp("", "tenterhook-run-")
		if err != nil {
			return &Error{Err: err}
		}
		defer os.RemoveAll(dir)
		in.Dir = dir
	}
	in.profile = p.profile(in.Dir)
	fn(in)
	return nil
}

// Forget ends what is kept ready: nothing, here.
func Forget() {}
