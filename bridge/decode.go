package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/environ"
)

// Caller is the process of an agent's hook entry.
type Caller struct {
	Env []string // as os.Environ has it
	Dir string   // its working directory
}

// Getenv returns a variable of the caller, "" if it is not set.
func (c Caller) Getenv(name string) string {
	return environ.Get(c.Env, name)
}

// ErrNoEvent is returned by Decode for a call that stands for no event: Qwen
// fires UserPromptSubmit with an empty prompt after each round of tools. The
// entry prints nothing and exits with 0.
var ErrNoEvent = errors.New("the call stands for no event")

// call is a payload on its way to an input.
type call struct {
	agent  *Agent
	native string     // the agent's name of the event
	event  hook.Event // ours
	fields map[string]json.RawMessage
	came   []hook.Member // the fields of the payload
	caller Caller
	said   native
}

// Decode turns what an agent's hook entry received into an input, with the
// canonical event, tool names and input keys. It fails on an event that the
// agent does not have, and on anything but one JSON object without duplicate
// keys whose known fields have the right types; then [Agent.Undecided] is the
// answer. It returns ErrNoEvent for a call that stands for no event. The input shares
// the memory of stdin.
func (a *Agent) Decode(event string, stdin []byte, caller Caller) (hook.Input, error) {
	ours, ok := a.Event(event)
	if !ok {
		return nil, fmt.Errorf("%s has no event %q", a.Title, event)
	}
	members, err := hook.Members(stdin)
	if err != nil {
		return nil, fmt.Errorf("the payload of %s: %w", event, err)
	}
	if a.isClaude() && fromCopilot(members) {
		return copilot.Decode(event, stdin, caller) // it runs a project's entries for Claude Code too
	}
	c := &call{agent: a, native: event, event: ours, caller: caller, came: members, fields: make(map[string]json.RawMessage, len(members)+2)}
	for _, m := range members {
		c.fields[m.Key] = m.Value
	}
	if said := c.text("hook_event_name"); said != "" && said != event {
		return nil, fmt.Errorf("the entry is for %s, and the payload is a %s", event, said)
	}
	if a.prepare != nil {
		if err := a.prepare(c); err != nil {
			return nil, err
		}
	}
	if err := c.translateTool(); err != nil {
		return nil, err
	}
	if c.event == hook.EventUserPromptSubmit && c.lacks("prompt") {
		return nil, fmt.Errorf("the payload of %s: no prompt", event) // its guards would judge an empty one
	}
	return c.input()
}

// input makes the canonical input of the fields.
func (c *call) input() (hook.Input, error) {
	if c.native != string(c.event) {
		c.said.Event = c.native
	}
	c.set("hook_event_name", c.event)
	c.set(agentKey, c.agent.Name)
	delete(c.fields, nativeKey)
	if c.said.Event != "" || c.said.Tool != "" || c.said.Input != nil {
		c.said.Event = c.native
		c.set(nativeKey, c.said)
	}
	if c.lacks("cwd") || string(c.fields["cwd"]) == `""` {
		c.set("cwd", c.caller.Dir)
	}
	in, err := hook.DecodeMembers(c.members())
	if err != nil {
		return nil, fmt.Errorf("the payload of %s: %w", c.native, err)
	}
	return in, nil
}

