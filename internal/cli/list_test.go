package cli

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// notListed are fields of a hook that 'list --json' does not take from it.
var notListed = map[string]string{
	"Timeout": "the time limit in force is listed, not the declared one",
	"State":   "the state of today is listed, not the one that loading found",
	"Why":     "the same",
	"Handler": "it is a Go value",
}

func TestListShowsEachFieldOfAHook(t *testing.T) {
	samples := map[string]any{
		"If": hook.Rules{"Bash(ls)"}, "Source": hook.Source{Path: "p"}, "Scope": hook.ScopeUser, "Env": map[string]string{"A": "b"},
		"Requires": hook.Requires{Bins: []string{"jq"}}, "Breaker": hook.BreakerSettings{Failures: 3},
		"Command": &hook.Command{Line: "c"}, "Params": hook.Params{"url": json.RawMessage(`"u"`)}, "OnFailure": hook.FailureBlock,
		"Sandbox": &hook.Sandbox{Mode: hook.SandboxReap},
	}
	hookType := reflect.TypeFor[hook.Hook]()
	without, _ := json.Marshal(listed(registry.Listed{Hook: &hook.Hook{}}))
	for i := range hookType.NumField() {
		name := hookType.Field(i).Name
		h := &hook.Hook{}
		field := reflect.ValueOf(h).Elem().Field(i)
		switch value, ok := samples[name]; {
		case notListed[name] != "":
			continue
		case ok:
			field.Set(reflect.ValueOf(value))
		case field.Kind() == reflect.String:
			field.SetString("x")
		case field.Kind() == reflect.Bool:
			field.SetBool(true)
		case field.CanInt():
			field.SetInt(int64(time.Second))
		default:
			t.Errorf("%s: no sample of a %s", name, field.Type())
			continue
		}
		if with, _ := json.Marshal(listed(registry.Listed{Hook: h})); string(with) == string(without) {
			t.Errorf("list --json does not show %s", name)
		}
	}
	for name := range notListed {
		if _, ok := hookType.FieldByName(name); !ok {
			t.Errorf("a hook has no field %s", name)
		}
	}
}

func TestListShowsEachPartOfACommandAndOfWhatAHookAsksFor(t *testing.T) {
	for _, h := range []*hook.Hook{
		{Command: &hook.Command{Args: []string{"a"}}}, {Command: &hook.Command{Shell: "bash"}}, {Command: &hook.Command{Worker: true}},
		{Requires: hook.Requires{AnyBins: []string{"a"}}}, {Requires: hook.Requires{Envs: []string{"a"}}}, {Requires: hook.Requires{OS: []string{"a"}}},
		{Breaker: hook.BreakerSettings{Cooldown: time.Second}},
	} {
		without, _ := json.Marshal(listed(registry.Listed{Hook: &hook.Hook{}}))
		if with, _ := json.Marshal(listed(registry.Listed{Hook: h})); string(with) == string(without) {
			t.Errorf("list --json does not show %+v", h)
		}
	}
}

// The table of docs/operating.md names each field, and nothing else.
func TestTheDocsNameEachFieldOfListAndNoOther(t *testing.T) {
	data, err := os.ReadFile(filepath.FromSlash("../../docs/operating.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n| Field | What |\n|---|---|\n")
	if !found {
		t.Fatal("there is no table of fields")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	documented := make(map[string]bool)
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		for name := range strings.SplitSeq(cells[1], ",") {
			documented[strings.Trim(name, " `")] = true
		}
	}
	printed := fieldsOf(reflect.TypeFor[listedHook](), "")
	if diff := cmp.Diff(printed, slices.Sorted(maps.Keys(documented))); diff != "" {
		t.Errorf("list --json (-) and the docs (+) differ:\n%s", diff)
	}
}

// fieldsOf are the keys of a value as JSON, in order; those of our own structs
// stand behind a dot.
func fieldsOf(of reflect.Type, prefix string) (names []string) {
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && inner.PkgPath() == reflect.TypeFor[listedHook]().PkgPath() {
			names = append(names, fieldsOf(inner, prefix+name+".")...)
		} else {
			names = append(names, prefix+name)
		}
	}
	slices.Sort(names)
	return names
}
