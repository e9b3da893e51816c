package journal

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// masked stands in the place of a secret.
const masked = "[masked]"

// shape is what a credential looks like. Its hints say cheaply where it cannot
// be: a text with none of them holds no such credential. What the groups a and z of
// the pattern match stays.
type shape struct {
	hints   []string // none = it can be anywhere
	pattern string
}

// kept is what stays of a match.
const kept = "${a}" + masked + "${z}"

// secretShapes match well-known credentials, and what stands where a credential
// does: in a URL, a header, an assignment, an option. None of them matches a quote or
// a backslash, so that JSON around a secret stays JSON.
var secretShapes = []shape{
	{[]string{"AKIA", "ASIA"}, `A[KS]IA[0-9A-Z]{16}`}, // AWS access key ID
	{[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, `gh[pousr]_[A-Za-z0-9]{20,}`},
	{[]string{"github_pat_"}, `github_pat_[A-Za-z0-9_]{20,}`},
	{[]string{"glpat-"}, `glpat-[A-Za-z0-9_-]{20,}`},
	{[]string{"xox", "xapp-"}, `(?:xox[abprse]|xapp)-[A-Za-z0-9-]{10,}`},               // Slack
	{[]string{"sk-"}, `sk-[A-Za-z0-9_-]{20,}`},                                         // OpenAI and Anthropic
	{[]string{"k_live_", "k_test_"}, `[rs]k_(?:live|test)_[A-Za-z0-9]{16,}`},           // Stripe
	{[]string{"AIza"}, `AIza[0-9A-Za-z_-]{35}`},                                        // Google
	{[]string{"npm_", "hf_", "dop_v1_"}, `(?:npm|hf|dop_v1)_[A-Za-z0-9]{30,}`},         // npm, Hugging Face, DigitalOcean
	{[]string{"pypi-", "SG."}, `(?:pypi-|SG\.)[A-Za-z0-9_.-]{30,}`},                    // PyPI, SendGrid
	{[]string{"AGE-SECRET-KEY-"}, `AGE-SECRET-KEY-1[0-9A-Z]{50,}`},                     // age
	{[]string{"eyJ"}, `eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`}, // JSON Web Token
	{[]string{"PRIVATE KEY"}, `-----BEGIN [A-Z ]*PRIVATE KEY-----[^"]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`},
	{[]string{"PRIVATE KEY"}, `[A-Za-z0-9+/=\s]*-----END [A-Z ]*PRIVATE KEY-----`},                      // the end of a cut key
	{[]string{"earer ", "asic ", "EARER ", "ASIC "}, `(?i)\b(?:bearer|basic) +[A-Za-z0-9+/=._~-]{16,}`}, // an Authorization header
	{[]string{"://"}, `(?P<a>://)(?:[^/\s:@"'\\]*:[^/\s@"'\\]{3,}|[^/\s:@"'\\]{16,})(?P<z>@)`},          // a URL's user and password
	{[]string{"="}, `(?P<a>[?&](?i:[a-z_.-]*(?:token|secret|password|passwd|api_?key|signature|credential|auth)|sig|key)=)[^&\s"'\\#]{6,}`},
	{[]string{"="}, `(?P<a>\b(?:[A-Z0-9_]*(?:TOKEN|CREDENTIAL)[A-Z0-9_]*|(?i:[a-z0-9_]*(?:password|passwd|secret|api_?key|access_?key|private_?key)[a-z0-9_]*))=["']?)[^\s"'\\$&;|<>()]{6,}`},
	{[]string{"--"}, `(?P<a>(?i:--(?:[a-z-]*password|passwd|[a-z-]*token|api-?key|[a-z-]*secret)[= ]["']?))[^\s"'\\$-][^\s"'\\]{5,}`},
	{[]string{" -u", " --user"}, `(?P<a>\scurl\b[^|;&\n"]*?\s(?:-u|--user)[= ]?["']?[^\s:"'\\]+:|^curl\b[^|;&\n"]*?\s(?:-u|--user)[= ]?["']?[^\s:"'\\]+:)[^\s"'\\]{3,}`},
	{[]string{"uthorization", "UTHORIZATION", "ookie", "OOKIE", "X-", "x-", "rivate-", "RIVATE-"},
		`(?P<a>(?i:\b(?:x-[a-z-]*(?:key|token|secret)|private-token|(?:proxy-)?authorization|(?:set-)?cookie) *: *))[^\r\n"'\\]{6,}`},
}

// secretPatterns compile at their first use: most texts hold no credential.
var secretPatterns = func() []func() *regexp.Regexp {
	compile := make([]func() *regexp.Regexp, len(secretShapes))
	for i, known := range secretShapes {
		compile[i] = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(known.pattern) })
	}
	return compile
}()

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
		re    func() *regexp.Regexp
		with  string
	}
	var masks []mask
	for i, known := range secretShapes {
		masks = append(masks, mask{known.hints, secretPatterns[i], kept})
	}
	for _, p := range patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, fmt.Errorf("redact: %q is not a regular expression: %w", p, err)
		}
		masks = append(masks, mask{nil, func() *regexp.Regexp { return re }, masked})
	}
	known := maskValues(env)
	return func(s string) string {
		s = known(s)
		for _, m := range masks {
			if len(m.hints) == 0 || slices.ContainsFunc(m.hints, func(hint string) bool { return strings.Contains(s, hint) }) {
				s = m.re().ReplaceAllString(s, m.with)
			}
		}
		return s
	}, nil
}

