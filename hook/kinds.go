package hook

import (
	"slices"
	"time"
)

// Kind is how a hook is run. The zero value is none.
type Kind string

// The kinds of hooks. Callbacks and functions are Go functions in the host's
// process, the latter registered for one session of an interactive host.
const (
	KindCommand  Kind = "command"
	KindHTTP     Kind = "http"
	KindMCP      Kind = "mcp"
	KindPrompt   Kind = "prompt"
	KindAgent    Kind = "agent"
	KindPlugin   Kind = "plugin"
	KindRule     Kind = "rule" // a decision declared in a file: it starts nothing
	KindCallback Kind = "callback"
	KindFunction Kind = "function"
)

// KindInfo is one row of the table of kinds: all that the pipeline knows of a
// kind, beside the keys that it takes and the handler that runs it.
type KindInfo struct {
	Kind  Kind
	Doc   string   // what a hook of the kind is, in a few words
	Cost  string   // of a call, in a few words
	Words []string // its names in files, in any of which a hook's type may be given; nil = no file declares it
	Own   bool     // no other product's files have it
	Marks []string // the keys that tell it in files of products that have no type, "" = a hook of no type is one

	Timeout   time.Duration // of a hook that declares none; 0 = that of the event
	InProcess bool          // a Go function of the host's
	Person    bool          // it needs an interactive host
	Contained bool          // its process runs in the sandbox of the hook, or of its scope
	Box       string        // the key that names the server whose sandbox it runs in; "" = none
	Instant   bool          // it starts nothing: it takes no time, cannot break, and needs no handler from its host
	Asks      bool          // it asks a model
	Turns     bool          // in several turns, with tools
	Packaged  bool          // its code is a program of its package, which is approved by itself

	from reach // the events that take it
	// Read decodes the keys of its own; nil = its handler alone does. A problem is
	// a mistake that keeps the hook from running.
	Read func(Params) (Declared, []Diagnostic)
}

// Declared is what a kind makes of the keys of its own.
type Declared interface {
	Never(*EventInfo) string // why the hook can never do anything on an event; "" = it can
	Unused() []string        // keys that are given and have no effect
	Narrows() bool           // it has conditions beside matcher and `if`
	IsRewriter() bool        // it rewrites inputs
	String() string          // what it is, for people
}

// reach is how much an event asks of the handler that answers it. A kind takes each event
// of its reach, and those of more.
type reach uint8

const (
	reachEvery    reach = iota // whatever the event
	reachCommands              // from older hosts, answered with a line of text
	reachLocal                 // before there is a network
	reachRemote
	reachModels
	reachAgents
)

var kindTable = []KindInfo{
	{Kind: KindCommand, Doc: "a program or a shell line", Cost: "one process", Words: []string{"command"}, from: reachCommands, Contained: true,
		Marks: []string{"", "command", "bash", "powershell", "windows", "linux", "osx", "command_windows"}},
	{Kind: KindHTTP, Doc: "a POST to a URL", Cost: "one request", Words: []string{"http"}, Marks: []string{"url"}, from: reachRemote},
	{Kind: KindMCP, Doc: "a tool of an MCP server", Cost: "one call of the tool", Words: []string{"mcp", "mcp_tool"}, Marks: []string{"server", "mcp"}, from: reachLocal, Box: "server"},
	{Kind: KindPrompt, Doc: "one question to a model", Cost: "one request to the model", Words: []string{"prompt"}, Marks: []string{"prompt"}, from: reachModels, Timeout: 30 * time.Second, Person: true, Asks: true},
	{Kind: KindAgent, Doc: "a model that can read the workspace", Cost: "up to 50 requests", Words: []string{"agent"}, from: reachAgents, Timeout: time.Minute, Person: true, Asks: true, Turns: true},
	{Kind: KindPlugin, Doc: "a function in a binary that stays up", Cost: "one gRPC call", Words: []string{"plugin"}, Own: true, Contained: true, Packaged: true},
	{Kind: KindRule, Doc: "a declared decision", Cost: "microseconds; starts nothing", Words: []string{"rule"}, Own: true, from: reachLocal, Instant: true,
		Read: func(p Params) (Declared, []Diagnostic) { rule, problems := RuleOf(p); return &rule, problems }},
	{Kind: KindCallback, InProcess: true},
	{Kind: KindFunction, InProcess: true, Person: true},
}

// Kinds lists the kinds that a file can declare.
func Kinds() []Kind {
	var kinds []Kind
	for i := range kindTable {
		if k := &kindTable[i]; k.Words != nil {
			kinds = append(kinds, k.Kind)
		}
	}
	return kinds
}

// Info returns a kind's row. Of a kind that the table does not know it is empty,
// but for its name. The row is shared: do not change it.
func (k Kind) Info() *KindInfo {
	for i := range kindTable {
		if kindTable[i].Kind == k {
			return &kindTable[i]
		}
	}
	return &KindInfo{Kind: k, from: reachAgents + 1}
}

// KindOf returns the kind of a type's name in a file. It is not ok for a name
// that no kind has.
func KindOf(word string) (k *KindInfo, ok bool) {
	return kindWhere(func(k *KindInfo) bool { return slices.Contains(k.Words, word) })
}

// KindOfKey returns the kind that a key tells where a hook has no type; "" is
// for a hook without any such key. It is not ok for a key that tells none.
func KindOfKey(key string) (k *KindInfo, ok bool) {
	return kindWhere(func(k *KindInfo) bool { return slices.Contains(k.Marks, key) })
}

func kindWhere(is func(*KindInfo) bool) (*KindInfo, bool) {
	for i := range kindTable {
		if is(&kindTable[i]) {
			return &kindTable[i], true
		}
	}
	return nil, false
}

// Declared decodes the keys that belong to the hook's kind alone, nil where its
// handler alone does. What is wrong with them was reported when the hook was read.
func (h *Hook) Declared() Declared {
	read := h.Kind.Info().Read
	if read == nil {
		return nil
	}
	declared, _ := read(h.Params)
	return declared
}

// IsDefault reports whether a hook of no type is of the kind.
func (k *KindInfo) IsDefault() bool { return slices.Contains(k.Marks, "") }

// Takes reports whether hooks of kind k can answer the event. In-process hooks
// and plugins always can.
func (e *EventInfo) Takes(k Kind) bool { return k.Info().from <= e.asks }

// Kinds lists the kinds that a file can declare and that can answer the event.
func (e *EventInfo) Kinds() []Kind {
	return slices.DeleteFunc(Kinds(), func(k Kind) bool { return !e.Takes(k) })
}

// DefaultTimeout is the time limit of a hook that declares none, by its kind
// and event, as the Claude Code protocol has it.
func DefaultTimeout(k Kind, ev Event) time.Duration {
	if limit := k.Info().Timeout; limit != 0 {
		return limit
	}
	if limit := Info(ev).timeout; limit != 0 {
		return limit
	}
	return 600 * time.Second
}
