package rule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tenterhook/tenterhook/hook"
)

// rewrite sets keys of the tool's input, or on an event about a tool that has
// run of its response. What is equal to what was there is no rewrite.
func (r *Rule) rewrite(f *Facts) (*hook.Output, error) {
	call, _ := hook.ToolCallOf(f.Input)
	was, response := call.ToolInput, hook.Info(r.hook.Event).Fields.Has(hook.FieldToolOutput)
	if response {
		was = call.ToolResponse
	}
	members, err := hook.Members(was)
	if err != nil {
		return nil, &hook.Error{Failure: hook.FailureExpression, Reason: "set: what it would change is no object: " + err.Error(), Err: err}
	}
	for _, w := range r.writers {
		value, err := w.to.Eval(f)
		if err != nil {
			return nil, expressionError("set."+w.key, err)
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, expressionError("set."+w.key, fmt.Errorf("its value is no JSON: %w", err))
		}
		at := slices.IndexFunc(members, func(m hook.Member) bool { return m.Key == w.key })
		if at < 0 {
			members = append(members, hook.Member{Key: w.key})
			at = len(members) - 1
		} else if had, has := kindOf(members[at].Value), kindOf(raw); had != has && had != "null" {
			return nil, expressionError("set."+w.key, fmt.Errorf("its value is %s, and the tool takes %s", has, had))
		}
		members[at].Value = raw
	}
	now, err := object(members)
	if err != nil {
		return nil, expressionError("set", err)
	}
	out := &hook.Output{}
	switch {
	case same(was, now):
	case response:
		out.UpdatedToolOutput = now
	default:
		out.UpdatedInput = now
	}
	if out.UpdatedInput != nil || out.UpdatedToolOutput != nil {
		out.SystemMessage = r.reason.fill(f)
	}
	return out, nil
}

// kindOf says what kind of JSON a value is. A rewrite keeps it: a tool may take a
// value of another kind for none.
func kindOf(raw json.RawMessage) string {
	switch raw = bytes.TrimLeft(raw, " \t\r\n"); {
	case len(raw) == 0 || raw[0] == 'n':
		return "null"
	case raw[0] == '"':
		return "a text"
	case raw[0] == '{':
		return "an object"
	case raw[0] == '[':
		return "a list"
	case raw[0] == 't' || raw[0] == 'f':
		return "true or false"
	}
	return "a number"
}

// object writes members as one object, in their order.
func object(members []hook.Member) (json.RawMessage, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(m.Key)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(m.Value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func same(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
