package supervise

import (
	"sync"
	"time"
)

func dead(p Process) bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}

func (u *Unit[P, W]) same(have, want W) bool { return u.Same == nil || u.Same(have, want) }

func (u *Unit[P, W]) told() {
	if u.Told != nil {
		u.Told()
	}
}

// paused is why there is no start now; nil = there may be one. The caller holds mu.
func (u *Unit[P, W]) paused(from W) error {
	left := u.pace.Wait()
	if u.pace.Failed() == 0 || left <= 0 || !u.same(u.of, from) {
		return nil
	}
	return &PauseError{Last: u.last, Failed: u.pace.Failed(), Wait: left}
}

// note is for a failure, of what is started from the same as the last one or not.
// The caller holds mu.
func (u *Unit[P, W]) note(from W, err error) {
	if u.pace.Failed() > 0 && !u.same(u.of, from) {
		u.pace.Reset()
	}
	u.of, u.last = from, err
}

// begin starts a process and puts it in the place of the current one, which ends
// with its last call. It starts nothing that is wanted no more: who waits for it
// looks again.
func (u *Unit[P, W]) begin(a *attempt[W], again func(W) (W, error)) {
	if now, err := again(a.from); err != nil || !u.same(a.from, now) {
		u.mu.Lock()
		u.attempt = nil
		u.mu.Unlock()
		close(a.done)
		return
	}
	began := time.Now()
	p, err := u.Start(a.from)
	var h *Held[P, W]
	u.mu.Lock()
	old := u.current
	u.current, u.attempt = nil, nil
	if err != nil {
		a.err = &StartError{err}
		u.note(a.from, err)
		u.pace.Unstarted(u.Spacing, time.Since(began))
	} else {
		h = &Held[P, W]{Process: p, From: a.from}
		h.answered.Store(int64(time.Since(epoch)))
		u.current, u.all[h] = h, struct{}{}
	}
	end := old != nil && old.retire()
	u.mu.Unlock()
	u.told()
	close(a.done)
	if end {
		old.Process.Stop()
	}
	if h != nil && !u.Spawn(func() { u.watch(h) }) {
		u.Close(ErrClosed)
	}
}

// watch waits for the end of a process, and cleans up behind it.
func (u *Unit[P, W]) watch(h *Held[P, W]) {
	<-h.Process.Done()
	u.mu.Lock()
	u.bury(h)
	u.mu.Unlock()
	u.told()
	h.Process.Stop()
	u.mu.Lock()
	delete(u.all, h)
	u.mu.Unlock()
}

// bury notes that a process died, unless it was on its way out. The caller holds mu.
func (u *Unit[P, W]) bury(h *Held[P, W]) {
	if u.current == h {
		u.current = nil
	}
	if !h.retired {
		u.note(h.From, u.Died(h.Process))
		if h.worked {
			u.pace.Reset()
		}
		u.pace.Ended(u.Spacing, h.worked)
	}
	h.retired = true
}

// check asks a process for its health, once at a time, and ends it if it does not
// work. The caller holds mu.
func (u *Unit[P, W]) check(h *Held[P, W]) {
	if u.Check == nil || h.probe != nil || h.retired {
		return
	}
	done := make(chan struct{})
	if u.Spawn(func() {
		err := u.Check(h.Process)
		u.mu.Lock()
		h.probe = nil
		if err == nil {
			h.answered.Store(int64(time.Since(epoch)))
		} else {
			u.fell(h, err)
			u.bury(h)
		}
		u.mu.Unlock()
		close(done)
		if err != nil {
			h.Process.Stop()
		}
	}) {
		h.probe = done
	}
}

func (u *Unit[P, W]) fell(h *Held[P, W], err error) {
	if u.Fell != nil {
		u.Fell(h.Process, err)
	}
}

// Answered notes that a process answered: it works, and all failures are forgiven.
func (u *Unit[P, W]) Answered(h *Held[P, W]) {
	h.answered.Store(int64(time.Since(epoch)))
	u.mu.Lock()
	defer u.mu.Unlock()
	h.worked = true
	if u.current == h {
		u.pace.Reset()
	}
}

// Release gives a process back after a call. One in doubt is asked whether it works.
func (u *Unit[P, W]) Release(h *Held[P, W], doubt bool) {
	u.mu.Lock()
	h.calls--
	if doubt {
		u.check(h)
	}
	end := h.retired && h.calls == 0
	u.mu.Unlock()
	if end {
		u.Spawn(h.Process.Stop)
	}
}

// retire takes a process out of service, and reports whether it can end now. The
// caller holds the unit's mutex.
func (h *Held[P, W]) retire() bool {
	h.retired = true
	return h.calls == 0
}

// Replace ends a process with its last call. The next call starts another one.
func (u *Unit[P, W]) Replace(h *Held[P, W]) {
	u.mu.Lock()
	if u.current == h {
		u.current = nil
	}
	end := h.retire()
	u.mu.Unlock()
	if end {
		u.Spawn(h.Process.Stop)
	}
}

// Withdraw is Replace for the process that takes calls now, if there is one.
func (u *Unit[P, W]) Withdraw() {
	u.mu.Lock()
	h := u.current
	u.mu.Unlock()
	if h != nil {
		u.Replace(h)
	}
}

// Close ends all processes because of err, whatever calls are under way, and returns
// when nothing of them is left.
func (u *Unit[P, W]) Close(err error) {
	u.mu.Lock()
	u.current = nil
	var ends sync.WaitGroup
	for h := range u.all {
		h.retired = true
		u.fell(h, err)
		ends.Go(h.Process.Stop)
	}
	u.mu.Unlock()
	ends.Wait()
}

// Status is how a unit stands.
type Status[P Process, W any] struct {
	Running   bool
	Process   P   // if it runs
	Calls     int // that it serves now
	Processes int // with processes that end with their last call
	Starting  bool
	From      W     // of what runs, starts or failed
	Failed    error // why it does not run: a [*PauseError] or the last failure; nil = nothing failed of late
}

// Status returns how the unit stands now.
func (u *Unit[P, W]) Status() (s Status[P, W]) {
	u.mu.Lock()
	defer u.mu.Unlock()
	s.Processes = len(u.all)
	switch {
	case u.current != nil && !dead(u.current.Process):
		s.Running, s.Process, s.Calls, s.From = true, u.current.Process, u.current.calls, u.current.From
	case u.attempt != nil:
		s.Starting, s.From = true, u.attempt.from
	case u.pace.Failed() > 0:
		s.From, s.Failed = u.of, u.last
		if err := u.paused(u.of); err != nil {
			s.Failed = err
		}
	}
	return s
}
