package journal_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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
		t.Skip("it is for another process")
	}
	recorded := newDispatchers(t, os.Getenv("JOURNAL_TEST_DIR"))[1]
	for {
		recorded()
		time.Sleep(time.Millisecond)
	}
}

// BenchmarkQueries asks a journal of many rows. TENTERHOOK_JOURNAL_ROWS says how
// many; the default keeps the benchmark short.
func BenchmarkQueries(b *testing.B) {
	rows := 20_000
	if n, err := strconv.Atoi(os.Getenv("TENTERHOOK_JOURNAL_ROWS")); err == nil {
		rows = n
	}
	dir, o := b.TempDir(), journal.Options{Level: journal.LevelResults, MaxSize: 4 << 30}
	j, err := journal.Open(b.Context(), dir, o)
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	start := time.Now().Add(-13 * 24 * time.Hour)
	for done := 0; done < rows; {
		rec, err := journal.NewRecorder(dir, o)
		if err != nil {
			b.Fatal(err)
		}
		for i := 0; i < 4000 && done < rows; i, done = i+1, done+1 {
			at := start.Add(time.Duration(done) * 12 * 24 * time.Hour / time.Duration(rows))
			r := record(fmt.Sprintf("%09d", done), at)
			if done%97 == 0 {
				r = failure(r.Run, at)
			}
			h := *r.Outcome.Results[0].Hook
			h.ID = fmt.Sprintf("%s%d", h.ID, done%20)
			r.Outcome.Results[0].Hook, r.Outcome.Results[0].Elapsed = &h, time.Duration(done%977)*time.Microsecond
			rec.Record(r)
		}
		if err := rec.Close(); err != nil {
			b.Fatal(err)
		}
		if _, err := j.Ingest(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "journal.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d rows, %d MiB", rows, info.Size()>>20)
	b.Run("log failed of one hook", func(b *testing.B) {
		for b.Loop() {
			if lines, err := j.Log(b.Context(), journal.Filter{Hook: "user/broken7", Failed: true}); err != nil || len(lines) == 0 {
				b.Fatal(len(lines), err)
			}
		}
	})
	b.Run("log of a session", func(b *testing.B) {
		for b.Loop() {
			if lines, err := j.Log(b.Context(), journal.Filter{Session: "s1", Verdict: "deny"}); err != nil || len(lines) == 0 {
				b.Fatal(len(lines), err)
			}
		}
	})
	b.Run("stats", func(b *testing.B) {
		for b.Loop() {
			if stats, err := j.Stats(b.Context(), "", start); err != nil || len(stats) == 0 {
				b.Fatal(len(stats), err)
			}
		}
	})
}
