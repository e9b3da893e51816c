//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Inside is what the function of a [Do] finds on its thread.
type Inside struct {
	// Dir is the run's own directory, which is removed afterwards. "" = the mode needs none.
	Dir    string
	memory uint64
	reaped bool
}

// Command returns what is started in the place of a program: that, as its thread is contained.
func (in *Inside) Command(path string, argv []string) (string, []string) { return path, argv }

// Reaped reports whether everything that the function starts dies with it.
func (in *Inside) Reaped() bool { return in.reaped }

// cell is a thread that is restricted, and waits for the one function that it is for.
type cell struct {
	policy *Policy
	inside Inside
	guard  guard
	made   chan made          // one value
	ready  chan error         // one value, once the thread is restricted
	work   chan func(*Inside) // closed without a value: the cell is not needed
	done   chan struct{}      // closed once the domain was killed
}

// newCell begins to prepare a thread. The caller must call make, side by side with what only the thread can do.
func newCell(p *Policy) *cell {
	c := &cell{policy: p, inside: Inside{memory: p.Memory, reaped: !p.without(MechanismReap)}, guard: guard{pipe: -1}, made: make(chan made, 1),
		ready: make(chan error, 1), work: make(chan func(*Inside), 1), done: make(chan struct{})}
	go OnOwnThread(c.live)
	return c
}

// made is what a cell needs and any thread can make.
type made struct {
	dir     string // "" = none
	ruleset int    // -1 = none
	err     error
}

// make makes it.
func (c *cell) make() {
	m := made{ruleset: -1}
	if c.policy.files() {
		m.dir, m.err = os.MkdirTemp("", "tenterhook-run-")
	}
	if m.err == nil {
		m.ruleset, m.err = c.policy.ruleset(m.dir)
	}
	c.made <- m
}

// filtered reports whether the policy needs a filter of system calls.
func (p *Policy) filtered() bool { return p.files() || p.offline() }

// live is the life of the thread.
func (c *cell) live() {
	defer close(c.done)
	scope, err := c.restrict()
	c.ready <- err
	if err != nil {
		return
	}
	if fn := <-c.work; fn != nil {
		fn(&c.inside)
	}
	scope.reap()
}

// restrict restricts the calling thread, for good.
func (c *cell) restrict() (scope scope, err error) {
	guarded := c.enterOuter()
	var filter []unix.SockFilter
	if c.policy.filtered() {
		filter = c.policy.filter()
	}
	m := <-c.made // also after an error: there is something to remove
	c.inside.Dir = m.dir
	if err := cmp.Or(guarded, m.err); err != nil {
		if m.ruleset >= 0 {
			unix.Close(m.ruleset)
		}
		return scope, err
	}
	if c.guard.pid != 0 {
		c.guard.removes(m.dir)
	}
	if all := c.policy.Mode.AtLeast(ReadOnly); all || c.inside.Limited() { // with CAP_SYS_RESOURCE it would raise its limits again
		if err := dropCapabilities(all); err != nil {
			if m.ruleset >= 0 {
				unix.Close(m.ruleset)
			}
			return scope, err
		}
	}
	if m.ruleset >= 0 {
		if err := enterDomain(m.ruleset); err != nil {
			return scope, err
		}
	}
	if !c.policy.without(MechanismReap) {
		if scope, err = proveScope(); err != nil {
			return scope, err
		}
	}
	if filter != nil {
		err = install(filter)
	}
	return scope, err
}

// enterOuter puts the calling thread into the outer domain, with its guard.
func (c *cell) enterOuter() (err error) {
	// A mask and a working directory of its own: what changes them here is not to change the host's.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	if c.policy.without(MechanismReap) {
		return nil
	}
	if err := enterScope(); err != nil {
		return err
	}
	if c.guard, err = startGuard(); err != nil {
		return fmt.Errorf("the guard does not start: %w", err)
	}
	return nil
}

// dropCapabilities takes root's rights away: with CAP_SYS_ADMIN it would read /proc/PID/environ of the
// host past Landlock. With no_new_privs an execve as root gives back no more than the thread has. It takes all,
// or only the one to raise limits.
func dropCapabilities(all bool) error {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var left [2]unix.CapUserData
	if !all {
		if err := unix.Capget(&hdr, &left[0]); err != nil {
			return fmt.Errorf("capget: %w", err)
		}
		for _, set := range []*uint32{&left[0].Effective, &left[0].Permitted, &left[0].Inheritable} {
			*set &^= 1 << unix.CAP_SYS_RESOURCE
		}
	}
	if err := unix.Capset(&hdr, &left[0]); err != nil {
		return fmt.Errorf("capset: %w", err)
	}
	return nil
}

// bury removes what is left of a cell. It is called on a thread outside.
func (c *cell) bury() {
	<-c.done
	go c.guard.end() // without waiting for the shell to die
	if c.inside.Dir != "" {
		removeAll(c.inside.Dir)
	}
}

// Limited reports whether a child needs limits: then it must be started with SysProcAttr.Ptrace, and
// given to Release.
func (in *Inside) Limited() bool { return in.memory > 0 }

// Release sets the limits of a child that stopped at its execve, and lets it go. It is called on the
// thread that started it.
func (in *Inside) Release(pid int) error {
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil {
		return err
	}
	// Another thread sets them: this one's filter forbids to touch the limits of others.
	err := onFreeThread(func() error {
		for resource, most := range map[int]uint64{unix.RLIMIT_DATA: in.memory, unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: MaxFile, unix.RLIMIT_NOFILE: MaxFiles} {
			var has unix.Rlimit
			if err := unix.Prlimit(pid, resource, nil, &has); err != nil {
				return fmt.Errorf("prlimit: %w", err)
			}
			if err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: min(has.Cur, most), Max: min(has.Max, most)}, nil); err != nil {
				return fmt.Errorf("prlimit: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return unix.PtraceDetach(pid)
}

// onFreeThread calls fn on a thread that is not restricted.
func onFreeThread(fn func() error) error {
	done := make(chan error, 1)
	go func() { done <- fn() }()
	return <-done
}

// Do calls fn on a thread that p restricts, and everything that fn starts there is contained. Once fn has
// returned, all of it that still lives is killed. Fn must not start what is to stay, nor anything of the
// host, and must not unlock the thread.
//
// The error is an [*Error], and fn was not called then. Do is safe for concurrent use.
func Do(p *Policy, fn func(*Inside)) error {
	if missing := p.Missing(); len(missing) > 0 {
		return &Error{Missing: missing}
	}
	c, spare := spares.take(p)
	if !spare {
		c.make()
	}
	if err := <-c.ready; err != nil {
		c.bury()
		return &Error{Err: err}
	}
	c.work <- fn
	c.bury()
	return nil
}
