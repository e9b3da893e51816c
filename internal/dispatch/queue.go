package dispatch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/jobs"
	"github.com/tenterhook/tenterhook/internal/pack"
	"github.com/tenterhook/tenterhook/internal/selection"
)

// Results of workers are looked for so often, and so long. Later ones are in the
// journal alone.
const (
	resultsEvery = 200 * time.Millisecond
	resultsFor   = 24 * time.Hour
)

// handed is a hook that a worker of the fleet runs.
type handed struct {
	e     *selection.Entry
	c     *hook.Call
	until time.Time
}

func (r *Dispatcher) spool() jobs.Spool {
	return jobs.In(r.opts.StateDir)
}

// jobOf makes a job of a hook of a pack.
func (r *Dispatcher) jobOf(h *hook.Hook, c *hook.Call) (*jobs.Waiting, error) {
	ref, err := pack.Pinned(h.Source.Pack)
	if err != nil {
		return nil, errors.New("workers run hooks of packs, and this hook is of none")
	}
	file, err := filepath.Rel(h.Source.Root, h.Source.Path)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	call, _ := hook.ToolCallOf(c.Input)
	w := &jobs.Waiting{
		Job: jobs.Job{Queue: h.Queue, Digest: ref.Digest, File: filepath.ToSlash(file), Event: h.Event, Input: json.RawMessage(c.Payload)},
		Local: jobs.Local{Run: c.Run, Hook: h.ID, Source: fmt.Sprintf("%s:%d", h.Source.Path, h.Source.Line), Workspace: r.opts.Workspace,
			Tool: call.ToolName, Base: r.hooks.FillBase(c.Input.Common()), Time: now.UTC()},
	}
	w.Job.ID = jobs.NewID(cmp.Or(c.Run, NewRun(now)), ref.Digest, w.Job.File, string(h.Event), string(c.Payload))
	return w, w.Job.Valid()
}

// hand puts a hook where the fleet's agent takes it from. Nothing waits for a network,
// and where there is no agent the job stays on disk.
func (p *pool) hand(e *selection.Entry, c *hook.Call) hook.Result {
	w, err := p.r.jobOf(e.Hook, c)
	if err != nil {
		return hook.Result{Hook: e.Hook, Status: hook.StatusFailed, Failure: hook.FailureInvalid, Reason: "queue: " + err.Error(), Err: err,
			Hint: "push the hook as part of a pack and name that in the settings, or leave queue out"}
	}
	put := func() {
		if err := p.r.spool().Put(w); err != nil {
			p.deliver(e, c, hook.Result{Hook: e.Hook, Status: hook.StatusFailed, Failure: hook.FailureStart, Err: err,
				Reason: "the job cannot be kept: " + err.Error(), Hint: "tenterhook fleet jobs shows what waits"})
			return
		}
		p.await(w.Job.ID, handed{e, c, time.Now().Add(resultsFor)})
	}
	if !p.submit(func(context.Context) { put() }, put) {
		return p.noPlace(e)
	}
	return hook.Result{Hook: e.Hook, Status: hook.StatusAsync, Reason: "a worker of the queue " + e.Hook.Queue + " runs it"}
}

// await looks for the result of a job, with all others, as long as the registry is
// open.
func (p *pool) await(id string, h handed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if p.handed == nil {
		p.handed = make(map[string]handed)
		p.waiting.Go(p.look)
	}
	p.handed[id] = h
}

// look delivers results of workers until none is waited for.
func (p *pool) look() {
	tick := time.NewTicker(resultsEvery)
	defer tick.Stop()
	spool := p.r.spool()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-tick.C:
		}
		for id, h := range p.stillHanded() {
			r, _, ok := spool.Take(id)
			if ok {
				p.deliver(h.e, h.c, r.Hook(h.e.Hook))
			}
			if ok || time.Now().After(h.until) {
				p.forget(id)
			}
		}
		if p.restIfNone() {
			return
		}
	}
}

func (p *pool) stillHanded() map[string]handed {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make(map[string]handed, len(p.handed))
	for id, h := range p.handed {
		all[id] = h
	}
	return all
}

func (p *pool) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.handed, id)
}

// restIfNone reports whether nothing is waited for. The next job begins to look again.
func (p *pool) restIfNone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.handed) > 0 {
		return false
	}
	p.handed = nil
	return true
}

// ErrNotInForce is returned by RunPacked of a registry for a pack that the settings do not
// name, or a hook that it does not have.
var ErrNotInForce = errors.New("the settings name no such hook of a pack")

// RunPacked runs one hook of a pack on an input of another machine.
func (r *Dispatcher) RunPacked(ctx context.Context, digest, manifest string, in hook.Input) (hook.Result, error) {
	if err := r.Enter(); err != nil {
		return hook.Result{}, err
	}
	defer r.Leave()
	d := &dispatch{r: r, view: r.hooks.View(nil), in: in, base: r.hooks.FillBase(in.Common())}
	d.take(r.hooks.Pick(d.view, in, nil))
	for i := range d.slots {
		s := &d.slots[i]
		if h := s.Hook; !ofPack(h, digest, manifest) {
			continue
		}
		if !s.Run {
			return s.result, nil
		}
		if !d.encode() {
			return s.result, d.unjudged
		}
		c, failed := d.call(s)
		if failed != nil {
			return *failed, nil
		}
		c.Dir = r.opts.Workspace // the session's directory is another machine's
		return r.attempt(ctx, s.Entry, c), nil
	}
	return hook.Result{}, ErrNotInForce
}

// ofPack reports whether a hook is declared by a manifest of the pack of a digest.
func ofPack(h *hook.Hook, digest, manifest string) bool {
	ref, err := pack.Pinned(h.Source.Pack)
	if err != nil || ref.Digest != digest {
		return false
	}
	file, err := filepath.Rel(h.Source.Root, h.Source.Path)
	return err == nil && filepath.ToSlash(file) == manifest
}
