package match

import (
	"net/url"
	"strings"
)

// textRule is a rule on one text of the input: Agent(type).
type textRule struct {
	key  string
	glob glob
}

func newTextRule(key, content string, f form) textRule {
	if f.anywhere {
		content = "*" + content + "*"
	}
	return textRule{key, compileGlob(content, f.raw)}
}

func (r textRule) match(c *Call, _ bool) Decision {
	return matchTexts(c, r.key, func(text string) bool { return r.glob.match(text) })
}

// matchTexts holds a test against the texts of a key. An input without one
// cannot be judged.
func matchTexts(c *Call, key string, test func(string) bool) Decision {
	texts, ok := c.texts(key)
	for _, t := range texts {
		if test(t) {
			return sure(key + " is " + excerpt(t))
		}
	}
	if !ok {
		return suspected(key + " is missing or no string, so it runs")
	}
	return Decision{By: "its " + key + " does not match"}
}

// webRule is WebFetch(domain:example.com), where * stands for subdomains.
type webRule struct{ host glob }

func newWebRule(content string, f form) argument {
	host, ok := strings.CutPrefix(content, "domain:")
	if !ok {
		return newTextRule("url", content, f)
	}
	return webRule{compileGlob(strings.ToLower(host), false)}
}

func (r webRule) match(c *Call, _ bool) Decision {
	return matchTexts(c, "url", func(text string) bool {
		host, ok := hostOf(text)
		return !ok || r.host.match(host)
	})
}

// hostOf returns the host that a URL names, without its port.
func hostOf(text string) (string, bool) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err == nil && u.Host == "" {
		u, err = url.Parse("https://" + strings.TrimSpace(text))
	}
	if err != nil || u.Host == "" {
		return "", false
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), true
}

// keyRule is caliban's key.key=glob,…: all of them must hold.
type keyRule []keyGlob

type keyGlob struct {
	path []string
	glob glob
}

// parseKeys reads a keyRule. A comma that no key= follows is part of a glob.
func parseKeys(s string) (keyRule, bool) {
	var keys keyRule
	var path []string
	var value string
	for part := range strings.SplitSeq(s, ",") {
		key, glob, ok := strings.Cut(part, "=")
		switch key = strings.TrimSpace(key); {
		case ok && isKeyPath(key):
			if path != nil {
				keys = append(keys, keyGlob{path, compileGlob(value, true)})
			}
			path, value = strings.Split(key, "."), glob
		case path == nil:
			return nil, false
		default:
			value += "," + part
		}
	}
	return append(keys, keyGlob{path, compileGlob(value, true)}), true
}

func isKeyPath(s string) bool {
	for key := range strings.SplitSeq(s, ".") {
		if !isName(key) {
			return false
		}
	}
	return true
}

func (r keyRule) match(c *Call, _ bool) Decision {
	if _, err := c.members(); err != nil {
		return suspected("the input is no JSON object, so it runs")
	}
	for _, k := range r {
		found := false
		for _, text := range lookup(c.ToolInput, k.path) {
			found = found || k.glob.match(text)
		}
		if !found {
			return Decision{By: "a key of its input does not match"}
		}
	}
	return sure("all keys match")
}
