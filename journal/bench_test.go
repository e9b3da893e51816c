package journal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/journal"
	"github.com/tenterhook/tenterhook/registry"
)

// BenchmarkDispatch is one event to one Go function, without and with a recorder:
// what recording adds to a decision.
func BenchmarkDispatch(b *testing.B) {
	for _, recorded := range []bool{false, true} {
		b.Run(fmt.Sprintf("recorded=%v", recorded), func(b *testing.B) {
			opts := registry.Options{Workspace: b.TempDir(), Without: []hook.Scope{hook.ScopeManaged, hook.ScopeUser, hook.ScopeProject, hook.ScopePlugin}}
			if recorded {
				rec, err := journal.NewRecorder(b.TempDir(), journal.Options{Env: os.Environ()})
				if err != nil {
					b.Fatal(err)
				}
				defer rec.Close() // what did not fit is not what is measured
				opts.Recorder = rec
			}
			reg, err := registry.Open(b.Context(), opts)
			if err != nil {
				b.Fatal(err)
			}
			defer reg.Close()
			if err := registry.On(reg, "guard", func(context.Context, hook.PreToolUse) (*hook.Output, error) { return nil, nil }); err != nil {
				b.Fatal(err)
			}
			in := hook.PreToolUse{ToolName: "Bash", ToolInput: []byte(`{"command":"go test ./..."}`)}
			for b.Loop() {
				if _, err := reg.Dispatch(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
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
