package webhook

import (
	"net/netip"
	"strings"
)

// pattern is one entry of the list of allowed URLs; doc.go says what it means.
type pattern struct {
	every bool // every URL

	scheme   string
	anyHost  bool
	below    bool       // one or more labels before those in labels
	labels   []string   // globs; of a name
	addr     netip.Addr // valid for an address
	octets   []string   // "*" or a number; of IPv4 addresses
	port     int        // 0 = any
	anyPath  bool
	segments []string // globs
	rest     bool     // the last segment's star takes all that follows
	query    string   // a glob, with its question mark; "" = no query
}

// parsePattern reads a pattern.
func parsePattern(raw string) (pattern, *fault) {
	raw = strings.TrimSpace(raw)
	if raw != "" && strings.Trim(raw, "*") == "" {
		return pattern{every: true}, nil
	}
	at, err := split(raw)
	if err != nil {
		return pattern{}, err
	}
	p := pattern{scheme: at.scheme}
	if before, ok := strings.CutSuffix(at.authority, "*"); ok && at.path == "" && at.query == "" {
		p.anyPath = true
		if before != "" && strings.IndexByte("*.-_:[", before[len(before)-1]) < 0 {
			at.authority = before
		}
	}
	name, port, err := splitPort(at.authority)
	if err != nil {
		return pattern{}, err
	}
	if err := p.parseHost(strings.ToLower(name)); err != nil {
		return pattern{}, err
	}
	if port != "*" {
		if p.port, err = parsePort(port, at.scheme); err != nil {
			return pattern{}, err
		}
	}
	return p, p.parsePath(at.path, at.query)
}

func (p *pattern) parseHost(name string) *fault {
	if name == "*" {
		p.anyHost = true
		return nil
	}
	if !strings.Contains(name, "*") {
		h, err := parseHost(name)
		p.labels, p.addr = h.labels, h.addr
		return err
	}
	labels, err := splitLabels(name, "*")
	if err != nil {
		return err
	}
	if p.octets = octets(labels); p.octets != nil {
		return nil
	}
	if strings.Contains(labels[len(labels)-1], "*") {
		return &fault{"a * in the last label of a host would allow hosts that anybody can register",
			"write the host to its end; for any path put the * behind a slash"}
	}
	if isNumber(labels[len(labels)-1]) {
		return &fault{"its host is a number that is no plain IPv4 address", "write four parts, numbers or stars: 192.168.1.*"}
	}
	if labels[0] == "*" {
		p.below, labels = true, labels[1:]
	}
	p.labels = labels
	return nil
}

// octets returns the labels of an IPv4 address with stars in it, nil for
// anything else.
func octets(labels []string) []string {
	number := false
	for _, label := range labels {
		if label != "*" && strings.Trim(label, "0123456789") != "" {
			return nil
		}
		number = number || label != "*"
	}
	if len(labels) != 4 || !number {
		return nil
	}
	return labels
}

func (p *pattern) parsePath(path, query string) *fault {
	path, err := normalPath(path)
	if err != nil {
		return err
	}
	if p.query, err = normalEscapes(query, false); err != nil {
		return err
	}
	p.segments = strings.Split(path, "/")
	p.rest = query == "" && strings.HasSuffix(path, "*")
	return nil
}

// matches reports whether the pattern allows a URL.
func (p *pattern) matches(t *target) bool {
	return p.every || p.scheme == t.scheme && (p.port == 0 || p.port == t.port) && p.matchesHost(t.host) && p.matchesPath(t)
}

func (p *pattern) matchesHost(h host) bool {
	switch {
	case p.anyHost:
		return true
	case h.addr.IsValid() && p.octets != nil:
		return h.addr.Is4() && eachMatches(p.octets, strings.Split(h.addr.String(), "."))
	case h.addr.IsValid() || p.addr.IsValid():
		return h.addr == p.addr
	case p.octets != nil:
		return false
	}
	labels := h.labels
	if p.below && len(labels) > len(p.labels) {
		labels = labels[len(labels)-len(p.labels):]
	} else if p.below {
		return false
	}
	return eachMatches(p.labels, labels)
}

func (p *pattern) matchesPath(t *target) bool {
	if p.anyPath {
		return true
	}
	segments := strings.Split(t.path, "/")
	if p.rest {
		return len(segments) >= len(p.segments) && eachMatches(p.segments, segments[:len(p.segments)])
	}
	return eachMatches(p.segments, segments) && glob(p.query, t.query)
}

func eachMatches(globs, texts []string) bool {
	if len(globs) != len(texts) {
		return false
	}
	for i := range globs {
		if !glob(globs[i], texts[i]) {
			return false
		}
	}
	return true
}

// glob matches a whole text; a star stands for any characters, or none. Only
// the last star is ever tried again, so it takes at most len(pattern) ×
// len(text) steps.
func glob(pattern, text string) bool {
	p, t, star, from := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, t
			p++
		case p < len(pattern) && pattern[p] == text[t]:
			p++
			t++
		case star >= 0:
			from++
			p, t = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
