package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// openaiModel asks by the protocol of OpenAI's chat completions, which many
// other endpoints speak.
type openaiModel struct {
	at     *endpoint
	client *http.Client
}

func newOpenAI(e *endpoint, client *http.Client) Model { return &openaiModel{e, client} }

// openaiFormat is the shape that an answer must have.
type openaiFormat struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

// openaiMessage is what a model says.
type openaiMessage struct {
	Content   string       `json:"content"`
	Refusal   string       `json:"refusal"`
	ToolCalls []openaiCall `json:"tool_calls"`
}

type openaiCall struct {
	Index    int    `json:"index"` // in a stream
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// openaiCompletion is a reply, or a chunk of one.
type openaiCompletion struct {
	Choices []struct {
		Index   int             `json:"index"`
		Message json.RawMessage `json:"message"`
		Delta   openaiMessage   `json:"delta"`
		Reason  string          `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// Generate asks for one completion.
func (o *openaiModel) Generate(ctx context.Context, r *Request) (*Response, error) {
	body := object{"model": r.Model, "max_completion_tokens": r.MaxTokens, "messages": openaiMessages(r)}
	if r.Schema != nil {
		body["response_format"] = object{"type": "json_schema", "json_schema": openaiFormat{"verdict", r.Strict, r.Schema}}
	}
	if len(r.Tools) > 0 {
		tools := make([]object, len(r.Tools))
		for i, t := range r.Tools {
			tools[i] = object{"type": "function", "function": object{"name": t.Name, "description": t.Description, "parameters": t.Schema, "strict": t.Strict}}
		}
		body["tools"] = tools
	}
	header := http.Header{}
	if o.at.key != "" {
		header.Set("Authorization", "Bearer "+o.at.key)
	}
	reply, err := o.at.exchange(ctx, o.client, r, "chat/completions", header, body)
	if err != nil {
		return nil, err
	}
	res, err := reply.openai()
	if err != nil {
		return nil, transportError("the reply of "+o.at.host()+" cannot be read: "+o.at.safe(err.Error()), "check that base_url speaks OpenAI's protocol")
	}
	return res, nil
}

func openaiMessages(r *Request) []any {
	var turns []any
	if r.System != "" {
		turns = append(turns, object{"role": "system", "content": r.System})
	}
	for _, m := range r.Messages {
		if native, ok := m.Native.(json.RawMessage); ok {
			turns = append(turns, native)
			continue
		}
		for _, result := range m.ToolResults {
			text := result.Text
			if result.Failed {
				text = "error: " + text // the protocol has no place for it
			}
			turns = append(turns, object{"role": "tool", "tool_call_id": result.CallID, "content": text})
		}
		switch {
		case m.Role == RoleUser && m.Text != "":
			turns = append(turns, object{"role": "user", "content": m.Text})
		case m.Role == RoleAssistant:
			turns = append(turns, openaiAssistant(m))
		}
	}
	return turns
}

func openaiAssistant(m Message) object {
	said := object{"role": "assistant"}
	if m.Text != "" {
		said["content"] = m.Text
	}
	var calls []object
	for _, c := range m.ToolCalls {
		calls = append(calls, object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": string(c.Input)}})
	}
	if calls != nil {
		said["tool_calls"] = calls
	}
	return said
}

// openai reads a reply, which some endpoints stream unasked.
func (r *modelReply) openai() (*Response, error) {
	var whole openaiCompletion
	var said openaiMessage
	res := &Response{}
	reason := ""
	if r.isEventStream() {
		var err error
		if reason, err = whole.accumulate(r.body, &said); err != nil {
			return nil, err
		}
	} else {
		if err := json.Unmarshal(r.body, &whole); err != nil {
			return nil, err
		}
		if len(whole.Choices) > 0 {
			reason = whole.Choices[0].Reason
			if err := json.Unmarshal(whole.Choices[0].Message, &said); err != nil {
				return nil, err
			}
			// What else a provider put into the message, it wants to see again.
			res.Native = whole.Choices[0].Message
		}
	}
	if reason == "" {
		return nil, errors.New("it is no finished completion")
	}
	res.Text, res.Stop = said.Content, openaiStop(reason)
	res.Usage = Usage{InputTokens: whole.Usage.Prompt, OutputTokens: whole.Usage.Completion}
	for _, c := range said.ToolCalls {
		res.ToolCalls = append(res.ToolCalls, ToolCall{ID: c.ID, Name: c.Function.Name, Input: json.RawMessage(c.Function.Arguments)})
	}
	if said.Refusal != "" {
		res.Stop = StopRefusal
	}
	return res, nil
}

func openaiStop(reason string) StopReason {
	switch reason {
	case "stop":
		return StopEnd
	case "tool_calls", "function_call":
		return StopTools
	case "length":
		return StopMaxTokens
	case "content_filter":
		return StopFilter
	}
	return StopReason(reason)
}

// openaiStream is what the chunks of a stream have come to.
type openaiStream struct {
	content, refusal strings.Builder
	calls            []*openaiStreamCall
}

type openaiStreamCall struct {
	id              string
	name, arguments strings.Builder
}

// accumulate makes one message of a stream's first choice, and returns why the
// model stopped. What the stream used up is left in whole.
func (whole *openaiCompletion) accumulate(body []byte, said *openaiMessage) (reason string, err error) {
	var all openaiStream
	for data := range eventData(body) {
		if string(data) == "[DONE]" {
			break
		}
		var chunk openaiCompletion
		if err := json.Unmarshal(data, &chunk); err != nil {
			return "", err
		}
		if len(chunk.Error) > 0 && string(chunk.Error) != "null" {
			return "", errors.New("its stream broke off with an error")
		}
		if chunk.Usage.Prompt+chunk.Usage.Completion > 0 {
			whole.Usage = chunk.Usage
		}
		for _, c := range chunk.Choices {
			if c.Index != 0 {
				continue
			}
			reason = cmp.Or(c.Reason, reason)
			if err := all.grow(&c.Delta); err != nil {
				return "", err
			}
		}
	}
	said.Content, said.Refusal = all.content.String(), all.refusal.String()
	for _, c := range all.calls {
		call := openaiCall{ID: c.id}
		call.Function.Name, call.Function.Arguments = c.name.String(), c.arguments.String()
		said.ToolCalls = append(said.ToolCalls, call)
	}
	return reason, nil
}

// grow adds a delta.
func (s *openaiStream) grow(delta *openaiMessage) error {
	s.content.WriteString(delta.Content)
	s.refusal.WriteString(delta.Refusal)
	for _, c := range delta.ToolCalls {
		at := max(c.Index, 0) // -1 is the only call of some endpoints
		if at > len(s.calls) {
			return errors.New("a call of its stream is out of order")
		}
		if at == len(s.calls) {
			s.calls = append(s.calls, new(openaiStreamCall))
		}
		call := s.calls[at]
		call.id = cmp.Or(call.id, c.ID)
		call.name.WriteString(c.Function.Name)
		call.arguments.WriteString(c.Function.Arguments)
	}
	return nil
}
