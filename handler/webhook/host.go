package webhook

import (
	"net/netip"
	"strings"
)

// host is a name or an address.
type host struct {
	labels []string   // of a name, in lower case
	addr   netip.Addr // valid for an address; never a mapped one
}

func (h host) String() string {
	if h.addr.IsValid() {
		return h.addr.String()
	}
	return strings.Join(h.labels, ".")
}

// local reports whether a host is known to be a local one before it is looked
// up.
func (h host) local() bool {
	if h.addr.IsValid() {
		return isLocal(h.addr)
	}
	return h.labels[len(h.labels)-1] == "localhost"
}

// parseHost reads a name or an address. A host that ends in a number is an
// address to a resolver, in forms that differ from program to
// program; only the plain one is taken.
func parseHost(s string) (host, *fault) {
	s = strings.ToLower(s)
	if inner, ok := strings.CutPrefix(s, "["); ok {
		inner, closed := strings.CutSuffix(inner, "]")
		addr, err := netip.ParseAddr(inner)
		if !closed || err != nil || !addr.Is6() || addr.Zone() != "" {
			return host{}, &fault{"there is no IPv6 address in its brackets", "write it without a zone: [2001:db8::1]"}
		}
		return host{addr: addr.Unmap()}, nil
	}
	labels, err := splitLabels(s, "")
	if err != nil {
		return host{}, err
	}
	if isNumber(labels[len(labels)-1]) {
		addr, err := netip.ParseAddr(strings.Join(labels, "."))
		if err != nil {
			return host{}, &fault{"its host is a number that is no plain IPv4 address", "write four decimal numbers: 192.0.2.1"}
		}
		return host{addr: addr}, nil
	}
	return host{labels: labels}, nil
}

// splitLabels cuts a host name, and takes its trailing dot away. Of other
// characters than those of names it takes those in more.
func splitLabels(name, more string) ([]string, *fault) {
	name = strings.TrimSuffix(name, ".")
	if name == "" {
		return nil, &fault{"it has no host", "write https://host/path"}
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || len(name) > 253 {
			return nil, &fault{"its host has an empty label, or is too long", "correct the host"}
		}
		for _, r := range label {
			if !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' || strings.ContainsRune(more, r)) {
				return nil, &fault{"there is a character in its host that hosts do not have", "a host has letters, digits and hyphens"}
			}
		}
	}
	return labels, nil
}

// isNumber reports whether resolvers may take a label for a number.
func isNumber(label string) bool {
	digits := "0123456789"
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		label, digits = hex, "0123456789abcdef"
	}
	return strings.Trim(label, digits) == ""
}
