// Package loopback is a scripted model on 127.0.0.1. It speaks the four
// interfaces that agents talk to models through (Anthropic Messages, OpenAI
// Responses, OpenAI Chat Completions, Gemini), so that a real client can be run
// without an account and without a network: by 'tenterhook agents verify --live',
// and by the tests against real clients.
//
// Stage: outside the pipeline. Package internal/agents imports it; it imports
// the standard library alone.
package loopback

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Call is a call of a tool.
type Call struct {
	Name  string // for Codex' tools of a namespace "namespace@@name"
	Input map[string]any
}

// Turn is what the model says once: calls, or a text that ends its turn.
type Turn struct {
	Text  string
	Calls []Call
}

// Conversation is a script: turn N is played when N rounds of calls are in the
// request already. After the last turn the model says "all done".
type Conversation struct {
	Match string // in the request's text; "" = any
	Turns []Turn
}

// Model is a running model. Close it.
type Model struct {
	URL string // http://127.0.0.1:PORT

	server *http.Server
	script []Conversation
	mu     sync.Mutex
	bodies []string
}

// maxBody bounds a request.
const maxBody = 64 << 20

// Start starts a model. Of the conversations the first that matches is played.
func Start(script ...Conversation) (*Model, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &Model{URL: "http://" + listener.Addr().String(), script: script}
	m.server = &http.Server{Handler: m, ReadHeaderTimeout: 30 * time.Second}
	go func() { _ = m.server.Serve(listener) }() // ends with Close
	return m, nil
}

// Close ends the model.
func (m *Model) Close() error { return m.server.Close() }

// Requests are the requests with tools so far, each as its JSON.
func (m *Model) Requests() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.bodies...)
}

// Told reports whether a text has reached the model.
func (m *Model) Told(text string) bool {
	quoted, _ := json.Marshal(text) // a string always encodes
	inner := strings.Trim(string(quoted), `"`)
	for _, body := range m.Requests() {
		if strings.Contains(body, inner) || strings.Contains(body, text) {
			return true
		}
	}
	return false
}

// ServeHTTP answers a client.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var req request
	_ = json.Unmarshal(raw, &req) // what is no request gets the answer of an empty one
	if r.Method == http.MethodPost && len(req.Tools) > 0 {
		m.mu.Lock()
		m.bodies = append(m.bodies, string(raw))
		m.mu.Unlock()
	}
	path := r.URL.Path
	switch {
	case r.Method != http.MethodPost && strings.Contains(path, "models"):
		reply(w, object{"object": "list", "models": []any{}, "data": []any{object{"id": "mock", "object": "model", "type": "model", "display_name": "mock"}}})
	case strings.Contains(path, "count_tokens"):
		reply(w, object{"input_tokens": 1})
	case strings.HasSuffix(path, ":countTokens"):
		reply(w, object{"totalTokens": 1})
	case strings.HasSuffix(path, "/messages"):
		anthropic(w, &req, m.turn(&req, raw, req.rounds("assistant", "tool_use")))
	case strings.HasSuffix(path, "/responses"):
		responses(w, &req, m.turn(&req, raw, req.responseRounds()))
	case strings.HasSuffix(path, "/chat/completions"):
		chat(w, &req, m.turn(&req, raw, req.rounds("assistant", "tool_calls")))
	case strings.Contains(path, "enerateContent"):
		gemini(w, strings.Contains(path, "stream"), &req, m.turn(&req, raw, req.rounds("model", "functionCall")))
	default:
		reply(w, object{})
	}
}

type object map[string]any

// request is what of a request counts here.
type request struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Tools    []json.RawMessage `json:"tools"`
	Messages []json.RawMessage `json:"messages"`
	Contents []json.RawMessage `json:"contents"` // Gemini
	Input    json.RawMessage   `json:"input"`    // Responses
	Config   json.RawMessage   `json:"generationConfig"`
}

// rounds counts the messages of a role that hold calls.
func (r *request) rounds(role, call string) int {
	n := 0
	for _, raw := range append(r.Messages, r.Contents...) {
		var m struct{ Role string }
		if json.Unmarshal(raw, &m) == nil && m.Role == role && strings.Contains(string(raw), `"`+call+`"`) {
			n++
		}
	}
	return n
}

// responseRounds counts the runs of calls between outputs.
func (r *request) responseRounds() int {
	var items []struct{ Type string }
	_ = json.Unmarshal(r.Input, &items) // a text holds none
	n, inside := 0, false
	for _, item := range items {
		switch {
		case strings.HasSuffix(item.Type, "_call"):
			if !inside {
				n++
			}
			inside = true
		case strings.HasSuffix(item.Type, "_output"), item.Type == "message":
			inside = false
		}
	}
	return n
}

// turn is what the script has for a request. What comes without tools asks for a
// title or the like.
func (m *Model) turn(r *request, raw []byte, rounds int) Turn {
	if len(r.Tools) == 0 {
		return Turn{Text: "title"}
	}
	for _, c := range m.script {
		if strings.Contains(string(raw), c.Match) {
			if rounds < len(c.Turns) {
				return c.Turns[rounds]
			}
			break
		}
	}
	return Turn{Text: "all done"}
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// event is a part of a stream; without a name it goes as data alone.
type event struct {
	name string
	data any
}

func stream(w http.ResponseWriter, events []event) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		if e.name != "" {
			fmt.Fprintf(w, "event: %s\n", e.name)
		}
		data, ok := e.data.(string)
		if !ok {
			raw, _ := json.Marshal(e.data) // our own values always encode
			data = string(raw)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

func text(v any) string {
	raw, _ := json.Marshal(v) // our own values always encode
	return string(raw)
}

var (
	serial   int
	serialMu sync.Mutex
)

// id is unique among calls.
func id(prefix string) string {
	serialMu.Lock()
	defer serialMu.Unlock()
	serial++
	return fmt.Sprintf("%s_%d_%d", prefix, time.Now().UnixNano()%1_000_000_000, serial)
}
