package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// collect reads an object of the answer and the objects in it that have fields
// of their own. Nothing is applied before all of it was looked at.
//
// The error that it returns voids the answer: the real client takes no such
// answer either. Where the client would take an answer that others may read in
// another way, the answer is unsound: it can still refuse, and nothing else.
func (x *reading) collect(at place, data []byte) *hook.Error {
	if !utf8.Valid(data) {
		x.unsoundly("the answer is not UTF-8", "print UTF-8 text")
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	members, err := hook.Members(data)
	var ambiguous *hook.AmbiguousError
	switch {
	case errors.As(err, &ambiguous) && members != nil:
		x.unsoundly(ambiguous.Reason, "make it with a JSON encoder (jq, json.dumps, …)")
	case err != nil:
		return unreadable("the answer is no JSON object: "+err.Error(),
			"print one object, made by a JSON encoder (jq, json.dumps, …), and nothing else")
	}
	return x.collectMembers(at, members)
}

// collectMembers takes the members of one object. Of two with the same key the
// last one counts, as in the client, and camelCase before snake_case.
func (x *reading) collectMembers(at place, members []hook.Member) *hook.Error {
	for _, m := range members {
		if w := x.wire.ownWord(at, m.Key); w != nil {
			if string(m.Value) != "null" {
				x.own = append(x.own, func() *hook.Error { return w.apply(x, m.Value) })
			}
			continue
		}
		id, known := fieldIndex()[at][m.Key]
		if !known {
			x.unknownKey(at, m.Key, m.Value)
			continue
		}
		camel := m.Key == fieldTable[id].key
		if x.has(id) && camel != x.camel[id] {
			x.unsoundly(fieldTable[id].key+" stands twice, in two spellings", "keep one of them")
			if !camel {
				continue
			}
		}
		x.answer[id], x.camel[id] = m.Value, camel
		switch id {
		case fSpecific:
			x.forEvent = m
		case fRequest:
			x.forRequest = m
		}
	}
	for id := firstField[at]; id < fieldCount && fieldTable[id].at == at; id++ {
		if err := x.check(id); err != nil {
			return err
		}
	}
	return nil
}

// check looks at a field's value: null is none, a wrong type is an error, and
// an object with fields of its own is collected in turn. The client judges the
// types of the fields that it knows on the event alone: of others a wrong type
// must not void a refusal.
func (x *reading) check(id fieldID) *hook.Error {
	f, value := &fieldTable[id], x.answer[id]
	if value == nil {
		return nil
	}
	if string(value) == "null" {
		x.answer[id] = nil
		return nil
	}
	if !f.wants.is(value) {
		reason := f.key + ": want " + string(f.wants) + ", got " + clip(value)
		x.answer[id] = nil
		if x.camel[id] && f.at != atRequest && id != fAsync && id != fAsyncTimeout && x.info.Fields.Has(f.counts) {
			return unreadable(reason, "")
		}
		x.refuse(reason, "")
		return nil
	}
	switch id {
	case fSpecific:
		return x.collectMembers(atSpecific, x.forEvent.Members())
	case fRequest:
		return x.collectMembers(atRequest, x.forRequest.Members())
	case fEventName:
		return nil
	}
	x.says = true
	return nil
}

// unsoundly notes that the answer can be read in more than one way.
func (x *reading) unsoundly(reason, hint string) {
	x.unsound = true
	x.refuse(reason, hint)
}

// maxUnknowns bounds how many unknown keys of an answer are compared with those
// that there are.
const maxUnknowns = 32

// unknownKey judges a key that its place does not have. Most are harmless. One
// that differs from a field's key in case alone would be that field to a
// careless reader, so the answer means two things at once. An answer that says no in
// words that do not count must not pass for consent.
func (x *reading) unknownKey(at place, key string, value json.RawMessage) {
	x.unknowns++
	if id, ok := foldedField(at, key); ok {
		known := fieldTable[id].key
		x.unsoundly("key "+phrase.Quote(key)+" is not "+known+": keys are compared exactly", "write "+known)
		return
	}
	if x.isMisplaced(at, key, value) {
		return
	}
	near := ""
	if x.unknowns <= maxUnknowns {
		near = hook.Nearest(key, placeKeys()[at])
	}
	if saysNo(key, near, value) {
		x.refuse("key "+phrase.Quote(key)+" with "+clip(value)+" decides nothing here", x.noHint(near))
		return
	}
	if near != "" {
		x.call.Warn("unknown_key", "unknown key "+phrase.Quote(key)+" in "+placeNames[at], "did you mean "+near+"?")
	}
}

// isMisplaced reports whether a key belongs to another place of the answer,
// and says so: as a failure if it decides or rewrites, as a warning if it
// would have counted there.
func (x *reading) isMisplaced(at place, key string, value json.RawMessage) bool {
	homes := [...]place{atTop, atSpecific}
	if at == atMoltis || at == atModel || string(value) == "null" {
		return false
	}
	for _, home := range homes {
		id, ok := foldedField(home, key)
		if home == at || !ok {
			continue
		}
		f := &fieldTable[id]
		where := f.key + " counts only in " + placeNames[home]
		effective := f.counts != 0 && x.info.Fields.Has(f.counts) && f.wants.is(value)
		switch {
		case decisive[id], id == fElicitation && effective:
			x.refuse(where+", not in "+placeNames[at], "move it there")
			return true
		case effective:
			x.call.Warn("misplaced_key", where, "move it there")
			return true
		}
	}
	return false
}

// decisive are the fields that decide or rewrite wherever they stand.
var decisive = map[fieldID]bool{
	fSpecific: true, fPermission: true, fUpdatedInput: true, fUpdatedToolOutput: true, fUpdatedMCPOutput: true,
}

// foldedField finds a field by a key that may differ in case.
func foldedField(at place, key string) (fieldID, bool) {
	for _, known := range placeKeys()[at] {
		if strings.EqualFold(known, key) {
			return fieldIndex()[at][known], true
		}
	}
	return 0, false
}
