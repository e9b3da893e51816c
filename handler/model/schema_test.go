package model

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
)

func TestAnswerSatisfiesTheHooksSchema(t *testing.T) {
	schema := object{"type": "object", "required": []string{"ok", "severity"}, "properties": object{
		"ok": object{"type": "boolean"}, "reason": object{"type": "string"}, "severity": object{"type": "integer", "maximum": 5}, "OK": object{}}}
	for _, tc := range []struct {
		name, answer string
		verdict      hook.Verdict
		failure      hook.Failure
		reason       string
	}{
		{"and raises no objection", `{"ok":true,"severity":1}`, hook.NoOpinion, "", ""},
		{"and objects", `{"severity":5,"ok":false,"reason":"R"}`, hook.Deny, "", ""},
		{"in a fence", "```json\n{\"ok\":false,\"reason\":\"R\",\"severity\":1}\n```", hook.Deny, "", ""},
		{"or lacks a key", `{"ok":true}`, 0, hook.FailureOutput, "severity"},
		{"or has a wrong type", `{"ok":true,"severity":"high"}`, 0, hook.FailureOutput, "violates the hook's schema"},
		{"or is out of range", `{"ok":true,"severity":6}`, 0, hook.FailureOutput, "violates the hook's schema"},
		{"or is a list", `[{"ok":true,"severity":1}]`, 0, hook.FailureOutput, "no JSON object"},
		{"or is prose", `fine`, 0, hook.FailureOutput, "no JSON object"},
		{"or has a key twice", `{"ok":true,"severity":1,"severity":2}`, 0, hook.FailureOutput, "twice"},
		{"or means two things", `{"ok":true,"OK":false,"severity":1}`, 0, hook.FailureOutput, "OK"},
	} {
		for _, kind := range []hook.Kind{hook.KindPrompt, hook.KindAgent} {
			t.Run(tc.name+"/"+string(kind), func(t *testing.T) {
				m := &script{answers: []*Response{{Text: tc.answer}}}
				if kind == hook.KindAgent {
					m.answers = []*Response{tools(ToolCall{Name: verdictTool, Input: json.RawMessage(tc.answer)})}
				}
				c := newCall(t, kind, object{"prompt": "?", "schema": schema}, nil)
				out, err := newHandler(t, Options{Model: m}).Handle(t.Context(), c)
				if out == nil {
					out = &hook.Output{}
				}
				if f := failureOf(t, err); f.Failure != tc.failure || !strings.Contains(f.Reason, tc.reason) || out.Verdict != tc.verdict {
					t.Errorf("output %+v, error %v, want %v, %q %q", out, err, tc.verdict, tc.failure, tc.reason)
				}
				if r := m.asked[0]; !strings.Contains(r.System, `"maximum":5`) || r.Strict {
					t.Errorf("asked %+v", r)
				}
			})
		}
	}
}

func TestSchemaThatDeclaresNothingOfOurs(t *testing.T) {
	m := &script{answers: []*Response{{Text: `{"safe":true}`}}}
	c := newCall(t, hook.KindPrompt, object{"prompt": "?", "schema": object{"properties": object{"safe": object{"type": "boolean"}}}}, nil)
	_, err := newHandler(t, Options{Model: m}).Handle(t.Context(), c)
	if f := failureOf(t, err); f.Failure != hook.FailureOutput || !strings.Contains(f.Reason, `no "ok"`) {
		t.Errorf("got %v", err)
	}
}

func TestSchemaLoadsNothing(t *testing.T) {
	path := filepath.ToSlash(filepath.Join(files(t, map[string]string{"s.json": "{}"}), "s.json"))
	for _, ref := range []string{"file://" + path, "https://127.0.0.1:1/s.json"} {
		if _, failed := new(schemaCache).of(json.RawMessage(asJSON(object{"$ref": ref}))); failed == nil || !strings.Contains(failed.Reason, "not loaded") {
			t.Errorf("%s: got %v", ref, failed)
		}
	}
}

func TestSchemasAreCompiledOnceAndBounded(t *testing.T) {
	var cache schemaCache
	a, failed := cache.of(json.RawMessage(`{"type":"object"}`))
	if failed != nil {
		t.Fatal(failed)
	}
	if b, _ := cache.of(json.RawMessage(`{"type":"object"}`)); a != b {
		t.Error("compiled twice")
	}
	for i := range 2 * maxSchemas {
		if _, failed := cache.of(json.RawMessage(asJSON(object{"maxProperties": i}))); failed != nil {
			t.Fatal(failed)
		}
	}
	if len(cache.known) > maxSchemas {
		t.Errorf("%d schemas are kept", len(cache.known))
	}
	if _, failed := cache.of(json.RawMessage(`{"title":"` + strings.Repeat("x", maxSchema) + `"}`)); failed == nil {
		t.Error("a huge schema is taken")
	}
}
