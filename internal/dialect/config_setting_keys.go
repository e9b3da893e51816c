package dialect

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/decl"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// Setting is one key of the settings. The list of them is the one place that
// knows settings: the reader, the schema, the reference and suggestions follow
// from it.
type Setting struct {
	decl.Key
	By string // whose word counts, in Markdown

	others bool // read in the settings of other products too
	read   func(e *entry, s *Settings)
}

// The usual answers to whose word counts.
const (
	byManaged  = "managed"
	byReach    = "managed: all hooks; user and named folders: all but managed; a workspace: its own"
	byJoined   = "managed, user, named folders, joined"
	byPersons  = "managed, user, named folders, managed first"
	bySections = "managed, user, named folders, managed first; `redact` of all, joined"
)

// settings are the settings, in the order of the reference. It is a function, for
// the rows name functions that name it.
func settings() []Setting {
	text := func(name string) decl.Key { return decl.Key{Name: name, Takes: decl.Text} }
	texts := func(name string) decl.Key { return decl.Key{Name: name, Takes: decl.Texts} }
	named := func(name string) decl.Key { return decl.Key{Name: name, Takes: decl.Named} }
	word := func(name string, words []string) decl.Key {
		return decl.Key{Name: name, Takes: decl.Choice, Words: words}
	}
	var scopes []decl.Key
	for _, scope := range sandboxScopes() {
		scopes = append(scopes, word(scope, plain(hook.SandboxModes())))
	}
	row := func(name string, takes decl.Type, by, doc string, read func(*entry, *Settings)) Setting {
		return Setting{Key: decl.Key{Name: name, Takes: takes, Doc: doc}, By: by, read: read}
	}
	flag := func(name, by, doc string, field func(*Settings) **bool) Setting {
		return row(name, decl.Flag, by, doc, func(e *entry, s *Settings) { *field(s) = e.Choice(name) })
	}
	list := func(name, by, doc string, field func(*Settings) *[]string) Setting {
		return row(name, decl.Texts, by, doc, func(e *entry, s *Settings) { *field(s) = e.List(name) })
	}
	of := func(s Setting, inner ...decl.Key) Setting { s.Inner = inner; return s }
	every := func(s Setting) Setting { s.others = true; return s }
	policy := row("default_on_failure", decl.Choice, byReach, "`\"block\"` for hooks that do not say, and for files that cannot be read as hooks: those block every event that can be blocked",
		func(e *entry, s *Settings) {
			s.DefaultOnFailure = decl.Meant(e.Table, "default_on_failure", decl.Policies, hook.FailureBlock)
		})
	policy.Words = plain(decl.Policies)
	return []Setting{
		row("hooks", decl.Object, "all scopes, joined", "by event: handlers as Claude Code or caliban write them, or flat with the keys of HOOK.md", nil),
		every(flag("disable_all_hooks", byReach, "in-process hooks still run", func(s *Settings) **bool { return &s.DisableAllHooks })),
		every(row("allow_managed_hooks_only", decl.Flag, byManaged, "no other hooks run", func(e *entry, s *Settings) {
			if s.AllowManagedHooksOnly = e.Choice("allow_managed_hooks_only"); s.AllowManagedHooksOnly == nil && e.Has("allow_managed_hooks_only") {
				s.AllowManagedHooksOnly = new(true) // who misspells it wants it
			}
		})),
		every(flag("allow_no_hooks", byManaged, "`--no-hooks` switches managed hooks off too", func(s *Settings) **bool { return &s.AllowNoHooks })),
		list("disabled", byReach, "IDs of hooks", func(s *Settings) *[]string { return &s.Disabled }),
		policy,
		every(list("allowed_http_hook_urls", byJoined, "what http hooks may call; nothing by default", func(s *Settings) *[]string { return &s.AllowedHTTPHookURLs })),
		every(list("http_hook_allowed_env_vars", byJoined, "what their headers may name", func(s *Settings) *[]string { return &s.HTTPHookAllowedEnvVars })),
		every(flag("allow_local_http_hook_targets", byPersons, "loopback and private addresses", func(s *Settings) **bool { return &s.AllowLocalHTTPHookTargets })),
		of(row("mcp_servers", decl.Tables, byPersons, "servers of mcp hooks, see [handlers](handlers.md)", func(e *entry, s *Settings) { s.MCPServers = e.servers() }),
			text("command"), texts("args"), named("env"), text("url"), named("headers"), texts("allowed_env_vars"), decl.Key{Name: "sandbox", Takes: decl.Box}),
		of(row("model", decl.TextOrTable, byPersons, "of prompt and agent hooks", func(e *entry, s *Settings) { s.Model = e.model() }),
			word("provider", modelMakers()), text("model"), text("base_url"), text("api_key_env")),
		of(row("breaker", decl.Object, "managed: all hooks; user and named folders: all but managed; managed first", "`failures`, `cooldown` of hooks that set none", func(e *entry, s *Settings) { s.Breaker = e.Breaker() }), decl.InTable("breaker")...),
		list("packs", byJoined, "packs whose hooks run, as `REF@sha256:…`: naming the digest approves it, see [fleet](fleet.md)", func(s *Settings) *[]string { return &s.Packs }),
		of(row("fleet", decl.Object, "managed, else user", "whose signed policies count: `name`, `keys` by ID with `channel` and `key`, `on_stale` and `on_unknown` (`\"keep\"`, `\"ask\"`, `\"block\"`), `dir`, see [fleet](fleet.md)",
			func(e *entry, s *Settings) { s.Fleet = e.fleet() }), text("name"), text("dir"), fleetKeys(), word("on_stale", staleWords()), word("on_unknown", staleWords())),
		flag("self_protection", byPersons, "`false`: agents may change tenterhook's own files and entries, see [the daemon](daemon.md)", func(s *Settings) **bool { return &s.SelfProtection }),
		of(row("sandbox", decl.Object, "by scope: managed first, then named folders and the user; a workspace may only make its own stricter",
			"the mode of hooks that declare none, as `project = \"strict\"`, see [containment](containment.md)", func(e *entry, s *Settings) { s.Sandbox = e.sandboxes() }), scopes...),
		flag("sandbox_required", byPersons, "`false`: a hook whose sandbox cannot be enforced runs uncontained, and says so", func(s *Settings) **bool { return &s.SandboxRequired }),
		row("max_async", decl.Count, byPersons, "hooks in the background at once", func(e *entry, s *Settings) {
			if s.MaxAsync = e.Int("max_async"); s.MaxAsync < 0 {
				e.Fail("unknown_value", "max_async", "want how many hooks may run in the background at once", "leave it out for the default")
				s.MaxAsync = 0
			}
		}),
		of(row("audit", decl.Object, "all scopes; `\"block\"` in one of them counts", "`on_failure = \"block\"`: what can be blocked is denied while its record cannot be written, see [fleet](fleet.md)",
			func(e *entry, s *Settings) { s.AuditOnFailure = e.audit() }), word("on_failure", plain(decl.Policies))),
		of(row("journal", decl.Object, bySections, "what is kept of what hooks did: `record` (`\"full\"`, `\"results\"`, `\"off\"`), `keep` (`\"14d\"`), `max_size` (`\"256MiB\"`), "+
			"`redact` (regular expressions whose matches are masked), see [operating](operating.md)", func(e *entry, s *Settings) { s.Journal = e.journal() }),
			word("record", recordLevels()), decl.Key{Name: "keep", Takes: decl.Age}, decl.Key{Name: "max_size", Takes: decl.Size}, texts("redact")),
	}
}

