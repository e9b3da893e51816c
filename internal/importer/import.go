package importer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/match"
	"github.com/tenterhook/tenterhook/manifest"
	"github.com/tenterhook/tenterhook/trust"
)

// Options say what is imported.
type Options struct {
	Agent string // a product of dialect.Products
	Files []File // those of the user first
	At    Bases
	// Together puts all hooks into one folder. Otherwise those of each scope go
	// into a folder of their own.
	Together bool
	// Own reports whether a command is an entry of tenterhook's own, which
	// is no hook to import; nil = none is.
	Own func(*hook.Command) bool
}

// Place is an entry of a config file.
type Place struct {
	Path string `json:"path"`
	Line int    `json:"line"`
}

func (p Place) String() string { return fmt.Sprintf("%s:%d", p.Path, p.Line) }

// Folder is a hook folder to be written.
type Folder struct {
	Name  string
	Scope hook.Scope // of the files that declare it
	Hook  *hook.Hook // as its HOOK.md declares it
	From  []Place    // several if the agent runs them as one
	Text  []byte     // of its HOOK.md
	Notes []string   // what differs, in sentences
}

// Left is an entry that no folder stands for.
type Left struct {
	From  Place      `json:"from"`
	Event hook.Event `json:"event"`
	Name  string     `json:"name"` // as the config file's reader calls it
	Why   string     `json:"why"`
}

// Result is what an import comes to.
type Result struct {
	Folders []Folder
	Left    []Left
	Own     []Place  // entries of tenterhook's own
	Notes   []string // about the files as a whole
}

// Make reads the files. It writes nothing.
func Make(o Options) *Result {
	m := &maker{Options: o, result: &Result{}}
	configs := make([]dialect.Config, len(o.Files))
	current := false
	for i, f := range o.Files {
		configs[i] = readConfig(o.Agent, f)
		current = current || !f.Legacy && len(configs[i].Hooks) > 0
	}
	for i, f := range o.Files {
		if f.Legacy && current {
			m.note("%s is not read: newer files of %s have hooks", o.At.Shown(f.Path), o.Agent)
			continue
		}
		m.settings(f, &configs[i])
		for _, h := range configs[i].Hooks {
			m.add(f, h)
		}
		for _, ref := range configs[i].Refs {
			m.note("%s points at %s: import that file by its name", o.At.Shown(f.Path), ref.Path)
		}
	}
	m.name()
	if m.Together && slices.ContainsFunc(m.result.Folders, func(f Folder) bool { return f.Scope != hook.ScopeUser }) {
		m.note("hooks of a project need an approval, and a sandbox contains them; those of a folder that is named with --dir run as they are")
	}
	return m.result
}

// maker gathers the hooks of all files, in their order.
type maker struct {
	Options
	kept   []*kept
	off    []hook.Scope // of files that switch all hooks off
	result *Result
}

// kept is a hook that becomes a folder.
type kept struct {
	Folder
	whole, legacy string
}

func (m *maker) note(format string, args ...any) {
	m.result.Notes = append(m.result.Notes, fmt.Sprintf(format, args...))
}

// settings notes what a file says beside its hooks, as far as it counts.
func (m *maker) settings(f File, c *dialect.Config) {
	s := &c.Settings
	if s.DisableAllHooks != nil && *s.DisableAllHooks {
		m.off = append(m.off, f.Scope)
		m.note("%s switches all hooks off, so the folders have enabled = false", m.At.Shown(f.Path))
	}
	if f.Scope != hook.ScopeUser {
		return // a workspace has no say in the others
	}
	say := func(key string, v any) {
		text, err := json.Marshal(v)
		if err == nil {
			m.note("%s: settings are not carried over; write %s = %s into settings.toml", m.At.Shown(f.Path), key, text)
		}
	}
	if s.AllowedHTTPHookURLs != nil {
		say("allowed_http_hook_urls", s.AllowedHTTPHookURLs)
	}
	if s.HTTPHookAllowedEnvVars != nil {
		say("http_hook_allowed_env_vars", s.HTTPHookAllowedEnvVars)
	}
	if s.AllowLocalHTTPHookTargets != nil {
		say("allow_local_http_hook_targets", *s.AllowLocalHTTPHookTargets)
	}
}

// add takes a hook of a file.
func (m *maker) add(f File, h *hook.Hook) {
	from := Place{f.Path, h.Source.Line}
	if h.Command != nil && m.Own != nil && m.Own(h.Command) {
		m.result.Own = append(m.result.Own, from)
		return
	}
	if h.State == hook.StateInvalid || h.State == hook.StateUnsupported {
		m.leave(from, h, h.Why)
		return
	}
	own := *h
	own.Params = canonical(h.Params)
	k := &kept{Folder: Folder{Scope: f.Scope, Hook: &own, From: []Place{from}}, legacy: dialect.LegacyKey(h), whole: dialect.WholeKey(&own)}
	if root := pluginRoot(f.Path); root != "" && strings.Contains(k.whole, "CLAUDE_PLUGIN_ROOT") && h.Command != nil {
		own.Env = maps.Clone(own.Env)
		if own.Env == nil {
			own.Env = make(map[string]string)
		}
		own.Env["CLAUDE_PLUGIN_ROOT"] = root
		k.Notes = append(k.Notes, "it names files of its plugin: CLAUDE_PLUGIN_ROOT is set to "+root)
	}
	info := hook.Info(own.Event)
	own.Matcher = match.AsClaude(own.Matcher, match.MatcherOptions{Syntax: syntaxes[own.Syntax], Narrow: info.NarrowMatcher})
	own.Syntax = hook.SyntaxClaude
	if info.MatcherField == "" {
		own.Matcher = "" // it has no effect
	}
	if !m.merge(k) {
		m.kept = append(m.kept, k)
	}
}