// maskValues returns a function that takes the values of variables out of a text
// whose names say that they are secret: as they are, and as they stand within JSON,
// URLs, base64 and hexadecimal digits.
func maskValues(env []string) func(string) string {
	var pairs []string
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		if len(value) < minSecret || !secretName().MatchString(name) {
			continue
		}
		for _, spelling := range spellings(value) {
			pairs = append(pairs, spelling, masked)
		}
	}
	if len(pairs) == 0 {
		return func(s string) string { return s }
	}
	return strings.NewReplacer(pairs...).Replace
}

// spellings are the ways in which a value may stand in a text.
func spellings(value string) []string {
	list := []string{value, url.QueryEscape(value), url.PathEscape(value), hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value)))}
	var escaped bytes.Buffer
	plain := json.NewEncoder(&escaped)
	plain.SetEscapeHTML(false)
	if plain.Encode(value) == nil {
		list = append(list, strings.Trim(strings.TrimSuffix(escaped.String(), "\n"), `"`))
	}
	if quoted, err := json.Marshal(value); err == nil {
		list = append(list, string(quoted[1:len(quoted)-1]))
	}
	// Within a longer text that is encoded, the value begins at one of three places of
	// a group; the characters that it shares with its neighbours are left out.
	for before := range 3 {
		padded := append(make([]byte, before), value...)
		whole := len(padded) / 3 * 3
		from := (before*8 + 5) / 6
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			if core := encoding.EncodeToString(padded[:whole]); len(core)-from >= minSecret {
				list = append(list, core[from:])
			}
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	slices.SortStableFunc(list, func(a, b string) int { return len(b) - len(a) }) // the longest goes first
	return list
}

// secretKey matches the keys of objects whose texts are taken for secrets.
var secretKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|authorization|cookie)$`)
})

// maskJSON masks each text of a JSON value, however it is escaped, and the texts
// under keys whose names say that they are secret.
func maskJSON(value string, mask func(string) string) string {
	var b strings.Builder
	key, isValue := "", false // the key before a value
	for i := 0; i < len(value); {
		switch c := value[i]; c {
		case '"':
			end := endOfString(value, i)
			var text string
			if json.Unmarshal([]byte(value[i:end]), &text) != nil {
				b.WriteString(value[i:end])
				i = end
				continue
			}
			hidden := mask(text)
			if isValue && len(text) >= minKeyed && secretKey().MatchString(key) {
				hidden = masked
			}
			if hidden == text {
				b.WriteString(value[i:end])
			} else {
				quoted, _ := json.Marshal(hidden) // a string always encodes
				b.Write(quoted)
			}
			key, isValue, i = text, false, end
			continue
		case ':':
			isValue = true
		case ' ', '\t', '\r', '\n':
		default:
			isValue = false
		}
		b.WriteByte(value[i])
		i++
	}
	return b.String()
}

// minKeyed is the shortest text under a secret key that is masked, in bytes.
const minKeyed = 4

// endOfString is the end of the JSON string that begins at start.
func endOfString(value string, start int) int {
	for i := start + 1; i < len(value); i++ {
		switch value[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(value)
}
