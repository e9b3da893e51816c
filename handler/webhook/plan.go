package webhook

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tenterhook/tenterhook/hook"
)

// plan is all of a hook's request but the event, found out once: hooks,
// settings and environment do not change under it.
type plan struct {
	method string
	url    *url.URL
	header http.Header
	via    *http.Transport
	where  string // host and port, for people
	hidden bool   // a variable names the host, so only its name is shown

	source   hook.Diagnostic   // what every problem begins with
	problems []hook.Diagnostic // with an error among them the hook does not run
	failed   *hook.Error       // the first error
	warned   atomic.Bool
}

// maxPlans bounds what is remembered: hooks come and go with their sessions.
const maxPlans = 1024

// plans remembers the plan of each hook.
type plans struct {
	byHook sync.Map // *hook.Hook → *plan
	count  atomic.Int64
}

func (ps *plans) get(h *hook.Hook, make func(*hook.Hook) *plan) *plan {
	if p, ok := ps.byHook.Load(h); ok {
		return p.(*plan)
	}
	p, known := ps.byHook.LoadOrStore(h, make(h))
	if !known && ps.count.Add(1) > maxPlans {
		ps.byHook.Clear()
		ps.count.Store(0)
	}
	return p.(*plan)
}

// plan works a hook's request out.
func (p *policy) plan(h *hook.Hook) *plan {
	made := &plan{method: http.MethodPost, source: hook.Diagnostic{Hook: h.ID, Path: h.Source.Path, Line: h.Source.Line}}
	v := &variables{env: p.env, own: h.Env, allowed: p.envVars, settings: p.envVars != nil}
	made.param(h, "allowedEnvVars", &v.listed)
	made.chooseMethod(h)
	made.chooseURL(h, p, v)
	made.chooseHeaders(h, v)
	for _, trouble := range made.problems {
		if trouble.Severity == hook.SeverityError {
			made.failed = &hook.Error{Failure: hook.FailureStart, Reason: trouble.Message, Hint: trouble.Hint}
			break
		}
	}
	return made
}

func (p *plan) add(s hook.Severity, code, message, hint string) {
	d := p.source
	d.Severity, d.Code, d.Message, d.Hint = s, code, message, hint
	p.problems = append(p.problems, d)
}

// fault adds an error.
func (p *plan) fault(code, of string, f *fault) {
	p.add(hook.SeverityError, code, of+": "+f.reason, f.hint)
}

// param reads a key of the definition; a missing key leaves into as
// it is.
func (p *plan) param(h *hook.Hook, key string, into any) {
	if raw, ok := h.Params[key]; ok && json.Unmarshal(raw, into) != nil {
		p.add(hook.SeverityError, "wrong_type", key+" cannot be read", "url and method are texts, headers a table of texts, allowed_env_vars a list of texts")
	}
}

func (p *plan) chooseMethod(h *hook.Hook) {
	declared := p.method
	p.param(h, "method", &declared)
	p.method = strings.ToUpper(declared)
	if !slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch}, p.method) {
		p.add(hook.SeverityError, "http_method", fmt.Sprintf("method: %q sends no event", clip(declared)), "leave it out for POST, or write PUT or PATCH")
	}
}

// chooseURL binds the variables of the URL, and then asks whether what came of
// it is allowed.
func (p *plan) chooseURL(h *hook.Hook, rules *policy, v *variables) {
	var declared string
	p.param(h, "url", &declared)
	if declared == "" {
		p.add(hook.SeverityError, "missing_url", "it has no url", `add url = "https://…"`)
		return
	}
	raw, err := expand(declared, false, func(name string) (string, *fault) {
		value := v.get(name)
		if err := v.refused(name); err != nil || value != "" {
			return value, err
		}
		return "", &fault{"$" + clip(name) + " is not set", "set it, or write the URL out"}
	})
	if err != nil {
		p.fault("http_url_variable", "url", err)
		return
	}
	t, err := parseTarget(raw)
	if err == nil {
		p.url, err = t.url()
	}
	if err != nil {
		p.fault("http_url", "url", err)
		return
	}
	p.where = t.address()
	if at := authorityOf(declared); at != authorityOf(raw) {
		p.where, p.hidden = "the host of its url", true
		if strings.Contains(at, "${") {
			p.where = clip(at)
		}
	}
	if name := bareVariable(declared); name != "" {
		p.add(hook.SeverityWarning, "http_url_variable", "url: $"+clip(name)+" is sent as it stands", "write ${"+clip(name)+"}")
	}
	p.permit(&t, rules)
}