func modelMakers() []string  { return []string{"anthropic", "openai"} }
func recordLevels() []string { return []string{"full", "results", "off"} }

// sandboxScopes are the scopes whose hooks come from files.
func sandboxScopes() []string {
	var names []string
	for s := hook.ScopeManaged; s <= hook.ScopeDir; s++ {
		names = append(names, s.String())
	}
	return names
}

func plain[T ~string](words []T) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return list
}

// SettingTable returns the keys of our own settings, in the order of the reference.
func SettingTable() []Setting { return settings() }

// SettingKeys are the names of the keys of our own settings.
func SettingKeys() []string {
	all := settings()
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name
	}
	return names
}

// SettingKey is the one spelling of a key of the settings.
func SettingKey(key string) string { return decl.Snake(key) }

// SettingsSchema is the JSON Schema of our own settings, for editors: every key
// that ReadConfig knows there, in both its spellings. Handlers are open: each
// kind has keys of its own.
func SettingsSchema() json.RawMessage {
	properties := make(map[string]any)
	for _, s := range settings() {
		schema := s.Schema()
		if s.Name == "hooks" {
			events := make(map[string]any)
			for _, e := range hook.Events() {
				events[string(e.Event)] = map[string]any{"description": e.Doc}
			}
			schema["properties"] = events
			schema["additionalProperties"] = map[string]any{"type": "array", "items": map[string]any{"type": "object"}}
		}
		properties[s.Name], properties[decl.Camel(s.Name)] = schema, schema
	}
	properties["$schema"] = map[string]any{"type": "string"}
	return decl.Schema("settings", "Settings of tenterhook", properties)
}

// settings reads the keys at the top of a settings file, in snake_case or in
// camelCase. Other products' files have many more, but none that is nearly one
// of these.
func (r *configReader) settings(doc *decl.Node) {
	names := SettingKeys()
	ours := slices.DeleteFunc(slices.Clone(doc.Pairs()), func(p decl.Pair) bool {
		return p.Key == "hooks" || !slices.Contains(names, decl.Snake(p.Key))
	})
	e := r.newEntry("settings", &decl.Node{Line: doc.Line, Value: ours})
	if r.p.own {
		e.Valueless(names)
	}
	for _, s := range settings() {
		if s.read != nil && (s.others || r.p.own) {
			s.read(e, &r.config.Settings)
		}
	}
	for _, p := range doc.Pairs() {
		key := decl.Snake(p.Key)
		if slices.Contains(names, key) || decl.IsComment(p.Key) || isEventName(p.Key) {
			continue
		}
		if r.p.own || !r.Full() && hook.Nearest(key, names) != "" {
			r.Strange(p, phrase.Quote(p.Key)+": no such setting; it has no effect", names)
		}
	}
}

