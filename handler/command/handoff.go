package command

import (
	"cmp"
	"context"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

// handoff is how a command that prints {"async": true} continues in the
// background: the dispatch continues without it.
type handoff struct {
	declared *hook.Handoff
	settled  bool            // it is none, or it was found
	life     context.Context // of the command in the background
	end      context.CancelCauseFunc
}

// look looks at what a command prints until it is clear whether it begins with
// a hand-off, and returns what the command's life depends on from then on.
func (o *handoff) look(soFar []byte) context.Context {
	const most = 4096 // a hand-off is short, and comes first
	if o.settled {
		return nil
	}
	declared, ok := dialect.ReadHandoff(soFar)
	o.settled = ok || len(soFar) > most
	if !ok {
		return nil
	}
	o.declared = declared
	o.life, o.end = context.WithCancelCause(context.Background())
	return o.life
}

// wait is the life of a command after it has handed itself off.
func (r *run) wait(ctx context.Context, o *handoff) (*hook.Output, error) {
	defer o.end(nil)
	defer context.AfterFunc(ctx, func() { o.end(context.Cause(ctx)) })()
	defer time.AfterFunc(cmp.Or(o.declared.Timeout, dialect.HandoffTimeout), func() { o.end(hook.ErrTimeout) }).Stop()
	r.result = <-r.result.Rest
	if _, err := r.finish(o.life); err != nil && o.life.Err() != nil {
		return nil, err
	}
	return r.later()
}

// later reads what the command printed after its hand-off.
func (r *run) later() (*hook.Output, error) {
	return r.handler.reader.ReadLater(r.call, r.result.Stdout)
}
