// Command audit-log appends one line of JSON for each tool call: what was
// called, never what was in it. It reads a PostToolUse or PostToolUseFailure event
// on standard input, and answers nothing.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// shown is what of a tool's input is written. Of everything else only the size is.
var shown = map[string]bool{"file_path": true, "path": true, "notebook_path": true, "glob": true, "command": true, "url": true,
	"subagent_type": true, "skill": true}

const (
	longest = 200      // characters of one value
	rotate  = 10 << 20 // bytes, after which the log moves to <name>.1
)

// masked are values that look like tokens; the first group stays.
var masked = []*regexp.Regexp{
	regexp.MustCompile(`(?i)((?:authorization|token|secret|passw(?:or)?d|api[_-]?key|access[_-]?key)[\w-]*["']?(?:\s*[:=]\s*|\s+))` +
		`["']?(?:(?:bearer|basic)\s+)?[^\s"']+`),
	regexp.MustCompile(`()\b(?:sk-|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|npm_|hf_|eyJ)[\w.-]{12,}`),
	regexp.MustCompile(`(://)[^\s/@]+@`),
}

// line is one of the log.
type line struct {
	Time       string          `json:"time"`
	Session    json.RawMessage `json:"session"`
	Agent      json.RawMessage `json:"agent"`
	Event      json.RawMessage `json:"event"`
	Tool       json.RawMessage `json:"tool"`
	ID         json.RawMessage `json:"id"`
	Cwd        json.RawMessage `json:"cwd"`
	Ms         json.RawMessage `json:"ms"`
	Input      any             `json:"input"`
	OutputSize int             `json:"output_size"`
}

type sized struct {
	Size int `json:"size"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "audit-log:", err)
		os.Exit(1)
	}
}

func run() error {
	var event map[string]json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&event); err != nil {
		return err
	}
	output, ok := event["tool_response"]
	if !ok {
		output = event["error"]
	}
	text, err := json.Marshal(line{
		Time:    time.Now().UTC().Format("2006-01-02T15:04:05.000Z07:00"),
		Session: event["session_id"], Agent: event["agent_id"], Event: event["hook_event_name"], Tool: event["tool_name"],
		ID: event["tool_use_id"], Cwd: event["cwd"], Ms: event["duration_ms"],
		Input: summary(event["tool_input"]), OutputSize: size(output),
	})
	if err != nil {
		return err
	}
	return write(logPath(), append(text, '\n'))
}

func summary(input json.RawMessage) any {
	var keys map[string]json.RawMessage
	if json.Unmarshal(input, &keys) != nil || keys == nil {
		return sized{size(input)}
	}
	all := make(map[string]any, len(keys))
	for key, raw := range keys {
		all[key] = sized{size(raw)}
		var value string
		if shown[key] && len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &value) == nil {
			if text, ok := shorten(key, value); ok {
				all[key] = text
			}
		}
	}
	return all
}

// shorten is what of a value may be written; false = nothing.
func shorten(key, value string) (string, bool) {
	if key == "url" {
		u, err := url.Parse(value)
		if err != nil {
			return "", false
		}
		value = u.Scheme + "://" + u.Hostname() + u.EscapedPath()
	}
	// A command's first line; what follows may be the text of a file.
	lines := strings.FieldsFunc(strings.ReplaceAll(strings.TrimSpace(value), "\r\n", "\n"), func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) })
	if len(lines) == 0 {
		return "", true
	}
	text := lines[0]
	for _, pattern := range masked {
		text = pattern.ReplaceAllString(text, "${1}***")
	}
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	if len(lines) > 1 {
		text += fmt.Sprintf(" (and %d more lines)", len(lines)-1)
	}
	return text, true
}

// size is the number of characters of a text, else of the value as JSON.
func size(raw json.RawMessage) int {
	var text *string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		if text == nil {
			return 0
		}
		return utf8.RuneCountInString(*text)
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return len(raw)
	}
	return utf8.RuneCount(b.Bytes())
}

func logPath() string {
	if path := os.Getenv("TENTERHOOK_LOG"); path != "" {
		return path
	}
	home, _ := os.UserHomeDir()
	return filepath.Join(cmp.Or(os.Getenv("XDG_STATE_HOME"), filepath.Join(home, ".local", "state")), "tenterhook", "tool-calls.jsonl")
}

// write makes one write to a file opened for appending: lines of parallel calls
// do not mix.
func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.Size() > rotate {
		if err := os.Rename(path, path+".1"); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if _, err := file.Write(text); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
