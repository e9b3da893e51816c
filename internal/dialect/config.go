package dialect

import (
	"fmt"
	"path"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/decl"
)

// MaxConfig is the size in bytes that a config file may have.
const MaxConfig = 1 << 20

// ConfigSource says where a config file was found.
type ConfigSource struct {
	// Source is that of the hooks; Line is not used. Dir stays "" for settings,
	// whose hooks run in the session's directory. Root and Data are a plugin's.
	hook.Source
	Scope   hook.Scope
	Package string // the plugin package, in ScopePlugin
	Product string // whose file it is, unless its content is surely another's; "" = told from both path and content
}

// Config is what a config file declares.
type Config struct {
	Product  string // "" = the file declares no hooks that anybody here knows
	Hooks    []*hook.Hook
	Settings Settings
	Refs     []Ref
	Notes    []hook.Diagnostic // in the order of their lines
}

// Ref is a hooks file that a plugin's manifest points at.
type Ref struct {
	Path    string // with slashes, relative to [PluginRoot], and inside it
	Product string // whose file it is
	Line    int    // in the manifest
}

// PluginRoot is the root of the plugin that a manifest describes: the folder
// around the one named .claude-plugin or alike, else the manifest's own.
func PluginRoot(manifest string) string {
	dir := path.Dir(slashed(manifest))
	if strings.HasSuffix(path.Base(dir), "-plugin") && strings.HasPrefix(path.Base(dir), ".") {
		return path.Dir(dir)
	}
	return dir
}

// HookID is what a hook of that name is called everywhere: scope/name, and
// plugin/package/name, so that packages keep apart.
func HookID(scope hook.Scope, pkg, name string) string {
	if pkg != "" {
		return scope.String() + "/" + pkg + "/" + name
	}
	return scope.String() + "/" + name
}

// ReadConfig reads a config file of any product. What is wrong with an entry
// costs that entry alone: it becomes a hook in StateInvalid. A file that cannot
// be read at all is one such hook, without an event, so that it is not taken
// for a file without hooks. ReadConfig keeps nothing of data and may be called
// from several goroutines at once.
func ReadConfig(src ConfigSource, data []byte) Config {
	r := newConfigReader(src)
	doc := decl.Document{Bad: &hook.Diagnostic{Code: "too_large", Line: 1, Message: fmt.Sprintf("larger than %d KiB", MaxConfig>>10),
		Hint: "move what declares no hooks into another file"}}
	if len(data) <= MaxConfig {
		doc = parseConfig(src.Path, data)
	}
	ending := path.Ext(slashed(src.Path))
	for _, d := range doc.Lax {
		if ending != ".jsonc" && ending != ".json5" || d.Code == "byte_order_mark" { // these have comments, and commas behind last items
			r.Note(d)
		}
	}
	f, known := recognizeAs(productOf(src.Product), slashed(src.Path), doc.Root)
	switch {
	case doc.Bad != nil:
		if known {
			r.config.Product = f.product.name
		}
		r.broken(*doc.Bad)
	case !known:
		r.Error(1, "no_hooks", "it declares no hooks of any product that is known here",
			`a hooks file holds {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "…"}]}]}}`)
	default:
		r.file(f, doc.Root)
	}
	r.config.Notes = r.Finish()
	return r.config
}

// parseConfig reads a file as the language that its name tells.
func parseConfig(name string, data []byte) decl.Document {
	language := map[string]decl.Language{".toml": decl.TOML, ".yaml": decl.YAML, ".yml": decl.YAML}[path.Ext(slashed(name))] // else JSON
	return decl.Parse(language, string(data), decl.Options{})
}

// BrokenConfig is the config of a file of which only a diagnostic is known: it
// could not be read, say.
func BrokenConfig(src ConfigSource, d hook.Diagnostic) Config {
	r := newConfigReader(src)
	r.broken(d)
	r.config.Product, r.config.Notes = src.Product, r.Notes
	return r.config
}

// slashed makes a path of any system readable to package path.
func slashed(p string) string { return strings.ReplaceAll(p, `\`, "/") }
