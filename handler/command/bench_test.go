package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/handler/command"
	"github.com/tenterhook/tenterhook/hook"
)

// BenchmarkWorker compares a Python hook that stays with the same hook started
// for each event. They take turns; the ratio is that of the medians.
func BenchmarkWorker(b *testing.B) {
	if _, err := exec.LookPath("python3"); err != nil {
		b.Skip("no python3")
	}
	dir := b.TempDir()
	const text = `import json, sys
if sys.argv[1:]:
    sys.exit(json.load(sys.stdin) is None)
for line in sys.stdin:
    print("{}" if json.loads(line) else "", flush=True)
`
	if err := os.WriteFile(filepath.Join(dir, "hook.py"), []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	h := command.New(command.Options{})
	defer h.Close()
	stays, once := workerOf("python3 hook.py", dir), workerOf("python3 hook.py once", dir)
	once.Command.Worker = false
	timed := func(hk *hook.Hook) time.Duration {
		began := time.Now()
		if _, _, err := handle(b.Context(), h, hk, `{"command":"ls -la"}`); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	timed(stays)
	var stay, spawn []time.Duration
	for b.Loop() {
		for range 20 {
			stay = append(stay, timed(stays))
		}
		spawn = append(spawn, timed(once))
	}
	slices.Sort(stay)
	slices.Sort(spawn)
	of, with := stay[len(stay)/2], spawn[len(spawn)/2]
	b.ReportMetric(float64(of.Microseconds()), "worker-µs")
	b.ReportMetric(float64(with.Microseconds()), "spawn-µs")
	b.ReportMetric(float64(with)/float64(of), "spawn/worker")
}
