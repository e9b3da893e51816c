//go:build linux || darwin

package process

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// settleFor bounds the wait for a leader that got SIGKILL, sweepFor the one for what it left
	// behind. Together they stay below the 250 ms that Run promises.
	settleFor = 140 * time.Millisecond
	sweepFor  = 70 * time.Millisecond
	// A guard has its price. So a child gets one only when it has run for guardSoon and has children
	// of its own, or for guardLate. Until then, on Linux, the death of the host ends the child
	// itself, though not the child's own children.
	guardSoon = 5 * time.Millisecond
	guardLate = 15 * time.Millisecond
)

// stage is how far the conversation with a child has come.
type stage uint8

const (
	running  stage = iota // until the timeout
	draining              // the leader has exited, its children hold an output: until drainFor is over
	stopping              // the group got SIGTERM: until the grace is over
	killed                // the group got SIGKILL: until the leader is gone, or settleFor is over
	over
)

// scratch holds the buffers that outputs are read into: a child that writes nothing costs no memory,
// and a child that writes little costs little.
var scratch = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// converse feeds the child and listens to it until it has ended, or was ended.
func (c *child) converse() {
	buf := scratch.Get().(*[32 << 10]byte)
	defer scratch.Put(buf)
	for c.stage != over && !c.goesOn() {
		c.serve(c.wait.wait(c.next()), buf[:])
		c.tick(time.Now())
	}
}

// next is when something is to be done even if nothing happens; the zero time is never.
func (c *child) next() time.Time {
	if !c.guardAt.IsZero() && (c.due.IsZero() || c.guardAt.Before(c.due)) {
		return c.guardAt
	}
	return c.due
}

// serve handles what has happened.
func (c *child) serve(e events, buf []byte) {
	if e.has(slotStdin) {
		c.feed()
	}
	if e.has(slotStdout) {
		c.listen(slotStdout, &c.res.Stdout, c.spec.MaxStdout, buf)
	}
	if e.has(slotStderr) {
		c.listen(slotStderr, &c.res.Stderr, c.spec.MaxStderr, buf)
	}
	if e.has(slotExit) {
		c.exited = true
		c.wait.forget(slotExit, c.exit)
		c.guardAt = time.Time{}
	}
	if e.has(slotWake) && c.stage == running && !c.exited {
		c.res.Cancelled = true
		c.stop()
	}
}

// tick moves on to the next stage when it is time.
func (c *child) tick(now time.Time) {
	silent := c.ours[slotStdout] < 0 && c.ours[slotStderr] < 0
	switch {
	case c.exited && (silent || c.stage == killed):
		c.stage = over
		return
	case c.exited && c.stage == running:
		c.stage, c.due = draining, now.Add(drainFor)
		return
	case !c.guardAt.IsZero() && !now.Before(c.guardAt):
		c.seekGuard(now)
	}
	if c.due.IsZero() || now.Before(c.due) {
		return
	}
	switch c.stage {
	case running:
		c.res.TimedOut = true
		c.stop()
	case stopping:
		c.kill()
	case draining:
		c.held = true
		c.stage = over
	case killed:
		c.stage = over
	}
}

// seekGuard puts the child under guard, if it is time for that.
func (c *child) seekGuard(now time.Time) {
	if !c.looked && !mayHaveChildren(c.pid) {
		c.looked = true
		c.guardAt = now.Add(guardLate - guardSoon)
		return
	}
	c.guardAt = time.Time{}
	guards.add(c.pid)
}

// stop asks the whole group to end. SIGCONT is for stopped processes: they could not hear it.
func (c *child) stop() {
	if c.spec.Grace < 0 {
		c.kill()
		return
	}
	c.shut(slotStdin)
	unix.Kill(-c.pid, unix.SIGTERM)
	unix.Kill(-c.pid, unix.SIGCONT)
	c.stage, c.due = stopping, time.Now().Add(c.spec.Grace)
}

// kill ends the whole group.
func (c *child) kill() {
	unix.Kill(-c.pid, unix.SIGKILL)
	c.stage, c.due = killed, time.Now().Add(settleFor)
	if c.exited {
		c.stage = over // who else holds an output is for the sweep
	}
}

// feed writes what the child's stdin takes without blocking, and closes it after the last byte. That
// the child does not want it (EPIPE) is the child's affair.
func (c *child) feed() {
	for len(c.input) > 0 {
		n, err := unix.Write(c.ours[slotStdin], c.input)
		if err == unix.EAGAIN {
			return
		}
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			break
		}
		c.input = c.input[n:]
	}
	c.shut(slotStdin)
}

// listen takes what is there to read. What passes the cap is not kept, and ends the child.
func (c *child) listen(slot int, out *[]byte, most int, buf []byte) {
	n, err := unix.Read(c.ours[slot], buf)
	if err == unix.EINTR || err == unix.EAGAIN {
		return
	}
	if n <= 0 {
		c.shut(slot)
		return
	}
	if c.stays != nil {
		c.stays.Write(buf[:n])
		return
	}
	room := most - len(*out)
	*out = append(*out, buf[:min(n, room)]...)
	if slot == slotStdout && c.spec.Detach != nil && c.background == nil {
		c.background = c.spec.Detach(*out)
	}
	if n <= room {
		return
	}
	c.shut(slot)
	if c.res.Overflow == "" {
		c.res.Overflow = [...]string{slotStdout: "stdout", slotStderr: "stderr"}[slot]
	}
	if c.stage == running { // tick has not seen an exit yet
		c.stop()
	}
}
