package daemon

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// ErrNoDaemon is returned where no daemon runs, which is always here: entries
// decide in a process of their own.
var ErrNoDaemon = errors.New("there is no daemon on Windows: hook entries decide in a process of their own")

// Options configure Run.
type Options struct {
	Env      []string
	Idle     time.Duration
	Logger   *slog.Logger
	Takeover bool
	Ready    func(Status)
}

// DefaultIdle is after how long without a call a daemon ends.
const DefaultIdle = 30 * time.Minute

// Run fails with ErrNoDaemon.
func Run(context.Context, Options) error { return ErrNoDaemon }

// Ask fails with ErrNoDaemon.
func Ask([]string) (*Status, error) { return nil, ErrNoDaemon }

// Stop fails with ErrNoDaemon.
func Stop([]string, time.Duration) error { return ErrNoDaemon }

func askReset([]string, string) ([]string, error) { return nil, ErrNoDaemon }
