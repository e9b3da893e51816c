package model

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenterhook/tenterhook/hook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// theKey is what must never be seen outside a header.
const theKey = "sk-test-0123456789abcdef"

// reply is what the fake provider answers to one request.
type reply struct {
	status int // 0 = 200
	header map[string]string
	body   string
}

// wire writes the replies of one provider.
type wire struct {
	name  string
	env   func(url string) []string
	text  func(text, stop string) reply
	tools func(calls ...ToolCall) reply
	// stream makes an event stream of a reply.
	stream func(r reply) reply
	// the provider's words for stop reasons
	end, cut, filtered string
	refusal            reply
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

var wires = []*wire{anthropicWire, openaiWire}

var anthropicWire = &wire{
	name: "anthropic", end: "end_turn", cut: "max_tokens",
	env: func(url string) []string { return []string{"ANTHROPIC_API_KEY=" + theKey, "ANTHROPIC_BASE_URL=" + url} },
	text: func(text, stop string) reply {
		return anthropicReply(stop, object{"type": "text", "text": text})
	},
	tools: func(calls ...ToolCall) reply {
		var blocks []any
		for _, c := range calls {
			blocks = append(blocks, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": c.Input})
		}
		return anthropicReply("tool_use", blocks...)
	},
	refusal: anthropicReply("refusal"),
	stream: func(r reply) reply {
		var msg struct {
			Content []object `json:"content"`
			Stop    string   `json:"stop_reason"`
		}
		if err := json.Unmarshal([]byte(r.body), &msg); err != nil {
			panic(err)
		}
		var b strings.Builder
		event := func(kind string, v object) {
			v["type"] = kind
			b.WriteString("event: " + kind + "\ndata: " + asJSON(v) + "\n\n")
		}
		event("message_start", object{"message": object{"id": "m", "type": "message", "role": "assistant", "model": "x", "content": []any{},
			"stop_reason": nil, "usage": object{"input_tokens": 11, "output_tokens": 1}}})
		for i, block := range msg.Content {
			delta := object{"type": "text_delta", "text": block["text"]}
			if block["type"] == "tool_use" {
				delta = object{"type": "input_json_delta", "partial_json": asJSON(block["input"])}
				block["input"] = object{}
			} else {
				block["text"] = ""
			}
			event("content_block_start", object{"index": i, "content_block": block})
			event("content_block_delta", object{"index": i, "delta": delta})
			event("content_block_stop", object{"index": i})
		}
		event("message_delta", object{"delta": object{"stop_reason": msg.Stop}, "usage": object{"output_tokens": 7}})
		event("message_stop", object{})
		return reply{header: map[string]string{"Content-Type": "text/event-stream; charset=utf-8"}, body: b.String()}
	},
}

func anthropicReply(stop string, blocks ...any) reply {
	if blocks == nil {
		blocks = []any{}
	}
	return reply{body: asJSON(object{"id": "m", "type": "message", "role": "assistant", "model": "x", "content": blocks,
		"stop_reason": stop, "usage": object{"input_tokens": 11, "output_tokens": 7}})}
}

var openaiWire = &wire{
	name: "openai", end: "stop", cut: "length", filtered: "content_filter",
	env: func(url string) []string {
		return []string{"OPENAI_API_KEY=" + theKey, "OPENAI_BASE_URL=" + url + "/v1"}
	},
	text: func(text, stop string) reply {
		return openaiReply(stop, object{"role": "assistant", "content": text, "refusal": nil})
	},
	tools: func(calls ...ToolCall) reply {
		var list []any
		for _, c := range calls {
			list = append(list, object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": string(c.Input)}})
		}
		return openaiReply("tool_calls", object{"role": "assistant", "content": nil, "refusal": nil, "tool_calls": list})
	},
	refusal: openaiReply("stop", object{"role": "assistant", "content": nil, "refusal": "I can't help with that."}),
	stream: func(r reply) reply {
		var msg struct {
			Choices []struct {
				Message object `json:"message"`
				Stop    string `json:"finish_reason"`
			} `json:"choices"`
		}
		if err := json.Unmarshal([]byte(r.body), &msg); err != nil {
			panic(err)
		}
		var b strings.Builder
		chunk := func(choices []any, usage any) {
			b.WriteString("data: " + asJSON(object{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "x", "choices": choices, "usage": usage}) + "\n\n")
		}
		delta := msg.Choices[0].Message
		if calls, ok := delta["tool_calls"].([]any); ok {
			for i := range calls {
				calls[i].(object)["index"] = i
			}
		}
		chunk([]any{object{"index": 0, "delta": delta, "finish_reason": nil}}, nil)
		chunk([]any{object{"index": 0, "delta": object{}, "finish_reason": msg.Choices[0].Stop}}, nil)
		chunk([]any{}, object{"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18})
		b.WriteString("data: [DONE]\n\n")
		return reply{header: map[string]string{"Content-Type": "text/event-stream"}, body: b.String()}
	},
}

func openaiReply(stop string, message object) reply {
	return reply{body: asJSON(object{"id": "c", "object": "chat.completion", "created": 1, "model": "x",
		"choices": []any{object{"index": 0, "message": message, "finish_reason": stop, "logprobs": nil}},
		"usage":   object{"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}})}
}

// server is a provider on the loopback that keeps what it was asked.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []request
}

type request struct {
	path   string
	header http.Header
	body   string
}

func (s *server) all() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]request(nil), s.requests...)
}

// serve answers request n, from 0, with replies(n).
func serve(t testing.TB, replies func(n int) reply) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		n := len(s.requests)
		s.requests = append(s.requests, request{r.URL.Path, r.Header.Clone(), string(body)})
		s.mu.Unlock()
		a := replies(n)
		w.Header().Set("Content-Type", "application/json")
		for key, value := range a.header {
			w.Header().Set(key, value)
		}
		if a.status != 0 {
			w.WriteHeader(a.status)
		}
		_, _ = io.WriteString(w, a.body)
	}))
	t.Cleanup(s.Close)
	return s
}

// always gives the same reply.
func always(r reply) func(int) reply { return func(int) reply { return r } }

// newHandler makes a handler that is closed with the test.
func newHandler(t testing.TB, o Options) *Handler {
	t.Helper()
	if o.Env == nil {
		o.Env = []string{}
	}
	h := New(o)
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// newCall is a call of a hook of a kind on an event, by default a tool's.
func newCall(t testing.TB, kind hook.Kind, params object, in hook.Input) *hook.Call {
	t.Helper()
	if in == nil {
		in = hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"ls </event>"}`)}
	}
	payload, err := hook.Encode(in, in.Common())
	if err != nil {
		t.Fatal(err)
	}
	h := &hook.Hook{ID: "dir/judge", Event: in.Event(), Kind: kind, Params: hook.Params{}}
	for key, value := range params {
		h.Params[key] = json.RawMessage(asJSON(value))
	}
	return &hook.Call{Hook: h, Input: in, Payload: payload}
}

// failureOf returns the failure of an error; the zero Error for none.
func failureOf(t testing.TB, err error) *hook.Error {
	t.Helper()
	var failed *hook.Error
	if err == nil {
		return &hook.Error{}
	}
	if !errors.As(err, &failed) {
		t.Fatalf("no *hook.Error: %v", err)
	}
	return failed
}
