package dialect

import (
	"encoding/json"

	"github.com/tenterhook/tenterhook/hook"
)

// Payload returns an event's JSON as hooks of a protocol expect it. caliban's
// carries the event's name and the tool under keys of its own beside the common
// ones; the others read the common payload as it is.
func Payload(p hook.Protocol, in hook.Input, common []byte) ([]byte, error) {
	if p != hook.ProtocolCaliban {
		return common, nil
	}
	type tool struct {
		Name  string          `json:"name"`
		UseID string          `json:"useId,omitempty"`
		Input json.RawMessage `json:"input"`
	}
	own := struct {
		HookEventName hook.Event `json:"hookEventName"`
		Tool          *tool      `json:"tool,omitempty"`
	}{HookEventName: in.Event()}
	if call, ok := hook.ToolCallOf(in); ok {
		own.Tool = &tool{call.ToolName, call.ToolUseID, call.ToolInput}
	}
	more, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	joined := make([]byte, 0, len(common)+len(more))
	joined = append(joined, common[:len(common)-1]...) // without its closing brace
	joined = append(joined, ',')
	return append(joined, more[1:]...), nil
}
