package match

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
)

// A Call is one use of a tool, which rules are held against. Make one for each
// dispatch and hand it to every rule: it decodes the input and parses the
// command once, at the first rule that asks. It is safe for concurrent use,
// and its fields must not change after the first match. The zero value is a
// call of no tool.
type Call struct {
	ToolName  string
	ToolInput json.RawMessage

	// Cwd is the session's working directory, Workspace the project's root,
	// Home the user's. All are absolute. A rule whose base is missing here
	// cannot be judged, so it matches.
	Cwd, Workspace, Home string

	decode   sync.Once
	few      [4]field // room for fields
	fields   []field
	err      error
	parse    sync.Once
	first    command // room for commands
	one      [1]*command
	commands []*command
	oneLine  [1]*line
	shell    []*line // of commands; nil = they are not all there
	other    sync.Once
	others   []*line // of tools without a command
	links    sync.Mutex
	linked   map[string]string // paths that were followed through links; guarded by links
}

// At returns the same call where ~ means another directory.
func (c *Call) At(home string) *Call {
	return &Call{ToolName: c.ToolName, ToolInput: c.ToolInput, Cwd: c.Cwd, Workspace: c.Workspace, Home: home}
}

// field is one member of the tool's input. A key may occur more than once, and
// which one the tool takes is unknown: all count.
type field struct {
	key   string
	value json.RawMessage
}

var errNoObject = errors.New("the tool's input is not a JSON object")

// members returns the fields of the input.
func (c *Call) members() ([]field, error) {
	c.decode.Do(func() { c.fields, c.err = decodeObject(c.ToolInput, c.few[:0]) })
	return c.fields, c.err
}

// decodeObject appends one level of an object to fields. It keeps duplicate
// keys, which decoding into a map or a struct would drop.
func decodeObject(raw json.RawMessage, fields []field) ([]field, error) {
	if !json.Valid(raw) {
		return nil, errNoObject
	}
	raw = bytes.TrimLeft(raw, jsonSpace)
	if raw[0] != '{' {
		return nil, errNoObject
	}
	for raw = bytes.TrimLeft(raw[1:], jsonSpace); raw[0] == '"'; raw = bytes.TrimLeft(raw, jsonSpace+",") {
		n := valueEnd(raw)
		key := keyOf(raw[:n])
		raw = bytes.TrimLeft(raw[n:], jsonSpace+":")
		n = valueEnd(raw)
		fields = append(fields, field{key, raw[:n:n]})
		raw = raw[n:]
	}
	return fields, nil
}

// keyOf decodes a key, the commonest ones without an allocation.
func keyOf(raw json.RawMessage) string {
	switch string(raw) {
	case `"command"`:
		return "command"
	case `"file_path"`:
		return "file_path"
	case `"description"`:
		return "description"
	}
	key, _ := decodeText(raw)
	return key
}

const jsonSpace = " \t\r\n"