// section is a table of the settings, whose strange keys are reported; nil = it
// is not there.
func (e *entry) section(key string) *decl.Table {
	table := e.Sub(key)
	if table != nil {
		table.Only(innerNames(key))
	}
	return table
}

// innerNames are the keys of a table of the settings.
func innerNames(key string) []string {
	all := settings()
	i := slices.IndexFunc(all, func(s Setting) bool { return s.Name == key })
	return decl.Names(all[i].Inner)
}

// servers reads the MCP servers of our own settings, by name.
func (e *entry) servers() map[string]MCPServer {
	table := e.Sub("mcp_servers")
	if table == nil {
		return nil
	}
	servers := make(map[string]MCPServer)
	for _, p := range table.Node.Pairs() {
		if !p.Node.IsTable() {
			e.Fail("wrong_type", "mcp_servers."+p.Key, "want a table, got "+p.Node.What(), `write [mcp_servers.`+phrase.Clip(p.Key, 40)+`] with a command or a url below`)
			continue
		}
		one := e.Reader.Table("mcp_servers."+p.Key, p.Node)
		one.Only(innerNames("mcp_servers"))
		s := MCPServer{
			Command: one.Str("command"), Args: one.List("args"), Env: one.Env(),
			URL: one.Str("url"), Headers: one.Texts("headers"), AllowedEnvVars: one.List("allowed_env_vars"),
			Sandbox: one.Sandbox(), Source: e.r.src.Source,
		}
		s.Source.Line = p.Line
		if filepath.IsAbs(s.Source.Path) { // the host's own directory may be a workspace
			s.Source.Dir = filepath.Dir(s.Source.Path)
		}
		if (s.Command == "") == (s.URL == "") {
			one.Fail("missing_command", "", "an MCP server has a command or a url, and not both", `add command = "…"`)
		}
		if s.URL != "" && s.Sandbox != nil {
			one.Fail("no_effect", "sandbox", "a server with a url starts no process that a sandbox could contain", "remove sandbox")
		}
		if one.Wrong() == "" {
			servers[p.Key] = s
		}
	}
	return servers
}

// model reads which model prompt and agent hooks ask: a table, or its name.
func (e *entry) model() ModelSettings {
	if name := e.Get("model").Text(); name != "" {
		return ModelSettings{Model: name}
	}
	table := e.section("model")
	if table == nil {
		return ModelSettings{}
	}
	return ModelSettings{Provider: decl.Word(table, "provider", modelMakers()), Model: table.Str("model"),
		BaseURL: table.Str("base_url"), APIKeyEnv: table.Str("api_key_env")}
}

// audit reads what it means that a record cannot be written.
func (e *entry) audit() hook.FailurePolicy {
	table := e.section("audit")
	if table == nil {
		return ""
	}
	return decl.Meant(table, "on_failure", decl.Policies, hook.FailureBlock)
}

// maskAll is a pattern that masks every text.
const maskAll = `(?s).+`

// journal reads what is kept of what hooks did. A mistake never makes that more: a wrong
// record means "results", and a wrong redact masks all.
func (e *entry) journal() JournalSettings {
	table := e.section("journal")
	if table == nil {
		if e.Has("journal") {
			return JournalSettings{Redact: []string{maskAll}}
		}
		return JournalSettings{}
	}
	return JournalSettings{Record: decl.Meant(table, "record", recordLevels(), "results"), Keep: table.Age("keep"), MaxSize: table.Size("max_size"), Redact: redact(table)}
}

// redact reads what is masked.
func redact(table *decl.Table) []string {
	n := table.Get("redact")
	if n == nil {
		return nil
	}
	wrong := func(code, why string) []string {
		table.Fail(code, "redact", why+"; until it is corrected, each text is masked", `write a list of RE2 expressions, such as redact = ["acme-[0-9]+"]`)
		return []string{maskAll}
	}
	if n.List() == nil {
		return wrong("wrong_type", "want a list of strings, got "+n.What())
	}
	var patterns []string
	for _, item := range n.List() {
		pattern, ok := item.Value.(string)
		if !ok {
			return wrong("wrong_type", "want a list of strings, got "+item.What())
		}
		if _, err := regexp.Compile(pattern); err != nil {
			return wrong("unknown_value", phrase.Quote(pattern)+" is not a regular expression: "+err.Error())
		}
		if pattern == "" {
			return wrong("unknown_value", "an empty expression masks nothing")
		}
		patterns = append(patterns, pattern)
	}
	return patterns
}

// sandboxes reads the sandbox that hooks of a scope get which declare none.
func (e *entry) sandboxes() map[string]hook.SandboxMode {
	table := e.section("sandbox")
	if table == nil {
		return nil
	}
	modes := make(map[string]hook.SandboxMode)
	for _, scope := range sandboxScopes() {
		if word := decl.Meant(table, scope, hook.SandboxModes(), hook.SandboxStrict); word != "" {
			modes[scope] = word
		}
	}
	return modes
}
