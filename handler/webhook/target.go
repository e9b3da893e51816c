package webhook

import (
	"net"
	"net/url"
	"strconv"
	"strings"
)

// target is a URL in the one form that it is checked and sent in.
type target struct {
	scheme string
	host   host
	port   int
	path   string // percent-encoded, begins with a slash
	query  string // "" = none, else with its question mark
}

// parseTarget reads a URL strictly: what two programs could read in two ways
// is refused.
func parseTarget(raw string) (target, *fault) {
	p, err := split(raw)
	if err != nil {
		return target{}, err
	}
	t := target{scheme: p.scheme}
	name, port, err := splitPort(p.authority)
	if err != nil {
		return target{}, err
	}
	if t.host, err = parseHost(name); err != nil {
		return target{}, err
	}
	if t.port, err = parsePort(port, p.scheme); err != nil {
		return target{}, err
	}
	if t.path, err = normalPath(p.path); err != nil {
		return target{}, err
	}
	if t.query, err = normalEscapes(p.query, false); err != nil {
		return target{}, err
	}
	return t, nil
}

// url is what the request gets: read by the library that sends it, which has
// to understand it as we do.
func (t target) url() (*url.URL, *fault) {
	u, err := url.Parse(t.String())
	if err != nil || u.Scheme != t.scheme || u.Host != t.hostPort() || u.User != nil || u.EscapedPath() != t.path {
		return nil, &fault{"its URL can be read in more than one way", "write it plainly"}
	}
	return u, nil
}

// String returns the URL.
func (t target) String() string { return t.scheme + "://" + t.hostPort() + t.path + t.query }

// hostPort is the host as a request names it: without the scheme's own port.
func (t target) hostPort() string {
	if t.port == defaultPort(t.scheme) {
		if t.host.addr.Is6() {
			return "[" + t.host.String() + "]"
		}
		return t.host.String()
	}
	return t.address()
}

// address is host and port, for people.
func (t target) address() string { return net.JoinHostPort(t.host.String(), strconv.Itoa(t.port)) }

// parts are those of a URL or of a pattern, as they are written.
type parts struct {
	scheme    string
	authority string
	path      string // "" or with its slash
	query     string // "" or with its question mark
}

// split cuts a URL or a pattern into its parts.
func split(raw string) (parts, *fault) {
	if err := checkCharacters(raw); err != nil {
		return parts{}, err
	}
	scheme, rest, found := strings.Cut(raw, "://")
	scheme = strings.ToLower(scheme)
	if !found || scheme != "http" && scheme != "https" {
		return parts{}, &fault{"it does not begin with http:// or https://", "begin with https://"}
	}
	p := parts{scheme: scheme}
	if i := strings.IndexByte(rest, '?'); i >= 0 {
		rest, p.query = rest[:i], rest[i:]
	}
	p.authority = rest
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		p.authority, p.path = rest[:i], rest[i:]
	}
	switch {
	case strings.ContainsRune(p.authority, '@'):
		return parts{}, &fault{"there is a user or a password before its host", "put credentials into headers"}
	case strings.ContainsRune(p.authority, '%'):
		return parts{}, &fault{"its host is percent-encoded", "write the host plainly"}
	case strings.ContainsAny(p.path+p.query, "[]"):
		return parts{}, &fault{"there is a bracket behind its host", "write %5B and %5D"}
	}
	return p, nil
}

// checkCharacters refuses what RFC 3986 has no place for, and fragments, which
// are never sent.
func checkCharacters(raw string) *fault {
	for i := range len(raw) {
		switch b := raw[i]; {
		case b == '\\':
			return &fault{"there is a backslash in it", "write a slash"}
		case b == '#':
			return &fault{"there is a fragment (#) in it, which is never sent", "leave it out, or write %23"}
		case b <= ' ' || b == 0x7f:
			return &fault{"there is a space or a control character in it", "write it percent-encoded"}
		case b >= 0x80:
			return &fault{"there is a character in it that is not ASCII", "write a host in its xn-- form, anything else percent-encoded"}
		case strings.IndexByte("\"<>^`{|}", b) >= 0:
			return &fault{"there is a quote, a brace or the like in it", "write it percent-encoded"}
		}
	}
	return nil
}

// splitPort cuts an authority; the port is "" where there is none.
func splitPort(authority string) (name, port string, _ *fault) {
	end := strings.LastIndexByte(authority, ']') + 1 // behind an IPv6 address
	i := strings.IndexByte(authority[end:], ':')
	if i < 0 {
		return authority, "", nil
	}
	name, port = authority[:end+i], authority[end+i+1:]
	if strings.ContainsRune(port, ':') {
		return "", "", &fault{"its host has more than one colon", "put an IPv6 address in brackets: [::1]"}
	}
	return name, port, nil
}

func defaultPort(scheme string) int {
	if scheme == "http" {
		return 80
	}
	return 443
}

func parsePort(s, scheme string) (int, *fault) {
	if s == "" {
		return defaultPort(scheme), nil
	}
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 {
		return 0, &fault{"its port is no number from 1 to 65535", "correct the port"}
	}
	return int(n), nil
}
