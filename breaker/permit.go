package breaker

// A Result is how a call went, as far as its breaker is concerned.
type Result uint8

const (
	// Neutral says nothing about what was called: the caller cancelled, the call
	// was skipped or never made. Any value that is not named here is Neutral too.
	Neutral Result = iota
	// Success means that it did its work, whatever its answer was.
	Success
	// Failure means that it did not.
	Failure
)

// A Permit lets one call run. It is given by Breaker.Allow, and takes the result
// of that call once. The methods of a zero Permit do nothing. They may be called
// from several goroutines at once: the first result counts.
//
// A Permit must not be copied, since each copy would take a result (go vet
// reports it); pass a pointer.
type Permit struct {
	_          noCopy
	breaker    *Breaker // nil if nothing is to be reported; fixed
	generation uint64   // fixed
	done       bool     // guarded by breaker.mu
}

// Done reports how the call went. Only the first report counts, and only if the
// breaker is still as it was when the call was allowed.
func (p *Permit) Done(r Result) {
	b := p.breaker
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.done || p.generation != b.generation {
		return
	}
	p.done = true
	b.report(r)
}

// Release gives back a permit that was not reported on, as Done(Neutral) does.
// After Done it does nothing, so it can be deferred as soon as there is a permit.
func (p *Permit) Release() {
	p.Done(Neutral)
}

// noCopy makes go vet's copylocks check report copies of what holds it.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
