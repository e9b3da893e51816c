package webhook

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// allows reports whether a pattern allows a URL; one of them that is refused
// allows nothing.
func allows(t testing.TB, rawPattern, rawURL string) bool {
	t.Helper()
	p, err := parsePattern(rawPattern)
	if err != nil {
		t.Fatalf("pattern %q: %s", rawPattern, err.reason)
	}
	at, err := parseTarget(rawURL)
	return err == nil && p.matches(&at)
}

func TestN2PatternsAreMatchedPartByPart(t *testing.T) {
	for _, test := range []struct {
		pattern string
		yes, no string // URLs, separated by spaces
	}{
		{"https://hooks.example.com*",
			"https://hooks.example.com https://hooks.example.com/ https://hooks.example.com/a/b?c=d https://HOOKS.example.com./a https://hooks.example.com:443/a",
			"https://hooks.example.com.evil.com/ https://hooks.example.com@evil.com/ https://hooks.example.comx/ https://hooks.example.com:8443/ http://hooks.example.com/ https://x.hooks.example.com/ https://hooks.example.com:x@evil.com/ https://evil.com/hooks.example.com https://evil.com\\@hooks.example.com/ https://hooks.example.com%2eevil.com/ https://hooks.example.com%00.evil.com/ https://hooks.example.com#@evil.com/"},
		{"https://hooks.example.com/*",
			"https://hooks.example.com https://hooks.example.com/ https://hooks.example.com/a https://hooks.example.com/a/b https://hooks.example.com/?a=b",
			"https://hooks.example.com.evil.com/ https://hooks.example.com:444/ http://hooks.example.com/a"},
		{"https://hooks.example.com",
			"https://hooks.example.com https://hooks.example.com/",
			"https://hooks.example.com/a https://hooks.example.com/?a"},
		{"https://hooks.example.com/a/b",
			"https://hooks.example.com/a/b https://hooks.example.com/%61/b",
			"https://hooks.example.com/a/B https://hooks.example.com/a/b/ https://hooks.example.com/a https://hooks.example.com/a/b?c https://hooks.example.com/a/b;c https://hooks.example.com//a/b"},
		{"https://h/team/*/hook",
			"https://h/team/a/hook https://h/team//hook",
			"https://h/team/a/b/hook https://h/team/hook https://h/team/a/hook/x https://h/team/a/hook?x https://h/team/a%2Fb/hook https://h/team/../hook"},
		{"https://h/team/*",
			"https://h/team/ https://h/team/a/b?c=/d",
			"https://h/team https://h/teams/a https://h/team/../admin https://h/team/%2e%2e/admin https://h/team/..;/admin https://h/team/..%2fadmin https://h/team/..%5cadmin https://h/team/..\\admin"},
		{"https://h/a*c", "https://h/ac https://h/abc", "https://h/ab/c https://h/abcd https://h/ab?c"},
		{"https://h/a*c*", "https://h/ac https://h/abcd/e?f", "https://h/a/c https://h/ab?c"},
		{"https://h/a?k=*", "https://h/a?k= https://h/a?k=v/w&x", "https://h/a https://h/a?j=1 https://h/b?k=1 https://h/a/b?k=1"},
		{"https://*.example.com/*",
			"https://a.example.com/ https://a.b.example.com/x",
			"https://example.com/ https://aexample.com/ https://a.example.com.evil.com/ https://.example.com/"},
		{"https://hooks-*.example.com/*",
			"https://hooks-eu.example.com/ https://hooks-.example.com/",
			"https://hooks-eu.evil.example.com/ https://hooks.example.com/ https://x.hooks-eu.example.com/"},
		{"https://a.*.example.com/*", "https://a.b.example.com/", "https://a.b.c.example.com/ https://a.example.com/"},
		{"https://*/hook", "https://any.example/hook https://192.0.2.1/hook https://[2001:db8::1]/hook", "https://any.example/ http://any.example/hook https://any.example:8443/hook"},
		{"https://*:*/hook", "https://any.example:8443/hook https://any.example/hook", "https://any.example:8443/"},
		{"https://*", "https://any.example/hook?x", "http://any.example/ https://any.example:8443/"},
		{"http://localhost:*", "http://localhost:8080/a http://localhost/", "https://localhost:8080/ http://localhost.evil.com:8080/ http://127.0.0.1:8080/"},
		{"http://localhost:8080*", "http://localhost:8080/a", "http://localhost:80801/ http://localhost:80/"},
		{"http://127.0.0.1:8080/*", "http://127.0.0.1:8080/ http://[::ffff:127.0.0.1]:8080/", "http://127.0.0.2:8080/ http://2130706433:8080/ http://0x7f.1:8080/ http://127.1:8080/"},
		{"http://192.168.*.*/*", "http://192.168.0.1/a", "http://192.168.0.evil.com/ http://192.168.evil.com/ http://10.168.0.1/ http://192.168.0.1:81/"},
		{"http://[::1]*", "http://[::1]/a http://[0:0:0:0:0:0:0:1]/", "http://[::2]/ http://[::1]:81/ http://localhost/"},
		{"HTTPS://Hooks.Example.COM./%7Euser/*", "https://hooks.example.com/~user/x https://hooks.example.com/%7euser/", "https://hooks.example.com/user/"},
		{"*", "https://any.example/ http://x:1/?y", "ftp://any.example/ https://user@any.example/"},
	} {
		for _, u := range strings.Fields(test.yes) {
			if !allows(t, test.pattern, u) {
				t.Errorf("%s does not allow %s", test.pattern, u)
			}
		}
		for _, u := range strings.Fields(test.no) {
			if allows(t, test.pattern, u) {
				t.Errorf("%s allows %s", test.pattern, u)
			}
		}
	}
}

