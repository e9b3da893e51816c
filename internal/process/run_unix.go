//go:build linux || darwin

package process

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tenterhook/tenterhook/internal/sandbox"
	"golang.org/x/sys/unix"
)

// run runs one child. Its error is the system's, or a [*sandbox.Error], for a child that could not be started.
func run(ctx context.Context, s *Spec, token string, deadline time.Time) (Result, error) {
	if s.Umask == nil && !s.Sandbox.Contains() {
		return runHere(ctx, s, token, deadline, nil)
	}
	// The thread gets restrictions, or a file mode creation mask and with it a working directory, of its own.
	// So it must not run anything of the host afterwards.
	type end struct {
		res Result
		err error
	}
	ended := make(chan end, 1)
	go func() {
		var e end
		var later chan Result
		var rest Result
		err := elsewhere(s.Sandbox, func(in *sandbox.Inside) {
			e.res, e.err = runHere(ctx, s, token, deadline, in)
			if background := e.res.Rest; background != nil {
				later = make(chan Result, 1)
				e.res.Rest = later
				ended <- e
				rest = <-background // the child dies with this thread
			}
		})
		switch {
		case err != nil:
			ended <- end{err: err}
		case later != nil:
			later <- rest
		default:
			ended <- e
		}
	}()
	e := <-ended
	return e.res, e.err
}

// elsewhere calls fn on a thread that ends when fn returns: inside the sandbox, where the policy asks for
// one. It must be called in a goroutine that ends with it.
func elsewhere(p *sandbox.Policy, fn func(*sandbox.Inside)) error {
	if p.Contains() {
		return sandbox.Do(p, fn)
	}
	done := make(chan struct{})
	go sandbox.OnOwnThread(func() { defer close(done); fn(nil) })
	<-done
	return nil
}

func runHere(ctx context.Context, s *Spec, token string, deadline time.Time, in *sandbox.Inside) (Result, error) {
	runtime.LockOSThread() // the child dies with the thread that forked it: see doc.go
	defer runtime.UnlockOSThread()

	c := newChild(s, token, deadline)
	c.enter(in)
	if err := c.wait.open(); err != nil {
		return Result{}, err
	}
	err := c.begin()
	if err == nil {
		err = c.attend()
	}
	if err != nil {
		c.closeAll()
		return Result{}, err
	}
	c.accompany(ctx)
	if !c.goesOn() {
		return c.res, nil
	}
	// The thread that forked is free again. Go keeps its threads, unless a goroutine locks one and lets
	// it end: then this child ends with it, and its result says so.
	rest := make(chan Result, 1)
	began := time.Now()
	go func() {
		ctx := c.background
		c.background, c.spec.Detach = nil, nil
		c.accompany(ctx)
		c.res.Elapsed = time.Since(began)
		rest <- c.res
	}()
	return Result{ExitCode: -1, Started: true, Rest: rest}, nil
}

// accompany stays with a child to its end, or until it continues in the background.
func (c *child) accompany(ctx context.Context) {
	defer context.AfterFunc(ctx, c.wait.wake)()
	if c.converse(); c.goesOn() {
		return
	}
	c.finish()
	c.closeAll()
}

// goesOn says that the wait for the child is over.
func (c *child) goesOn() bool { return c.background != nil && c.stage == running && !c.exited }

// child is one running child and the host's ends of its pipes. It belongs to the goroutine that runs
// it.
type child struct {
	spec  *Spec
	token string
	res   Result

	pid    int
	wait   waiter
	ours   [3]int // our ends of its pipes
	theirs [3]int // its ends, until it is started
	exit   int    // reports the leader's exit, and stays open until the end
	census int    // tells, at the end, whether others were started since; -1 if nothing can
	input  []byte // what the child has not read yet

	background context.Context // not nil: it continues in the background, until this ends
	stays      *stderrLines    // not nil: it is a service, whose stderr goes there; see service_unix.go

	inside *sandbox.Inside // not nil: the thread is restricted

	stage   stage
	due     time.Time // when this stage ends; zero: never
	guardAt time.Time // when to see whether it needs the guard; zero: that is settled
	looked  bool      // it was seen to need none so far
	exited  bool
	held    bool // by others than the leader: an output
}

