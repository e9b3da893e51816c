// Command format-after-edit formats the file that was just edited, and reports
// what changed. It reads a PostToolUse event on standard input, and answers with
// additionalContext, or nothing.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const timeout = 20 * time.Second // for one formatter

// formatter is a command, and the files (with a text in them) of which one shows
// that the project uses it. No signs = always.
type formatter struct {
	command []string
	signs   []string
}

var prettier = formatter{
	[]string{"prettier", "--log-level=warn", "--write"},
	[]string{".prettierrc", ".prettierrc.json", ".prettierrc.yaml", ".prettierrc.yml", ".prettierrc.toml",
		"prettier.config.js", "prettier.config.mjs", "prettier.config.cjs", `package.json:"prettier"`},
}

// formatters has a list for each suffix: the first that is installed and that the
// project uses counts.
var formatters = map[string][]formatter{
	".go": {{[]string{"gofmt", "-w"}, nil}},
	".rs": {{[]string{"rustfmt", "--quiet"}, nil}},
	".py": {
		{[]string{"ruff", "format", "--quiet"}, []string{"ruff.toml", ".ruff.toml", "pyproject.toml:[tool.ruff"}},
		{[]string{"black", "--quiet"}, []string{"pyproject.toml:[tool.black"}},
	},
	".js": {prettier}, ".jsx": {prettier}, ".mjs": {prettier}, ".cjs": {prettier}, ".ts": {prettier}, ".tsx": {prettier},
	".json": {prettier}, ".css": {prettier}, ".scss": {prettier}, ".html": {prettier}, ".vue": {prettier}, ".md": {prettier},
	".yaml": {prettier}, ".yml": {prettier},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "format-after-edit:", err)
		os.Exit(1)
	}
}

func run() error {
	var event struct {
		Cwd   string          `json:"cwd"`
		Input json.RawMessage `json:"tool_input"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&event); err != nil {
		return err
	}
	var input struct {
		Path string `json:"file_path"`
	}
	if json.Unmarshal(event.Input, &input) != nil || input.Path == "" {
		return nil // no tool that names a file
	}
	project, err := filepath.EvalSymlinks(first(os.Getenv("TENTERHOOK_PROJECT_DIR"), os.Getenv("CLAUDE_PROJECT_DIR"), event.Cwd, "."))
	if err != nil {
		return err
	}
	if project, err = filepath.Abs(project); err != nil {
		return err
	}
	path := input.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(first(event.Cwd, project), path)
	}
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		return nil // gone
	}
	info, err := os.Stat(path)
	short, outside := filepath.Rel(project, path)
	if err != nil || !info.Mode().IsRegular() || outside != nil || !filepath.IsLocal(short) {
		return nil // none of the project's business
	}
	command := choose(project, path)
	if command == nil {
		return nil
	}
	report, err := format(command, project, path, short)
	if err != nil || report == "" {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"hookSpecificOutput": map[string]any{
		"hookEventName": "PostToolUse", "additionalContext": report}})
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// choose is the command for a file, nil = none.
func choose(project, path string) []string {
	for _, f := range formatters[strings.ToLower(filepath.Ext(path))] {
		program, err := exec.LookPath(f.command[0]) // never one of a relative folder
		if err == nil && filepath.IsAbs(program) && (f.signs == nil || used(project, path, f.signs)) {
			return append([]string{program}, f.command[1:]...)
		}
	}
	return nil
}

// used reports whether a folder from the file's up to the project's holds one of
// the signs.
func used(project, path string, signs []string) bool {
	for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
		for _, sign := range signs {
			name, text, _ := strings.Cut(sign, ":")
			data, err := os.ReadFile(filepath.Join(folder, name))
			if err == nil && strings.Contains(string(data), text) {
				return true
			}
		}
		if folder == project || folder == filepath.Dir(folder) {
			return false
		}
	}
}

// format runs a formatter on a file and returns what came of it; "" = nothing
// changed.
func format(command []string, project, path, short string) (string, error) {
	name, quoted := filepath.Base(command[0]), fmt.Sprintf("%q", short)
	before, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], path)...)
	cmd.Dir, cmd.WaitDelay = project, time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return fmt.Sprintf("%s did not finish %s within %v; the file may not be formatted.", name, quoted, timeout), nil
	case errors.As(err, &exit):
		lines := strings.Split(strings.TrimSpace(first(stderr.String(), stdout.String())), "\n")
		return fmt.Sprintf("%s could not format %s, which may not be valid:\n%s", name, quoted, strings.Join(lines[:min(5, len(lines))], "\n")), nil
	case err != nil:
		return "", err
	}
	after, err := os.ReadFile(path)
	if err != nil || bytes.Equal(before, after) {
		return "", err
	}
	return fmt.Sprintf("%s has reformatted %s; read it again before the next edit.", name, quoted), nil
}