func TestPatternsThatCannotBeMeantAllowNothing(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                 "does not begin with http",
		"hooks.example.com/*":              "does not begin with http",
		"*://hooks.example.com/*":          "does not begin with http",
		"ftp://hooks.example.com/*":        "does not begin with http",
		"https://":                         "no host",
		"https:///a":                       "no host",
		"https://user@hooks.example.com/*": "user",
		"https://*@hooks.example.com/*":    "user",
		"https://hooks.example.*/x":        "last label",
		"https://hooks.example.com*/x":     "last label",
		"https://10.*/x":                   "last label",
		"https://a.*.1/x":                  "number",
		"https://hooks.example.com:4*/x":   "port",
		"https://hooks.example.com:0/x":    "port",
		"https://[::*]/x":                  "character in its host",
		"https://[::1%25eth0]/x":           "percent-encoded",
		"https://a..b/x":                   "empty label",
		"https://h/../x":                   "segment",
		"https://h/a%2Fb":                  "encoded slash",
		"https://h/a#b":                    "fragment",
		"https://h\\a":                     "backslash",
		"https://h/${TOKEN}/*":             "brace",
		"https://bücher.example/*":         "ASCII",
		"https://h/%zz":                    "percent sign",
		"https://h/%4":                     "percent sign",
	} {
		if _, err := parsePattern(raw); err == nil || !strings.Contains(err.reason, want) {
			t.Errorf("%q: want a fault with %q, got %v", raw, want, err)
		} else if err.hint == "" {
			t.Errorf("%q: no hint", raw)
		}
	}
}

var (
	labelGen = rapid.StringMatching(`[a-z]([a-z0-9-]{0,8}[a-z0-9])?`)
	nameGen  = rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(labelGen, 1, 4).Draw(t, "labels"), ".")
	})
	pathGen = rapid.StringMatching(`(/[a-zA-Z0-9_~!$&'()+,;=:@-]{0,6}){0,4}`)
)

func TestAURLAllowsItselfAndNoOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := "https://" + nameGen.Draw(t, "host") + pathGen.Draw(t, "path")
		other := "https://" + nameGen.Draw(t, "host2") + pathGen.Draw(t, "path2")
		p, err := parsePattern(one)
		if err != nil {
			t.Fatalf("%s: %s", one, err.reason)
		}
		a, errA := parseTarget(one)
		b, errB := parseTarget(other)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if !p.matches(&a) {
			t.Fatalf("%s does not allow itself", one)
		}
		if p.matches(&b) != (a.String() == b.String()) {
			t.Fatalf("%s and %s: %v", one, other, p.matches(&b))
		}
	})
}

func TestN2NothingBehindAHostIsStillThatHost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := nameGen.Draw(t, "host")
		p, err := parsePattern("https://" + name + "*")
		if err != nil {
			t.Fatal(err.reason)
		}
		tail := rapid.StringMatching(`[a-z0-9.@:\\#%_-]{1,12}`).Draw(t, "tail") + pathGen.Draw(t, "path")
		at, err := parseTarget("https://" + name + tail)
		if err == nil && p.matches(&at) && (at.host.String() != name || at.port != 443) {
			t.Fatalf("https://%s* allows https://%s%s", name, name, tail)
		}
	})
}

func TestAStarBeforeADomainIsWhatIsBelowIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		domain := nameGen.Draw(t, "domain")
		name := rapid.OneOf(nameGen, rapid.Map(nameGen, func(n string) string { return n + "." + domain }),
			rapid.Map(labelGen, func(l string) string { return l + domain })).Draw(t, "host")
		p, err := parsePattern("https://*." + domain + "/*")
		if err != nil {
			t.Fatal(err.reason)
		}
		at, err := parseTarget("https://" + name + "/x")
		if err != nil {
			t.Fatal(err.reason)
		}
		if p.matches(&at) != strings.HasSuffix(name, "."+domain) {
			t.Fatalf("*.%s and %s: %v", domain, name, p.matches(&at))
		}
	})
}

func TestGlobIsTheRegularExpressionThatItStandsFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab*.]{0,10}`).Draw(t, "pattern")
		text := rapid.StringMatching(`[ab.]{0,12}`).Draw(t, "text")
		re := regexp.MustCompile(`^` + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`) + `$`)
		if got, want := glob(pattern, text), re.MatchString(text); got != want {
			t.Fatalf("glob(%q, %q) = %v", pattern, text, got)
		}
	})
}

func TestAURLInItsOneFormStaysAsItIs(t *testing.T) {
	for raw, want := range map[string]string{
		"HTTPS://Hooks.Example.COM:443":         "https://hooks.example.com/",
		"http://h:0080/%7e%2a%c3%a9":            "http://h/~%2A%C3%A9",
		"https://[2001:DB8:0::1]:8443/a":        "https://[2001:db8::1]:8443/a",
		"https://[2001:db8::1]/":                "https://[2001:db8::1]/",
		"https://[::ffff:192.0.2.1]/a":          "https://192.0.2.1/a",
		"https://h./a?b=%2f%41":                 "https://h/a?b=%2FA",
		"https://xn--bcher-kva.example/a;b=c/d": "https://xn--bcher-kva.example/a;b=c/d",
		"https://h?":                            "https://h/?",
	} {
		at, err := parseTarget(raw)
		if err != nil {
			t.Errorf("%s: %s", raw, err.reason)
			continue
		}
		if diff := cmp.Diff(want, at.String()); diff != "" {
			t.Errorf("%s: %s", raw, diff)
		}
		if _, err := at.url(); err != nil {
			t.Errorf("%s: %s", raw, err.reason)
		}
	}
}

