package model

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"
)

// openaiModel asks by the protocol of OpenAI's chat completions, which many
// other endpoints speak.
type openaiModel struct {
	at          *endpoint
	completions openai.ChatCompletionService
}

func newOpenAI(e *endpoint, client *http.Client) Model {
	// The service is made without a client, which would look into the
	// environment by itself.
	opts := []option.RequestOption{option.WithBaseURL(e.address.String()), option.WithHTTPClient(client), option.WithMaxRetries(maxRetries)}
	if e.key != "" {
		opts = append(opts, option.WithAPIKey(e.key))
	}
	return &openaiModel{e, openai.NewChatCompletionService(opts...)}
}

// Generate asks for one completion.
func (o *openaiModel) Generate(ctx context.Context, r *Request) (*Response, error) {
	params := openai.ChatCompletionNewParams{Model: r.Model, MaxCompletionTokens: openai.Int(int64(r.MaxTokens)), Messages: openaiMessages(r)}
	if r.Schema != nil {
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "verdict", Strict: openai.Bool(r.Strict), Schema: r.Schema},
		}
	}
	for _, t := range r.Tools {
		var parameters shared.FunctionParameters
		if err := json.Unmarshal(t.Schema, &parameters); err != nil {
			return nil, err
		}
		params.Tools = append(params.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: openai.String(t.Description), Parameters: parameters, Strict: openai.Bool(t.Strict),
		}))
	}
	var body []byte
	var res *http.Response
	_, err := o.completions.New(ctx, params, option.WithResponseBodyInto(&body), option.WithResponseInto(&res))
	if err := o.at.replyFailure(ctx, r, res, err); err != nil {
		return nil, err
	}
	completion, err := openaiCompletion(res.Header, body)
	if err != nil {
		return nil, transportError("the reply of "+o.at.host()+" cannot be read: "+o.at.safe(err.Error()), "check that base_url speaks OpenAI's protocol")
	}
	return openaiResponse(completion), nil
}

func openaiMessages(r *Request) []openai.ChatCompletionMessageParamUnion {
	var params []openai.ChatCompletionMessageParamUnion
	if r.System != "" {
		params = append(params, openai.SystemMessage(r.System))
	}
	for _, m := range r.Messages {
		if native, ok := m.Native.(openai.ChatCompletionMessageParamUnion); ok {
			params = append(params, native)
			continue
		}
		for _, result := range m.ToolResults {
			text := result.Text
			if result.Failed {
				text = "error: " + text // the protocol has no place for it
			}
			params = append(params, openai.ToolMessage(text, result.CallID))
		}
		switch {
		case m.Role == RoleUser && m.Text != "":
			params = append(params, openai.UserMessage(m.Text))
		case m.Role == RoleAssistant:
			params = append(params, openaiAssistant(m))
		}
	}
	return params
}

func openaiAssistant(m Message) openai.ChatCompletionMessageParamUnion {
	said := &openai.ChatCompletionAssistantMessageParam{}
	if m.Text != "" {
		said.Content.OfString = openai.String(m.Text)
	}
	for _, c := range m.ToolCalls {
		said.ToolCalls = append(said.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{ID: c.ID,
				Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: string(c.Input)}},
		})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: said}
}

// openaiCompletion reads a reply, which some endpoints stream unasked.
func openaiCompletion(h http.Header, body []byte) (*openai.ChatCompletion, error) {
	var completion openai.ChatCompletion
	if isEventStream(h) {
		var all openai.ChatCompletionAccumulator
		stream := ssestream.NewStream[openai.ChatCompletionChunk](ssestream.NewDecoder(replay(h, body)), nil)
		for stream.Next() {
			if !all.AddChunk(stream.Current()) {
				return nil, errors.New("its stream is no completion")
			}
		}
		if stream.Err() != nil {
			return nil, errors.New("its stream broke off with an error")
		}
		completion = all.ChatCompletion
	} else if err := json.Unmarshal(body, &completion); err != nil {
		return nil, err
	}
	if len(completion.Choices) == 0 || completion.Choices[0].FinishReason == "" {
		return nil, errors.New("it is no finished completion")
	}
	return &completion, nil
}

func openaiResponse(completion *openai.ChatCompletion) *Response {
	choice := completion.Choices[0]
	res := &Response{Text: choice.Message.Content, Usage: Usage{
		InputTokens: completion.Usage.PromptTokens, OutputTokens: completion.Usage.CompletionTokens}}
	if raw := choice.Message.RawJSON(); raw != "" {
		// What else a provider put into the message, it wants to see again.
		res.Native = param.Override[openai.ChatCompletionMessageParamUnion](json.RawMessage(raw))
	}
	for _, c := range choice.Message.ToolCalls {
		res.ToolCalls = append(res.ToolCalls, ToolCall{ID: c.ID, Name: c.Function.Name, Input: json.RawMessage(c.Function.Arguments)})
	}
	switch choice.FinishReason {
	case "stop":
		res.Stop = StopEnd
	case "tool_calls", "function_call":
		res.Stop = StopTools
	case "length":
		res.Stop = StopMaxTokens
	case "content_filter":
		res.Stop = StopFilter
	default:
		res.Stop = StopReason(choice.FinishReason)
	}
	if choice.Message.Refusal != "" {
		res.Stop = StopRefusal
	}
	return res
}