// valueEnd returns the length of the value that valid JSON begins with.
func valueEnd(raw json.RawMessage) int {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth < 0 {
				return i // behind a number or a word
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(raw)
}

// texts returns the strings that a key of the input holds, whatever the case
// of its letters. ok is false if one is no string, or there is none.
func (c *Call) texts(key string) (texts []string, ok bool) {
	ok = c.eachText(key, func(text string) { texts = append(texts, text) })
	return texts, ok
}

// eachText yields them.
func (c *Call) eachText(key string, yield func(string)) (ok bool) {
	fields, _ := c.members()
	all, n := true, 0
	for i := range fields {
		f := &fields[i]
		if !strings.EqualFold(f.key, key) {
			continue
		}
		if s, isText := decodeText(f.value); isText {
			yield(s)
			n++
		} else {
			all = false
		}
	}
	return all && n > 0
}

// decodeText reads a JSON string; plain ones need no decoder.
func decodeText(raw json.RawMessage) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// shellTexts returns the call's commands, parsed.
func (c *Call) shellTexts() []*command {
	c.parse.Do(func() {
		c.commands = c.one[:0]
		ok := c.eachText("command", func(text string) {
			to := &c.first
			if len(c.commands) > 0 {
				to = new(command)
			}
			if c.ToolName == powerShell {
				text = "powershell -Command " + singleQuoted(text)
			}
			to.parse(text, c.cwd(), c.home())
			c.commands = append(c.commands, to)
		})
		c.shell = c.oneLine[:0]
		for _, cmd := range c.commands {
			c.shell = append(c.shell, cmd.line)
		}
		if !ok {
			c.shell = nil
			c.commands = append(c.commands, &command{missing: true, seen: reading{blind: "is missing or no string"}, line: &line{unread: "is missing or no string"}})
		}
	})
	return c.commands
}

// powerShell is the tool of agents on Windows whose command PowerShell runs.
const powerShell = "PowerShell"

// runsLines reports whether the tool's command is what a shell runs.
func (c *Call) runsLines() bool { return c.ToolName == "Bash" || c.ToolName == powerShell }

// singleQuoted is a text as one word of a shell.
func singleQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// lookup returns the scalars at a dotted path as text. An array stands for its
// members, unless the path has an index.
func lookup(raw json.RawMessage, path []string) []string {
	if len(path) == 0 {
		return scalars(raw)
	}
	trimmed := bytes.TrimLeft(raw, jsonSpace)
	switch {
	case bytes.HasPrefix(trimmed, []byte("{")):
		fields, err := decodeObject(raw, nil)
		if err != nil {
			return nil
		}
		var found []string
		for _, f := range fields {
			if f.key == path[0] {
				found = append(found, lookup(f.value, path[1:])...)
			}
		}
		return found
	case bytes.HasPrefix(trimmed, []byte("[")):
		var items []json.RawMessage
		i, err := strconv.Atoi(path[0])
		if err != nil || json.Unmarshal(raw, &items) != nil || i < 0 || i >= len(items) {
			return nil
		}
		return lookup(items[i], path[1:])
	}
	return nil
}

func scalars(raw json.RawMessage) []string {
	if s, ok := decodeText(raw); ok {
		return []string{s}
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) == nil {
		var found []string
		for _, item := range items {
			if s, ok := decodeText(item); ok {
				found = append(found, s)
			}
		}
		return found
	}
	if raw[0] == '{' {
		return nil
	}
	return []string{string(raw)}
}

// inputText is a string of the tool's input.
type inputText struct{ key, value string }

// prose are keys of the input that hold text, not a path or a command.
var prose = wordSet("content new_string old_string new_source description prompt query")

// inputTexts returns the strings of the input, at any depth, but prose.
func (c *Call) inputTexts() (texts []inputText, ok bool) {
	if text, isText := decodeText(c.ToolInput); isText && json.Valid(c.ToolInput) {
		return []inputText{{"", text}}, true
	}
	fields, err := c.members()
	if err != nil {
		return nil, false
	}
	var walk func(key string, raw json.RawMessage, depth int)
	walk = func(key string, raw json.RawMessage, depth int) {
		if prose.has(strings.ToLower(key)) || depth > maxNested {
			return
		}
		if s, isText := decodeText(raw); isText {
			texts = append(texts, inputText{key, s})
			return
		}
		if inner, err := decodeObject(raw, nil); err == nil {
			for _, f := range inner {
				walk(f.key, f.value, depth+1)
			}
			return
		}
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) == nil {
			for _, item := range items {
				walk(key, item, depth+1)
			}
		}
	}
	for _, f := range fields {
		walk(f.key, f.value, 0)
	}
	return texts, true
}

// lines returns the shell lines of the call: the command of Bash or PowerShell, and of any
// other tool each string of the input that may be one. A list of strings is
// taken for the words of a command.
func (c *Call) lines() []*line {
	if c.runsLines() {
		if c.shellTexts(); c.shell != nil {
			return c.shell
		}
	}
	c.other.Do(func() {
		texts, ok := c.inputTexts()
		if !ok {
			c.others = append(c.others, &line{unread: "is no JSON object"})
		}
		for _, text := range texts {
			c.others = append(c.others, newCommand(text.value, c.cwd(), c.home()).line)
		}
		fields, _ := c.members()
		for _, f := range fields {
			c.wordLists(f.value, 0)
		}
	})
	return c.others
}

// wordLists reads each list of strings as a command.
func (c *Call) wordLists(raw json.RawMessage, depth int) {
	if depth > maxNested {
		return
	}
	if inner, err := decodeObject(raw, nil); err == nil {
		for _, f := range inner {
			c.wordLists(f.value, depth+1)
		}
		return
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil || len(items) == 0 {
		return
	}
	words := make([]string, 0, len(items))
	for _, item := range items {
		if s, ok := decodeText(item); ok {
			words = append(words, s)
		} else {
			c.wordLists(item, depth+1)
		}
	}
	if len(words) == len(items) && words[0] != "" {
		r := newLineReader(strings.Join(words, " "), c.cwd(), c.home())
		r.whole(func() { r.command(words, stream{}) })
		c.others = append(c.others, r.line)
	}
}
