package daemon

import (
	"context"
	"log/slog"
	"time"

	"github.com/tenterhook/tenterhook/internal/recording"
)

// moveAfter is how long after a record the daemon moves the spool into the
// database: before tidy gives back the memory that this takes. A command that
// asks earlier moves it itself.
const moveAfter = 2 * time.Second

// mover moves the spool into the database a while after something was recorded.
type mover struct {
	to     *recording.Recorder
	log    *slog.Logger
	wake   chan struct{}
	cancel context.CancelFunc
	done   chan struct{}

	said string // what is wrong, so that it is said once
}

// startMover returns a mover at work. The caller ends it.
func startMover(to *recording.Recorder, log *slog.Logger) *mover {
	ctx, cancel := context.WithCancel(context.Background())
	m := &mover{to: to, log: log, wake: make(chan struct{}, 1), cancel: cancel, done: make(chan struct{})}
	go m.work(ctx)
	return m
}

// soon says that something was recorded. It never waits.
func (m *mover) soon() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// end stops what is under way, and waits for that. Lines that were not moved wait
// in the spool.
func (m *mover) end() {
	m.cancel()
	<-m.done
}

func (m *mover) work(ctx context.Context) {
	defer close(m.done)
	for {
		select {
		case <-m.wake:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(moveAfter):
		case <-ctx.Done():
			return
		}
		well := true
		m.to.Ingest(ctx, func(err error) {
			well = false
			if ctx.Err() == nil && err.Error() != m.said {
				m.said = err.Error()
				m.log.Warn("records wait in the spool", "err", err)
			}
		})
		if well {
			m.said = ""
		}
	}
}
