package fleetpolicy

import "fmt"

// Refusal says why a document does not count.
type Refusal struct {
	Code    string // of a diagnostic, one of the codes here
	Message string
	Hint    string
}

// The codes of refusals.
const (
	CodeMalformed  = "policy_malformed"   // it is no document, or one with parts that are not known here
	CodeUnknownKey = "policy_unknown_key" // no key that this machine knows has signed it
	CodeForged     = "policy_forged"      // a signature is not that of the key that it names
	CodeChannel    = "policy_channel"     // it is signed by a key of the other channel
	CodeForeign    = "policy_foreign"     // it is another fleet's
	CodeReach      = "policy_reach"       // it says more than its channel may
	CodeOlder      = "policy_older"       // a newer one was accepted before
	CodeReplaced   = "policy_replaced"    // another one of its version was accepted before
	CodeExpired    = "policy_expired"     // it had expired when it came

	CodeMissing = "policy_missing" // what was accepted is gone
	CodeChanged = "policy_changed" // what is in the store is not what was accepted
)

// Error returns the message, and what to do.
func (r *Refusal) Error() string {
	if r.Hint == "" {
		return r.Message
	}
	return r.Message + "; " + r.Hint
}

func refuse(code, hint, format string, args ...any) *Refusal {
	return &Refusal{code, fmt.Sprintf(format, args...), hint}
}
