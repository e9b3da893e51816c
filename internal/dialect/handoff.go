package dialect

import (
	"bytes"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// HandoffTimeout is how long a hook that continues in the background has to
// answer, unless it says so itself.
const HandoffTimeout = 15 * time.Second

// ReadHandoff reports whether what a command has printed so far begins with
// {"async": true}: then it continues in the background, whatever its exit code.
// It returns false as long as the object is not complete.
func ReadHandoff(stdout []byte) (*hook.Handoff, bool) {
	handoff, _, ok := splitHandoff(trim(stdout))
	return handoff, ok
}

// ReadLater reads the answer of a command that continued in the background, from
// all of its stdout: the first object after the hand-off that is no hand-off.
// Other lines are skipped. Without such an object it has no opinion.
func (rd Reader) ReadLater(c *hook.Call, stdout []byte) (*hook.Output, error) {
	x := newReading(rd, c)
	rest := trim(stdout)
	for len(rest) > 0 {
		if _, behind, ok := splitHandoff(rest); ok {
			rest = trim(behind)
			continue
		}
		if rest[0] == '{' {
			end := objectEnd(rest)
			if end < 0 {
				end = len(rest) // it is for the reading to say what is wrong
			}
			return x.result(x.object(rest[:end]))
		}
		newline := bytes.IndexByte(rest, '\n')
		if newline < 0 {
			break
		}
		rest = trim(rest[newline:])
	}
	return x.result(nil)
}

// splitHandoff splits a hand-off off a trimmed text. An object that decides
// something too is none: the decision would be lost.
func splitHandoff(text []byte) (handoff *hook.Handoff, rest []byte, ok bool) {
	if !bytes.Contains(text, []byte(`"async"`)) {
		return nil, nil, false
	}
	end := objectEnd(text)
	if end < 0 {
		return nil, nil, false
	}
	members, err := hook.Members(text[:end])
	if err != nil {
		return nil, nil, false
	}
	handoff = &hook.Handoff{Timeout: HandoffTimeout}
	for _, m := range members {
		id, known := fieldIndex()[atTop][m.Key]
		if !known {
			if _, folded := foldedField(atTop, m.Key); folded {
				return nil, nil, false
			}
			continue
		}
		if string(m.Value) == "null" {
			continue
		}
		if !fieldTable[id].wants.is(m.Value) {
			return nil, nil, false
		}
		switch id {
		case fAsync:
			ok = string(m.Value) == "true"
		case fAsyncTimeout:
			if d, sound := milliseconds(m.Value); sound {
				handoff.Timeout = d
			}
		case fDecision, fContinue, fSpecific:
			return nil, nil, false
		}
	}
	return handoff, text[end:], ok
}

// objectEnd returns the index behind the object whose brace a text begins with,
// and -1 if its end has not come.
func objectEnd(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			return i + 1
		}
	}
	return -1
}
