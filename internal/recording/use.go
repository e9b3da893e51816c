package recording

import (
	"context"
	"errors"
	"fmt"

	"github.com/tenterhook/tenterhook/journal"
)

// AsideError says that a damaged journal was set aside, and a new one began.
type AsideError struct{ Path string }

// Error says where the damaged journal is.
func (e *AsideError) Error() string {
	return "the journal was damaged; it is now " + e.Path + ", and a new one began"
}

// ErrOpen is returned by [Use] for a journal that cannot be opened.
var ErrOpen = errors.New("open the journal")

// Use opens the journal of a state directory, moves into it what processes have
// written so far, and calls ask. It calls told with what
// does not prevent that: an [AsideError], or why what is new could not be moved.
// The journal is closed when Use returns.
func Use(ctx context.Context, stateDir string, o journal.Options, told func(error), ask func(*journal.Journal) error) error {
	return use(ctx, Dir(stateDir), o, told, ask)
}

func use(ctx context.Context, dir string, o journal.Options, told func(error), ask func(*journal.Journal) error) error {
	j, err := journal.Open(ctx, dir, o)
	if errors.Is(err, journal.ErrNewer) {
		return fmt.Errorf("%w; runs wait in %s until then", err, dir)
	}
	if err != nil {
		return fmt.Errorf("%w in %s: %w", ErrOpen, dir, err)
	}
	if j.SetAside != "" {
		told(&AsideError{j.SetAside})
	}
	err = errors.Join(inside(ctx, j, dir, told, ask), j.Close())
	if !journal.Damaged(err) {
		return err
	}
	aside, asideErr := journal.SetAside(ctx, dir)
	if asideErr != nil {
		return errors.Join(err, asideErr)
	}
	if aside != "" {
		return &AsideError{aside}
	}
	return err
}

// inside moves what is new into an open journal, and asks.
func inside(ctx context.Context, j *journal.Journal, dir string, told func(error), ask func(*journal.Journal) error) error {
	if _, err := j.Ingest(ctx); err != nil {
		err = fmt.Errorf("move new runs into the journal in %s: %w", dir, err)
		if Fatal(err) {
			return err
		}
		told(err) // what the journal has can be read all the same
	}
	if ask == nil {
		return nil
	}
	return ask(j)
}

// Fatal reports whether an error of Ingest says more than that new runs wait:
// whether the journal cannot be read either.
func Fatal(err error) bool {
	return journal.Damaged(err) || errors.Is(err, journal.ErrNewer) || errors.Is(err, journal.ErrReplaced) || errors.Is(err, context.Canceled)
}
