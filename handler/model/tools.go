package model

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

const (
	maxCalls  = 32       // of tools in one turn; the others are refused
	maxResult = 64 << 10 // bytes that searching returns
)

// agentTools are the tools of the agent that is built in.
func agentTools(s *schema) []Tool {
	return []Tool{
		{
			Name:        "Read",
			Description: "Reads lines of a text file, each with its number.",
			Schema: json.RawMessage(`{"type":"object","properties":{` +
				`"path":{"type":"string","description":"The file, from the workspace's root or absolute."},` +
				`"offset":{"type":"integer","description":"The first line, from 1. Default 1."},` +
				`"limit":{"type":"integer","description":"How many lines. Default 2000."}},"required":["path"]}`),
		},
		{
			Name:        "Grep",
			Description: "Finds the lines of files that match a regular expression (Go, RE2).",
			Schema: json.RawMessage(`{"type":"object","properties":{` +
				`"pattern":{"type":"string"},` +
				`"path":{"type":"string","description":"A file, or a folder that is searched with all below it. Default: the workspace."},` +
				`"glob":{"type":"string","description":"Only files whose path from there matches, such as **/*.go."}},"required":["pattern"]}`),
		},
		{
			Name:        "Glob",
			Description: "Lists the files whose paths match a glob, such as **/*.go or src/*.{ts,tsx}.",
			Schema: json.RawMessage(`{"type":"object","properties":{` +
				`"pattern":{"type":"string","description":"From path."},` +
				`"path":{"type":"string","description":"A folder. Default: the workspace."}},"required":["pattern"]}`),
		},
		{
			Name: verdictTool, Description: "Gives your judgement, and ends your work.",
			Schema: s.raw, Strict: s.strict,
		},
	}
}

// toolInput is the input of any of the tools.
type toolInput struct {
	Path    string `json:"path"`
	Offset  int    `json:"offset"`
	Limit   int    `json:"limit"`
	Pattern string `json:"pattern"`
	Glob    string `json:"glob"`
}

// call runs the calls of a turn, in order. It fails only if ctx ends: whatever
// else goes wrong is the answer to the call.
func (ws *workspace) call(ctx context.Context, calls []ToolCall) ([]ToolResult, error) {
	results := make([]ToolResult, len(calls))
	for i, c := range calls {
		text, err := "", fmt.Errorf("at most %d tools may be called in a turn", maxCalls)
		if i < maxCalls {
			text, err = ws.run(ctx, c)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		results[i] = ToolResult{CallID: c.ID, Text: text}
		if err != nil {
			results[i].Text, results[i].Failed = err.Error(), true
		}
	}
	return results, nil
}

func (ws *workspace) run(ctx context.Context, c ToolCall) (string, error) {
	var in toolInput
	if err := hook.CheckJSON(c.Input); err != nil {
		return "", fmt.Errorf("the input is no JSON: %w", err)
	}
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return "", fmt.Errorf("the input is not of the tool's schema: %w", err)
	}
	switch c.Name {
	case "Read":
		return ws.read(ctx, in)
	case "Grep":
		return ws.grep(ctx, in)
	case "Glob":
		return ws.glob(ctx, in)
	}
	return "", fmt.Errorf("there is no tool %s; there are Read, Grep, Glob and %s", phrase.Quote(c.Name), verdictTool)
}
