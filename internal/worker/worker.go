package worker

import (
	"bytes"
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/internal/process"
)

const (
	maxLine = process.DefaultOutput // of an answer, in bytes
	maxKept = 64 << 10              // of a buffer, between calls
	// lastWords is how long a worker that closed its stdout has to end, so that its exit code is known.
	lastWords = 250 * time.Millisecond
)

// worker is a running process, and the conversation with it. It belongs to the call that holds its slot.
type worker struct {
	service *process.Service
	stdin   *os.File
	stdout  *os.File
	pending func(buf []byte) (n int, end bool) // reads what is there already, without waiting
	files   []file
	stderr  stderr
	calls   int  // that it was given
	spent   bool // it must not be asked again

	out, in []byte // buffers, kept from call to call
}

// The worker has ended, or at least closed its stdin or stdout: before it took the request, or after.
var (
	errGone = errors.New("the worker has ended")
	errDied = errors.New("the worker has ended without an answer")
)

// interruptedError: the context ended first.
type interruptedError struct{ half string } // what there was of an answer, quoted

func (*interruptedError) Error() string { return "interrupted" }

// start starts a process. A program that is being written is waited for, within limits.
func start(c Command, grace, patience time.Duration) (*worker, error) {
	w := &worker{files: look(c.Files)}
	v, err := process.Start(process.ServiceSpec{Path: c.Path, Argv: c.Argv, Dir: c.Dir, Env: c.Env, Umask: c.Umask, Sandbox: c.Sandbox,
		Grace: grace, Patience: patience, Stderr: w.stderr.add})
	if err != nil {
		return nil, err
	}
	w.service = v
	w.stdin, w.stdout = v.Stdin().(*os.File), v.Stdout().(*os.File)
	w.pending = pending(w.stdout)
	return w, nil
}

// exchange sends a request and reads the answer.
func (w *worker) exchange(ctx context.Context, request []byte) ([]byte, error) {
	stop := context.AfterFunc(ctx, w.interrupt)
	line, err := w.converse(request)
	if stop() {
		return line, err
	}
	w.spent = true // interrupted, if only just after its answer
	if err != nil {
		return nil, &interruptedError{half: w.half()}
	}
	return line, nil
}

// interrupt ends what is being read and written.
func (w *worker) interrupt() {
	past := time.Unix(0, 1)
	w.stdin.SetWriteDeadline(past)
	if w.stdout.SetReadDeadline(past) != nil { // pipes of this system have no deadlines
		w.service.Stop()
	}
}

func (w *worker) converse(request []byte) ([]byte, error) {
	w.in = w.in[:0]
	if err := w.unasked(); err != nil {
		return nil, err
	}
	w.out = appendLine(w.out[:0], request)
	_, err := w.stdin.Write(w.out)
	if cap(w.out) > maxKept {
		w.out = nil
	}
	if err != nil {
		return nil, errGone
	}
	return w.answer()
}

// unasked looks for what the worker has said since its last answer.
func (w *worker) unasked() error {
	w.grow()
	n, end := w.pending(w.in[:cap(w.in)])
	switch {
	case n > 0:
		return &AnswerError{Reason: "it printed a line without a question: " + quote(w.in[:n]), Hint: oneLine}
	case end:
		return errGone
	}
	return nil
}

// answer reads one line.
func (w *worker) answer() ([]byte, error) {
	for {
		w.grow()
		n, err := w.stdout.Read(w.in[len(w.in):cap(w.in)])
		from := len(w.in)
		w.in = w.in[:from+n]
		if at := bytes.IndexByte(w.in[from:], '\n'); at >= 0 {
			return w.take(from + at)
		}
		switch {
		case len(w.in) > maxLine:
			return nil, tooLong()
		case err != nil:
			return nil, errDied
		}
	}
}

// take returns the line that ends at the given place.
func (w *worker) take(end int) ([]byte, error) {
	if rest := w.in[end+1:]; len(rest) > 0 {
		return nil, &AnswerError{Reason: "it answered with more than one line: " + quote(w.in), Hint: oneLine}
	}
	line, err := check(w.in[:end])
	if err != nil {
		return nil, err
	}
	line = bytes.Clone(line) // the buffer is for the next one
	if cap(w.in) > maxKept {
		w.in = nil
	}
	return line, nil
}

// grow makes room to read into.
func (w *worker) grow() {
	if free := cap(w.in) - len(w.in); free < 4<<10 {
		bigger := make([]byte, len(w.in), max(8<<10, 2*cap(w.in)))
		copy(bigger, w.in)
		w.in = bigger
	}
}

// half is what there is of an answer.
func (w *worker) half() string {
	if len(w.in) == 0 {
		return ""
	}
	return quote(w.in)
}

// ended is the error of a worker that is gone.
func (w *worker) ended(ctx context.Context) *ExitError {
	return &ExitError{Result: result(ctx, w.service)}
}

// stderr keeps what a worker writes there between two looks at it, the end of it.
type stderr struct {
	mu   sync.Mutex
	text []byte
}

const maxStderr = 8 << 10

func (s *stderr) add(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line = line[max(0, len(line)-maxStderr):]
	if over := len(s.text) - maxStderr; len(s.text)+len(line) >= 2*maxStderr && over > 0 {
		s.text = append(s.text[:0], s.text[over:]...)
	}
	s.text = append(append(s.text, line...), '\n')
}

func (s *stderr) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.text) == 0 {
		return ""
	}
	text := string(s.text[max(0, len(s.text)-maxStderr):])
	s.text = s.text[:0]
	return text
}
