package loopback

import (
	"maps"
	"net/http"
	"strings"
)

// anthropic speaks Anthropic's Messages.
func anthropic(w http.ResponseWriter, r *request, t Turn) {
	var blocks []object
	if t.Text != "" {
		blocks = append(blocks, object{"type": "text", "text": t.Text})
	}
	stop := "end_turn"
	for _, c := range t.Calls {
		stop = "tool_use"
		blocks = append(blocks, object{"type": "tool_use", "id": id("toolu"), "name": c.Name, "input": c.Input})
	}
	message := func(content any, reason any) object {
		return object{"id": id("msg"), "type": "message", "role": "assistant", "model": r.Model, "content": content,
			"stop_reason": reason, "stop_sequence": nil, "usage": object{"input_tokens": 1, "output_tokens": 1}}
	}
	if !r.Stream {
		reply(w, message(blocks, stop))
		return
	}
	events := []event{{"message_start", object{"type": "message_start", "message": message([]any{}, nil)}}}
	for i, b := range blocks {
		start, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": b["text"]}
		if b["type"] == "tool_use" {
			start = object{"type": "tool_use", "id": b["id"], "name": b["name"], "input": object{}}
			delta = object{"type": "input_json_delta", "partial_json": text(b["input"])}
		}
		events = append(events,
			event{"content_block_start", object{"type": "content_block_start", "index": i, "content_block": start}},
			event{"content_block_delta", object{"type": "content_block_delta", "index": i, "delta": delta}},
			event{"content_block_stop", object{"type": "content_block_stop", "index": i}})
	}
	stream(w, append(events,
		event{"message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 1}}},
		event{"message_stop", object{"type": "message_stop"}}))
}

// responses speaks OpenAI's Responses.
func responses(w http.ResponseWriter, r *request, t Turn) {
	out := []object{}
	for _, c := range t.Calls {
		call := id("call")
		item := object{"type": "function_call", "id": "fc_" + call, "call_id": call, "name": c.Name, "arguments": text(c.Input), "status": "completed"}
		if namespace, name, ok := strings.Cut(c.Name, "@@"); ok {
			item["namespace"], item["name"] = namespace, name
		}
		out = append(out, item)
	}
	if t.Text != "" {
		out = append(out, object{"type": "message", "role": "assistant", "id": id("m"), "status": "completed",
			"content": []object{{"type": "output_text", "text": t.Text, "annotations": []any{}}}})
	}
	response := func(status string, items any) object {
		return object{"id": id("resp"), "object": "response", "created_at": 1, "model": r.Model, "status": status, "output": items,
			"usage": object{"input_tokens": 1, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 1,
				"output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 2},
			"parallel_tool_calls": true, "tool_choice": "auto", "tools": []any{}, "error": nil}
	}
	if !r.Stream {
		reply(w, response("completed", out))
		return
	}
	events := []event{{"response.created", object{"response": response("in_progress", []any{})}}}
	for i, item := range out {
		added := object{}
		maps.Copy(added, item)
		if item["type"] == "message" {
			added["content"] = []any{}
		} else {
			added["arguments"] = ""
		}
		events = append(events, event{"response.output_item.added", object{"output_index": i, "item": added}})
		if item["type"] == "message" {
			events = append(events, event{"response.output_text.delta",
				object{"item_id": item["id"], "output_index": i, "content_index": 0, "delta": t.Text}})
		}
		events = append(events, event{"response.output_item.done", object{"output_index": i, "item": item}})
	}
	events = append(events, event{"response.completed", object{"response": response("completed", out)}})
	for n, e := range events {
		data := e.data.(object)
		data["type"], data["sequence_number"] = e.name, n
	}
	stream(w, events)
}

// chat speaks OpenAI's Chat Completions.
func chat(w http.ResponseWriter, r *request, t Turn) {
	var calls []object
	for i, c := range t.Calls {
		calls = append(calls, object{"index": i, "id": id("call"), "type": "function", "function": object{"name": c.Name, "arguments": text(c.Input)}})
	}
	message, finish := object{"role": "assistant", "content": t.Text}, "stop"
	if len(calls) > 0 {
		message["tool_calls"], finish = calls, "tool_calls"
	}
	usage := object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	base := func(kind string, choices any) object {
		return object{"id": id("cc"), "created": 1, "model": r.Model, "object": kind, "choices": choices}
	}
	if !r.Stream {
		whole := base("chat.completion", []object{{"index": 0, "message": message, "finish_reason": finish}})
		whole["usage"] = usage
		reply(w, whole)
		return
	}
	const chunk = "chat.completion.chunk"
	last := base(chunk, []any{})
	last["usage"] = usage
	stream(w, []event{
		{"", base(chunk, []object{{"index": 0, "delta": message, "finish_reason": nil}})},
		{"", base(chunk, []object{{"index": 0, "delta": object{}, "finish_reason": finish}})},
		{"", last}, {"", "[DONE]"},
	})
}

// gemini speaks Gemini's generateContent.
func gemini(w http.ResponseWriter, streamed bool, r *request, t Turn) {
	var parts []object
	if t.Text != "" {
		parts = append(parts, object{"text": t.Text})
	}
	for _, c := range t.Calls {
		parts = append(parts, object{"functionCall": object{"name": c.Name, "args": c.Input}})
	}
	if len(r.Tools) == 0 && strings.Contains(string(r.Config), "json") { // it asks which model to use, or who speaks next
		parts = []object{{"text": text(object{"reasoning": "x", "model_choice": "flash", "complexity_reasoning": "x", "complexity_score": 1, "next_speaker": "user"})}}
	}
	answer := object{"candidates": []object{{"content": object{"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": "mock", "responseId": id("r")}
	if streamed {
		stream(w, []event{{"", answer}})
		return
	}
	reply(w, answer)
}
