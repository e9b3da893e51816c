package dialect

import (
	"sync"

	"github.com/tenterhook/tenterhook/hook"
)

// Mapping is what a product's name for an event means here.
type Mapping struct {
	// Event is the counterpart in the event table, or the product's own name
	// where there is none: the event is then carried under it.
	Event hook.Event
	// Matcher narrows Event to what the name meant; "" = every call.
	Matcher string
	// Protocol is how hooks of that name answer, unless they say otherwise;
	// "" = claude.
	Protocol hook.Protocol
	// Product is whose name it is; "" = an event of the table itself.
	Product string
}

// MapEvent says what an event's name means. Names are compared exactly. An
// event of the table is itself, whichever product also uses its name. It returns false
// for a name that is not known here.
func MapEvent(name string) (Mapping, bool) {
	if _, ok := hook.Lookup(hook.Event(name)); ok {
		return Mapping{Event: hook.Event(name)}, true
	}
	if m, ok := productNames()[name]; ok {
		return m, true
	}
	m, ok := configNames()[name]
	return m, ok
}

// productNames indexes the names of every product; no two claim the same.
var productNames = sync.OnceValue(func() map[string]Mapping {
	index := make(map[string]Mapping)
	for _, p := range []productEvents{moltisEvents, openclawEvents} {
		for name, n := range p.names {
			m := Mapping{Event: n.event, Matcher: n.matcher, Protocol: p.protocol, Product: p.product}
			if m.Event == "" {
				m.Event = hook.Event(name)
			}
			index[name] = m
		}
	}
	return index
})

// productEvents are the names of one product that the table does not have.
type productEvents struct {
	product  string
	protocol hook.Protocol
	names    map[string]counterpart
}

// counterpart is the event of the table that a name stands for. The zero value
// says that there is none.
type counterpart struct {
	event   hook.Event
	matcher string
}
