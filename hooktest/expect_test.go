package hooktest

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

func TestExpectationIsAPartOfWhatIsPrinted(t *testing.T) {
	for name, tt := range map[string]struct {
		want, got string
		match     bool
	}{
		"a key that is not asked for":    {`{"a": 1}`, `{"a": 1, "b": 2}`, true},
		"a key that is not there":        {`{"a": 1}`, `{"b": 2}`, false},
		"what is empty may be missing":   {`{"a": null, "b": false, "c": "", "d": [], "e": {}, "f": 0}`, `{}`, true},
		"what is empty must be empty":    {`{"a": ""}`, `{"a": "x"}`, false},
		"false is not true":              {`{"a": false}`, `{"a": true}`, false},
		"numbers as written":             {`{"a": 1.10}`, `{"a": 1.1}`, false},
		"lists of the same length":       {`{"a": [1]}`, `{"a": [1, 2]}`, false},
		"lists in order":                 {`{"a": [1, 2]}`, `{"a": [2, 1]}`, false},
		"parts of a list's elements":     {`{"a": [{"x": 1}]}`, `{"a": [{"x": 1, "y": 2}]}`, true},
		"text that contains":             {`{"a": {"contains": "b"}}`, `{"a": "abc"}`, true},
		"text that contains not":         {`{"a": {"contains": ["a", "z"]}}`, `{"a": "abc"}`, false},
		"text that lacks":                {`{"a": {"lacks": ["y", "z"]}}`, `{"a": "abc"}`, true},
		"text that lacks not":            {`{"a": {"lacks": ["y", "b"]}}`, `{"a": "abc"}`, false},
		"list with an element":           {`{"a": {"contains": {"x": 1}}}`, `{"a": [{"x": 2}, {"x": 1, "y": 1}]}`, true},
		"list with each":                 {`{"a": {"contains": [{"x": 1}, {"x": 3}]}}`, `{"a": [{"x": 2}, {"x": 1}]}`, false},
		"list without an element":        {`{"a": {"lacks": {"x": 1}}}`, `{"a": [{"x": 2}, {"x": 1}]}`, false},
		"what is not there contains no":  {`{"a": {"contains": "x"}}`, `{}`, false},
		"at most":                        {`{"a": {"at_most": 3}}`, `{"a": "äöü"}`, true},
		"more than":                      {`{"a": {"at_most": 3}}`, `{"a": "äöüß"}`, false},
		"several at once":                {`{"a": {"at_most": 9, "contains": "b", "lacks": "c"}}`, `{"a": "abc"}`, false},
		"exactly":                        {`{"a": {"exactly": {"x": 1}}}`, `{"a": {"x": 1}}`, true},
		"exactly, and no key more":       {`{"a": {"exactly": {"x": 1}}}`, `{"a": {"x": 1, "y": 2}}`, false},
		"exactly is not what is missing": {`{"a": {"exactly": {"x": 1}}}`, `{}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			want, err1 := decode([]byte(tt.want))
			got, err2 := decode([]byte(tt.got))
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			if wrong := mismatches("outcome", want, got); (len(wrong) == 0) != tt.match {
				t.Errorf("match is %v, want %v: %q", len(wrong) == 0, tt.match, wrong)
			}
		})
	}
}

// TestShapesAreThoseOfTheRegistry holds the keys that a case may ask for
// against what is printed.
func TestShapesAreThoseOfTheRegistry(t *testing.T) {
	text, code := "x", 1
	full := &hook.Outcome{Event: "x", Verdict: hook.Deny, Reason: "x", Stop: true, StopReason: "x",
		UpdatedInput: []byte("1"), UpdatedToolOutput: []byte("1"), Contexts: []string{"x"}, SystemMessages: []string{"x"},
		SuppressOutput: true, Permission: &hook.PermissionAnswer{}, Elicitation: &hook.ElicitationAnswer{},
		InitialUserMessages: []string{"x"}, SessionTitle: "x", WatchPaths: []string{"x"}, SuppressOriginalPrompt: true,
		DisplayContent: &text, Retry: true, WorktreePath: "x", Texts: []string{"x"}, TerminalSequences: []string{"x"},
		Env: map[string]string{"x": "x"}, Diagnostics: []hook.Diagnostic{{Hook: "x", Path: "x", Line: 1, Hint: "x"}},
		Results: []hook.Result{{Hook: &hook.Hook{Kind: "x"}, Hint: "x", Elapsed: time.Second, Report: hook.Report{ExitCode: &code}}},
	}
	data, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	var printed map[string]any
	if err := json.Unmarshal(data, &printed); err != nil {
		t.Fatal(err)
	}
	keys := func(v any) []string { return slices.Sorted(maps.Keys(v.(map[string]any))) }
	first := func(key string) any { return printed[key].([]any)[0] }
	for shape, v := range map[string]any{"outcome": printed, "results": first("results"), "diagnostics": first("diagnostics")} {
		want := slices.DeleteFunc(keys(v), func(k string) bool { return k == "elapsed_ms" }) // not compared
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(shapes[shape]))); diff != "" {
			t.Errorf("%s: -printed +known:\n%s", shape, diff)
		}
	}
}
