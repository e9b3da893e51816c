package load

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/resolve"
)

// Settings is what the settings of all scopes come to.
type Settings struct {
	// dialect.Settings are the settings that reach the handlers.
	dialect.Settings

	NoHooks     string  // what switches all hooks off from outside of files; "" = nothing does
	off         []reach // disable_all_hooks
	managedOnly string  // the file that says so; "" = none does
	mayBeOff    bool    // --no-hooks counts for managed hooks, too
	breakers    []breakerDefaults
	disabled    map[string][]reach
	failBlock   []reach // default_on_failure = "block"
	Audited     bool    // audit.on_failure = "block", in any file
	sandboxes   []sandboxDefaults
	dirSandbox  *hook.Sandbox         // of hooks of named folders, in place of sandboxes; nil = none is set
	servers     map[string]hook.Scope // where each MCP server is declared
	unprotected string                // the file that decides about self_protection
}

// reach is a word of a settings file, and whose hooks it is about.
type reach struct {
	scope hook.Scope
	path  string
	fleet bool // it is a fleet's document that says so
}

// breakerDefaults are what a settings file sets for the hooks that it reaches.
type breakerDefaults struct {
	reach
	limits hook.BreakerSettings
}

// sandboxDefaults are what a settings file says of the hooks that it reaches: their mode by scope.
type sandboxDefaults struct {
	reach
	modes  map[string]hook.SandboxMode
	raises bool // it only makes hooks stricter
}

// sandboxOf is the mode of hooks of a scope that declare none. A workspace may only make its own stricter.
func (p *Settings) sandboxOf(s hook.Scope) hook.SandboxMode {
	mode := resolve.DefaultSandbox(s)
	for _, word := range p.sandboxes { // the most important one comes first
		if m := word.modes[s.String()]; m != "" && word.covers(s) && !word.raises {
			mode = m
			break
		}
	}
	for _, word := range p.sandboxes {
		if word.raises && word.covers(s) {
			mode = mode.Stricter(word.modes[s.String()])
		}
	}
	return mode
}

// sandboxed is the sandbox of a hook: what it declares, or what the settings give its scope.
func (p *Settings) sandboxed(h *hook.Hook) *hook.Sandbox {
	switch info := h.Kind.Info(); {
	case InProcess(h):
		return h.Sandbox
	case info.Box != "":
		var server string
		_ = json.Unmarshal(h.Params[info.Box], &server) // what is no text names none
		return p.MCPServers[server].Sandbox
	case info.Contained:
		return p.boxed(h.Sandbox, h.Scope)
	}
	return h.Sandbox
}

// boxed is a declared sandbox, or where that is nil the one of a scope; nil = none.
func (p *Settings) boxed(declared *hook.Sandbox, s hook.Scope) *hook.Sandbox {
	box := hook.Sandbox{Mode: p.sandboxOf(s)}
	if declared != nil {
		box = *declared
	}
	box.Optional = p.SandboxRequired != nil && !*p.SandboxRequired
	if s == hook.ScopeDir && p.dirSandbox != nil {
		box.Optional = p.dirSandbox.Optional
		if declared == nil {
			box.Mode = p.dirSandbox.Mode
		}
	}
	if box.Mode == hook.SandboxNone && declared == nil {
		return nil
	}
	return &box
}

// covers reports whether a scope's word counts for hooks of another: that of
// managed settings for all, that of a workspace for its own hooks, and that of
// the user and the operator for all but managed hooks.
func (w reach) covers(s hook.Scope) bool {
	switch w.scope {
	case hook.ScopeManaged:
		return true
	case hook.ScopeProject, hook.ScopeLocal:
		return s == hook.ScopeProject || s == hook.ScopeLocal
	}
	return s != hook.ScopeManaged
}

// word is whose word the settings of a file are.
func (c *ConfigFile) word() reach { return reach{c.scope.Scope, c.path, c.Fleet != nil} }

// switches reports whether a scope's word can switch a hook off. A fleet's document
// joins what this machine's managed folder declares, and takes nothing from it.
func (w reach) switches(h *hook.Hook) bool {
	return w.covers(h.Authority()) && !(w.fleet && h.Scope == hook.ScopeManaged)
}