var syntaxes = map[hook.MatcherSyntax]match.Syntax{
	hook.SyntaxClaude: match.SyntaxClaude, hook.SyntaxRegexp: match.SyntaxRegexp, hook.SyntaxGlob: match.SyntaxGlob,
}

// canonical writes parameters in the one form that their values have.
func canonical(p hook.Params) hook.Params {
	own := make(hook.Params, len(p))
	for key, raw := range p {
		var v any
		if json.Unmarshal(raw, &v) == nil {
			if text, err := json.Marshal(v); err == nil {
				raw = text
			}
		}
		own[key] = raw
	}
	if p == nil {
		return nil
	}
	return own
}

func (m *maker) leave(from Place, h *hook.Hook, why string) {
	m.result.Left = append(m.result.Left, Left{from, h.Event, h.Name, why})
}

// name names the hooks that are left, and writes them.
func (m *maker) name() {
	count := make(map[hook.Scope]int)
	for _, k := range m.kept {
		scope := k.Scope
		if m.Together {
			scope = 0
		}
		k.Name = fmt.Sprintf("%s-%02d-%s", m.Agent, count[scope]+1, slug(strings.ToLower(string(k.Hook.Event))))
		if about := slug(subject(k.Hook)); about != "" {
			k.Name += "-" + about
		}
		if slices.ContainsFunc(m.off, func(s hook.Scope) bool { return s == hook.ScopeUser || k.Scope != hook.ScopeUser }) {
			k.Hook.State = hook.StateDisabled
		}
		if why := m.write(k); why != "" {
			for _, from := range k.From {
				m.leave(from, k.Hook, why)
			}
			continue
		}
		count[scope]++
		m.result.Folders = append(m.result.Folders, k.Folder)
	}
}

// write fills in the text, and reads it again. It says what does not come back.
func (m *maker) write(k *kept) (why string) {
	if k.Hook.Command != nil && k.Hook.Source.Dir != "" {
		return "it starts in " + k.Hook.Source.Dir + "; a folder's command starts in the folder or in the session's directory"
	}
	text, err := manifest.Write(k.Hook)
	if err != nil {
		return "its key " + err.Error()
	}
	var b bytes.Buffer
	b.Write(text)
	fmt.Fprintf(&b, "\n# %s\n\nImported from the config files of %s:\n\n", k.Name, m.Agent)
	for _, from := range k.From {
		fmt.Fprintf(&b, "- line %d of `%s`\n", from.Line, strings.ReplaceAll(m.At.Shown(from.Path), "`", "'"))
	}
	k.Text = b.Bytes()
	hooks, notes := manifest.Parse(manifest.Source{Scope: k.Scope, Folder: k.Name, Source: hook.Source{Path: "HOOK.md", Dir: "/folder"}}, k.Text)
	for _, n := range notes {
		if n.Severity == hook.SeverityError {
			return n.Message
		}
	}
	return difference(k.Hook, hooks)
}

// difference names the first key in which a hook and what was read of it differ.
func difference(h *hook.Hook, read []*hook.Hook) string {
	if len(read) != 1 || read[0].State != cmp.Or(h.State, hook.StateReady) || h.Command != nil && read[0].Source.Dir != h.Source.Dir {
		return "a HOOK.md of it cannot run: " + read[0].Why
	}
	was, err := keys(h)
	if err != nil {
		return err.Error()
	}
	now, err := keys(read[0])
	if err != nil {
		return err.Error()
	}
	for _, key := range slices.Sorted(maps.Keys(was)) {
		if !bytes.Equal(was[key], now[key]) {
			return "a HOOK.md cannot say its " + key
		}
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if was[key] == nil {
			return "a HOOK.md cannot do without " + key
		}
	}
	return ""
}

// keys is everything that decides what runs, when and with what policy.
func keys(h *hook.Hook) (map[string]json.RawMessage, error) {
	data, err := trust.Define(h)
	if err != nil {
		return nil, err
	}
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	return list[0], nil
}

// slug makes a part of a folder's name of a text.
func slug(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 24 {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}

// subject is what a hook runs, in a word: the script that its command names, or
// else the program.
func subject(h *hook.Hook) string {
	if h.Command == nil {
		return string(h.Kind)
	}
	words := append(strings.Fields(h.Command.Line), h.Command.Args...)
	for _, word := range words {
		word = strings.Trim(word, `"'();&|`)
		base := filepath.Base(filepath.ToSlash(word))
		switch filepath.Ext(base) {
		case ".sh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".ps1", ".pl":
			return strings.TrimSuffix(base, filepath.Ext(base))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return filepath.Base(strings.Trim(words[0], `"'();&|`))
}
