package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/jobs"
)

// How often a courier looks for jobs, and asks for results that were not announced.
const (
	carryEvery = 250 * time.Millisecond
	askEvery   = 15 * time.Second
)

// patience is how long a result is asked for: a hub keeps one for a week.
const patience = 8 * 24 * time.Hour

// untaken is how old a result is that no process waits for: it goes to the journal.
const untaken = 5 * time.Second

// Courier carries the jobs of a machine to the hub, and results back. Several may run
// on one machine.
type Courier struct {
	Connection *hub.Connection
	Spool      jobs.Spool
	Journal    hook.Recorder // gets results whose process is gone; nil = they stay
	Logger     *slog.Logger

	told error // what went wrong last; nil = nothing
}

// Run carries until ctx ends. nc reconnects by itself; while it is down jobs wait.
func (c *Courier) Run(ctx context.Context, nc *nats.Conn) error {
	js, err := c.Connection.JetStream(nc)
	if err != nil {
		return err
	}
	results, err := nc.Subscribe("results."+c.Connection.Name+".>", func(m *nats.Msg) { c.finish(m.Data) })
	if err != nil {
		return err
	}
	defer func() { _ = results.Unsubscribe() }()
	tick := time.NewTicker(carryEvery)
	defer tick.Stop()
	var asked time.Time
	for {
		if nc.IsConnected() {
			err := c.carry(ctx, nc, js)
			if time.Since(asked) > askEvery {
				asked = time.Now()
				err = errors.Join(err, c.ask(ctx, nc))
			}
			c.tell(err)
		} else {
			asked = time.Time{} // what was announced meanwhile was not heard
		}
		c.record()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// carry sends what waits. A job that was sent and not noted is sent again: the stream
// knows its ID.
func (c *Courier) carry(ctx context.Context, nc *nats.Conn, js jetstream.JetStream) error {
	waiting, bad := c.Spool.New()
	for i := range waiting {
		w := &waiting[i]
		data, err := json.Marshal(w.Job)
		if err != nil {
			return err
		}
		if room := nc.MaxPayload() - headerBytes; int64(len(data)) > room {
			bad = errors.Join(bad, c.Spool.Finish(failed(w.Job.ID, fmt.Sprintf("the event has %d bytes, and the hub takes %d", len(data), room))))
			continue
		}
		within, cancel := context.WithTimeout(ctx, 5*time.Second)
		_, err = js.Publish(within, subject(c.Connection.Name, &w.Job), data, jetstream.WithMsgID(key(c.Connection.Name, w.Job.ID)))
		cancel()
		if err != nil {
			return errors.Join(err, bad)
		}
		if err := c.Spool.Carried(w.Job.ID); err != nil && !errors.Is(err, fs.ErrNotExist) { // another courier was faster
			return err
		}
	}
	return bad
}

// headerBytes is room for the headers and the subject of a message.
const headerBytes = 1 << 10

// failed is the result of a job that no worker got.
func failed(id, why string) *jobs.Result {
	return &jobs.Result{Job: id, Status: hook.StatusFailed, Failure: hook.FailureTransport, Reason: why}
}

// ask fetches results that were announced while no courier listened.
func (c *Courier) ask(ctx context.Context, nc *nats.Conn) error {
	sent, bad := c.Spool.Sent()
	for _, w := range sent {
		if time.Since(w.Local.Time) > patience {
			bad = errors.Join(bad, c.Spool.Finish(failed(w.Job.ID, "no result came within eight days")))
			continue
		}
		within, cancel := context.WithTimeout(ctx, 5*time.Second)
		m, err := nc.RequestWithContext(within, "$JS.API.DIRECT.GET.KV_"+hub.ResultBucket+".$KV."+hub.ResultBucket+"."+key(c.Connection.Name, w.Job.ID), nil)
		cancel()
		if err != nil {
			return errors.Join(err, bad)
		}
		if m.Header.Get("Status") == "" { // else there is none yet
			c.finish(m.Data)
		}
	}
	return bad
}

func (c *Courier) finish(data []byte) {
	var r jobs.Result
	if len(data) > jobs.MaxResult || json.Unmarshal(data, &r) != nil {
		return // nothing that a worker writes
	}
	if err := c.Spool.Finish(&r); err != nil {
		c.Logger.Warn("a result cannot be kept", "job", r.Job, "err", err)
	}
}

// record writes results to the journal that no process takes.
func (c *Courier) record() {
	if c.Journal == nil {
		return
	}
	for _, id := range c.Spool.Done(time.Now().Add(-untaken)) {
		r, w, ok := c.Spool.Take(id)
		if !ok || w == nil || w.Local.Run == "" {
			continue
		}
		h := &hook.Hook{ID: w.Local.Hook, Kind: hook.KindCommand, Event: w.Job.Event, Async: true}
		result := r.Hook(h)
		c.Journal.Record(hook.Record{Run: w.Local.Run, Time: time.Now().Add(-result.Elapsed), Elapsed: result.Elapsed, Workspace: w.Local.Workspace,
			Event: w.Job.Event, Base: w.Local.Base, Tool: w.Local.Tool, Env: []string{}, Background: &result})
	}
}

// tell logs what goes wrong, once.
func (c *Courier) tell(err error) {
	switch {
	case err != nil && (c.told == nil || c.told.Error() != err.Error()):
		c.Logger.Warn("jobs wait on this machine", "err", err)
	case err == nil && c.told != nil:
		c.Logger.Info("jobs are carried again")
	}
	c.told = err
}
