package agents

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/bridge/closed"
	"github.com/tenterhook/tenterhook/internal/daemon/door"
)

// shape is how an agent's file spells an entry.
type shape uint8

const (
	grouped  shape = iota // {"hooks": [{"type": "command", "command": …, "timeout": …}]}
	copilots              // {"type": "command", "bash": … or "powershell": …, "timeoutSec": …}
	cursors               // {"command": …, "timeout": …, "failClosed": …}
	plain                 // {"command": …}, and on Windows {"powershell": …} beside it
	kiros                 // {"command": …, "timeout_ms": …}
)

// handler is an entry in any shape.
type handler struct {
	Name       string            `json:"name,omitempty"`
	Type       string            `json:"type,omitempty"`
	Command    string            `json:"command,omitempty"`
	Args       []string          `json:"args,omitempty"` // with them no shell runs the command
	Shell      string            `json:"shell,omitempty"`
	Bash       string            `json:"bash,omitempty"`
	PowerShell string            `json:"powershell,omitempty"`
	URL        string            `json:"url,omitempty"`
	Headers    map[string]string `json:"headers,omitempty"`
	Timeout    int64             `json:"timeout,omitempty"`
	TimeoutSec int64             `json:"timeoutSec,omitempty"`
	TimeoutMS  int64             `json:"timeout_ms,omitempty"`
	OnFailure  string            `json:"onFailure,omitempty"`
	FailClosed bool              `json:"failClosed,omitempty"`
}

// element writes the entry of an event, as its file and its transport have it.
func (t target) element(c caller, a *bridge.Agent, event string) string {
	if t.door == nil || !slices.Contains(door.Events(), event) {
		return t.shape.element(c, a, event)
	}
	h := handler{Type: "http", URL: t.door.URL(event), Headers: map[string]string{"Authorization": t.door.Authorization()},
		Timeout: int64(closed.Timeout(a.Name, event).Seconds())}
	if a.IsGate(event) {
		h.OnFailure = "block"
	}
	return compact(map[string][]handler{"hooks": {h}})
}

// element writes the entry of an event.
func (s shape) element(c caller, a *bridge.Agent, event string) string {
	limit := closed.Timeout(a.Name, event)
	h := handler{Type: "command"}
	if c.shell == noShell {
		h.Command, h.Args = c.program, append(c.args(), a.Name, event)
	} else {
		h.Command = c.line(a, event)
	}
	switch s {
	case grouped:
		h.Timeout = int64(limit.Seconds())
		switch {
		case a.Name == "gemini":
			h.Name, h.Timeout = "tenterhook", limit.Milliseconds()
		case a.Name == "claude" && a.IsGate(event):
			h.OnFailure = "block"
		case a.Name == "qwen" && c.shell == powershell: // else what its own environment says counts
			h.Shell = "powershell"
		}
		return compact(map[string][]handler{"hooks": {h}})
	case copilots:
		h.TimeoutSec = int64(limit.Seconds())
		if c.shell == powershell {
			h.PowerShell, h.Command = h.Command, ""
		} else {
			h.Bash, h.Command = h.Command, ""
		}
		return compact(h)
	case cursors:
		return compact(handler{Command: h.Command, Timeout: int64(limit.Seconds()), FailClosed: a.IsGate(event)})
	case kiros:
		return compact(handler{Command: h.Command, TimeoutMS: limit.Milliseconds()})
	}
	if c.shell == powershell {
		return compact(handler{Command: h.Command, PowerShell: h.Command})
	}
	return compact(handler{Command: h.Command})
}

func compact(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // strings and numbers always encode
	return strings.TrimSpace(b.String())
}

// isOurs reports whether an element of an event's list is an entry of ours for
// an agent: all its commands are.
func isOurs(raw []byte, agent string) bool {
	var e struct {
		handler
		Hooks []handler `json:"hooks"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return false
	}
	list := e.Hooks
	if list == nil {
		list = []handler{e.handler}
	}
	for _, h := range list {
		if agent == "claude" && h.Type == "http" && door.IsURL(h.URL) {
			continue
		}
		if h.agent() != agent {
			return false
		}
	}
	return len(list) > 0
}

// agent is whose entry of ours a handler is, "" if it is another's. With arguments
// it is ours only if these are the ones that an entry has: a person may call the
// bridge with others.
func (h handler) agent() string {
	if len(h.Args) == 0 {
		return lineAgent(cmp.Or(h.Command, h.Bash, h.PowerShell))
	}
	args := h.Args
	for len(args) > 2 && args[0] == "--env" {
		args = args[2:]
	}
	if len(args) != 2 || !bridgePath().MatchString(h.Command) {
		return ""
	}
	a, ok := bridge.Lookup(args[0])
	if !ok || !slices.Contains(a.Events(), args[1]) {
		return ""
	}
	return a.Name
}
