package process

import "sync"

// capped keeps what is written to it, up to most bytes, and says once when there is more.
type capped struct {
	most     int
	overflow func()
	grown    func(soFar []byte) // where not nil: is called whenever there is more

	mu   sync.Mutex
	kept []byte
	full bool
}

func (c *capped) Write(p []byte) (int, error) {
	c.add(p)
	if c.grown != nil {
		c.grown(c.take())
	}
	return len(p), nil
}

func (c *capped) add(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	room := c.most - len(c.kept)
	c.kept = append(c.kept, p[:min(len(p), room)]...)
	if len(p) > room && !c.full {
		c.full = true
		c.overflow()
	}
}

// take returns what was kept. os/exec may still be writing, if it gave up waiting.
func (c *capped) take() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]byte(nil), c.kept...)
}