// The events of a child. The first three are its descriptors 0 to 2.
const (
	slotStdin = iota
	slotStdout
	slotStderr
	slotExit
	slotWake // the context has ended
	slots
)

// closed is a descriptor that there is not.
const closed = -1

// events is a set of slots.
type events uint8

func (e events) has(slot int) bool { return e&(1<<slot) != 0 }

func newChild(s *Spec, token string, deadline time.Time) *child {
	none := [3]int{closed, closed, closed}
	c := &child{spec: s, token: token, input: s.Stdin, ours: none, theirs: none, exit: closed, census: closed, due: deadline}
	c.res.ExitCode = -1
	return c
}

// enter makes the child one of a restricted thread, with the temporary directory that is its own.
func (c *child) enter(in *sandbox.Inside) {
	c.inside = in
	if in == nil {
		return
	}
	own := *c.spec
	own.Path, own.Argv = in.Command(own.Path, own.Argv)
	c.spec = &own
	if in.Dir == "" {
		return
	}
	own.Env = slices.DeleteFunc(slices.Clone(own.Env), func(s string) bool { return strings.HasPrefix(s, "TMPDIR=") })
	own.Env = append(own.Env, "TMPDIR="+in.Dir)
}

// begin opens the pipes and starts the child.
func (c *child) begin() error {
	defer c.closeTheirs()
	if err := c.open(); err != nil {
		return err
	}
	return c.start()
}

// open makes the three pipes. It writes as much of stdin as the pipe takes: mostly all of it, so that
// the child finds its input when it starts, and nothing has to wait for it.
func (c *child) open() error {
	if err := c.pipes(); err != nil {
		return err
	}
	if err := unix.SetNonblock(c.ours[slotStdin], true); err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	c.feed()
	return nil
}

func (c *child) pipes() error {
	for i := range c.theirs {
		r, w, err := newPipe()
		if err != nil {
			return os.NewSyscallError("pipe", err)
		}
		if i == slotStdin {
			r, w = w, r
		}
		c.ours[i], c.theirs[i] = r, w
	}
	return nil
}

// start forks and executes.
func (c *child) start() error {
	attr := syscall.ProcAttr{
		Dir:   c.spec.Dir,
		Env:   c.spec.Env,
		Files: []uintptr{uintptr(c.theirs[0]), uintptr(c.theirs[1]), uintptr(c.theirs[2])},
	}
	pid, exit, err := c.fork(&attr)
	if err != nil {
		return err
	}
	c.pid, c.exit, c.res.Started = pid, exit, true
	if c.inside == nil || !c.inside.Reaped() { // a sandbox that reaps has a guard of its own
		c.guardAt = time.Now().Add(guardSoon)
	}
	leaders.note(pid)
	return nil
}

// attend begins to wait for what a started child does. A child that cannot be waited for is killed.
func (c *child) attend() error {
	err := c.watch()
	if err != nil { // no memory
		c.kill()
		reap(c.pid)
	}
	return err
}

func (c *child) watch() error {
	if err := c.wait.arm(); err != nil {
		return err
	}
	for slot, fd := range [...]int{c.ours[slotStdin], c.ours[slotStdout], c.ours[slotStderr], c.exit} {
		if fd < 0 {
			continue // stdin is done with
		}
		if err := c.wait.watch(slot, fd); err != nil {
			return err
		}
	}
	c.census = openCensus()
	return nil
}

// leaders knows the leaders that this host started, so that one run's search for what it left behind
// passes over all other runs. A few are forgotten when there are too many, which only costs time.
var leaders pidSet

type pidSet [4096]atomic.Int32

func (s *pidSet) note(pid int) { s[pid%len(s)].Store(int32(pid)) }

// shut closes one of our ends.
func (c *child) shut(slot int) {
	if fd := c.ours[slot]; fd >= 0 {
		if c.pid != 0 {
			c.wait.forget(slot, fd)
		}
		unix.Close(fd)
		c.ours[slot] = closed
	}
}

func (c *child) closeTheirs() {
	closeFDs(c.theirs[:]...)
}

func (c *child) closeAll() {
	c.wait.close()
	closeFDs(append(c.ours[:], c.exit, c.census)...)
}
