//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxSpares bounds the spare threads of this process, each with a guard.
	maxSpares = 4
	// spareFor is how long one waits to be used.
	spareFor = 5 * time.Second
)

// pool keeps spare cells. A policy gets one when it is asked for a second time within spareFor: a process
// that runs one hook prepares none.
type pool struct {
	mu    sync.Mutex
	spare map[string]*waiting
	asked map[string]time.Time
}

type waiting struct {
	cell *cell
	end  *time.Timer
}

var spares = pool{spare: map[string]*waiting{}, asked: map[string]time.Time{}}

// take returns a cell for a policy: a spare one, or a cell that the caller must make. It has the next one
// prepared where the policy is asked for often.
func (s *pool) take(p *Policy) (c *cell, spare bool) {
	key := p.key()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	often := now.Sub(s.asked[key]) < spareFor
	s.note(key, now)
	w := s.spare[key]
	delete(s.spare, key)
	if w != nil && w.end.Stop() {
		c, spare = w.cell, true
	} else {
		c = newCell(p)
	}
	if often {
		time.AfterFunc(spareSoon, func() { s.prepare(key, p) })
	}
	return c, spare
}

// key tells policies apart, also by what is at their paths now: a directory that was made again is another.
func (p *Policy) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v %v %d %v", p.Mode, p.Ports, p.Serve, p.Memory, p.lacks)
	if p.Ports == nil {
		b.WriteString(" any")
	}
	for _, list := range [][]string{p.Write, p.Read, p.Deny} {
		for _, path := range list {
			fmt.Fprintf(&b, " %q %s", path, identity(path))
		}
		b.WriteByte(';')
	}
	return b.String()
}

// identity tells one file at a path from another.
func identity(path string) string {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return "-"
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}

// spareSoon lets the run that is under way have the processor first.
const spareSoon = 2 * time.Millisecond

// note remembers when a policy was asked for, and forgets the old ones.
func (s *pool) note(key string, now time.Time) {
	for k, at := range s.asked {
		if now.Sub(at) >= spareFor {
			delete(s.asked, k)
		}
	}
	s.asked[key] = now
}

// prepare makes a spare, unless there is one or there are too many.
func (s *pool) prepare(key string, p *Policy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spare[key] != nil || len(s.spare) >= maxSpares || s.asked[key].IsZero() {
		return
	}
	c := newCell(p)
	go c.make()
	s.spare[key] = &waiting{c, time.AfterFunc(spareFor, func() { s.expire(key, c) })}
}

// expire ends an unused spare.
func (s *pool) expire(key string, c *cell) {
	s.mu.Lock()
	if w := s.spare[key]; w != nil && w.cell == c {
		delete(s.spare, key)
	}
	s.mu.Unlock()
	close(c.work)
	c.bury()
}

// Forget ends the spare threads of this process. A host that is done with contained hooks calls it, so that
// nothing of them is left; later calls of [Do] make new ones.
func Forget() {
	spares.mu.Lock()
	var ended []*cell
	for key, w := range spares.spare {
		if w.end.Stop() {
			ended = append(ended, w.cell)
			delete(spares.spare, key)
		}
	}
	clear(spares.asked)
	spares.mu.Unlock()
	for _, c := range ended {
		close(c.work)
		c.bury()
	}
}
