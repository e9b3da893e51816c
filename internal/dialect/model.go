package dialect

import (
	"bytes"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// ReadModel reads what a model answered to a prompt hook: {"ok": bool,
// "reason": string, "impossible": bool}, bare or in a code fence. ok: false
// blocks; ok: true is no permission, it only raises no objection.
func (rd Reader) ReadModel(c *hook.Call, answer []byte) (*hook.Output, error) {
	x := newReading(rd, c)
	return x.result(x.model(answer))
}

func (x *reading) model(answer []byte) *hook.Error {
	answer = unfence(trim(answer))
	if len(answer) == 0 || !looksLikeObject(answer) {
		return unreadable("the model's answer is no JSON object: it begins with "+phrase.Quote(firstLine(answer)),
			`the prompt must ask for {"ok": true} or {"ok": false, "reason": "…"}`)
	}
	if err := x.collect(atModel, answer); err != nil {
		return err
	}
	x.out.Impossible = x.flag(fImpossible)
	switch {
	case !x.has(fOK):
		x.refuse(`the model's answer has no "ok"`, `the prompt must ask for {"ok": true} or {"ok": false, "reason": "…"}`)
	case !x.flag(fOK):
		x.block("ok: false", x.text(fModelReason))
	}
	return nil
}

// unfence takes a text out of the Markdown fence that models like to put
// around JSON.
func unfence(text []byte) []byte {
	if !bytes.HasPrefix(text, []byte("```")) || !bytes.HasSuffix(text, []byte("```")) {
		return text
	}
	_, inner, found := bytes.Cut(text, []byte("\n"))
	if !found {
		return text
	}
	return trim(bytes.TrimSuffix(inner, []byte("```")))
}
