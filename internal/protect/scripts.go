package protect

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/tenterhook/tenterhook/internal/match"
)

const (
	// maxScript bounds a script that is read.
	maxScript = 64 << 10
	// maxScripts bounds the scripts of one line, those that scripts run among them.
	maxScripts = 64
)

// scripts returns the shell scripts that a line runs, each as a line of its own:
// what an agent writes into a file first is judged when the file is run. Only
// plain words are seen, and no other language.
func scripts(c *match.Call) (lines []*match.Call) {
	seen := make(map[string]bool)
	for next := []*match.Call{c}; len(next) > 0 && len(lines) < maxScripts; next = next[1:] {
		for _, path := range scriptFiles(next[0]) {
			if text := readScript(path); text != "" && !seen[path] && len(lines) < maxScripts {
				seen[path] = true
				input, _ := json.Marshal(map[string]string{"command": text}) // a text always encodes
				one := &match.Call{ToolName: c.ToolName, ToolInput: input, Cwd: c.Cwd, Workspace: c.Workspace, Home: c.Home}
				lines, next = append(lines, one), append(next, one)
			}
		}
	}
	return lines
}

// readScript returns the text of a shell script, "" if it is none or too long.
func readScript(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxScript {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxScript))
	if err != nil || bytes.IndexByte(text, 0) >= 0 {
		return ""
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	if bytes.HasPrefix(first, []byte("#!")) && !bytes.Contains(first, []byte("sh")) {
		return ""
	}
	return string(text)
}

// starters run the command that their other words are.
var starters = []string{"env", "nice", "ionice", "nohup", "timeout", "time", "sudo", "doas", "exec", "command", "setsid", "stdbuf", "strace", "xargs", "flock"}

var shellNames = []string{"sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", ".", "source"}

// scriptFiles are the files that the commands of a line run as scripts. A
// directory that the line changes to counts beside its own.
func scriptFiles(c *match.Call) (paths []string) {
	file, err := syntax.NewParser().Parse(strings.NewReader(lineOf(c)), "")
	if err != nil {
		return nil
	}
	dirs := []string{c.Cwd}
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		words := make([]string, len(call.Args))
		for i, w := range call.Args {
			words[i] = plain(w, c.Home)
		}
		if words[0] == "cd" || words[0] == "pushd" {
			if dir := words[len(words)-1]; filepath.IsAbs(dir) {
				dirs = append(dirs, dir)
			} else {
				dirs = append(dirs, filepath.Join(c.Cwd, dir))
			}
		}
		script := scriptOf(words)
		for _, dir := range dirs {
			if filepath.IsAbs(script) {
				dir = ""
			}
			if script != "" {
				paths = append(paths, filepath.Join(dir, script))
			}
		}
		return true
	})
	slices.Sort(paths)
	return slices.Compact(paths)
}

// scriptOf is the script that a command runs, "" for none.
func scriptOf(words []string) string {
	shell := false
	for _, w := range words {
		switch {
		case shell && strings.HasPrefix(w, "-") && strings.Contains(w, "c"):
			return "" // a line, which is judged as one
		case strings.HasPrefix(w, "-") || strings.Contains(w, "=") || duration(w):
		case shell:
			return w
		case slices.Contains(shellNames, filepath.Base(w)) || w == ".":
			shell = true
		case slices.Contains(starters, filepath.Base(w)):
		case strings.Contains(w, "/"):
			return w
		default:
			return ""
		}
	}
	return ""
}

// duration reports whether a word is a number or a time, as starters take them.
func duration(w string) bool {
	return w != "" && w[0] >= '0' && w[0] <= '9' && strings.Trim(w, "0123456789.smhd") == ""
}

// plain is a word without quotes, "" if it holds more than text.
func plain(w *syntax.Word, home string) string {
	var b strings.Builder
	var add func(parts []syntax.WordPart) bool
	add = func(parts []syntax.WordPart) bool {
		for _, part := range parts {
			switch p := part.(type) {
			case *syntax.Lit:
				b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				if !add(p.Parts) {
					return false
				}
			case *syntax.ParamExp:
				if p.Param == nil || p.Param.Value != "HOME" && p.Param.Value != "PWD" {
					return false
				}
				b.WriteString(map[string]string{"HOME": home, "PWD": "."}[p.Param.Value])
			default:
				return false
			}
		}
		return true
	}
	if !add(w.Parts) {
		return ""
	}
	if rest, ok := strings.CutPrefix(b.String(), "~/"); ok {
		return filepath.Join(home, rest)
	}
	return b.String()
}