// switching finds the word that switches a hook off.
func switching(words []reach, h *hook.Hook) (reach, bool) {
	i := slices.IndexFunc(words, func(w reach) bool { return w.switches(h) })
	if i < 0 {
		return reach{}, false
	}
	return words[i], true
}

func covering(words []reach, s hook.Scope) (reach, bool) {
	i := slices.IndexFunc(words, func(w reach) bool { return w.covers(s) })
	if i < 0 {
		return reach{}, false
	}
	return words[i], true
}

// Layer makes one policy of the settings of all scopes but packages, which have
// no word. Switches that make hooks fewer or stricter count wherever they are set,
// as far as they reach. What opens something (servers, URLs, variables) counts from
// the managed, the user and the named scopes alone. Of two such values the managed
// one counts, then the named one.
//
// noHooks is what switches all hooks off from outside of files, "" = nothing does.
// dirSandbox is Options.DirSandbox of the registry.
func Layer(configs []*ConfigFile, noHooks string, dirSandbox *hook.Sandbox) (Settings, []hook.Diagnostic) {
	p := Settings{NoHooks: noHooks, disabled: make(map[string][]reach), servers: make(map[string]hook.Scope), dirSandbox: dirSandbox}
	var notes []hook.Diagnostic
	ordered := slices.Clone(configs)
	slices.SortStableFunc(ordered, func(a, b *ConfigFile) int { return layerRank(a.scope.Scope) - layerRank(b.scope.Scope) })
	for _, c := range ordered {
		scope := c.scope.Scope
		if c.untrusted != "" || scope == hook.ScopePlugin {
			continue
		}
		if c.scope.Aside {
			p.tighten(c)
			continue
		}
		p.restrict(c)
		if scope == hook.ScopeProject || scope == hook.ScopeLocal {
			notes = append(notes, c.overreach()...)
			continue
		}
		p.open(c)
		if scope == hook.ScopeManaged {
			continue
		}
		const whose = "only managed settings can say so"
		if c.settings.AllowManagedHooksOnly != nil {
			notes = append(notes, c.ignored("allow_managed_hooks_only", whose))
		}
		if c.settings.AllowNoHooks != nil {
			notes = append(notes, c.ignored("allow_no_hooks", whose))
		}
	}
	for name, s := range p.MCPServers { // once all settings are known
		if s.Command != "" {
			s.Sandbox = p.boxed(s.Sandbox, p.servers[name])
			p.MCPServers[name] = s
		}
	}
	return p, notes
}

// layerRank orders scopes by whose word goes before another's.
func layerRank(s hook.Scope) int {
	switch s {
	case hook.ScopeManaged:
		return 0
	case hook.ScopeDir:
		return 1
	}
	return int(s) + 1
}

// restrict takes over what a file switches off.
func (p *Settings) restrict(c *ConfigFile) {
	word := c.word()
	s := &c.settings
	if s.DisableAllHooks != nil && *s.DisableAllHooks {
		p.off = append(p.off, word)
	}
	if s.AllowManagedHooksOnly != nil && *s.AllowManagedHooksOnly && word.scope == hook.ScopeManaged {
		p.managedOnly = c.path
	}
	if s.AllowNoHooks != nil && *s.AllowNoHooks && word.scope == hook.ScopeManaged {
		p.mayBeOff = true
	}
	for _, id := range s.Disabled {
		p.disabled[id] = append(p.disabled[id], word)
	}
	p.tighten(c)
}

// tighten takes over what makes hooks stricter.
func (p *Settings) tighten(c *ConfigFile) {
	if len(c.settings.Sandbox) > 0 {
		p.sandboxes = append(p.sandboxes, sandboxDefaults{
			c.word(), c.settings.Sandbox, c.scope.Aside || resolve.NeedsApproval(c.scope.Scope)})
	}
	if c.settings.AuditOnFailure == hook.FailureBlock {
		p.Audited = true
	}
	if c.settings.DefaultOnFailure == hook.FailureBlock {
		p.failBlock = append(p.failBlock, c.word())
	}
}

