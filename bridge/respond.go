package bridge

import (
	"errors"
	"fmt"

	"github.com/tenterhook/tenterhook/hook"
)

// Respond is a whole bridged call: it decodes the payload, asks for a decision,
// and encodes it. held is context of earlier events of the session, which goes
// in front where the event takes it; what is still held comes back in
// Answer.Held. Whatever goes wrong, a panic of decide among it, ends in
// [Agent.Undecided].
func (a *Agent) Respond(event string, stdin []byte, caller Caller, held []string, decide func(hook.Input) (*hook.Outcome, error)) (answer Answer) {
	defer func() {
		if p := recover(); p != nil {
			answer = a.Undecided(event, fmt.Sprintf("a fault in tenterhook: %v", p))
			answer.Held = held
		}
	}()
	in, err := a.Decode(event, stdin, caller)
	if errors.Is(err, ErrNoEvent) {
		return Answer{Held: held}
	}
	var out *hook.Outcome
	if err == nil {
		out, err = a.decideAll(in, decide)
	}
	if err != nil {
		answer = a.Undecided(event, err.Error())
		answer.Held = held
		return answer
	}
	if len(held) > 0 && a.TakesContext(event) {
		more := *out
		more.Contexts = append(append([]string(nil), held...), out.Contexts...)
		out, held = &more, nil
	}
	answer = a.Encode(event, in, out)
	answer.Held = append(held, answer.Held...)
	return answer
}
