package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenterhook/tenterhook/hook"

	"github.com/tenterhook/tenterhook/internal/phrase"
)

const (
	pingTimeout = 2 * time.Second // after a call that was given up
	maxIgnored  = 3               // calls in a row that were given up
	// endTimeout is how long a failed call waits to learn how its server ended.
	endTimeout = 1500 * time.Millisecond
)

// session is one session with a server, shared by its calls.
type session struct {
	server *server
	link   *link
	mcp    *mcp.ClientSession
	ctx    context.Context // ends after the session
	cancel context.CancelFunc
	gone   chan struct{} // closed when the server is gone

	tools     atomic.Pointer[[]*mcp.Tool] // nil: not asked since they changed
	lastToken atomic.Int64
	watching  sync.Map // progress token → chan string

	answered atomic.Bool  // a call was answered
	ignored  atomic.Int32 // calls given up since one was answered
}

// watch waits for the session's end, and ends what is left of it.
func (s *session) watch() {
	defer s.cancel()
	unhook := context.AfterFunc(s.server.handler.ctx, func() { s.end(errClosed) })
	defer unhook()
	_ = s.mcp.Wait() // why it ended is for the link to say
	_ = s.mcp.Close()
	s.link.stop()
	close(s.gone)
}

// Done is closed when the server is gone.
func (s *session) Done() <-chan struct{} { return s.gone }

// Stop ends the session, and returns when nothing of it is left.
func (s *session) Stop() {
	select {
	case <-s.gone: // by itself, which its failed calls are about to say
	default:
		s.end(errReplaced)
		<-s.gone
	}
}

// blame notes why the session is ended.
func (s *session) blame(err error) { s.link.blame(asStart(err)) }

// died is why the session ended.
func (s *session) died() error {
	return &hook.Error{Failure: hook.FailureTransport, Reason: s.describeEnd()}
}

// end ends the session. It returns soon; gone tells when nothing is left.
func (s *session) end(why *hook.Error) {
	s.link.blame(why)
	_ = s.link.conn.Close()
}

// describeEnd says why the session ended, for the reason of an error.
func (s *session) describeEnd() string { return s.link.describe() + lastLines(s.link.stderr()) }

// call calls a tool and returns its result as it came.
func (s *session) call(ctx context.Context, c *hook.Call, tool string, input json.RawMessage, ex *exchange) (json.RawMessage, error) {
	own, cancel := context.WithCancel(context.WithValue(s.ctx, exchangeKey{}, ex))
	params := &mcp.CallToolParams{Name: tool, Arguments: input}
	var lines chan string
	if c.Progress != nil {
		lines = make(chan string, 16)
		token := s.lastToken.Add(1)
		params.SetProgressToken(token)
		s.watching.Store(float64(token), lines) // as it comes back in JSON
		defer s.watching.Delete(float64(token))
	}
	done := make(chan error, 1) // a server that does not read blocks the call beyond its context
	go func() {
		_, err := s.mcp.CallTool(own, params)
		s.link.conn.forget(ex)
		done <- err
	}()
	for {
		select {
		case line := <-lines:
			c.Progress(line)
		case err := <-done:
			s.retireContext(cancel)
			for len(lines) > 0 {
				c.Progress(<-lines)
			}
			return ex.result, err
		case <-ctx.Done():
			cancel() // tells the server
			ex.ignored = true
			return nil, ctx.Err()
		}
	}
}

func (s *session) retireContext(cancel context.CancelFunc) {
	if s.link.linger > 0 {
		time.AfterFunc(s.link.linger, cancel)
		return
	}
	cancel()
}

// ping asks whether the server is still there. An answer that says no is one too.
func (s *session) ping() error {
	ctx, cancel := context.WithTimeout(s.ctx, pingTimeout)
	defer cancel()
	err := await(ctx, func(ctx context.Context) error { return s.mcp.Ping(ctx, nil) })
	if errors.Is(err, context.DeadlineExceeded) {
		return &hook.Error{Failure: hook.FailureTransport, Reason: fmt.Sprintf("it did not answer a ping within %s and was stopped", pingTimeout),
			Hint: "find out why the server hangs"}
	}
	return nil
}

// await runs f, but not longer than ctx: a write to a server that does not read
// respects none. What is left behind ends with the link.
func await(ctx context.Context, f func(context.Context) error) error {
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// progress passes a server's note on to the call that it is about. A caller
// that is slow misses some.
func (s *session) progress(_ context.Context, n *mcp.ProgressNotificationClientRequest) {
	lines, ok := s.watching.Load(n.Params.ProgressToken)
	if !ok {
		return
	}
	line := phrase.First(n.Params.Message, lineLength)
	if line == "" && n.Params.Total > 0 {
		line = fmt.Sprintf("%g of %g", n.Params.Progress, n.Params.Total)
	} else if line == "" {
		line = fmt.Sprintf("%g", n.Params.Progress)
	}
	select {
	case lines.(chan string) <- line:
	default:
	}
}
