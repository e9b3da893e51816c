package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync/atomic"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/spill"
)

// DefaultMaxBody is how much of an answer is taken, in bytes.
const DefaultMaxBody = 1 << 20

// Options configure a Handler. The zero value is usable.
type Options struct {
	// Env is what variables in URLs and headers are looked up in, as
	// "key=value"; nil = this process's environment as it is when New is called.
	Env []string
	// Proxy respects HTTP_PROXY, HTTPS_PROXY and NO_PROXY of this process, as they
	// are at the first request. What is behind the proxy is for the proxy to
	// refuse then: here only addresses and localhost are known to be local.
	Proxy bool
	// MaxBody is how many bytes an answer may have once it is decoded; 0 or
	// less = DefaultMaxBody.
	MaxBody int64
	// TLS is used for https: own roots, client certificates. nil = the
	// system's roots. It is cloned.
	TLS *tls.Config
	// Resolver looks names up; nil = net.DefaultResolver.
	Resolver *net.Resolver
}

// Handler calls HTTP hooks. Until Configure is called it refuses every URL. It
// is safe for concurrent use.
type Handler struct {
	env     []string
	maxBody int64
	reader  dialect.Reader

	guarded, open *http.Transport // with public addresses alone, with all
	behind        *http.Transport // through the proxy
	proxy         func(*http.Request) (*url.URL, error)

	policy atomic.Pointer[policy]
	closed atomic.Bool
}

// New returns a Handler that allows no URL. Close it.
func New(o Options) *Handler {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	o.MaxBody = min(o.MaxBody, math.MaxInt64-1) // one byte more is read, to see that it is there
	config := newTLSConfig(o.TLS)
	h := &Handler{env: slices.Clone(o.Env), maxBody: o.MaxBody, reader: dialect.Reader{Spill: spill.Text}}
	h.guarded = newTransport(newDialer(o.Resolver, config, false), nil)
	h.open = newTransport(newDialer(o.Resolver, config, true), nil)
	if o.Proxy {
		h.proxy = http.ProxyFromEnvironment
		h.behind = newTransport(newDialer(o.Resolver, config, true), h.proxy)
	}
	h.policy.Store(h.newPolicy(false))
	return h
}

// Handle posts the event to the hook's URL and reads the answer: an empty body
// of a 2xx is no opinion, a JSON object is read as a command's stdout would be.
// Anything else is a failed hook, whatever its status: a status alone never
// blocks.
//
// An event may arrive twice where the server closed a connection that was kept
// open just as it was used again.
func (h *Handler) Handle(ctx context.Context, c *hook.Call) (*hook.Output, error) {
	if h.closed.Load() {
		return nil, &hook.Error{Failure: hook.FailureStart, Reason: "its handler is closed", Hint: "open the registry again"}
	}
	rules := h.policy.Load()
	p := rules.plans.get(c.Hook, rules.plan)
	p.warn(c)
	if p.failed != nil {
		return nil, p.failed
	}
	payload, err := dialect.Payload(c.Hook.Protocol, c.Input, c.Payload)
	if err != nil {
		return nil, hook.Errorf(hook.FailureStart, "it cannot be told of the event: %w", err)
	}
	out, err := h.exchange(ctx, c, p, payload)
	if h.closed.Load() {
		p.via.CloseIdleConnections() // it was under way when Close was called
	}
	return out, err
}

// exchange sends the request and reads the answer.
func (h *Handler) exchange(ctx context.Context, c *hook.Call, p *plan, payload []byte) (*hook.Output, error) {
	res, err := p.via.RoundTrip(p.request(ctx, payload))
	if err != nil {
		return nil, p.broken(ctx, err)
	}
	defer res.Body.Close()
	if err := p.refusedBy(res); err != nil {
		return nil, err
	}
	body, err := read(res, h.maxBody)
	if err != nil {
		return nil, p.unread(ctx, err)
	}
	return h.reader.ReadBody(c, body)
}

// request is the hook's request for one event. RoundTrip changes neither the
// URL nor the header, so all requests of a plan share them.
func (p *plan) request(ctx context.Context, payload []byte) *http.Request {
	body := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(payload)), nil }
	r := http.Request{
		Method: p.method, URL: p.url, Host: p.url.Host, Header: p.header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		ContentLength: int64(len(payload)), GetBody: body,
	}
	r.Body, _ = body()
	return r.WithContext(withCall(ctx))
}

// warn reports what is wrong with the hook, the first time it runs.
func (p *plan) warn(c *hook.Call) {
	if len(p.problems) == 0 || !p.warned.CompareAndSwap(false, true) {
		return
	}
	for _, trouble := range p.problems {
		if trouble.Severity == hook.SeverityWarning && trouble.Code != plainHTTP {
			c.Warn(trouble.Code, trouble.Message, trouble.Hint)
		}
	}
}

// Close ends the connections that are kept open. Calls under way continue, and
// end theirs with them; later ones fail.
func (h *Handler) Close() error {
	h.closed.Store(true)
	for _, t := range []*http.Transport{h.guarded, h.open, h.behind} {
		if t != nil {
			t.CloseIdleConnections()
		}
	}
	return nil
}
