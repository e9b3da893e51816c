package webhook

import (
	"cmp"
	"context"
	"net"
	"net/http"

	"github.com/tenterhook/tenterhook/hook"
)

// severities are what a problem means to whoever checks a hook: a refusal and a
// mistake keep it from being called.
var severities = map[level]hook.Severity{
	note: hook.SeverityWarning, warning: hook.SeverityWarning, refusal: hook.SeverityError, mistake: hook.SeverityError,
}

// Check says what would keep the hook from being called, and what is risky
// about it, under the settings of the last Configure. It connects to nothing.
func (h *Handler) Check(c *hook.Call) []hook.Diagnostic {
	hk := c.Hook
	var ds []hook.Diagnostic
	for _, p := range h.policy.Load().plan(hk).problems {
		ds = append(ds, hook.Diagnostic{Severity: severities[p.level], Code: p.code, Hook: hk.ID,
			Path: hk.Source.Path, Line: hk.Source.Line, Message: p.message, Hint: p.hint})
	}
	return ds
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