func TestURLsThatAreReadInMoreThanOneWayAreRefused(t *testing.T) {
	for _, raw := range []string{
		"", "h", "//h/", "https:/h", "https:h", "ftp://h/", "file:///etc/passwd", "https://", "https://?", "https://:443/",
		"https://user@h/", "https://user:pass@h/", "https://h@evil/", "https://h:80:80/", "https://h:-1/", "https://h:99999/", "https://h:x/",
		"https://h\\evil/", "https://h/\\evil", "https://h /", "https://h/ ", "https://h/a\r\nX: y", "https://h/\x00", "https://h/a#b",
		"https://h%2f/", "https://bücher.example/", "https://h/é", "https://h*/", "https://*/",
		"https://a..b/", "https://.a/", "https://a../", "https://" + strings.Repeat("a", 64) + "/", "https://" + strings.Repeat("a.", 130) + "a/",
		"https://127.1/", "https://2130706433/", "https://0x7f000001/", "https://0x7f.0.0.1/", "https://0177.0.0.1/", "https://127.0.0.01/", "https://1.2.3.4.5/", "https://256.0.0.1/", "https://a.0x/", "https://a.1/",
		"https://[::1/", "https://[::1]x/", "https://[]/", "https://[127.0.0.1]/", "https://[fe80::1%25eth0]/", "https://::1/",
		"https://h/..", "https://h/a/../b", "https://h/./b", "https://h/%2E%2e/b", "https://h/..;x/b", "https://h/a%2fb", "https://h/a%5cb", "https://h/%00", "https://h/%", "https://h/%4", "https://h/%zz", "https://h/?%z",
		"https://h/[a]", "https://h/<a>",
	} {
		if at, err := parseTarget(raw); err == nil {
			t.Errorf("%q is taken as %s", raw, at)
		} else if err.reason == "" || err.hint == "" {
			t.Errorf("%q: a fault without a reason or a hint: %v", raw, err)
		}
	}
}

// FuzzURLAndPattern holds what must be true of every URL that is let through:
// net/url, which sends it, sees the host that the pattern was matched with, and
// a host that the pattern fixes is the host.
func FuzzURLAndPattern(f *testing.F) {
	for _, seed := range [][2]string{
		{"https://hooks.example.com*", "https://hooks.example.com.evil.com/"},
		{"https://hooks.example.com*", "https://hooks.example.com@evil.com/"},
		{"https://*.example.com/*", "https://a.example.com:443/x?y"},
		{"http://localhost:*", "http://LOCALHOST:08080/%7e/"},
		{"http://192.168.*.*/a*b/*", "http://[::ffff:192.168.0.1]/axb/c"},
		{"https://h/a?k=*", "https://h/a?k=%41"},
		{"https://[::1]*", "https://[0::1]/..;/"},
		{"*", "https://h\\@evil/"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, rawPattern, rawURL string) {
		p, badPattern := parsePattern(rawPattern)
		at, bad := parseTarget(rawURL)
		if bad != nil {
			return
		}
		canonical := at.String()
		again, bad := parseTarget(canonical)
		if bad != nil || again.String() != canonical {
			t.Fatalf("%q becomes %q becomes %q", rawURL, canonical, again.String())
		}
		u, bad := at.url()
		if bad != nil {
			t.Fatalf("%q: net/url reads %q otherwise", rawURL, canonical)
		}
		// A caller that reads the URL as it was written must see the same host.
		if raw, err := url.Parse(rawURL); err == nil && !at.host.addr.IsValid() &&
			strings.TrimSuffix(strings.ToLower(raw.Hostname()), ".") != u.Hostname() {
			t.Fatalf("%q: net/url sees host %q, we see %q", rawURL, raw.Hostname(), u.Hostname())
		}
		if badPattern != nil || !p.matches(&at) || p.every || p.anyHost {
			return
		}
		_, rest, _ := strings.Cut(rawPattern, "://")
		fixed, _, _ := strings.Cut(strings.TrimSpace(rest), "/")
		fixed, _, _ = strings.Cut(fixed, "?")
		if !strings.Contains(fixed, "*") && !at.host.addr.IsValid() {
			name, _, _ := splitPort(strings.ToLower(fixed))
			if strings.TrimSuffix(name, ".") != u.Hostname() {
				t.Fatalf("%q allows %q, host %q", rawPattern, rawURL, u.Hostname())
			}
		}
		last := p.labels
		if len(last) > 0 && !strings.HasSuffix("."+u.Hostname(), "."+last[len(last)-1]) {
			t.Fatalf("%q allows %q: its last label is not %q", rawPattern, rawURL, last[len(last)-1])
		}
	})
}
