package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/phrase"
	jsonschema "github.com/tenterhook/tenterhook/internal/schema"
)

// schema is what an answer must look like: the protocol's own shape, or the
// shape that a hook declares.
type schema struct {
	raw      json.RawMessage
	strict   bool               // of the subset that providers enforce
	compiled *jsonschema.Schema // nil: dialect.Reader knows the shape
	more     map[string]bool    // keys that it declares beside ours
	asksOK   bool
}

// verdictSchema is the protocol's own shape. The reason comes first: a model
// that has to give one before its verdict decides better.
var verdictSchema = &schema{strict: true, asksOK: true, raw: json.RawMessage(`{"type":"object","properties":{` +
	`"reason":{"type":"string","description":"Why, in a sentence or two, for whoever must act on it."},` +
	`"ok":{"type":"boolean","description":"true: the rule has no objection. false: it has one."},` +
	`"impossible":{"type":"boolean","description":"true only if no further work could ever satisfy the rule."}},` +
	`"required":["reason","ok","impossible"],"additionalProperties":false}`)}

// describe tells a model what to answer.
func (s *schema) describe() string {
	const meaning = `"ok" is true if the rule has no objection and false if it has one; "reason" says why, in a sentence or two; "impossible" is true only if no further work could ever satisfy the rule.`
	if s.compiled == nil {
		return `Its keys are "reason", "ok" and "impossible": ` + meaning
	}
	return "It must satisfy this JSON Schema:\n" + string(s.raw) + "\nIn it " + meaning
}

// read reads an answer.
func (s *schema) read(c *hook.Call, answer []byte) (*hook.Output, error) {
	if s.compiled != nil {
		var failed *hook.Error
		if answer, failed = s.accept(answer); failed != nil {
			return nil, failed
		}
	}
	return dialect.Reader{}.ReadModel(c, answer)
}

// accept holds an answer against the hook's own schema, and returns it without
// the keys that only the schema knows. What is no sound object is returned as
// it is: the reader says what is wrong with it.
func (s *schema) accept(answer []byte) ([]byte, *hook.Error) {
	text := unfence(answer)
	members, err := hook.Members(text)
	if err != nil {
		return answer, nil
	}
	if err := s.compiled.Validate(text); err != nil {
		return nil, &hook.Error{Failure: hook.FailureOutput, Reason: "the model's answer violates the hook's schema: " + phrase.Line(err.Error(), 200),
			Hint: "say in the prompt what is wanted, or widen the schema"}
	}
	var kept bytes.Buffer
	separator := byte('{')
	for _, m := range members {
		if s.more[m.Key] {
			continue
		}
		key, err := json.Marshal(m.Key)
		if err != nil {
			return answer, nil
		}
		kept.WriteByte(separator)
		separator = ','
		kept.Write(key)
		kept.WriteByte(':')
		kept.Write(m.Value)
	}
	if separator == '{' {
		return []byte("{}"), nil
	}
	kept.WriteByte('}')
	return kept.Bytes(), nil
}

// unfence takes a text out of a Markdown fence, as dialect's reader does.
func unfence(answer []byte) []byte {
	text := bytes.TrimSpace(answer)
	rest, fenced := bytes.CutPrefix(text, []byte("```"))
	inner, closed := bytes.CutSuffix(rest, []byte("```"))
	if _, body, found := bytes.Cut(inner, []byte("\n")); fenced && closed && found {
		return bytes.TrimSpace(body)
	}
	return text
}

const (
	maxSchema  = 64 << 10 // bytes
	maxSchemas = 256      // that are kept compiled
)

// schemaCache compiles a hook's schema once.
type schemaCache struct {
	mu    sync.Mutex // guards known
	known map[string]*schema
}

// of returns what a hook's schema key declares; without one the protocol's own
// shape.
func (c *schemaCache) of(raw json.RawMessage) (*schema, *hook.Error) {
	if len(raw) == 0 || string(raw) == "null" {
		return verdictSchema, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.known[string(raw)]; s != nil {
		return s, nil
	}
	s, err := compile(raw)
	if err != nil {
		return nil, &hook.Error{Failure: hook.FailureStart, Reason: "its schema cannot be used: " + phrase.Line(err.Error(), 200),
			Hint: `schema must be a JSON Schema of an object that has a key "ok"`, Err: err}
	}
	if c.known == nil || len(c.known) >= maxSchemas {
		c.known = make(map[string]*schema)
	}
	c.known[string(raw)] = s
	return s, nil
}

func compile(raw json.RawMessage) (*schema, error) {
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("it has more than %d bytes", maxSchema)
	}
	members, err := hook.Members(raw)
	if err != nil {
		return nil, err
	}
	s := &schema{raw: raw, more: make(map[string]bool)}
	if s.compiled, err = jsonschema.Compile(raw); err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.Key == "properties" {
			s.learn(m.Value)
		}
	}
	return s, nil
}

// learn notes the keys that the schema declares. A key that differs from ours in
// case alone stays for the reader to judge.
func (s *schema) learn(properties json.RawMessage) {
	members, _ := hook.Members(properties) // it compiled
	for _, m := range members {
		switch {
		case m.Key == "ok":
			s.asksOK = true
		case !strings.EqualFold(m.Key, "ok") && !strings.EqualFold(m.Key, "reason") && !strings.EqualFold(m.Key, "impossible"):
			s.more[m.Key] = true
		}
	}
}
