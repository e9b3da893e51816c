package webhook

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"slices"

	"github.com/tenterhook/tenterhook/hook"
)

// Check says what would keep the hook from being called, and what is risky
// about it, under the settings of the last Configure. It connects to nothing.
func (h *Handler) Check(c *hook.Call) []hook.Diagnostic {
	return slices.Clone(h.policy.Load().plan(c.Hook).problems)
}

// Probe connects to the hook's server as a call would, with TLS where the URL
// says so, and sends nothing. An error says why no call would arrive.
func (h *Handler) Probe(ctx context.Context, hk *hook.Hook) error {
	p := h.policy.Load().plan(hk)
	if p.failed != nil {
		return p.failed
	}
	to, dial := p.url, p.via.DialContext
	if p.via.Proxy != nil {
		proxy, err := p.via.Proxy(&http.Request{URL: p.url})
		if err != nil {
			return p.broken(ctx, err)
		}
		to = cmp.Or(proxy, to)
	}
	port := "80"
	if to.Scheme == "https" {
		port, dial = "443", p.via.DialTLSContext
	}
	conn, err := dial(withCall(ctx), "tcp", net.JoinHostPort(to.Hostname(), cmp.Or(to.Port(), port)))
	if err != nil {
		return p.broken(ctx, err)
	}
	return conn.Close()
}
