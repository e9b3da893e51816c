package journal

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// masked stands in the place of a secret.
const masked = "[masked]"

// shape is what a credential looks like. Its hints say cheaply where it cannot
// be: a text with none of them holds no such credential.
type shape struct {
	hints   []string // none = it can be anywhere
	pattern string
}

// secretShapes match well-known credentials. None of them matches a quote or a
// backslash, so that JSON around a secret stays JSON.
var secretShapes = []shape{
	{[]string{"AKIA"}, `AKIA[0-9A-Z]{16}`}, // AWS access key ID
	{[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, `gh[pousr]_[A-Za-z0-9]{20,}`},
	{[]string{"github_pat_"}, `github_pat_[A-Za-z0-9_]{20,}`},
	{[]string{"glpat-"}, `glpat-[A-Za-z0-9_-]{20,}`},
	{[]string{"xox"}, `xox[abprs]-[A-Za-z0-9-]{10,}`},                                  // Slack
	{[]string{"sk-"}, `sk-[A-Za-z0-9_-]{20,}`},                                         // OpenAI and Anthropic
	{[]string{"AIza"}, `AIza[0-9A-Za-z_-]{35}`},                                        // Google
	{[]string{"eyJ"}, `eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`}, // JSON Web Token
	{[]string{"PRIVATE KEY"}, `-----BEGIN [A-Z ]*PRIVATE KEY-----[^"]*?-----END [A-Z ]*PRIVATE KEY-----`},
	{[]string{"earer ", "asic ", "EARER ", "ASIC "}, `(?i)\b(?:bearer|basic) +[A-Za-z0-9+/=._~-]{16,}`}, // an Authorization header
}

// secretName matches the names of variables whose values are taken for secrets.
var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIAL)`)
})

// minSecret is the shortest value of a variable that is masked, in bytes:
// shorter ones are words that stand elsewhere too.
const minSecret = 8

// Mask returns a function that takes secrets out of a text as a Recorder does:
// what the patterns match, the shapes of well-known credentials, and the values of
// variables in env ("key=value") whose names say that they are secret. It fails on
// a pattern that is no regular expression (RE2).
func Mask(patterns, env []string) (func(string) string, error) {
	type mask struct {
		hints []string
		re    *regexp.Regexp
	}
	var masks []mask
	for _, known := range secretShapes {
		masks = append(masks, mask{known.hints, regexp.MustCompile(known.pattern)})
	}
	for _, p := range patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, fmt.Errorf("redact: %q is not a regular expression: %w", p, err)
		}
		masks = append(masks, mask{nil, re})
	}
	known := maskValues(env)
	return func(s string) string {
		s = known(s)
		for _, m := range masks {
			if len(m.hints) == 0 || slices.ContainsFunc(m.hints, func(hint string) bool { return strings.Contains(s, hint) }) {
				s = m.re.ReplaceAllString(s, masked)
			}
		}
		return s
	}, nil
}

// maskValues returns a function that takes the values of variables out of a text
// whose names say that they are secret.
func maskValues(env []string) func(string) string {
	var pairs []string
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		if len(value) < minSecret || !secretName().MatchString(name) {
			continue
		}
		pairs = append(pairs, value, masked)
		if quoted, err := json.Marshal(value); err == nil { // as it stands within JSON
			if inner := string(quoted[1 : len(quoted)-1]); inner != value {
				pairs = append(pairs, inner, masked)
			}
		}
	}
	if len(pairs) == 0 {
		return func(s string) string { return s }
	}
	return strings.NewReplacer(pairs...).Replace
}