// open takes over what a file sets or allows.
func (p *Settings) open(c *ConfigFile) {
	s := &c.settings
	p.AllowedHTTPHookURLs = union(p.AllowedHTTPHookURLs, s.AllowedHTTPHookURLs)
	p.HTTPHookAllowedEnvVars = union(p.HTTPHookAllowedEnvVars, s.HTTPHookAllowedEnvVars)
	if p.AllowLocalHTTPHookTargets == nil {
		p.AllowLocalHTTPHookTargets = s.AllowLocalHTTPHookTargets
	}
	if p.SelfProtection == nil && s.SelfProtection != nil {
		p.SelfProtection, p.unprotected = s.SelfProtection, c.path
	}
	if p.SandboxRequired == nil {
		p.SandboxRequired = s.SandboxRequired
	}
	p.MaxAsync = cmp.Or(p.MaxAsync, s.MaxAsync)
	if s.Breaker != (hook.BreakerSettings{}) {
		p.breakers = append(p.breakers, breakerDefaults{c.word(), s.Breaker})
	}
	for name, server := range s.MCPServers {
		if _, taken := p.MCPServers[name]; !taken {
			if p.MCPServers == nil {
				p.MCPServers = make(map[string]dialect.MCPServer)
			}
			p.MCPServers[name] = server
			p.servers[name] = c.scope.Scope
		}
	}
	p.Model = p.Model.Over(s.Model)
	p.Journal = p.Journal.Over(s.Journal)
}

// union joins lists of which nil says nothing and an empty one allows none.
func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(slices.Clip(a), s)
		}
	}
	if a == nil && b != nil {
		a = []string{}
	}
	return a
}

// maxIDNotes bounds what is said of the IDs in a list, which a workspace's file
// may have any number of.
const maxIDNotes = 20

// overreach reports which settings of a workspace have no effect.
func (c *ConfigFile) overreach() []hook.Diagnostic {
	const whose = "a workspace has no say in it"
	s := &c.settings
	said := map[string]bool{
		"allow_managed_hooks_only":      s.AllowManagedHooksOnly != nil,
		"allow_no_hooks":                s.AllowNoHooks != nil,
		"allowed_http_hook_urls":        s.AllowedHTTPHookURLs != nil,
		"http_hook_allowed_env_vars":    s.HTTPHookAllowedEnvVars != nil,
		"allow_local_http_hook_targets": s.AllowLocalHTTPHookTargets != nil,
		"max_async":                     s.MaxAsync != 0,
		"self_protection":               s.SelfProtection != nil,
		"sandbox":                       c.loosensSandbox(),
		"sandbox_required":              s.SandboxRequired != nil,
		"breaker":                       s.Breaker != hook.BreakerSettings{},
		"mcp_servers":                   len(s.MCPServers) > 0,
		"packs":                         len(s.Packs) > 0,
		"fleet":                         s.Fleet.Set(),
		"model":                         s.Model != dialect.ModelSettings{},
		"journal":                       !reflect.DeepEqual(s.Journal, dialect.JournalSettings{}),
	}
	var notes []hook.Diagnostic
	for _, key := range slices.Sorted(maps.Keys(said)) {
		if said[key] {
			notes = append(notes, c.ignored(key, whose))
		}
	}
	var others []string
	for _, id := range s.Disabled {
		if scope, _, _ := strings.Cut(id, "/"); scope != hook.ScopeProject.String() && scope != hook.ScopeLocal.String() {
			others = append(others, id)
		}
	}
	for i, id := range others {
		if i == maxIDNotes {
			return append(notes, c.ignored("disabled", fmt.Sprintf("a workspace can't switch %d more hooks off", len(others)-i)))
		}
		notes = append(notes, c.ignored("disabled", fmt.Sprintf("a workspace can't switch %s off", id)))
	}
	return notes
}

// loosensSandbox reports whether a workspace says more of sandboxes than how strict
// its own hooks are.
func (c *ConfigFile) loosensSandbox() bool {
	for scope, mode := range c.settings.Sandbox {
		if own := scope == hook.ScopeProject.String() || scope == hook.ScopeLocal.String(); !own || mode == hook.SandboxNone {
			return true
		}
	}
	return false
}

