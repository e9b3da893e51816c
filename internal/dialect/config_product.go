package dialect

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/decl"
)

// product is what tells one product's config files from another's, as choices
// in one walk.
type product struct {
	name string
	// own: its files are ours, and have the keys of HOOK.md.
	own bool
	// files are where its config files lie, as patterns of path.Match for the
	// end of a path. The first part is a folder of the product's own, if it
	// begins with a dot.
	files []configFile
	// root is the path of keys to its events, as in "automation.hooks"; "" = hooks.
	root string
	// alias are its names for keys of handlers and groups, in snake_case, and ours.
	alias map[string]string
	// listed is the key under which each hook of a list names its event; "" = the
	// hooks stand in a table of events.
	listed string
	// short: an event may have one hook in the place of a list, and a text in the
	// place of a hook is its command.
	short bool
	// events are its names for events that the table does not have.
	events productEvents
	// tools are its names for tools, and what they are here.
	tools map[string][]string
	// keys are the keys of its handlers that count here, in snake_case, beside
	// those of all products.
	keys []string
	// ignored are keys of its own that need no counterpart.
	ignored []string
	// single are events of which a settings file has one hook, under a key beside
	// the others.
	single map[string]hook.Event
	// besides are keys that stand between the events.
	besides []string
	// flat: a handler stands right in the list of its event.
	flat bool
	// inner: a handler within a group may have a matcher and an `if`.
	inner bool
	// strict: a name that is nearly an event's is a mistake, and not an event
	// of the product's own.
	strict bool
	// regexp: matchers of tools are regular expressions, always.
	regexp bool
	// syntax of other matchers.
	syntax hook.MatcherSyntax
	// unit is that of a timeout that is a bare number, or decl.AnyUnit.
	unit time.Duration
	// timeout is that of commands without one; 0 = as here.
	timeout time.Duration
	// protocol is how its hooks answer.
	protocol hook.Protocol
	// settle changes a hook in a way of the product's own; name is that of the
	// event in the file. nil = none.
	settle func(h *hook.Hook, e *entry, name string)
	// matcher translates a matcher before its tool names are; nil = none.
	matcher func(pattern string) string
	// settings: its files hold the settings that are read here.
	settings bool
	// nameLists: a matcher may be a list of names.
	nameLists bool
	// bare: the events may stand at the top of a file.
	bare bool
	// guest: others keep files in its folder, so it identifies a file only with the
	// shape.
	guest bool
	// shape is the content of a file that is neither settings nor a table of
	// events; nil = it has none.
	shape *shape
	// marks are keys of handlers, or of groups, that only this product has.
	marks []string
	// also reads what else a file says of its hooks; nil = nothing.
	also func(r *configReader, doc *decl.Node)
	// typical: a file that nothing tells from those of others is read as this
	// product's; casual: so is one with names of events that several have.
	typical, casual bool
}

// shape is content that only one product has.
type shape struct {
	tells func(doc *decl.Node) bool
	read  func(r *configReader, doc *decl.Node)
}

// configFile is a file of a product.
type configFile struct {
	pattern string
	form    form
	legacy  bool          // of an older version, read only where there is nothing else
	shared  bool          // other products keep files in its folder, so the folder tells nothing
	only    hook.Scope    // of a user or a project alone; 0 = of both
	managed func() string // the folder of an administrator's settings that it is in; nil = it is none of these
}

// form is what a file holds beside its hooks.
type form uint8

const (
	formHooks    form = iota // nothing: `hooks`, or the events themselves
	formSettings             // settings, where `hooks` may be missing
	formManifest             // a plugin's description
	formShape                // what the product's shape says
)

// products are all whose config files are read. Where a file could be of
// several, the first is meant.
var products []*product

func init() { // not a plain value: some products have readers of their own, which look products up
	products = []*product{
		&tenterhookConfig, &calibanConfig, &claudeConfig, &codexConfig, &geminiConfig, &copilotConfig,
		&cursorConfig, &windsurfConfig, &kiroConfig, &factoryConfig, &antigravityConfig, &qwenConfig,
	}
}

func productOf(name string) *product {
	i := slices.IndexFunc(products, func(p *product) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return products[i]
}

// configNames indexes the events' names of all products whose config files are
// read. A name that differs from an event's in the letters' case alone is left
// out: elsewhere it is a slip. The first product to claim a name keeps it.
var configNames = sync.OnceValue(func() map[string]Mapping {
	index, events := make(map[string]Mapping), make(map[string]bool)
	for _, info := range hook.Events() {
		events[strings.ToLower(string(info.Event))] = true
	}
	for _, p := range products {
		for name, n := range p.events.names {
			if _, taken := index[name]; taken || events[strings.ToLower(name)] {
				continue
			}
			index[name] = Mapping{Event: cmp.Or(n.event, hook.Event(name)), Matcher: n.matcher, Product: p.name}
		}
	}
	return index
})

// Products lists the products whose config files are read.
func Products() []string {
	names := make([]string, len(products))
	for i, p := range products {
		names[i] = p.name
	}
	return names
}

// sharedHandlerKeys are those of every product's handlers.
var sharedHandlerKeys = []string{"type", "command", "args", "timeout", "name", "id", "description", "matcher"}

// claudeHandlerKeys are those of Claude Code beside them.
var claudeHandlerKeys = []string{
	"if", "shell", "async", "async_rewake", "once", "status_message", "on_failure",
	"url", "headers", "allowed_env_vars", "server", "tool", "input", "prompt", "model", "continue_on_block",
}

// ours is a key of the product as it is called here.
func (p *product) ours(key string) string { return cmp.Or(p.alias[key], key) }

func (p *product) takes(key string) bool {
	return slices.Contains(sharedHandlerKeys, key) || slices.Contains(p.keys, key)
}

// knows reports whether a name is an event of the product or of the table.
func (p *product) knows(name string) bool {
	_, own := p.events.names[name]
	_, table := hook.Lookup(hook.Event(name))
	return own || table
}
