package hook

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Sandbox says what the processes of a hook may do. A mode includes what the weaker ones forbid.
type Sandbox struct {
	Mode       SandboxMode `json:"mode"`
	AllowWrite []string    `json:"allow_write,omitempty"` // paths; ~ and ${NAME} of the hook's environment are replaced
	AllowRead  []string    `json:"allow_read,omitempty"`  // the same
	DenyRead   []string    `json:"deny_read,omitempty"`   // the same; stronger than AllowRead
	AllowNet   []string    `json:"allow_net,omitempty"`   // TCP ports, as "tcp:443"; nil = those of the mode, empty = none
	Memory     int64       `json:"memory,omitempty"`      // bytes for each process, 0 = no bound
	// Optional lets the hook run uncontained where the machine cannot enforce the sandbox. No definition can
	// say so: it comes from the setting sandbox_required.
	Optional bool `json:"optional,omitempty"`
}

// SandboxMode is how far a hook is contained.
type SandboxMode string

// The modes, from the weakest on. The zero value is that of the hook's scope.
const (
	SandboxNone     SandboxMode = "none"      // not at all
	SandboxReap     SandboxMode = "reap"      // no process outlives the run, none signals others
	SandboxReadOnly SandboxMode = "read-only" // and it writes to its own places alone
	SandboxStrict   SandboxMode = "strict"    // and it has no network, no secrets, and few variables
)

// SandboxModes lists the modes from the weakest on.
func SandboxModes() []SandboxMode {
	return []SandboxMode{SandboxNone, SandboxReap, SandboxReadOnly, SandboxStrict}
}

// Stricter returns the stricter of two modes; "" is weaker than any.
func (m SandboxMode) Stricter(other SandboxMode) SandboxMode {
	if slices.Index(SandboxModes(), other) > slices.Index(SandboxModes(), m) {
		return other
	}
	return m
}

// Contains reports whether the sandbox forbids anything. A nil one does not.
func (s *Sandbox) Contains() bool { return s != nil && s.Mode != "" && s.Mode != SandboxNone }

// SandboxKeys are the keys of a sandbox that is declared as a table.
func SandboxKeys() []string {
	return []string{"mode", "allow_write", "allow_read", "deny_read", "allow_net", "memory"}
}

// SandboxOf reads a declared sandbox: a mode, or a table of [SandboxKeys]. A table without a mode means
// strict. A problem is a mistake for which the hook must not run.
func SandboxOf(raw json.RawMessage) (*Sandbox, []Diagnostic) {
	if len(raw) > 0 && raw[0] == '"' {
		var mode SandboxMode
		if err := json.Unmarshal(raw, &mode); err != nil {
			return nil, []Diagnostic{mistake("wrong_type", "sandbox", err.Error(), "")}
		}
		return checkedSandbox(&Sandbox{Mode: mode}, "sandbox")
	}
	members, err := Members(raw)
	if err != nil {
		return nil, []Diagnostic{mistake("wrong_type", "sandbox", "want a mode or a table", `write sandbox = "strict"`)}
	}
	s := &Sandbox{Mode: SandboxStrict}
	var problems []Diagnostic
	for _, m := range members {
		if p := s.take(m.Key, m.Value); p != nil {
			problems = append(problems, *p)
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return checkedSandbox(s, "sandbox.mode")
}

// take reads one key of the table.
func (s *Sandbox) take(key string, value json.RawMessage) *Diagnostic {
	into := map[string]any{"mode": &s.Mode, "allow_write": &s.AllowWrite, "allow_read": &s.AllowRead,
		"deny_read": &s.DenyRead, "allow_net": &s.AllowNet}[snakeCase(key)]
	full := "sandbox." + key
	switch {
	case snakeCase(key) == "memory":
		var text string
		_ = json.Unmarshal(value, &text) // no size is no text either
		bytes, ok := ParseSize(text)
		if !ok {
			return new(mistake("unknown_value", full, `want a size such as "512MiB", got `+string(value), ""))
		}
		s.Memory = bytes
	case into == nil:
		hint := "it takes " + strings.Join(SandboxKeys(), ", ")
		if near := Nearest(key, SandboxKeys()); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return new(mistake("unknown_key", full, "no such key", hint))
	case json.Unmarshal(value, into) != nil:
		want := "a list of strings"
		if into == any(&s.Mode) {
			want = "a string"
		}
		return new(mistake("wrong_type", full, "want "+want, ""))
	}
	return nil
}

// snakeCase is a key of camelCase in snake_case.
func snakeCase(key string) string {
	var b strings.Builder
	for _, r := range key {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// checkedSandbox returns the sandbox, or what is wrong with its values. modeKey is
// the key that has the mode.
func checkedSandbox(s *Sandbox, modeKey string) (*Sandbox, []Diagnostic) {
	var problems []Diagnostic
	if !slices.Contains(SandboxModes(), s.Mode) {
		hint := "it is none, reap, read-only or strict"
		if near := Nearest(string(s.Mode), []string{"none", "reap", "read-only", "strict"}); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		problems = append(problems, mistake("unknown_value", modeKey, fmt.Sprintf("there is no mode %q", s.Mode), hint))
	}
	if _, err := s.Ports(); err != nil {
		problems = append(problems, mistake("unknown_value", "sandbox.allow_net", err.Error(), `write ports as "tcp:443"; a host cannot be named`))
	}
	for _, list := range []struct {
		key   string
		paths []string
	}{{"allow_write", s.AllowWrite}, {"allow_read", s.AllowRead}, {"deny_read", s.DenyRead}} {
		for _, path := range list.paths {
			if !rooted(path) {
				problems = append(problems, mistake("unknown_value", "sandbox."+list.key, fmt.Sprintf("%q is not an absolute path", path),
					"begin it with /, ~ or ${TENTERHOOK_PROJECT_DIR}"))
			}
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return s, nil
}

// rooted reports whether a declared path can come to an absolute one.
func rooted(path string) bool {
	return filepath.IsAbs(path) || strings.HasPrefix(path, "/") || path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, "${")
}

// Ports are the ports of AllowNet; nil = those of the mode.
func (s *Sandbox) Ports() ([]uint16, error) {
	if s.AllowNet == nil {
		return nil, nil
	}
	ports := []uint16{}
	for _, word := range s.AllowNet {
		number, ok := strings.CutPrefix(word, "tcp:")
		port, err := strconv.ParseUint(number, 10, 16)
		if !ok || err != nil || port == 0 {
			return nil, fmt.Errorf("%q is no port", word)
		}
		ports = append(ports, uint16(port))
	}
	return ports, nil
}

// sizeUnits are the units of a size, the longest first.
var sizeUnits = []struct {
	name  string
	bytes float64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}}

// ParseSize reads a size such as "256MiB" or "1.5 GB", in bytes. It is not ok for any other text, and for
// less than a byte.
func ParseSize(text string) (bytes int64, ok bool) {
	for _, unit := range sizeUnits {
		number, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(f*unit.bytes >= 1) || f*unit.bytes >= math.MaxInt64 {
			return 0, false
		}
		return int64(f * unit.bytes), true
	}
	return 0, false
}
