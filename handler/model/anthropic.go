package model

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// anthropicModel asks by the protocol of Anthropic's Messages.
type anthropicModel struct {
	at     *endpoint
	client *http.Client
}

func newAnthropic(e *endpoint, client *http.Client) Model { return &anthropicModel{e, client} }

// anthropicTurn is a message of a conversation as it is sent. That of the model
// is sent back as it came, with what it thought and signed.
type anthropicTurn struct {
	Content any    `json:"content"`
	Role    string `json:"role"`
}

// anthropicMessage is a reply.
type anthropicMessage struct {
	Type       string            `json:"type"`
	Content    []json.RawMessage `json:"content"`
	StopReason string            `json:"stop_reason"`
	Usage      anthropicUsage    `json:"usage"`
}

type anthropicUsage struct {
	Input   int64 `json:"input_tokens"`
	Written int64 `json:"cache_creation_input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

// Generate asks for one message. A tool is never forced: some models refuse
// that. A strict schema is enforced, another one only stands in the system text.
func (a *anthropicModel) Generate(ctx context.Context, r *Request) (*Response, error) {
	body := object{"model": r.Model, "max_tokens": r.MaxTokens, "messages": anthropicMessages(r.Messages)}
	if r.System != "" {
		body["system"] = []object{{"type": "text", "text": r.System}}
	}
	if r.Schema != nil && r.Strict {
		body["output_config"] = object{"format": object{"type": "json_schema", "schema": r.Schema}}
	}
	if len(r.Tools) > 0 {
		tools := make([]object, len(r.Tools))
		for i, t := range r.Tools {
			tools[i] = object{"name": t.Name, "description": t.Description, "input_schema": t.Schema}
		}
		body["tools"] = tools
	}
	header := http.Header{"Anthropic-Version": {"2023-06-01"}}
	if a.at.key != "" {
		header.Set("X-Api-Key", a.at.key)
	}
	if a.at.token != "" {
		header.Set("Authorization", "Bearer "+a.at.token)
	}
	reply, err := a.at.exchange(ctx, a.client, r, "v1/messages", header, body)
	if err != nil {
		return nil, err
	}
	res, err := reply.anthropic()
	if err != nil {
		return nil, transportError("the reply of "+a.at.host()+" cannot be read: "+a.at.safe(err.Error()), "check that base_url speaks Anthropic's protocol")
	}
	return res, nil
}

func anthropicMessages(messages []Message) []anthropicTurn {
	turns := make([]anthropicTurn, len(messages))
	for i, m := range messages {
		if native, ok := m.Native.(anthropicTurn); ok {
			turns[i] = native
			continue
		}
		blocks := []object{}
		for _, r := range m.ToolResults {
			blocks = append(blocks, object{"type": "tool_result", "tool_use_id": r.CallID, "is_error": r.Failed,
				"content": []object{{"type": "text", "text": r.Text}}})
		}
		if m.Text != "" {
			blocks = append(blocks, object{"type": "text", "text": m.Text})
		}
		for _, c := range m.ToolCalls {
			blocks = append(blocks, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": soundInput(c.Input)})
		}
		turns[i] = anthropicTurn{blocks, string(m.Role)}
	}
	return turns
}

// soundInput is the input of a tool as it can be sent: an empty object for what
// is no JSON.
func soundInput(input json.RawMessage) json.RawMessage {
	if !json.Valid(input) {
		return json.RawMessage("{}")
	}
	return input
}

// anthropic reads a reply, which some endpoints stream unasked.
func (r *modelReply) anthropic() (*Response, error) {
	var msg anthropicMessage
	inputs := map[int]json.RawMessage{} // of calls in a stream, as the model wrote them
	if r.isEventStream() {
		if err := msg.accumulate(r.body, inputs); err != nil {
			return nil, err
		}
	} else if err := json.Unmarshal(r.body, &msg); err != nil {
		return nil, err
	}
	if msg.Type != "message" || msg.StopReason == "" {
		return nil, errors.New("it is no finished message")
	}
	res := &Response{Native: anthropicTurn{msg.Content, string(RoleAssistant)}, Stop: anthropicStop(msg.StopReason), Usage: Usage{
		InputTokens: msg.Usage.Input + msg.Usage.Written + msg.Usage.Read, OutputTokens: msg.Usage.Output}}
	var text strings.Builder
	for i, raw := range msg.Content {
		var block struct {
			Type, Text, ID, Name string
			Input                json.RawMessage
		}
		if err := json.Unmarshal(raw, &block); err != nil {
			return nil, err
		}
		switch block.Type {
		case "text":
			text.WriteString(block.Text)
		case "tool_use":
			if input, ok := inputs[i]; ok {
				block.Input = input
			}
			res.ToolCalls = append(res.ToolCalls, ToolCall{ID: block.ID, Name: block.Name, Input: block.Input})
		}
	}
	res.Text = text.String()
	return res, nil
}

func anthropicStop(reason string) StopReason {
	switch reason {
	case "end_turn", "stop_sequence":
		return StopEnd
	case "tool_use":
		return StopTools
	case "max_tokens":
		return StopMaxTokens
	case "refusal":
		return StopRefusal
	case "model_context_window_exceeded":
		return StopContext
	}
	return StopReason(reason)
}

// anthropicBlock is a block of a stream: what it began with, and what each of
// its parts has grown to.
type anthropicBlock struct {
	fields object
	parts  map[string]*strings.Builder
}

// accumulate makes one message of a stream, and notes the inputs of its calls.
func (msg *anthropicMessage) accumulate(body []byte, inputs map[int]json.RawMessage) error {
	var blocks []*anthropicBlock
	done := false
	for data := range eventData(body) {
		var event struct {
			Type    string
			Index   int
			Message json.RawMessage
			Block   object `json:"content_block"`
			Delta   object
			Usage   json.RawMessage
		}
		if err := json.Unmarshal(data, &event); err != nil {
			return err
		}
		switch event.Type {
		case "message_start":
			if err := json.Unmarshal(event.Message, msg); err != nil {
				return err
			}
		case "content_block_start":
			if event.Index != len(blocks) || event.Block == nil {
				return errors.New("a block of its stream is out of order")
			}
			blocks = append(blocks, &anthropicBlock{event.Block, make(map[string]*strings.Builder)})
		case "content_block_delta":
			if event.Index < 0 || event.Index >= len(blocks) {
				return errors.New("a block of its stream is out of order")
			}
			blocks[event.Index].grow(event.Delta)
		case "message_delta":
			msg.StopReason, _ = event.Delta["stop_reason"].(string)
			if len(event.Usage) > 0 {
				if err := json.Unmarshal(event.Usage, &msg.Usage); err != nil {
					return err
				}
			}
		case "message_stop":
			done = true
		case "error":
			return errors.New("its stream broke off with an error")
		}
	}
	if !done {
		return errors.New("its stream ends before the message does")
	}
	msg.Content = nil
	for i, b := range blocks {
		raw, err := b.close(i, inputs)
		if err != nil {
			return err
		}
		msg.Content = append(msg.Content, raw)
	}
	return nil
}

// grow adds a delta: the keys that hold a text are parts of the block.
func (b *anthropicBlock) grow(delta object) {
	for _, key := range []string{"text", "partial_json", "thinking", "signature"} {
		if more, ok := delta[key].(string); ok {
			if b.parts[key] == nil {
				b.parts[key] = new(strings.Builder)
			}
			b.parts[key].WriteString(more)
		}
	}
}

// close returns the block as it would stand in a reply that is not streamed.
func (b *anthropicBlock) close(i int, inputs map[int]json.RawMessage) (json.RawMessage, error) {
	for key, part := range b.parts {
		if key != "partial_json" {
			first, _ := b.fields[key].(string)
			b.fields[key] = first + part.String()
		} else if part.Len() > 0 {
			inputs[i] = json.RawMessage(part.String())
			b.fields["input"] = soundInput(inputs[i])
		}
	}
	return json.Marshal(b.fields)
}
