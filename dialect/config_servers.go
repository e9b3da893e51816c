package dialect

import (
	"cmp"
	"path/filepath"
	"slices"
)

// The keys of the tables in our own settings.
var (
	serverKeys  = []string{"command", "args", "env", "url", "headers", "allowed_env_vars", "sandbox"}
	modelKeys   = []string{"provider", "model", "base_url", "api_key_env"}
	modelMakers = []string{"anthropic", "openai"}
)

// servers reads the MCP servers of our own settings, by name.
func (e *entry) servers() map[string]MCPServer {
	table := e.sub("mcp_servers")
	if table == nil {
		return nil
	}
	servers := make(map[string]MCPServer)
	for _, p := range table.table.pairs() {
		if !p.node.isTable() {
			table.fail("wrong_type", p.line, p.key, "want a table, got "+p.node.what(), `write [mcp_servers.`+shorten(p.key, 40)+`] with a command or a url below`)
			continue
		}
		one := e.newEntry("mcp_servers."+p.key, p.node)
		one.onlyKeys(serverKeys)
		s := MCPServer{
			Command: one.str("command"), Args: one.strings("args"), Env: one.env(),
			URL: one.str("url"), Headers: one.texts("headers"), AllowedEnvVars: one.strings("allowed_env_vars"),
			Sandbox: one.sandbox(), Source: e.src.Source,
		}
		s.Source.Line = p.line
		if filepath.IsAbs(s.Source.Path) { // the host's own directory may be a workspace
			s.Source.Dir = filepath.Dir(s.Source.Path)
		}
		if (s.Command == "") == (s.URL == "") {
			one.fail("missing_command", p.line, "", "an MCP server has a command or a url, and not both", `add command = "…"`)
		}
		if s.URL != "" && s.Sandbox != nil {
			one.fail("no_effect", one.line("sandbox"), "", "a server with a url starts no process that a sandbox could contain", "remove sandbox")
		}
		if one.wrong == "" {
			servers[p.key] = s
		}
	}
	return servers
}

// model reads which model prompt and agent hooks ask: a table, or its name.
func (e *entry) model() ModelSettings {
	if n := e.get("model"); n != nil && n.text() != "" {
		return ModelSettings{Model: n.text()}
	}
	table := e.sub("model")
	if table == nil {
		return ModelSettings{}
	}
	table.onlyKeys(modelKeys)
	return ModelSettings{Provider: table.word("provider", modelMakers), Model: table.str("model"),
		BaseURL: table.str("base_url"), APIKeyEnv: table.str("api_key_env")}
}

// texts is a table of strings.
func (e *entry) texts(key string) map[string]string {
	table := e.sub(key)
	if table == nil {
		return nil
	}
	texts := make(map[string]string)
	for _, p := range table.table.pairs() {
		s, ok := p.node.value.(string)
		if !ok {
			e.fail("wrong_type", p.line, key+"."+p.key, "want a string, got "+p.node.what(), "")
			continue
		}
		texts[p.key] = s
	}
	return texts
}

// onlyKeys warns of the keys of a table that have no effect.
func (e *entry) onlyKeys(all []string) {
	for _, p := range e.table.pairs() {
		if key := snake(p.key); !isComment(p.key) && !slices.Contains(all, key) {
			e.strangeKey(p, e.about(p.key)+"no such key; it has no effect", key, all)
		}
	}
}

// Over returns m, and what it does not say as other has it.
func (m ModelSettings) Over(other ModelSettings) ModelSettings {
	if m.Provider != "" && other.Provider != "" && m.Provider != other.Provider {
		return m // another provider's model, address and key mean nothing to it
	}
	return ModelSettings{Provider: cmp.Or(m.Provider, other.Provider), Model: cmp.Or(m.Model, other.Model),
		BaseURL: cmp.Or(m.BaseURL, other.BaseURL), APIKeyEnv: cmp.Or(m.APIKeyEnv, other.APIKeyEnv)}
}
