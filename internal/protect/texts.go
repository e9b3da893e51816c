package protect

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/internal/match"
)

// shellKeys are what unknown tools call a command.
var shellKeys = []string{"command", "commands", "cmd", "script", "shell", "bash", "line", "exec", "args", "argv"}

// maxShellLines bounds the commands of one input.
const maxShellLines = 64

// shellLines are the texts of an input that a tool may hand to a shell, by their keys. A
// list of words is one command, and each of them may be.
func shellLines(input json.RawMessage) (lines []string) {
	var look func(v any, shell bool)
	look = func(v any, shell bool) {
		switch v := v.(type) {
		case string:
			if shell && len(lines) < maxShellLines {
				lines = append(lines, v)
			}
		case []any:
			var words []string
			for _, one := range v {
				look(one, shell)
				if word, ok := one.(string); ok {
					words = append(words, word)
				}
			}
			if shell && len(words) > 1 {
				look(strings.Join(words, " "), true)
			}
		case map[string]any:
			for key, one := range v {
				look(one, slices.Contains(shellKeys, strings.ToLower(key)))
			}
			if command, ok := v["command"].(string); ok { // and its arguments beside it
				if args, ok := v["args"].([]any); ok {
					look(append([]any{command}, args...), true)
				}
			}
		}
	}
	var v any
	if json.Unmarshal(input, &v) == nil {
		look(v, false)
	}
	return lines
}

// globbed returns a protected path that a pattern in a line matches, "" for none: the
// words of a loop or a pipe end up as what a command changes.
func (r *rules) globbed(line string, c *match.Call) string {
	for _, word := range strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(" \t\n;&|()<>\"'", c) }) {
		if !strings.ContainsAny(word, "*?[") {
			continue
		}
		for home, to := range map[string]string{"~/": c.Home, "$HOME/": c.Home, "${HOME}/": c.Home} {
			if rest, ok := strings.CutPrefix(word, home); ok {
				word = to + "/" + rest
			}
		}
		if !filepath.IsAbs(word) {
			word = filepath.Join(c.Cwd, word)
		}
		for _, path := range r.paths {
			for ; filepath.IsAbs(path) && filepath.Dir(path) != path; path = filepath.Dir(path) {
				if ok, _ := filepath.Match(word, path); ok {
					return path
				}
			}
		}
	}
	return ""
}

// texts are the texts in a call's input, with a zero byte behind each. What stands for a
// new line in the arguments of a program, as of printf, is one.
func texts(input json.RawMessage) string {
	var b strings.Builder
	var add func(v any)
	add = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(strings.ReplaceAll(v, `\n`, "\n") + "\x00")
		case []any:
			for _, one := range v {
				add(one)
			}
		case map[string]any:
			for _, one := range v {
				add(one)
			}
		}
	}
	var v any
	if json.Unmarshal(input, &v) != nil {
		return string(input)
	}
	add(v)
	return b.String()
}

// named denies a call that may change a file, and names a protected one: text in
// another language, say, that may put the name together from parts.
func (r *rules) named(c *match.Call, before string) string {
	text := squeezed(string(c.ToolInput))
	for i, path := range r.paths {
		if before != "" && !filepath.IsAbs(path) {
			path = "~/" + path
		}
		if before == "" && strings.Contains(text, r.words[i]) || before != "" && mentions(c, before, path) {
			return "this may change " + path
		}
	}
	return ""
}

// squeezed is a text in lower case, without what joins parts of a name.
func squeezed(text string) string {
	return strings.ToLower(joints.Replace(text))
}

var joints = strings.NewReplacer(`\n`, "\n", `\"`, "", `"`, "", "'", "", "`", "", `\\`, "", " ", "", "+", "", ",", "", "(", "", ")", "", "[", "", "]", "", "/", "")

// mentions looks for a path in the input, as JSON writes it, whichever separators it has.
func mentions(c *match.Call, before, path string) bool {
	quoted, err := json.Marshal(filepath.ToSlash(path))
	if err != nil {
		return false
	}
	input := strings.ToLower(string(c.ToolInput))
	if filepath.Separator == '\\' {
		input = strings.ReplaceAll(input, `\\`, "/")
	}
	text := strings.ToLower(string(quoted[1 : len(quoted)-1]))
	if drive, rest, ok := strings.Cut(text, ":/"); ok && len(drive) == 1 && strings.Contains(input, before+"/"+drive+"/"+rest) { // of Git's shell
		return true
	}
	return strings.Contains(input, before+text)
}
