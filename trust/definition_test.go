package trust_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/trust"
)

// saysNothing are the fields of a hook that do not decide what runs, when or
// with what policy: names, places, and what loading found out.
var saysNothing = []string{"ID", "Name", "Description", "Scope", "Source.", "StatusMessage", "State", "Why", "Handler"}

func TestEveryFieldThatDecidesIsBound(t *testing.T) {
	for _, path := range leaves(reflect.TypeFor[hook.Hook](), "") {
		h := &hook.Hook{Command: new(hook.Command)}
		before := define(t, h)
		set(t, reflect.ValueOf(h).Elem(), path)
		changed := string(define(t, h)) != string(before)
		free := slices.ContainsFunc(saysNothing, func(p string) bool { return path == p || strings.HasSuffix(p, ".") && strings.HasPrefix(path, p) })
		if changed == free {
			t.Errorf("hook.Hook.%s: changes the definition = %v", path, changed)
		}
	}
}

// What is not declared is no part of a definition: approvals outlive fields that
// are added.
func TestWhatIsNotDeclaredIsNotBound(t *testing.T) {
	for want, h := range map[string]*hook.Hook{
		`[{"events":["Stop"],"type":"http"}]`:                               {Event: hook.EventStop, Kind: hook.KindHTTP, OnFailure: hook.FailureContinue, Protocol: hook.ProtocolClaude},
		`[{"events":["Stop"],"type":"command","command":"a"}]`:              {Event: hook.EventStop, Kind: hook.KindCommand, Command: &hook.Command{Line: "a"}, Env: map[string]string{}},
		`[{"events":["Stop"],"type":"command","command":"a","args":[]}]`:    {Event: hook.EventStop, Kind: hook.KindCommand, Command: &hook.Command{Line: "a", Args: []string{}}},
		`[{"events":["Stop"],"type":"http","breaker":{"failures":-1}}]`:     {Event: hook.EventStop, Kind: hook.KindHTTP, Breaker: hook.BreakerSettings{Failures: -1}},
		`[{"events":["Stop"],"type":"http","breaker":{"cooldown":"1ns"}}]`:  {Event: hook.EventStop, Kind: hook.KindHTTP, Breaker: hook.BreakerSettings{Cooldown: 1}},
		`[{"events":["Stop"],"type":"http","timeout":"-1ns"}]`:              {Event: hook.EventStop, Kind: hook.KindHTTP, Timeout: -1},
		`[{"events":["Stop"],"type":"http","requires":{"any_bins":["a"]}}]`: {Event: hook.EventStop, Kind: hook.KindHTTP, Requires: hook.Requires{AnyBins: []string{"a"}}},
	} {
		if got := string(define(t, h)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	stop, setup := &hook.Hook{Event: hook.EventStop, Kind: hook.KindHTTP}, &hook.Hook{Event: hook.EventSetup, Kind: hook.KindHTTP}
	if got := string(define(t, stop, setup)); got != `[{"events":["Setup","Stop"],"type":"http"}]` {
		t.Errorf("events that differ in nothing else: %s", got)
	}
}

// leaves are the paths of a struct's fields that are no structs.
func leaves(typ reflect.Type, prefix string) []string {
	var paths []string
	for i := range typ.NumField() {
		f := typ.Field(i)
		ft := f.Type
		if ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		if ft.Kind() == reflect.Struct {
			paths = append(paths, leaves(ft, prefix+f.Name+".")...)
		} else {
			paths = append(paths, prefix+f.Name)
		}
	}
	return paths
}

func set(t *testing.T, v reflect.Value, path string) {
	t.Helper()
	for name := range strings.SplitSeq(path, ".") {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.FieldByName(name)
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8:
		v.SetUint(3)
	case reflect.Slice:
		v.Set(reflect.ValueOf([]string{"x"}))
	case reflect.Map:
		value := reflect.ValueOf("x")
		if v.Type().Elem() != value.Type() {
			value = reflect.ValueOf(json.RawMessage(`"x"`))
		}
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("k"), value)
	case reflect.Interface:
		v.Set(reflect.ValueOf(hook.HandlerFunc(nil)))
	default:
		t.Fatalf("set %s: a kind of field that this test does not know: %v", path, v.Kind())
	}
}

func TestDefinitionIsReadable(t *testing.T) {
	h := guardHook()
	h.OnFailure, h.Requires.Bins, h.Env = hook.FailureBlock, []string{"jq"}, map[string]string{"B": "<2>", "A": "1"}
	other := *h
	other.Event = hook.EventPermissionRequest
	want := `[{"events":["PermissionRequest","PreToolUse"],"type":"command","command":"./run.sh",` +
		`"env":{"A":"1","B":"<2>"},"timeout":"5s","on_failure":"block","requires":{"bins":["jq"]}}]`
	if diff := cmp.Diff(want, string(define(t, h, &other))); diff != "" {
		t.Error(diff)
	}
}

func TestDefinitionsThatDiffer(t *testing.T) {
	with := func(edit func(*hook.Hook)) *hook.Hook {
		h := guardHook()
		edit(h)
		return h
	}
	a := with(func(h *hook.Hook) { h.Matcher = "A" })
	b := with(func(h *hook.Hook) { h.Matcher = "B" })
	stop := with(func(h *hook.Hook) { h.Event = hook.EventStop })
	def := guardHook()
	tests := []struct {
		name     string
		one, two []*hook.Hook
		same     bool
	}{
		{"no list of arguments and an empty one", []*hook.Hook{def}, []*hook.Hook{with(func(h *hook.Hook) { h.Command.Args = []string{} })}, false},
		{"an argument or two", []*hook.Hook{with(func(h *hook.Hook) { h.Command.Args = []string{"a b"} })},
			[]*hook.Hook{with(func(h *hook.Hook) { h.Command.Args = []string{"a", "b"} })}, false},
		{"a rule or two", []*hook.Hook{with(func(h *hook.Hook) { h.If = hook.Rules{"Bash(a) or Bash(b)"} })},
			[]*hook.Hook{with(func(h *hook.Hook) { h.If = hook.Rules{"Bash(a)", "Bash(b)"} })}, false},
		{"two hooks of an event in another order", []*hook.Hook{a, b}, []*hook.Hook{b, a}, false},
		{"two events in another order", []*hook.Hook{def, stop}, []*hook.Hook{stop, def}, true},
		{"one event more", []*hook.Hook{def}, []*hook.Hook{def, stop}, false},
		{"one event twice", []*hook.Hook{def}, []*hook.Hook{def, def}, false},
		{"the default policy, said and not", []*hook.Hook{def}, []*hook.Hook{with(func(h *hook.Hook) { h.OnFailure = hook.FailureContinue })}, true},
		{"the default protocol, said and not", []*hook.Hook{def}, []*hook.Hook{with(func(h *hook.Hook) { h.Protocol = hook.ProtocolClaude })}, true},
		{"a nanosecond", []*hook.Hook{def}, []*hook.Hook{with(func(h *hook.Hook) { h.Timeout += time.Nanosecond })}, false},
		{"parameters with other keys", []*hook.Hook{with(func(h *hook.Hook) { h.Params = hook.Params{"url": json.RawMessage(`"x"`)} })},
			[]*hook.Hook{with(func(h *hook.Hook) { h.Params = hook.Params{"URL": json.RawMessage(`"x"`)} })}, false},
		{"parameters with other space", []*hook.Hook{with(func(h *hook.Hook) { h.Params = hook.Params{"p": json.RawMessage(`{"a":1}`)} })},
			[]*hook.Hook{with(func(h *hook.Hook) { h.Params = hook.Params{"p": json.RawMessage("{ \"a\":\n1}")} })}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			one, two := define(t, test.one...), define(t, test.two...)
			if got := string(one) == string(two); got != test.same {
				t.Errorf("the same: %v\n%s\n%s", got, one, two)
			}
		})
	}
}

func TestWhatCannotBeToldApartIsNotDefined(t *testing.T) {
	for name, edit := range map[string]func(*hook.Hook){
		"rule":           func(h *hook.Hook) { h.If = hook.Rules{"Bash(a)", "\xff"} },
		"command":        func(h *hook.Hook) { h.Command.Line = "./\xff" },
		"argument":       func(h *hook.Hook) { h.Command.Args = []string{"\xfe"} },
		"matcher":        func(h *hook.Hook) { h.Matcher = "\xff" },
		"env value":      func(h *hook.Hook) { h.Env = map[string]string{"A": "\xff"} },
		"env key":        func(h *hook.Hook) { h.Env = map[string]string{"\xff": "A"} },
		"param key":      func(h *hook.Hook) { h.Params = hook.Params{"\xff": json.RawMessage("1")} },
		"param not JSON": func(h *hook.Hook) { h.Params = hook.Params{"a": json.RawMessage("{")} },
	} {
		t.Run(name, func(t *testing.T) {
			h := guardHook()
			edit(h)
			if d, err := trust.Define(h); err == nil {
				t.Errorf("defined as %s", d)
			}
		})
	}
}
