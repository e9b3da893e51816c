package manifest

import (
	"slices"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/decl"
)

// origin is which host a manifest was written for, told by where it names its
// events and how.
type origin struct {
	host     string // "" = ours, or a host that reads the same keys
	key      string // the key that names the events; "" = none does
	protocol hook.Protocol
	timeout  time.Duration // when the manifest has none; 0 = ours
	meta     *decl.Table   // what openclaw and its kin say under metadata
	loose    bool          // metadata has events, but no host's name around them
}

// moltisTimeout is the time limit that moltis gives hooks without one.
const moltisTimeout = 10 * time.Second

// events finds the events of a manifest and what they tell of its origin.
func (r *reader) events() []event {
	names, from := r.eventNames()
	var events []event
	for _, name := range names {
		if name == "" {
			continue
		}
		ev := r.meaning(name, from)
		if ev.mapping.Protocol != "" {
			from.protocol = ev.mapping.Protocol
		}
		events = append(events, ev)
	}
	if from.protocol == hook.ProtocolMoltis {
		from.timeout = moltisTimeout
	}
	r.from = from
	return events
}

// maxMetadata is the size in bytes of metadata that is text in a text.
const maxMetadata = 4 << 10

func (r *reader) eventNames() ([]string, origin) {
	if r.Has("event", "events") {
		from := origin{key: "event"}
		if !r.Has("event") {
			from.key = "events"
		}
		return append(r.Words("event"), r.Words("events")...), from
	}
	from := r.metadata()
	if from.key != "" {
		return from.meta.Words("events"), from
	}
	if r.Has("trigger") {
		r.Lenient = true
		return r.Words("trigger"), origin{host: "another host", key: "trigger"}
	}
	return nil, from
}

// metadata finds what a host of openclaw's kind reads: a table under its name,
// or under an older one, with the events in it. The whole may be text, too.
func (r *reader) metadata() origin {
	all := r.Get("metadata")
	if text := all.Text(); text != "" && len(text) <= maxMetadata {
		all = decl.Parse(decl.YAML, text, decl.Options{Line: all.Line, Unique: true}).Root
	}
	var names []string
	for _, p := range all.Pairs() {
		names = append(names, p.Key)
	}
	slices.Sort(names)
	for _, name := range append([]string{"openclaw", "clawdbot", "moltbot"}, names...) {
		if at := all.At(name); at.At("events") != nil {
			path := "metadata." + name
			return origin{host: name, key: path + ".events", meta: r.Inner(path, at)}
		}
	}
	return origin{loose: all.At("events") != nil}
}