func (c *ConfigFile) ignored(key, why string) hook.Diagnostic {
	return hook.Diagnostic{Severity: hook.SeverityWarning, Code: "setting_ignored", Path: c.path,
		Message: key + " is ignored: " + why, Hint: "set it in the user's or the managed settings"}
}

// UnknownIDs reports hooks that settings switch off and no file declares.
func (p *Settings) UnknownIDs(definitions []*Definition) []hook.Diagnostic {
	ids := make(map[string]bool, len(definitions))
	for _, d := range definitions {
		ids[d.Hooks[0].ID] = true
	}
	known := slices.Sorted(maps.Keys(ids))
	unknown := slices.DeleteFunc(slices.Sorted(maps.Keys(p.disabled)), func(id string) bool {
		return ids[id] || !slices.ContainsFunc(p.disabled[id], func(w reach) bool { return !w.fleet }) // not every machine has all hooks of a fleet
	})
	var notes []hook.Diagnostic
	for i, id := range unknown {
		note := hook.Diagnostic{Severity: hook.SeverityWarning, Code: "unknown_hook", Path: p.disabled[id][0].path,
			Message: fmt.Sprintf("disabled: no hook has the ID %q", id), Hint: "`tenterhook list` shows the IDs"}
		if i == maxIDNotes {
			note.Message = fmt.Sprintf("disabled: no hook has the ID %q, nor %d others that stand there", id, len(unknown)-i-1)
			return append(notes, note)
		}
		if near := hook.Nearest(id, known); near != "" {
			note.Hint = fmt.Sprintf("did you mean %q?", near)
		}
		notes = append(notes, note)
	}
	return notes
}

// Gate says why a hook is switched off, "" if it is not.
func (p *Settings) Gate(h *hook.Hook) string {
	if isGuard(h) && p.SelfProtection != nil && !*p.SelfProtection {
		return "it is switched off (self_protection in " + p.unprotected + ")"
	}
	if InProcess(h) {
		return ""
	}
	if p.NoHooks != "" && (h.Authority() != hook.ScopeManaged || p.mayBeOff) {
		return "all hooks are switched off for this run (" + p.NoHooks + ")"
	}
	if p.managedOnly != "" && h.Authority() != hook.ScopeManaged {
		return "only managed hooks may run (allow_managed_hooks_only in " + p.managedOnly + ")"
	}
	if by, ok := switching(p.off, h); ok {
		return "all hooks that it may switch off are (disable_all_hooks in " + by.path + ")"
	}
	if by, ok := switching(p.disabled[h.ID], h); ok {
		return "it is switched off (disabled in " + by.path + ")"
	}
	return ""
}

// Settled is a hook with the defaults that the settings give it.
func (p *Settings) Settled(h *hook.Hook) *hook.Hook {
	policy, limits := h.OnFailure, h.Breaker
	info := hook.Info(h.Concerns())
	blocks := info.Block != hook.BlockNothing || h.Event == "" // what stands for a file or a pack that cannot be read concerns every event
	if policy == "" && len(p.failBlock) > 0 && !info.NoPolicy && blocks && !h.Async && !h.AsyncRewake {
		if _, ok := covering(p.failBlock, h.Authority()); ok {
			policy = hook.FailureBlock
		}
	}
	for _, word := range p.breakers {
		if word.covers(h.Authority()) {
			limits.Failures = cmp.Or(limits.Failures, word.limits.Failures)
			limits.Cooldown = cmp.Or(limits.Cooldown, word.limits.Cooldown)
		}
	}
	box := p.sandboxed(h)
	if policy == h.OnFailure && limits == h.Breaker && box == h.Sandbox {
		return h
	}
	own := *h
	own.OnFailure, own.Breaker, own.Sandbox = policy, limits, box
	return &own
}

// InProcess reports whether the host registered a hook, from Go.
func InProcess(h *hook.Hook) bool { return h.Scope >= hook.ScopeSession || isGuard(h) }

// isGuard reports whether a hook is one of Options.Guards.
func isGuard(h *hook.Hook) bool { return h.Scope == hook.ScopeManaged && h.Source.Path == "" }

// Unguarded reports whether an operator lets sessions lose their guards.
func (p *Settings) Unguarded() bool { return p.SelfProtection != nil && !*p.SelfProtection }
