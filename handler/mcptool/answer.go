package mcptool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// answer is a tool's result.
type answer struct {
	text       string          // its texts, a line each
	structured json.RawMessage // nil: none, or no object
	failed     bool            // isError
	needsInput bool            // it asks a person, and a hook has none
	others     int             // contents that are no text
}

// parseAnswer reads a result strictly: a key that stands twice makes it one
// that means two things.
func parseAnswer(result json.RawMessage) (answer, error) {
	var a answer
	err := a.parse(result)
	if err != nil {
		err = &hook.Error{Failure: hook.FailureOutput, Reason: "the tool's result cannot be read: " + phrase.First(err.Error(), lineLength), Err: err}
	}
	return a, err
}

func (a *answer) parse(result json.RawMessage) error {
	if result = bytes.TrimSpace(result); !json.Valid(result) || result[0] != '{' {
		return errors.New("it is no object")
	}
	seen := make([]string, 0, 4)
	for key, v := range entries(result) {
		if slices.Contains(seen, key) {
			return fmt.Errorf("key %q stands twice", key)
		}
		seen = append(seen, key)
		var err error
		switch key {
		case "isError":
			err = json.Unmarshal(v, &a.failed)
		case "content":
			err = a.readContent(v)
		case "structuredContent":
			if v[0] == '{' {
				a.structured = v
			}
		case "resultType":
			a.needsInput = string(v) == `"input_required"`
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

func (a *answer) readContent(list json.RawMessage) error {
	if list[0] != '[' && string(list) != "null" {
		return errors.New("want a list")
	}
	var texts []string
	for block := range elements(list) {
		typ, _, err := member(block, "type")
		if err != nil {
			return err
		}
		text, found, err := member(block, "text")
		if err != nil {
			return err
		}
		if string(typ) != `"text"` || !found || text[0] != '"' {
			a.others++
			continue
		}
		texts = append(texts, textOf(text))
	}
	a.text = strings.Join(texts, "\n")
	return nil
}

// output reads an answer as a command's stdout is read.
func (h *Handler) output(c *hook.Call, a answer) (*hook.Output, error) {
	switch {
	case len(a.text) > maxAnswer || len(a.structured) > maxAnswer:
		return nil, &hook.Error{Failure: hook.FailureOverflow, Reason: fmt.Sprintf("the tool answered with more than %d bytes", maxAnswer),
			Hint: "answer with a decision and its reason"}
	case a.needsInput:
		return nil, &hook.Error{Failure: hook.FailureOutput, Reason: "the tool asks a person for input, and a hook cannot ask a person",
			Hint: "use a tool that decides by itself"}
	}
	if a.others > 0 && a.text == "" && a.structured == nil {
		c.Warn("ignored_content", fmt.Sprintf("the tool answered with %d contents that are no text; they mean nothing here", a.others), "answer with text or structuredContent")
	}
	text := bytes.TrimSpace([]byte(a.text))
	if a.structured == nil || a.isWrapped() {
		return h.readText(c, text)
	}
	out, err := h.readText(c, a.structured)
	if isObject(text) && !sameJSON(text, a.structured) {
		out, err = stricter(out, err)(h.readText(c, text))
	}
	return out, err
}

// isWrapped reports whether the structured content only wraps the text, as
// servers do for tools that return a string: {"result": "…"}.
func (a *answer) isWrapped() bool {
	n, wrapped := 0, false
	for key := range entries(a.structured) {
		n, wrapped = n+1, key == "result"
	}
	return n == 1 && wrapped
}

func (h *Handler) readText(c *hook.Call, text []byte) (*hook.Output, error) {
	out, err := h.reader.Read(c, dialect.Reply{Stdout: text})
	if out != nil && out.Handoff != nil {
		return nil, &hook.Error{Failure: hook.FailureOutput, Reason: "the tool answered with async, which is for commands alone",
			Hint: "answer when the decision is made"}
	}
	return out, err
}

// stricter chooses between two readings of one answer, whose text and
// structured content differ: a refusal before a failure, a failure before a
// consent.
func stricter(a *hook.Output, aErr error) func(*hook.Output, error) (*hook.Output, error) {
	return func(b *hook.Output, bErr error) (*hook.Output, error) {
		if strictness(b, bErr) > strictness(a, aErr) {
			return b, bErr
		}
		return a, aErr
	}
}

func strictness(o *hook.Output, err error) int {
	switch {
	case o != nil && o.Stop:
		return 10
	case err == nil && o != nil && o.Verdict > hook.Allow:
		return 2 + int(o.Verdict)
	case err != nil:
		return 2
	case o != nil:
		return int(o.Verdict)
	}
	return 0
}

func isObject(text []byte) bool {
	return len(text) > 1 && text[0] == '{' && text[len(text)-1] == '}'
}

// sameJSON reports whether two texts differ in white space alone.
func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// complaint is what a result with isError says.
func (a *answer) complaint(secrets []string) string {
	if line := phrase.First(redact(a.text, secrets), lineLength); line != "" {
		return "failed: " + strconv.Quote(line)
	}
	return "failed without a word"
}
