// Command tenterhook-plugin-guard keeps an agent's shell away from what cannot
// be undone: recursive removals outside of the project, and forced pushes.
package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/serve"
)

func main() { server().Main() }

func server() *serve.Server {
	s := serve.New("guard", "1.0.0")
	s.Description = "refuses shell commands that cannot be undone"
	serve.On(s, "irreversible", judge, func(h *hook.Hook) {
		h.Matcher, h.OnFailure = "Bash", hook.FailureBlock
	})
	return s
}

func judge(_ context.Context, in hook.PreToolUse) (*hook.Output, error) {
	var input struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal(in.ToolInput, &input); err != nil {
		return nil, err
	}
	words := strings.Fields(input.Command)
	for i, word := range words {
		rest := words[i+1:]
		switch {
		case word == "rm" && flagged(rest, 'r', "--recursive") && outside(rest):
			return hook.Denied("a recursive rm outside of the project cannot be undone; name paths within it"), nil
		case word == "push" && i > 0 && words[i-1] == "git" && flagged(rest, 'f', "--force"):
			return hook.Denied("a forced push rewrites what others have; push without --force"), nil
		}
	}
	return nil, nil
}

// flagged reports whether a flag is set, alone or among others (-rf).
func flagged(args []string, short byte, long string) bool {
	for _, arg := range args {
		if arg == long || len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.IndexByte(arg, short) > 0 {
			return true
		}
	}
	return false
}

// outside reports whether a path leads out of the working directory.
func outside(args []string) bool {
	for _, arg := range args {
		if strings.HasPrefix(arg, "/") || strings.HasPrefix(arg, "~") || strings.HasPrefix(arg, "$HOME") || strings.HasPrefix(arg, "..") {
			return true
		}
	}
	return false
}
