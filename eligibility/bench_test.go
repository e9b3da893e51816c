package eligibility_test

import (
	"os/exec"
	"testing"

	"github.com/tenterhook/tenterhook/eligibility"
	"github.com/tenterhook/tenterhook/hook"
)

const absent = "tenterhook-no-such-program"

// BenchmarkLookPath is the floor of a cold lookup: what os/exec needs.
func BenchmarkLookPath(b *testing.B) {
	b.Run("found", func(b *testing.B) {
		for b.Loop() {
			_, _ = exec.LookPath("go")
		}
	})
	b.Run("missing", func(b *testing.B) {
		for b.Loop() {
			_, _ = exec.LookPath(absent)
		}
	})
}

// BenchmarkVerdict compares the first answer of a new Checker, one that the TTL
// has made stale, and a warm one.
func BenchmarkVerdict(b *testing.B) {
	b.Setenv("TENTERHOOK_A", "1")
	b.Setenv("TENTERHOOK_B", "1")
	for _, c := range []struct {
		name string
		hook.Requires
	}{
		{"nothing", hook.Requires{}},
		{"found", hook.Requires{Bins: []string{"go"}}},
		{"missing", hook.Requires{Bins: []string{absent}}},
		{"envs", hook.Requires{Envs: []string{"TENTERHOOK_A", "TENTERHOOK_B"}}},
		{"all", hook.Requires{Bins: []string{"go"}, AnyBins: []string{absent, "gofmt"}, Envs: []string{"TENTERHOOK_A"}}},
	} {
		b.Run("cold/"+c.name, func(b *testing.B) {
			for b.Loop() {
				eligibility.New(eligibility.Options{}).Prepare(c.Requires).Verdict()
			}
		})
		b.Run("stale/"+c.name, func(b *testing.B) {
			check := eligibility.New(eligibility.Options{TTL: -1}).Prepare(c.Requires)
			for b.Loop() {
				check.Verdict()
			}
		})
		b.Run("warm/"+c.name, func(b *testing.B) {
			check := eligibility.New(eligibility.Options{TTL: 1 << 62}).Prepare(c.Requires)
			check.Verdict()
			for b.Loop() {
				check.Verdict()
			}
		})
	}
}
