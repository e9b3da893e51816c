package registry

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// record gives the dispatch to the recorder, where there is one.
func (d *dispatch) record(from *Caller, out *hook.Outcome, err error) {
	call, _ := hook.ToolCallOf(d.in)
	if out != nil { // the caller may change it once Dispatch returns
		own := *out
		own.Results = slices.Clone(out.Results)
		out = &own
	}
	d.r.keep(hook.Record{Run: d.run, Time: d.began, Elapsed: time.Since(d.began), Workspace: d.r.opts.Workspace, Event: d.in.Event(),
		Base: d.base, Tool: call.ToolName, Env: from.env(), Payload: d.asked, Outcome: out, Err: err})
}

// recordBackground gives the result of a background hook to the recorder.
func (r *Registry) recordBackground(c *hook.Call, result *hook.Result) {
	if c.Run == "" {
		return
	}
	call, _ := hook.ToolCallOf(c.Input)
	r.keep(hook.Record{Run: c.Run, Time: time.Now().Add(-result.Elapsed), Elapsed: result.Elapsed, Workspace: r.opts.Workspace,
		Event: c.Input.Event(), Base: r.fillBase(c.Input.Common()), Tool: call.ToolName, Env: c.Env, Background: result})
}

// newRun names a dispatch: names sort by time, to the second, and two of the same
// second differ in 48 random bits.
func newRun(at time.Time) string {
	var b [10]byte
	binary.BigEndian.PutUint32(b[:], uint32(at.Unix()))
	_, _ = rand.Read(b[4:]) // never fails
	return strings.ToLower(runNames.EncodeToString(b[:]))
}

var runNames = base32.HexEncoding.WithPadding(base32.NoPadding)
