package model

import (
	"cmp"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// provider is what is known of a provider without asking it.
type provider struct {
	name     string
	keyEnv   string // holds a key
	tokenEnv string // holds a token, where the provider knows such
	baseEnv  string // holds another address
	base     string // its own address
	model    string // the default, at its own address
	names    map[string]string
	anywhere bool // the default model is known at other addresses too
	connect  func(*endpoint, *http.Client) Model
}

// providers are the ones settings can name, in the order in which the
// environment is asked for them.
var providers = []*provider{
	{
		name: "anthropic", keyEnv: "ANTHROPIC_API_KEY", tokenEnv: "ANTHROPIC_AUTH_TOKEN", baseEnv: "ANTHROPIC_BASE_URL",
		base: "https://api.anthropic.com/", model: "claude-haiku-5-5", anywhere: true, connect: newAnthropic,
		names: map[string]string{ // as Claude Code's settings have them
			"haiku": "claude-haiku-5-5", "sonnet": "claude-sonnet-5-5",
			"opus": "claude-opus-5-5", "fable": "claude-fable-5-1",
		},
	},
	{
		name: "openai", keyEnv: "OPENAI_API_KEY", baseEnv: "OPENAI_BASE_URL",
		base: "https://api.openai.com/v1/", model: "gpt-5.4-mini", connect: newOpenAI,
	},
}

// backend is the model that hooks are asked with, or why there is none. It is
// immutable.
type backend struct {
	model  Model
	failed *hook.Error
	name   string // of the model, for hooks that name none
	at     *endpoint
}

// endpoint is where a provider is reached, and with what.
type endpoint struct {
	*provider
	address *url.URL
	keyFrom string // the variable that holds the key, or the token
	key     string
	token   string
}

func (e *endpoint) host() string { return e.address.Host }

// isOwn reports whether the address is the provider's own.
func (e *endpoint) isOwn() bool {
	return strings.TrimSuffix(e.address.String(), "/") == strings.TrimSuffix(e.base, "/")
}

// choose makes the backend that the settings and the environment ask for. A
// fault of the environment alone is no diagnostic: without hooks that ask a
// model it is none.
func (h *Handler) choose(s dialect.ModelSettings) (*backend, []hook.Diagnostic) {
	if h.opts.Model != nil {
		return &backend{model: h.opts.Model, name: s.Model}, nil
	}
	at, failed := h.locate(s)
	if failed != nil {
		b := &backend{failed: failed}
		if s == (dialect.ModelSettings{}) {
			return b, nil
		}
		return b, []hook.Diagnostic{{Severity: hook.SeverityWarning, Code: "no_model", Message: failed.Reason, Hint: failed.Hint}}
	}
	b := &backend{model: at.connect(at, h.client), name: s.Model, at: at}
	if b.name == "" && (at.anywhere || at.isOwn()) {
		b.name = at.model
	}
	if at.key+at.token != "" && at.address.Scheme == "http" && !isLoopback(at.address.Hostname()) {
		return b, []hook.Diagnostic{{Severity: hook.SeverityWarning, Code: "model_key_in_clear",
			Message: "the model's key goes to " + at.host() + " unencrypted", Hint: "use https in base_url"}}
	}
	return b, nil
}

// locate finds the provider, its address and its key.
func (h *Handler) locate(s dialect.ModelSettings) (*endpoint, *hook.Error) {
	p, failed := h.pick(s)
	if failed != nil {
		return nil, failed
	}
	e := &endpoint{provider: p, keyFrom: cmp.Or(s.APIKeyEnv, p.keyEnv)}
	if e.address = plainURL(cmp.Or(s.BaseURL, h.env(p.baseEnv), p.base)); e.address == nil {
		return nil, startError("the model's base_url is no plain http or https URL", `write it like "https://host/v1", without a user, a password or a query`)
	}
	e.key = h.env(e.keyFrom)
	if token := h.env(p.tokenEnv); e.key == "" && s.APIKeyEnv == "" && token != "" {
		e.token, e.keyFrom = token, p.tokenEnv
	}
	switch {
	case e.key+e.token == "" && (s.APIKeyEnv != "" || e.isOwn()): // elsewhere there may be no keys
		return nil, startError("no key for the model: "+e.keyFrom+" is not set", "set it, or name another variable in api_key_env")
	case strings.ContainsFunc(e.key+e.token, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsGraphic(r) || r == ' ' }):
		return nil, startError("the key in "+e.keyFrom+" has characters that no header takes", "set it again, without blanks and line ends")
	}
	return e, nil
}

// pick returns the provider that the settings name, or that the environment
// has a variable of.
func (h *Handler) pick(s dialect.ModelSettings) (*provider, *hook.Error) {
	var names []string
	for _, p := range providers {
		names = append(names, p.name)
		if s.Provider == p.name {
			return p, nil
		}
		if s.Provider == "" && (h.env(p.keyEnv) != "" || h.env(p.tokenEnv) != "" || h.env(p.baseEnv) != "") {
			return p, nil
		}
	}
	switch {
	case s.Provider != "":
		return nil, startError("there is no model provider "+phrase.Quote(s.Provider), "want "+strings.Join(names, " or ")+"; openai is every endpoint that speaks its protocol")
	case s != (dialect.ModelSettings{}):
		return nil, startError("the model settings name no provider", `add provider = "anthropic" or provider = "openai" to [model], or set ANTHROPIC_API_KEY or OPENAI_API_KEY`)
	}
	return nil, startError("no model is configured",
		"set ANTHROPIC_API_KEY or OPENAI_API_KEY, or in the settings [model] provider, api_key_env and base_url")
}

// env returns a variable of the environment, trimmed; "" for no name.
func (h *Handler) env(name string) string {
	value := ""
	for _, kv := range h.opts.Env {
		if key, v, ok := strings.Cut(kv, "="); ok && key == name {
			value = strings.TrimSpace(v) // the last one counts, as in os/exec
		}
	}
	return value
}

// modelFor is the name of the model for a hook.
func (b *backend) modelFor(wanted string) (string, *hook.Error) {
	name := cmp.Or(wanted, b.name)
	if b.at == nil {
		return name, nil // the host's model knows its own
	}
	if full, ok := b.at.names[name]; ok {
		name = full
	}
	if name == "" {
		return "", startError("no model is named for "+b.at.host(), `add model = "…" to the hook, or to [model] in the settings`)
	}
	return name, nil
}

// plainURL reads the address of a provider, nil if it is none.
func plainURL(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
