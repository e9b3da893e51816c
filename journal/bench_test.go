package journal_test

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/journal"
	"github.com/tenterhook/tenterhook/registry"
)

// BenchmarkFourProcesses is one event to one Go function in four processes at once
// that write to one journal, each once a millisecond, without and with a recorder in
// turns: what recording adds to the median and to the 99th percentile.
func BenchmarkFourProcesses(b *testing.B) {
	dir := b.TempDir()
	for range 3 {
		c := exec.Command(os.Args[0], "-test.run", "^TestDispatcher$")
		c.Env = append(os.Environ(), "JOURNAL_TEST_ROLE=dispatcher", "JOURNAL_TEST_DIR="+dir)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			b.Fatal(err)
		}
		defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	}
	var took [2][]time.Duration
	both := newDispatchers(b, dir)
	for i := 0; b.Loop(); i++ {
		took[i%2] = append(took[i%2], both[i%2]())
		time.Sleep(500 * time.Microsecond)
	}
	for _, t := range took {
		slices.Sort(t)
	}
	if len(took[1]) == 0 {
		return
	}
	at := func(t []time.Duration, q float64) float64 {
		return float64(t[int(q*float64(len(t)-1))].Nanoseconds()) / 1000
	}
	for name, q := range map[string]float64{"p50": 0.5, "p99": 0.99} {
		b.ReportMetric(at(took[0], q), "us-"+name+"-without")
		b.ReportMetric(at(took[1], q), "us-"+name+"-with")
		b.ReportMetric(at(took[1], q)-at(took[0], q), "us-"+name+"-added")
	}
}

// newDispatchers returns what dispatches one event, without and with a recorder, and
// says how long it took.
func newDispatchers(t testing.TB, dir string) (both [2]func() time.Duration) {
	for i := range both {
		opts := registry.Options{Workspace: t.TempDir(), StateDir: t.TempDir(), Without: []hook.Scope{hook.ScopeManaged, hook.ScopeUser, hook.ScopeProject, hook.ScopePlugin}}
		if i == 1 {
			rec, err := journal.NewRecorder(dir, journal.Options{Env: os.Environ()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = rec.Close() })
			opts.Recorder = rec
		}
		reg, err := registry.Open(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = reg.Close() })
		if err := registry.On(reg, "guard", func(context.Context, hook.PreToolUse) (*hook.Output, error) { return nil, nil }); err != nil {
			t.Fatal(err)
		}
		in := hook.PreToolUse{ToolName: "Bash", ToolInput: []byte(`{"command":"go test ./..."}`)}
		both[i] = func() time.Duration {
			start := time.Now()
			if _, err := reg.Dispatch(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			return time.Since(start)
		}
	}
	return both
}

// TestDispatcher is the work of another process of BenchmarkFourProcesses.
func TestDispatcher(t *testing.T) {
	if os.Getenv("JOURNAL_TEST_ROLE") != "dispatcher" {
		return
	}
	recorded := newDispatchers(t, os.Getenv("JOURNAL_TEST_DIR"))[1]
	for {
		recorded()
		time.Sleep(time.Millisecond)
	}
}