// plainHTTP is the code of the one warning that no run repeats.
const plainHTTP = "http_plain"

// permit asks the settings whether a URL may be called.
func (p *plan) permit(t *target, rules *policy) {
	switch {
	case len(rules.allow) == 0:
		p.add(hook.SeverityError, "http_url_not_allowed", "url: the settings allow no URL at all", "add "+p.suggestion(t)+" to allowed_http_hook_urls in the user's settings")
	case !slices.ContainsFunc(rules.allow, func(a pattern) bool { return a.matches(t) }):
		p.add(hook.SeverityError, "http_url_not_allowed", "url: no pattern of allowed_http_hook_urls matches it", "add "+p.suggestion(t)+" there, in the user's settings")
	}
	local := t.host.local()
	if local && !rules.local {
		p.add(hook.SeverityError, "http_local_target", "url: "+p.where+" is not on the public Internet", localHint)
	}
	if t.scheme == "http" && !local {
		p.add(hook.SeverityWarning, plainHTTP, "url: what is sent to "+p.where+" is not encrypted", "use https")
	}
	var err error
	if p.via, err = rules.route(p.url); err != nil {
		p.add(hook.SeverityError, "http_proxy", "the proxy of the environment cannot be used", "correct HTTP_PROXY and HTTPS_PROXY")
	}
}

// suggestion is a pattern for the URL, without its path: a variable may be in
// there.
func (p *plan) suggestion(t *target) string {
	if p.hidden {
		return "a pattern for it"
	}
	return `"` + t.scheme + "://" + t.hostPort() + `/*"`
}

// chooseHeaders binds the variables of the headers.
func (p *plan) chooseHeaders(h *hook.Hook, v *variables) {
	p.header = newHeader()
	raw, ok := h.Params["headers"]
	if !ok || string(raw) == "null" {
		return
	}
	members, err := hook.Members(raw)
	if err != nil {
		p.add(hook.SeverityError, "http_header", "headers cannot be read", `write a table of texts, each once: headers = {Authorization = "Bearer $TOKEN"}`)
		return
	}
	seen := make(map[string]bool, len(members))
	for _, m := range members {
		of := fmt.Sprintf("header %q", clip(m.Key))
		name, fail := headerName(m.Key)
		if fail == nil && seen[name] {
			fail = &fault{"it is there twice", "keep one: names differ in more than their case"}
		}
		if fail != nil {
			p.fault("http_header", of, fail)
			continue
		}
		seen[name] = true
		p.bindHeader(of, name, m.Value, v)
	}
}

// bindHeader sets one header. A variable that is not allowed becomes nothing.
func (p *plan) bindHeader(of, name string, raw json.RawMessage, v *variables) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		p.add(hook.SeverityError, "http_header", of+": its value is no text", "put it in quotes")
		return
	}
	if err := headerValue(text); err != nil {
		p.fault("http_header", of, err)
		return
	}
	value, err := expand(text, true, func(variable string) (string, *fault) {
		if err := v.refused(variable); err != nil {
			p.add(hook.SeverityWarning, "http_env_not_allowed", of+": "+err.reason+", and is sent empty", err.hint)
			return "", nil
		}
		value := v.get(variable)
		if value == "" {
			p.add(hook.SeverityWarning, "http_env_not_set", of+": $"+clip(variable)+" is not set, and is sent empty", "set it")
		}
		return value, nil
	})
	if err != nil {
		p.fault("http_header", of, err)
		return
	}
	if err := headerValue(value); err != nil {
		p.fault("http_header", of, err)
		return
	}
	p.header[name] = []string{value}
}

// authorityOf is where a declared URL has its host, whatever else is wrong
// with it.
func authorityOf(declared string) string {
	if _, rest, found := strings.Cut(declared, "://"); found {
		declared = rest
	}
	if i := strings.IndexAny(declared, "/?#"); i >= 0 {
		declared = declared[:i]
	}
	return declared
}

// bareVariable finds a $NAME, which only headers take.
func bareVariable(declared string) string {
	found := ""
	_, _ = expand(declared, true, func(name string) (string, *fault) {
		if found == "" && !strings.Contains(declared, "${"+name+"}") {
			found = name
		}
		return "", nil
	})
	return found
}