// members are the fields. Those that are as they came were read already, and may be
// long.
func (c *call) members() []hook.Member {
	list := make([]hook.Member, 0, len(c.fields))
	for _, m := range c.came {
		if now := c.fields[m.Key]; len(now) == len(m.Value) && &now[0] == &m.Value[0] {
			list = append(list, m)
			delete(c.fields, m.Key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.fields)) {
		value := c.fields[key]
		if value == nil {
			value = json.RawMessage("null")
		}
		list = append(list, hook.Member{Key: key, Value: value})
	}
	return list
}

// lacks tells that a field is not there, or is null.
func (c *call) lacks(key string) bool {
	value := c.fields[key]
	return value == nil || string(value) == "null"
}

// text returns a field that is a text, "" if it is none.
func (c *call) text(key string) string {
	var s string
	if json.Unmarshal(c.fields[key], &s) != nil {
		return ""
	}
	return s
}

func (c *call) set(key string, value any) {
	raw, err := json.Marshal(value)
	if err == nil {
		c.fields[key] = raw
	}
}

// rename moves fields to their canonical keys. A canonical field that is there
// already wins.
func (c *call) rename(keys map[string]string) {
	for from, to := range keys {
		value, ok := c.fields[from]
		if !ok {
			continue
		}
		if _, taken := c.fields[to]; !taken {
			c.fields[to] = value
			delete(c.fields, from)
		}
	}
}

// translateTool gives a tool and its input their canonical names. An event of a
// tool without a tool's name is no event that a guard could judge.
func (c *call) translateTool() error {
	if hook.Info(c.event).MatcherField != "tool_name" {
		return nil
	}
	name := c.text("tool_name")
	if name == "" {
		return fmt.Errorf("the payload of %s: no tool_name", c.native)
	}
	canonical, input := c.agent.canonicalTool(c, name, c.fields["tool_input"])
	if parts := c.agent.parts(name, c.fields["tool_input"]); len(parts) > 0 {
		input = parts[0] // implied has the others
	}
	if canonical == "Bash" && c.agent.means != nil {
		if real, its, ok := c.agent.means(c, c.fields["tool_input"]); ok {
			canonical, input = real, its
		}
	}
	if canonical != name {
		c.said.Tool = name
		c.set("tool_name", canonical)
	}
	if input != nil {
		c.said.Input = c.fields["tool_input"]
		c.fields["tool_input"] = input
	}
	if c.fields["tool_input"] == nil {
		c.fields["tool_input"] = json.RawMessage("{}")
	}
	return nil
}

// canonicalTool returns a tool's canonical name, and its input with canonical
// keys, nil where that is the same.
func (a *Agent) canonicalTool(c *call, name string, input json.RawMessage) (string, json.RawMessage) {
	if t, ok := a.toolFor(name, input); ok {
		return t.name, renameKeys(input, t.keys)
	}
	if a.mcp == nil || strings.HasPrefix(name, "mcp__") {
		return name, nil
	}
	server, tool, ok := a.mcp(c, name)
	if !ok {
		return name, nil
	}
	if _, there := c.fields["mcp_server"]; !there {
		c.set("mcp_server", hook.MCPServer{Name: server, Source: a.Name})
	}
	return "mcp__" + server + "__" + tool, nil
}

// toolFor is the tool of a call by the agent's own name.
func (a *Agent) toolFor(name string, input json.RawMessage) (tool, bool) {
	if a.variant != nil {
		if entry := a.variant(name, input); entry != "" {
			return a.tools[entry], true
		}
	}
	t, ok := a.tools[name]
	return t, ok
}

// parts are the inputs, with canonical keys, of a call that stands for several. An
// element that is no object is taken for the tool's only key.
func (a *Agent) parts(name string, input json.RawMessage) (list []json.RawMessage) {
	key := a.lists[name]
	if key == "" {
		return nil
	}
	var fields map[string]json.RawMessage
	var elements []json.RawMessage
	if json.Unmarshal(input, &fields) != nil || json.Unmarshal(fields[key], &elements) != nil {
		return nil
	}
	keys := a.tools[name].keys
	for _, e := range elements {
		if !strings.HasPrefix(strings.TrimSpace(string(e)), "{") && len(keys) == 1 {
			for _, ours := range keys {
				e = marshal(map[string]json.RawMessage{ours: e})
			}
		}
		if renamed := renameKeys(e, keys); renamed != nil {
			e = renamed
		}
		list = append(list, e)
	}
	return list
}

// renameKeys returns an object with other keys, or nil if there is nothing to
// rename. Where both the old and the new key stand in it, the value that the
// agent uses wins: the old one's.
func renameKeys(object json.RawMessage, keys map[string]string) json.RawMessage {
	if len(keys) == 0 || len(object) == 0 {
		return nil
	}
	members, err := hook.Members(object)
	if err != nil {
		return nil
	}
	renamed := make(map[string]json.RawMessage, len(members))
	changed := false
	for _, m := range members {
		if _, ok := keys[m.Key]; !ok {
			renamed[m.Key] = m.Value
		}
	}
	for _, m := range members {
		if to, ok := keys[m.Key]; ok {
			renamed[to], changed = m.Value, true
		}
	}
	if !changed {
		return nil
	}
	out, err := json.Marshal(renamed)
	if err != nil {
		return nil
	}
	return out
}
