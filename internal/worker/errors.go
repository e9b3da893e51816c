package worker

import (
	"fmt"
	"time"

	"github.com/tenterhook/tenterhook/internal/process"
)

// ExitError is the error of a call whose worker ended instead of answering, or that can not wait until
// another one may be started.
type ExitError struct {
	Result process.Result // how it ended; with the zero value it was not started
	Row    int            // how many ended so, one after the other
	Pause  time.Duration  // not 0: it is not started again before that
}

func (e *ExitError) Error() string {
	switch {
	case e.Pause > 0:
		return fmt.Sprintf("its worker ended %d times in a row instead of answering, and is started again in %v", e.Row, e.Pause.Round(time.Millisecond))
	case e.Result.Elapsed == 0:
		return "its worker closed its stdin or stdout instead of answering"
	}
	return "its worker ended instead of answering: " + e.Result.Describe()
}

// AnswerError is the error of a call whose worker said something that is no answer.
type AnswerError struct {
	Reason  string // with what it said, quoted
	Hint    string
	TooLong bool
}

func (e *AnswerError) Error() string { return e.Reason + " (" + e.Hint + ")" }

func tooLong() error {
	return &AnswerError{TooLong: true, Reason: "its answer is longer than 1 MiB", Hint: "answer with less"}
}

func calls(n int) string {
	if n == 1 {
		return "one call"
	}
	return fmt.Sprintf("%d calls", n)
}
