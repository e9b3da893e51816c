package mcptool

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// definition says how a server is reached.
type definition struct {
	name    string
	connect Connector // the host's; nil: as spec says
	spec    dialect.MCPServer
}

// Configure takes the servers of the settings. A server that is defined as before
// keeps its session; a server that was changed or is gone serves the calls under way
// and then ends. Nothing is started. The diagnostics name the servers that can
// never be started.
func (h *Handler) Configure(s dialect.Settings) []hook.Diagnostic {
	h.mu.Lock()
	before := h.servers
	h.mu.Unlock()
	var found []hook.Diagnostic
	next := make(map[string]*server)
	for name := range h.host {
		next[name] = before[name]
	}
	for _, name := range slices.Sorted(maps.Keys(s.MCPServers)) {
		def := definition{name: name, spec: s.MCPServers[name]}
		if h.host[name] != nil {
			found = append(found, def.diagnose(hook.SeverityWarning, "shadowed_server",
				"the host has an MCP server "+phrase.Quote(name)+" of its own, which counts", "give this one another name"))
			continue
		}
		v := before[name]
		if v == nil || !v.def.equal(def) {
			v = h.newServer(def)
		}
		if v.invalid != nil {
			found = append(found, def.diagnose(hook.SeverityError, "invalid_server", v.subject()+": "+v.invalid.Reason, v.invalid.Hint))
		}
		next[name] = v
	}
	h.mu.Lock()
	h.servers = next
	h.mu.Unlock()
	h.read.Clear() // the hooks are others, too
	for name, v := range before {
		if next[name] != v {
			v.retire()
		}
	}
	return found
}

// equal reports whether two definitions reach the same server in the same way.
// Where the settings have it does not matter, but for the folder that a
// relative command starts from.
func (d definition) equal(other definition) bool {
	a, b := d.spec, other.spec
	a.Source, b.Source = hook.Source{Dir: a.Source.Dir}, hook.Source{Dir: b.Source.Dir}
	return reflect.DeepEqual(a, b)
}

func (d definition) diagnose(severity hook.Severity, code, message, hint string) hook.Diagnostic {
	return hook.Diagnostic{Severity: severity, Code: code, Path: d.spec.Source.Path, Line: d.spec.Source.Line, Message: message, Hint: hint}
}

// prepare readies what a definition of the settings needs: its headers, what no
// error may hold, and why it can never be started.
func (d definition) prepare(env []string) (headers http.Header, secrets []string, invalid *hook.Error) {
	bad := func(reason, hint string) *hook.Error {
		return &hook.Error{Failure: hook.FailureStart, Reason: reason, Hint: hint}
	}
	spec := d.spec
	switch {
	case spec.Command == "" && spec.URL == "":
		return nil, nil, bad("it has neither a command nor a url", `add command = "…" or url = "https://…"`)
	case spec.Command != "" && spec.URL != "":
		return nil, nil, bad("it has both a command and a url", "keep one of them")
	case spec.Command != "":
		secrets = slices.Collect(maps.Values(spec.Env))
	default:
		u, err := url.Parse(spec.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" { // the error would quote it, with what it may hold
			return nil, nil, bad("its url is none of http or https", `write url = "https://host/mcp"`)
		}
		if headers, secrets, invalid = expandHeaders(spec, env); invalid != nil {
			return nil, nil, invalid
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	return headers, secrets, nil
}

// server returns the server of a name.
func (h *Handler) server(name string) (*server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v := h.servers[name]; v != nil {
		if v.invalid != nil {
			return nil, v.about(v.invalid)
		}
		return v, nil
	}
	hint := choices("servers", name, slices.Collect(maps.Keys(h.servers)))
	if len(h.servers) == 0 {
		hint = "declare it under mcp_servers in the settings, or let the host hand it in"
	}
	return nil, &hook.Error{Failure: hook.FailureStart, Reason: "there is no MCP server " + phrase.Quote(name), Hint: hint}
}

// Check says what would keep the hook's tool from being called, as far as that
// is known without starting or asking a server: whether there is one of that
// name, whether its program is there, and what is wrong with the hook's input.
func (h *Handler) Check(c *hook.Call) []hook.Diagnostic {
	hk := c.Hook
	var found []hook.Diagnostic
	add := func(sev hook.Severity, code, message, hint string) {
		found = append(found, hook.Diagnostic{Severity: sev, Code: code, Hook: hk.ID,
			Path: hk.Source.Path, Line: hk.Source.Line, Message: message, Hint: hint})
	}
	p, err := readParams(hk)
	if p.server == "" || p.tool == "" {
		return nil // its definition says so
	}
	if err != nil {
		failed := asStart(err)
		add(hook.SeverityError, "bad_input", failed.Reason, failed.Hint)
	}
	if v, err := h.server(p.server); err != nil {
		failed := asStart(err)
		add(hook.SeverityError, "cannot_start", failed.Reason, failed.Hint)
	} else if v.def.spec.Command != "" {
		planned, failed := v.plan()
		if failed == nil {
			failed = startable(planned.Path)
		}
		if failed != nil {
			failed = v.about(failed)
			add(hook.SeverityError, "cannot_start", failed.Reason, failed.Hint)
		}
	}
	if err == nil && hasUnclosed(p.input) {
		add(hook.SeverityWarning, "unclosed_placeholder", "a ${ in its input is not closed, and stays as it is", "write ${path}, or $${ for the characters themselves")
	}
	return found
}

// hasUnclosed reports whether a string of a JSON value has an unclosed
// placeholder.
func hasUnclosed(raw json.RawMessage) bool {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	return anyString(v, func(s string) bool { _, unclosed := split(s); return unclosed })
}

func anyString(v any, is func(string) bool) bool {
	switch v := v.(type) {
	case string:
		return is(v)
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return anyString(e, is) })
	case map[string]any:
		for _, e := range v {
			if anyString(e, is) {
				return true
			}
		}
	}
	return false
}
