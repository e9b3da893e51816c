package journal

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// masked stands in the place of a secret.
const masked = "[masked]"

// secretShapes match well-known credentials. None of them matches a quote or a
// backslash, so that JSON around a secret stays JSON.
var secretShapes = []string{
	`AKIA[0-9A-Z]{16}`,             // AWS access key ID
	`gh[pousr]_[A-Za-z0-9]{20,}`,   // GitHub token
	`github_pat_[A-Za-z0-9_]{20,}`, // GitHub fine-grained token
	`glpat-[A-Za-z0-9_-]{20,}`,     // GitLab token
	`xox[abprs]-[A-Za-z0-9-]{10,}`, // Slack token
	`sk-[A-Za-z0-9_-]{20,}`,        // OpenAI and Anthropic keys
	`AIza[0-9A-Za-z_-]{35}`,        // Google API key
	`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`, // JSON Web Token
	`-----BEGIN [A-Z ]*PRIVATE KEY-----[^"]*?-----END [A-Z ]*PRIVATE KEY-----`,
	`(?i)\b(?:bearer|basic) +[A-Za-z0-9+/=._~-]{16,}`, // an Authorization header
}

// secretName matches the names of variables whose values are taken for secrets.
var secretName = regexp.MustCompile(`(?i)(TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIAL)`)

// minSecret is the shortest value of a variable that is masked, in bytes:
// shorter ones are words that stand elsewhere too.
const minSecret = 8

// masker returns a function that takes secrets out of a text: what the patterns
// match, and the values of variables in env whose names say that they are
// secret. It fails on a pattern that is no regular expression (RE2).
func masker(patterns, env []string) (func(string) string, error) {
	expressions := make([]*regexp.Regexp, 0, len(secretShapes)+len(patterns))
	for _, p := range slices.Concat(secretShapes, patterns) {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, fmt.Errorf("redact: %q is not a regular expression: %w", p, err)
		}
		expressions = append(expressions, re)
	}
	var pairs []string
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		if len(value) < minSecret || !secretName.MatchString(name) {
			continue
		}
		pairs = append(pairs, value, masked)
		if quoted, err := json.Marshal(value); err == nil { // as it stands within JSON
			if inner := string(quoted[1 : len(quoted)-1]); inner != value {
				pairs = append(pairs, inner, masked)
			}
		}
	}
	values := strings.NewReplacer(pairs...)
	return func(s string) string {
		s = values.Replace(s)
		for _, re := range expressions {
			s = re.ReplaceAllString(s, masked)
		}
		return s
	}, nil
}
