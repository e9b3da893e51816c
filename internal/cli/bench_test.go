package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/internal/recording"
	"github.com/tenterhook/tenterhook/journal"
)

// BenchmarkManyRows asks a journal of many rows by the commands, whole processes
// each. TENTERHOOK_JOURNAL_ROWS says how many; the default keeps the benchmark
// short. At the end a bound comes into force, and the file's size is reported as a
// share of it.
func BenchmarkManyRows(b *testing.B) {
	rows := 20_000
	if n, err := strconv.Atoi(os.Getenv("TENTERHOOK_JOURNAL_ROWS")); err == nil {
		rows = n
	}
	bin, home := b.TempDir(), b.TempDir()
	if err := built.Into(bin, "cmd/tenterhook"); err != nil {
		b.Fatal(err)
	}
	tenterhook := func(args ...string) string {
		cmd := exec.Command(filepath.Join(bin, "tenterhook"), args...)
		cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		if err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	setting := func(text string) {
		path := filepath.Join(home, ".config", "tenterhook", "settings.toml")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("[journal]\n"+text+"\n"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	setting(`max_size = "4GiB"`)
	dir := recording.Dir(filepath.Join(home, ".local", "state", "tenterhook"))
	fill(b, dir, rows, func() { tenterhook("log", "-n", "1") })
	size := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "journal.db"))
		if err != nil {
			b.Fatal(err)
		}
		return info.Size()
	}
	full := size()
	b.Logf("%d rows, %d MiB", rows, full>>20)
	for _, args := range [][]string{{"log", "--hook", "user/hook7", "--failed"}, {"log", "--session", "s1", "--verdict", "deny"}, {"log", "--agent", "codex"}, {"stats"}} {
		b.Run(strings.Join(args, " "), func(b *testing.B) {
			for b.Loop() {
				if said := tenterhook(args...); !strings.Contains(said, "user/hook") {
					b.Fatal(said)
				}
			}
		})
	}
	b.Run("bound", func(b *testing.B) {
		bound := full / 4
		setting(fmt.Sprintf("max_size = \"%dKiB\"", bound>>10))
		for b.Loop() {
			tenterhook("log", "-n", "1")
		}
		b.ReportMetric(100*float64(size())/float64(bound), "%-of-max_size")
	})
}

// fill records runs over twelve days, and calls moved from time to time.
func fill(b *testing.B, dir string, rows int, moved func()) {
	const length = 12 * 24 * time.Hour
	start, step := time.Now().Add(-length), length/time.Duration(rows)
	for done := 0; done < rows; moved() {
		rec, err := journal.NewRecorder(dir, journal.Options{Level: journal.LevelResults})
		if err != nil {
			b.Fatal(err)
		}
		for i := 0; i < 100_000 && done < rows; i, done = i+1, done+1 {
			if i%4000 == 3999 { // the queue is bounded
				if err := rec.Flush(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			r := hook.Result{Hook: &hook.Hook{ID: fmt.Sprintf("user/hook%d", done%20), Kind: hook.KindCommand}, Status: hook.StatusSuccess, Elapsed: time.Duration(done%977) * 100 * time.Microsecond}
			agent := "claude"
			switch {
			case done%97 == 0:
				r.Status, r.Failure, r.Reason = hook.StatusFailed, hook.FailureExit, "exit code 3"
			case done%89 == 0:
				r.Status, r.Output = hook.StatusBlocked, hook.Denied("not here")
			case done%4999 == 0:
				agent = "codex"
			}
			rec.Record(hook.Record{Run: fmt.Sprintf("%09d", done), Time: start.Add(time.Duration(done) * step), Event: hook.EventPreToolUse,
				Tool: "Bash", Base: hook.Base{Agent: agent, SessionID: fmt.Sprintf("s%d", done/400)}, Outcome: hook.Merge(hook.EventPreToolUse, []hook.Result{r})})
		}
		if err := rec.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
