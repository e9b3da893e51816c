package model

import (
	"context"
	"encoding/json"
)

// Model answers one request of a conversation. Generate is called from many
// goroutines at once and returns by the end of ctx. A *hook.Error is reported
// as it is; any other error is a failure of the transport.
type Model interface {
	Generate(ctx context.Context, r *Request) (*Response, error)
}

// ModelFunc makes a function a Model.
type ModelFunc func(ctx context.Context, r *Request) (*Response, error)

// Generate calls f.
func (f ModelFunc) Generate(ctx context.Context, r *Request) (*Response, error) { return f(ctx, r) }

// Request is one turn that a model is asked for. It is read only.
type Request struct {
	Model     string // as the hook or the settings name it; "" = the model's own default
	System    string
	Messages  []Message // begin with the user's; roles alternate
	Tools     []Tool    // the tools that may be called; nil = none
	MaxTokens int       // of the answer

	// Schema, where not nil, is the JSON Schema of the answer: Response.Text is
	// to be one JSON object that satisfies it.
	Schema json.RawMessage
	// Strict says that Schema is of the subset that providers enforce: objects
	// are closed, and all their keys are required.
	Strict bool
}

// Role is who says a message.
type Role string

// The roles. Results of tools come from the user's side.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one message of a conversation.
type Message struct {
	Role        Role
	Text        string
	ToolCalls   []ToolCall   // the assistant's
	ToolResults []ToolResult // the user's; they stand before Text
	Native      any          // the Native of the Response that this message was
}

// Tool is a function that a model may call.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // of its input: an object
	Strict      bool            // as in Request
}

// ToolCall is a model's call of a tool.
type ToolCall struct {
	ID    string
	Name  string
	Input json.RawMessage // as the model wrote it; perhaps no JSON at all
}

// ToolResult answers a ToolCall.
type ToolResult struct {
	CallID string
	Text   string
	Failed bool
}

// Response is what a model answered.
type Response struct {
	Text      string
	ToolCalls []ToolCall
	Stop      StopReason
	Usage     Usage
	// Native, where not nil, comes back in the Message that this response
	// becomes, for a Model that has to see more of it than Text and ToolCalls.
	Native any
}

// StopReason is why a model stopped. The zero value is StopEnd.
type StopReason string

// The reasons. Whatever a response that stopped for one of the last four says,
// it is not taken for an answer.
const (
	StopEnd       StopReason = ""               // it had said everything
	StopTools     StopReason = "tool_use"       // it waits for results of tools
	StopMaxTokens StopReason = "max_tokens"     // the answer was cut short
	StopContext   StopReason = "context_window" // the conversation is too long
	StopRefusal   StopReason = "refusal"        // it would not answer
	StopFilter    StopReason = "content_filter" // a filter kept the answer back
)

// Usage counts tokens; zero where a model does not tell.
type Usage struct {
	InputTokens  int64
	OutputTokens int64
}

// add adds the usage of another turn.
func (u *Usage) add(v Usage) {
	u.InputTokens += max(0, v.InputTokens)
	u.OutputTokens += max(0, v.OutputTokens)
}
