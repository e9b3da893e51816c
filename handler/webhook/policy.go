package webhook

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

// policy is what the settings allow, and the plans that were made under it. It
// does not change: calls that are under way keep theirs.
type policy struct {
	allow   []pattern
	envVars []string // nil = the settings say nothing
	local   bool

	env    []string
	direct *http.Transport
	proxy  func(*http.Request) (*url.URL, error) // nil = none
	behind *http.Transport                       // goes through the proxy
	plans  plans
}

// Configure takes the settings: AllowedHTTPHookURLs (without any, no hook is
// called), HTTPHookAllowedEnvVars (nil = what each hook lists) and
// AllowLocalHTTPHookTargets. It says which of them cannot be what was meant; a
// pattern that cannot be read allows nothing. It may be called at any time;
// calls under way keep the settings that they began with.
func (h *Handler) Configure(s dialect.Settings) []hook.Diagnostic {
	local := s.AllowLocalHTTPHookTargets != nil && *s.AllowLocalHTTPHookTargets
	p := h.newPolicy(local)
	p.envVars = slices.Clone(s.HTTPHookAllowedEnvVars)
	var notes []hook.Diagnostic
	for _, raw := range s.AllowedHTTPHookURLs {
		a, err := parsePattern(raw)
		if err != nil {
			notes = append(notes, hook.Diagnostic{Severity: hook.SeverityError, Code: "http_url_pattern",
				Message: fmt.Sprintf("allowed_http_hook_urls: %q: %s; it allows nothing", clip(raw), err.reason), Hint: err.hint})
			continue
		}
		if a.every || a.anyHost {
			notes = append(notes, hook.Diagnostic{Severity: hook.SeverityWarning, Code: "http_every_url",
				Message: fmt.Sprintf("allowed_http_hook_urls: %q allows every host", clip(raw)), Hint: "name the hosts that hooks post to"})
		}
		p.allow = append(p.allow, a)
	}
	for _, name := range p.envVars {
		if name == "" || variableName(name) != name {
			notes = append(notes, hook.Diagnostic{Severity: hook.SeverityWarning, Code: "http_env_name",
				Message: fmt.Sprintf("http_hook_allowed_env_vars: %q is no name of a variable", clip(name)), Hint: "write names without a $; there are no wildcards"})
		}
	}
	old := h.policy.Swap(p)
	if old.direct != p.direct {
		old.direct.CloseIdleConnections()
	}
	return notes
}

// newPolicy is a policy that allows no URL.
func (h *Handler) newPolicy(local bool) *policy {
	p := &policy{local: local, env: h.env, direct: h.guarded, proxy: h.proxy, behind: h.behind}
	if local {
		p.direct = h.open
	}
	return p
}

// route chooses the transport for a URL.
func (p *policy) route(u *url.URL) (*http.Transport, error) {
	if p.proxy == nil {
		return p.direct, nil
	}
	via, err := p.proxy(&http.Request{URL: u})
	if err != nil || via == nil {
		return p.direct, err
	}
	return p.behind, nil
}
