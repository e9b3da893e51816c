package agents

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/bridge/closed"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/daemon/door"
)

// bridgeCall is how the shell line of an entry begins.
func (e Env) bridgeCall() string {
	call := "B=" + shellQuote(e.Program) + `; "$B"`
	for _, variable := range e.Where {
		call += " --env " + shellQuote(variable)
	}
	return call
}

// bridgeArgs are the arguments of the bridge before agent and event.
func (e Env) bridgeArgs() []string {
	args := []string{}
	for _, variable := range e.Where {
		args = append(args, "--env", variable)
	}
	return args
}

// guardLine is the shell line of an entry: it runs the bridge, and still blocks
// at a gate when the program is gone, cannot be started, or was killed. At
// other events it ends with 0.
func guardLine(bridgeCall string, a *bridge.Agent, event string) string {
	call := bridgeCall + " " + a.Name + " " + event
	if !a.IsGate(event) {
		if ev, _ := a.Event(event); ev == hook.EventTaskCompleted || ev == hook.EventTeammateIdle {
			return call + `; [ $? = 2 ] && exit 2; exit 0` // the exit code keeps them working
		}
		return call + "; exit 0"
	}
	c := closed.Undecided(a.Name, event, "the program of its hook entry is gone or failed; see tenterhook agents verify")
	codes := "0"
	if c.ExitCode == 2 {
		codes = "0|2"
	}
	line := call + "; r=$?; case $r in " + codes + ") exit $r;; esac; "
	if c.Stdout != "" {
		line += `printf '%s\n' ` + shellQuote(strings.TrimSpace(c.Stdout)) + "; "
	}
	return line + "echo " + shellQuote(strings.TrimSpace(c.Stderr)) + " >&2; exit " + string(rune('0'+c.ExitCode))
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// ourLine recognizes an entry of ours by its command, whichever program it
// names. The groups are the program, still quoted, the agent and the event.
var ourLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^B='((?:[^']|'\\'')*/tenterhook-bridge)'; "\$B"(?: --env '(?:[^']|'\\'')*')* ([a-z]+) ([A-Za-z_.]+)(?:;|$)`)
})

func lineProgram(line string) (program, agent, event string, ok bool) {
	m := ourLine().FindStringSubmatch(line)
	if m == nil {
		return "", "", "", false
	}
	return strings.ReplaceAll(m[1], `'\''`, "'"), m[2], m[3], true
}

// IsEntry reports whether a command line is an entry of ours, for any agent.
func IsEntry(line string) bool {
	_, _, _, ok := lineProgram(line)
	return ok
}

// shape is how an agent's file spells an entry.
type shape uint8

const (
	grouped  shape = iota // {"hooks": [{"type": "command", "command": …, "timeout": …}]}
	copilots              // {"type": "command", "bash": …, "timeoutSec": …}
	cursors               // {"command": …, "timeout": …, "failClosed": …}
	plain                 // {"command": …}
	kiros                 // {"command": …, "timeout_ms": …}
)

// handler is an entry in any shape.
type handler struct {
	Name       string            `json:"name,omitempty"`
	Type       string            `json:"type,omitempty"`
	Command    string            `json:"command,omitempty"`
	Bash       string            `json:"bash,omitempty"`
	URL        string            `json:"url,omitempty"`
	Headers    map[string]string `json:"headers,omitempty"`
	Timeout    int64             `json:"timeout,omitempty"`
	TimeoutSec int64             `json:"timeoutSec,omitempty"`
	TimeoutMS  int64             `json:"timeout_ms,omitempty"`
	OnFailure  string            `json:"onFailure,omitempty"`
	FailClosed bool              `json:"failClosed,omitempty"`
}

// element writes the entry of an event, as its file and its transport have it.
func (t target) element(bridgeCall string, a *bridge.Agent, event string) string {
	if t.door == nil || !slices.Contains(door.Events(), event) {
		return t.shape.element(bridgeCall, a, event)
	}
	h := handler{Type: "http", URL: t.door.URL(event), Headers: map[string]string{"Authorization": t.door.Authorization()},
		Timeout: int64(closed.Timeout(a.Name, event).Seconds())}
	if a.IsGate(event) {
		h.OnFailure = "block"
	}
	return compact(map[string][]handler{"hooks": {h}})
}

// element writes the entry of an event.
func (s shape) element(bridgeCall string, a *bridge.Agent, event string) string {
	line, limit := guardLine(bridgeCall, a, event), closed.Timeout(a.Name, event)
	seconds := int64(limit.Seconds())
	h := handler{Type: "command", Command: line}
	switch s {
	case grouped:
		h.Timeout = seconds
		if a.Name == "gemini" {
			h.Name, h.Timeout = "tenterhook", limit.Milliseconds()
		}
		if a.Name == "claude" && a.IsGate(event) {
			h.OnFailure = "block"
		}
		return compact(map[string][]handler{"hooks": {h}})
	case copilots:
		return compact(handler{Type: "command", Bash: line, TimeoutSec: seconds})
	case cursors:
		return compact(handler{Command: line, Timeout: seconds, FailClosed: a.IsGate(event)})
	case kiros:
		return compact(handler{Command: line, TimeoutMS: limit.Milliseconds()})
	}
	return compact(handler{Command: line})
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
		line := h.Command
		if line == "" {
			line = h.Bash
		}
		if _, of, _, ok := lineProgram(line); !ok || of != agent {
			return false
		}
	}
	return len(list) > 0
}
