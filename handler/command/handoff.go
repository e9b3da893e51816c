package command

import (
	"cmp"
	"context"
	"time"

	"github.com/tenterhook/tenterhook/dialect"
	"github.com/tenterhook/tenterhook/hook"
)

// handleOnLeash runs a command that may hand itself off: as soon as it has
// printed {"async": true} the dispatch goes on without it. Until then it ends
// with ctx, from then on with whoever waits for it.
func (r *run) handleOnLeash(ctx context.Context) (*hook.Output, error) {
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	unleash := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	handoff := make(chan *hook.Handoff, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.start(life, watchForHandoff(handoff))
	}()
	select {
	case <-done:
	case off := <-handoff:
		if unleash() {
			off.Wait = func(ctx context.Context) (*hook.Output, error) { return r.wait(ctx, life, end, done, off.Timeout) }
			return &hook.Output{Handoff: off}, nil
		}
		<-done // ctx has ended, and the command with it
	}
	unleash()
	out, err := r.finish(life)
	end(nil)
	if err == nil && out != nil && out.Handoff != nil { // it ended as soon as it had handed itself off
		out.Handoff.Wait = func(context.Context) (*hook.Output, error) { return r.later() }
	}
	return out, err
}

// watchForHandoff looks at what a command prints until it is clear whether it
// begins with a hand-off.
func watchForHandoff(found chan<- *hook.Handoff) func([]byte) {
	const most = 4096 // a hand-off is short, and comes first
	settled := false
	return func(soFar []byte) {
		if settled {
			return
		}
		if off, ok := dialect.ReadHandoff(soFar); ok {
			found <- off
			settled = true
		}
		settled = settled || len(soFar) > most
	}
}

// wait is the life of a command after it has handed itself off.
func (r *run) wait(ctx, life context.Context, end context.CancelCauseFunc, done <-chan struct{}, timeout time.Duration) (*hook.Output, error) {
	defer end(nil)
	defer context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })()
	defer time.AfterFunc(cmp.Or(timeout, dialect.HandoffTimeout), func() { end(hook.ErrTimeout) }).Stop()
	<-done
	if _, err := r.finish(life); err != nil && life.Err() != nil {
		return nil, err
	}
	return r.later()
}

// later reads what the command printed after its hand-off.
func (r *run) later() (*hook.Output, error) {
	return r.handler.reader.ReadLater(r.call, r.result.Stdout)
}
