package hook

import "fmt"

// Verdict is what a hook, or all hooks of an event together, decided about the
// action that the event announces. Verdicts are ordered: the larger one is the
// stricter one and wins a merge (deny > defer > ask > allow > none).
//
// On an event without a permission decision (Stop, UserPromptSubmit, …) a
// block is Deny.
type Verdict uint8

// The zero Verdict is NoOpinion: the hook leaves the decision to others.
const (
	NoOpinion Verdict = iota
	Allow             // the action may continue without asking anyone
	Ask               // a person decides
	Defer             // the host stops and hands the decision to its caller
	Deny              // the action must not continue
)

var verdictNames = [...]string{"none", "allow", "ask", "defer", "deny"}

// String returns none, allow, ask, defer or deny.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return fmt.Sprintf("Verdict(%d)", uint8(v))
}

// MarshalText makes a Verdict its name in JSON.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (v *Verdict) UnmarshalText(text []byte) error {
	for i, name := range verdictNames {
		if name == string(text) {
			*v = Verdict(i)
			return nil
		}
	}
	return fmt.Errorf("unknown verdict %q: want none, allow, ask, defer or deny", text)
}
