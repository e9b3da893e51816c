package bridge

import (
	"encoding/json"

	"github.com/tenterhook/tenterhook/hook"
)

// ownAnswer is an answer to the plugins that install writes: they carry it out
// in their agent's own way.
type ownAnswer struct {
	Deny    string          `json:"deny,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	Output  *string         `json:"output,omitempty"`
	Context string          `json:"context,omitempty"`
}

func answerOwn(r *reply) Answer {
	a := ownAnswer{Input: r.input, Context: r.context}
	if r.verdict == hook.Deny {
		a.Deny = r.reason
	}
	if r.output != nil {
		text := resultText(r.output)
		a.Output = &text
	}
	if a.Deny == "" && a.Input == nil && a.Output == nil && a.Context == "" {
		return Answer{}
	}
	return Answer{Stdout: marshal(a)}
}
