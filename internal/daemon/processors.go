package daemon

import (
	"runtime"
	"sync"
)

// processors is how many goroutines of this process run at once. For calls that
// come one after the other it is one: each goroutine that starts would wake another
// thread, which costs such a call a fifth of its time and gives it nothing.
type processors struct {
	mu   sync.Mutex // guards full
	full int        // how many there are; 0 = all are in use
}

// few has goroutines run one at a time.
func (p *processors) few() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.full == 0 {
		p.full = runtime.GOMAXPROCS(1)
	}
}

// all has them run side by side.
func (p *processors) all() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.full > 1 {
		runtime.GOMAXPROCS(p.full)
	}
	p.full = 0
}
