package bridge

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// maxImplied bounds the inputs that one call stands for.
const maxImplied = 64

// decideAll asks about an input and about all that it implies. The strictest
// verdict counts.
func (a *Agent) decideAll(in hook.Input, decide func(hook.Input) (*hook.Outcome, error)) (*hook.Outcome, error) {
	out, err := decide(in)
	if err != nil || out == nil || out.Verdict == hook.Deny {
		return out, err
	}
	implied := a.implied(in)
	if len(implied) > maxImplied {
		return nil, fmt.Errorf("the call stands for more than %d others", maxImplied)
	}
	for _, other := range implied {
		more, err := decide(other)
		if err != nil || more == nil {
			return more, err
		}
		out = stricter(out, more, other)
	}
	return out, nil
}

// stricter adds what was decided about an implied input.
func stricter(out, more *hook.Outcome, about hook.Input) *hook.Outcome {
	both := *out
	if more.Verdict > both.Verdict && more.Verdict != hook.Allow {
		both.Verdict, both.Reason = more.Verdict, more.Reason
	}
	if _, input, ok := toolOf(about); ok && more.UpdatedInput != nil && !sameJSON(more.UpdatedInput, input) && both.Verdict != hook.Deny {
		both.Verdict = hook.Deny
		both.Reason = fmt.Sprintf("A hook changed a part of this call, which cannot be applied. It is to be: %s", more.UpdatedInput)
	}
	if both.Verdict == hook.Deny {
		both.UpdatedInput = nil
	}
	both.Stop = both.Stop || more.Stop
	if both.StopReason == "" {
		both.StopReason = more.StopReason
	}
	both.Contexts = append(append([]string(nil), out.Contexts...), more.Contexts...)
	both.SystemMessages = append(append([]string(nil), out.SystemMessages...), more.SystemMessages...)
	both.Results = append(append([]hook.Result(nil), out.Results...), more.Results...)
	return &both
}

// implied are further inputs that one call stands for: the files that a patch in
// a shell line writes, and the other tools that an ambiguous name can mean.
func (a *Agent) implied(in hook.Input) []hook.Input {
	call, ok := hook.As[hook.PreToolUse](in)
	if !ok {
		return nil
	}
	var list []hook.Input
	if a.Name == "codex" {
		for _, f := range patchedFiles(call.ToolInput, call.Cwd) {
			other := call
			other.ToolName, other.ToolInput, other.MCPServer = f.tool, f.input(), nil
			list = append(list, other)
		}
	}
	if said := nativeOf(in); isCopilotPayload(a, in) && call.MCPServer != nil && !strings.Contains(said.Tool, "/") {
		for i, r := range said.Tool {
			if server, tool := said.Tool[:i], said.Tool[min(i+1, len(said.Tool)):]; r == '-' && server != call.MCPServer.Name && server != "" && tool != "" {
				other := call
				other.ToolName, other.MCPServer = "mcp__"+server+"__"+tool, &hook.MCPServer{Name: server, Source: call.MCPServer.Source}
				list = append(list, other)
			}
		}
	}
	return list
}

// patchedFile is a file that a patch writes.
type patchedFile struct {
	tool string // Write or Edit
	path string
	text []string // the lines that are added
}

func (f patchedFile) input() json.RawMessage {
	fields := map[string]string{"file_path": f.path}
	if f.tool == "Write" {
		fields["content"] = strings.Join(f.text, "\n")
	} else {
		fields["old_string"], fields["new_string"] = "", strings.Join(f.text, "\n")
	}
	raw, _ := json.Marshal(fields) // texts always encode
	return raw
}

// patchedFiles finds the files of a patch in the texts of a tool's input, as
// apply_patch takes it: "*** Add File: path" and the like, each on its line.
func patchedFiles(input json.RawMessage, dir string) []patchedFile {
	var texts []string
	var collect func(v any)
	collect = func(v any) {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
		case []any:
			for _, e := range v {
				collect(e)
			}
		case map[string]any:
			for _, e := range v {
				collect(e)
			}
		}
	}
	var v any
	if json.Unmarshal(input, &v) != nil {
		return nil
	}
	collect(v)
	var files []patchedFile
	for _, text := range texts {
		if !strings.Contains(text, "*** Begin Patch") && !strings.Contains(text, "apply_patch") && !strings.Contains(text, "applypatch") {
			continue
		}
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\r\n")
			trimmed := strings.TrimSpace(line)
			if tool, path, ok := patchHeader(trimmed); ok {
				if !filepath.IsAbs(path) {
					path = filepath.Join(dir, path)
				}
				files = append(files, patchedFile{tool: tool, path: path})
			} else if added, ok := strings.CutPrefix(line, "+"); ok && len(files) > 0 {
				files[len(files)-1].text = append(files[len(files)-1].text, added)
			}
		}
	}
	return files
}

func patchHeader(line string) (tool, path string, ok bool) {
	for prefix, tool := range map[string]string{"*** Add File: ": "Write", "*** Update File: ": "Edit", "*** Delete File: ": "Edit", "*** Move to: ": "Write"} {
		if path, ok := strings.CutPrefix(line, prefix); ok && strings.TrimSpace(path) != "" {
			return tool, strings.TrimSpace(path), true
		}
	}
	return "", "", false
}
