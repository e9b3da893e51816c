package process

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestEnvironment(t *testing.T) {
	for name, tt := range map[string]struct{ env, want []string }{
		"empty":                 {nil, []string{RunVariable + "=t;"}},
		"the last one counts":   {[]string{"A=1", "B=2", "A=3", "A="}, []string{RunVariable + "=t;", "B=2", "A="}},
		"keys are case-aware":   {[]string{"a=1", "A=2"}, []string{RunVariable + "=t;", "a=1", "A=2"}},
		"the outer run is kept": {[]string{"A=1", RunVariable + "=outer;"}, []string{RunVariable + "=outer;t;", "A=1"}},
		"without a value":       {[]string{"A", "B"}, []string{RunVariable + "=t;", "A", "B"}},
	} {
		if name == "keys are case-aware" && runtime.GOOS == "windows" {
			tt.want = []string{RunVariable + "=t;", "A=2"}
		}
		if diff := cmp.Diff(tt.want, environment(tt.env, "t;")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestEnvironmentHasEachKeyOnceWithItsLastValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		env := rapid.SliceOf(rapid.StringMatching(`(A|B|CC|TENTERHOOK_RUN)=[a-z]{0,3}`)).Draw(t, "env")
		before := slices.Clone(env)
		want, outer := map[string]string{}, ""
		for _, kv := range env {
			k, v, _ := strings.Cut(kv, "=")
			if want[k] = v; k == RunVariable {
				outer = v
			}
		}
		want[RunVariable] = outer + "t;"
		got := map[string]string{}
		for _, kv := range environment(env, "t;") {
			k, v, _ := strings.Cut(kv, "=")
			if _, twice := got[k]; twice {
				t.Fatalf("%s comes twice", k)
			}
			got[k] = v
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(before, env); diff != "" {
			t.Fatalf("the caller's slice was changed:\n%s", diff)
		}
	})
}

func TestNoTokenIsTheBeginningOfAnother(t *testing.T) {
	var all []string
	for range 200 {
		all = append(all, newToken())
	}
	for i, a := range all {
		for j, b := range all {
			if i != j && strings.Contains(b, a) {
				t.Fatalf("%s is part of %s", a, b)
			}
		}
	}
}
