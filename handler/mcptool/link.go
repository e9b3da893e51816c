package mcptool

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenterhook/tenterhook/hook"
)

const (
	maxMessage = 4 << 20 // bytes of one message, or of one HTTP response
	maxAnswer  = 1 << 20 // bytes of what a tool answers
)

// link is an open way to a server, and what is known of its end.
type link struct {
	conn *tap
	// stop releases all there is: bounded, and callable any number of times.
	stop func()
	// ending is how the server ended, once stop has returned: "" = not known.
	ending func() string
	// stderr is the end of what the server wrote there.
	stderr func() string
	// linger is how long a call's context outlives the call, for the body of a
	// response to be read to its end, so that the connection is used again.
	linger time.Duration

	fault atomic.Pointer[hook.Error] // what the server did wrong, or why it was ended
}

// blame notes why the link came to its end; the first reason counts.
func (l *link) blame(e *hook.Error) { l.fault.CompareAndSwap(nil, e) }

// opened is the transport of a link that is open already.
type opened struct{ conn mcp.Connection }

func (o opened) Connect(context.Context) (mcp.Connection, error) { return o.conn, nil }

// exchange is what becomes known of one call beside what the SDK returns. It
// travels in the call's context.
type exchange struct {
	id     jsonrpc.ID
	sent   bool
	result json.RawMessage // as it came: the SDK would let the last of two equal keys win
	status int             // of an HTTP response that refused the call

	ignored bool // the caller gave up
	fault   atomic.Pointer[hook.Error]
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	ex, _ := ctx.Value(exchangeKey{}).(*exchange)
	return ex
}

// tap is a connection that keeps the results of calls as they came.
type tap struct {
	mcp.Connection
	version atomic.Pointer[string] // the protocol's revision, once it was agreed upon

	mu   sync.Mutex
	open map[jsonrpc.ID]*exchange
}

func newTap(c mcp.Connection) *tap {
	return &tap{Connection: c, open: make(map[jsonrpc.ID]*exchange)}
}

// Write notes which call a request belongs to.
func (t *tap) Write(ctx context.Context, msg jsonrpc.Message) error {
	if req, ok := msg.(*jsonrpc.Request); ok && req.Method == "tools/call" {
		if ex := exchangeOf(ctx); ex != nil {
			t.mu.Lock()
			ex.id, ex.sent = req.ID, true
			t.open[req.ID] = ex
			t.mu.Unlock()
		}
	}
	return t.Connection.Write(ctx, msg)
}

// noResult takes the place of a result that is read here.
var noResult = json.RawMessage(`{"content":[]}`)

// Read hands the result of a call to its exchange.
func (t *tap) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := t.Connection.Read(ctx)
	resp, ok := msg.(*jsonrpc.Response)
	if err != nil || !ok {
		return msg, err
	}
	if t.version.Load() == nil {
		var initialized struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		if json.Unmarshal(resp.Result, &initialized) == nil && initialized.ProtocolVersion != "" {
			t.version.Store(&initialized.ProtocolVersion)
		}
	}
	t.mu.Lock()
	ex := t.open[resp.ID]
	delete(t.open, resp.ID)
	t.mu.Unlock()
	if ex != nil && resp.Error == nil {
		ex.result, resp.Result = resp.Result, noResult
	}
	return msg, nil
}

// forget drops a call that is over.
func (t *tap) forget(ex *exchange) {
	t.mu.Lock()
	delete(t.open, ex.id)
	t.mu.Unlock()
}

// dropPartialLine cuts the beginning off a tail that began within a line: it
// could be the rest of a secret.
func dropPartialLine(tail string, size int) string {
	if len(tail) < size {
		return tail
	}
	_, rest, _ := strings.Cut(tail, "\n")
	return rest
}
