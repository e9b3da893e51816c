package manifest

import (
	"maps"
	"slices"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// origin is which host a manifest was written for, told by where it names its
// events and how.
type origin struct {
	host     string // "" = ours, or one that reads the same keys
	key      string // the key that names the events; "" = none does
	protocol hook.Protocol
	timeout  time.Duration // when the manifest has none; 0 = ours
	meta     section       // what openclaw and its kin say under metadata
	loose    bool          // metadata has events, but no host's name around them
}

// moltisTimeout is the time limit that moltis gives hooks without one.
const moltisTimeout = 10 * time.Second

// events finds the events of a manifest and what they tell of its origin.
func (r *reader) events(top section) ([]event, origin) {
	names, from := r.eventNames(top)
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
	return events, from
}

// maxMetadata is the size in bytes of metadata that is text in a text.
const maxMetadata = 4 << 10

func (r *reader) eventNames(top section) ([]string, origin) {
	if top.values["event"] != nil || top.values["events"] != nil {
		from := origin{key: "event"}
		if top.values["event"] == nil {
			from.key = "events"
		}
		return append(top.strings("event"), top.strings("events")...), from
	}
	from := r.metadata(top)
	if from.key != "" {
		return from.meta.strings("events"), from
	}
	if top.values["trigger"] != nil {
		r.lenient = true
		return top.strings("trigger"), origin{host: "another host", key: "trigger"}
	}
	return nil, from
}

// metadata finds what a host of openclaw's kind reads: a table under its name,
// or under an older one, with the events in it. The whole may be text, too.
func (r *reader) metadata(top section) origin {
	all, ok := top.values["metadata"].(map[string]any)
	if text, isText := top.values["metadata"].(string); isText && len(text) <= maxMetadata {
		if doc, bad := decodeYAML(text); bad == nil {
			all, ok = doc.root, true
		}
	}
	if !ok {
		return origin{}
	}
	names := append([]string{"openclaw", "clawdbot", "moltbot"}, slices.Sorted(maps.Keys(all))...)
	for _, name := range names {
		if values, ok := all[name].(map[string]any); ok && values["events"] != nil {
			path := "metadata." + name
			return origin{host: name, key: path + ".events", meta: section{reader: r, path: path, values: values}}
		}
	}
	return origin{loose: all["events"] != nil}
}
