package dialect

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
)

// newCall makes a call of a hook for an event. Each of with changes it.
func newCall(t testing.TB, event hook.Event, with ...func(*hook.Call)) *hook.Call {
	t.Helper()
	in, err := hook.DecodeInput([]byte(`{"hook_event_name":"` + string(event) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	c := &hook.Call{Hook: &hook.Hook{ID: "dir/test", Event: event}, Input: in}
	for _, change := range with {
		change(c)
	}
	return c
}

func withProtocol(p hook.Protocol) func(*hook.Call) {
	return func(c *hook.Call) { c.Hook.Protocol = p }
}

func mustNotFail(c *hook.Call) { c.Hook.OnFailure = hook.FailureBlock }

func withInput(in hook.Input) func(*hook.Call) { return func(c *hook.Call) { c.Input = in } }

// resultOf is what becomes of an answer further on.
func resultOf(c *hook.Call, out *hook.Output, err error) *hook.Result {
	r := &hook.Result{Hook: c.Hook, Status: hook.StatusSuccess, Output: out, Err: err}
	var failure *hook.Error
	if errors.As(err, &failure) {
		r.Status, r.Failure, r.Reason = hook.StatusFailed, failure.Failure, failure.Reason
	}
	return r
}

// failureOf returns the failure in an error of a Reader, "" for none.
func failureOf(t testing.TB, err error) *hook.Error {
	t.Helper()
	if err == nil {
		return &hook.Error{}
	}
	var failure *hook.Error
	if !errors.As(err, &failure) {
		t.Fatalf("error %T is no *hook.Error", err)
	}
	return failure
}

func codesOf(c *hook.Call) []string {
	var codes []string
	for _, w := range c.Report.Warnings {
		codes = append(codes, w.Code)
	}
	return codes
}

func readTestdata(t testing.TB, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}
