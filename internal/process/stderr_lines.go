package process

import (
	"bytes"
	"sync"
)

const (
	maxLine = 64 << 10 // of what is handed on at once, in bytes
	maxTail = 8 << 10
)

// stderrLines keeps the end of what is written to it, and hands each line on.
type stderrLines struct {
	each func([]byte) // may be nil
	line []byte       // the beginning of a line whose end has not come
	long bool         // the rest of this line is dropped: it was handed on, cut

	mu   sync.Mutex
	tail []byte // at least the last maxTail bytes, at most twice as many
}

// Write never fails. It is called from one goroutine.
func (l *stderrLines) Write(p []byte) (int, error) {
	l.keep(p)
	if l.each != nil {
		l.split(p)
	}
	return len(p), nil
}

func (l *stderrLines) keep(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p = p[max(0, len(p)-maxTail):]
	if len(l.tail)+len(p) > 2*maxTail {
		l.tail = append(l.tail[:0], l.tail[len(l.tail)-maxTail:]...)
	}
	l.tail = append(l.tail, p...)
}

func (l *stderrLines) split(p []byte) {
	for len(p) > 0 {
		part, rest, whole := bytes.Cut(p, []byte("\n"))
		p = rest
		if !l.long {
			l.line = append(l.line, part[:min(len(part), maxLine-len(l.line))]...)
		}
		if whole || len(l.line) == maxLine {
			l.hand()
			l.long = !whole
		}
	}
}

// hand hands the line on, unless it was already.
func (l *stderrLines) hand() {
	if !l.long {
		l.each(bytes.TrimSuffix(l.line, []byte("\r")))
	}
	l.line = l.line[:0]
}

// end hands a last line on that has no end.
func (l *stderrLines) end() {
	if len(l.line) > 0 {
		l.hand()
	}
}

func (l *stderrLines) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.tail[max(0, len(l.tail)-maxTail):])
}
