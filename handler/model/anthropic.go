package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"
)

// anthropicModel asks by the protocol of Anthropic's Messages.
type anthropicModel struct {
	at       *endpoint
	messages anthropic.MessageService
}

func newAnthropic(e *endpoint, client *http.Client) Model {
	// The service is made without a client, which would look into the
	// environment and into profiles by itself.
	opts := []option.RequestOption{option.WithBaseURL(e.address.String()), option.WithHTTPClient(client),
		option.WithMaxRetries(maxRetries), option.WithoutOpenTelemetry()}
	if e.key != "" {
		opts = append(opts, option.WithAPIKey(e.key))
	}
	if e.token != "" {
		opts = append(opts, option.WithAuthToken(e.token))
	}
	return &anthropicModel{e, anthropic.NewMessageService(opts...)}
}

// Generate asks for one message. A tool is never forced: some models refuse
// that. A strict schema is enforced, another one only stands in the system text.
func (a *anthropicModel) Generate(ctx context.Context, r *Request) (*Response, error) {
	params := anthropic.MessageNewParams{Model: r.Model, MaxTokens: int64(r.MaxTokens), Messages: anthropicMessages(r.Messages)}
	if r.System != "" {
		params.System = []anthropic.TextBlockParam{{Text: r.System}}
	}
	if r.Schema != nil && r.Strict {
		format, err := json.Marshal(map[string]any{"type": "json_schema", "schema": r.Schema})
		if err != nil {
			return nil, err
		}
		params.OutputConfig.Format = param.Override[anthropic.JSONOutputFormatParam](json.RawMessage(format))
	}
	for _, t := range r.Tools {
		params.Tools = append(params.Tools, anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
			Name: t.Name, Description: anthropic.String(t.Description),
			InputSchema: param.Override[anthropic.ToolInputSchemaParam](t.Schema),
		}})
	}
	var body []byte
	var res *http.Response
	_, err := a.messages.New(ctx, params, option.WithResponseBodyInto(&body), option.WithResponseInto(&res))
	if err := a.at.replyFailure(ctx, r, res, err); err != nil {
		return nil, err
	}
	msg, err := anthropicMessage(res.Header, body)
	if err != nil {
		return nil, transportError("the reply of "+a.at.host()+" cannot be read: "+a.at.safe(err.Error()), "check that base_url speaks Anthropic's protocol")
	}
	return anthropicResponse(msg), nil
}

func anthropicMessages(messages []Message) []anthropic.MessageParam {
	params := make([]anthropic.MessageParam, len(messages))
	for i, m := range messages {
		if native, ok := m.Native.(anthropic.MessageParam); ok {
			params[i] = native
			continue
		}
		var blocks []anthropic.ContentBlockParamUnion
		for _, r := range m.ToolResults {
			blocks = append(blocks, anthropic.NewToolResultBlock(r.CallID, r.Text, r.Failed))
		}
		if m.Text != "" {
			blocks = append(blocks, anthropic.NewTextBlock(m.Text))
		}
		for _, c := range m.ToolCalls {
			blocks = append(blocks, anthropic.NewToolUseBlock(c.ID, c.Input, c.Name))
		}
		params[i] = anthropic.MessageParam{Role: anthropic.MessageParamRole(m.Role), Content: blocks}
	}
	return params
}

// anthropicMessage reads a reply, which some endpoints stream unasked.
func anthropicMessage(h http.Header, body []byte) (*anthropic.Message, error) {
	var msg anthropic.Message
	if !isEventStream(h) {
		if err := json.Unmarshal(body, &msg); err != nil {
			return nil, err
		}
		if msg.Type != "message" || msg.StopReason == "" {
			return nil, errors.New("it is no finished message")
		}
		return &msg, nil
	}
	stream := ssestream.NewStream[anthropic.MessageStreamEventUnion](ssestream.NewDecoder(replay(h, body)), nil)
	done := false
	for stream.Next() {
		event := stream.Current()
		if err := msg.Accumulate(event); err != nil {
			return nil, err
		}
		done = done || event.Type == "message_stop"
	}
	if err := stream.Err(); err != nil {
		return nil, errors.New("its stream broke off with an error")
	}
	if !done || msg.StopReason == "" {
		return nil, errors.New("its stream ends before the message does")
	}
	return &msg, nil
}

func anthropicResponse(msg *anthropic.Message) *Response {
	res := &Response{Native: msg.ToParam(), Usage: Usage{
		InputTokens:  msg.Usage.InputTokens + msg.Usage.CacheCreationInputTokens + msg.Usage.CacheReadInputTokens,
		OutputTokens: msg.Usage.OutputTokens,
	}}
	var text strings.Builder
	for _, block := range msg.Content {
		switch block.Type {
		case "text":
			text.WriteString(block.Text)
		case "tool_use":
			res.ToolCalls = append(res.ToolCalls, ToolCall{ID: block.ID, Name: block.Name, Input: block.Input})
		}
	}
	res.Text = text.String()
	switch msg.StopReason {
	case anthropic.StopReasonEndTurn, anthropic.StopReasonStopSequence:
		res.Stop = StopEnd
	case anthropic.StopReasonToolUse:
		res.Stop = StopTools
	case anthropic.StopReasonMaxTokens:
		res.Stop = StopMaxTokens
	case anthropic.StopReasonRefusal:
		res.Stop = StopRefusal
	case anthropic.StopReasonModelContextWindowExceeded:
		res.Stop = StopContext
	default:
		res.Stop = StopReason(msg.StopReason)
	}
	return res
}

func isEventStream(h http.Header) bool {
	return strings.HasPrefix(strings.ToLower(h.Get("Content-Type")), "text/event-stream")
}

// replay is a response that was read already, for a decoder that wants one.
func replay(h http.Header, body []byte) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Header: h, Body: io.NopCloser(bytes.NewReader(body))}
}
