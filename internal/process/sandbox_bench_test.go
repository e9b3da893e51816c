package process_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/process"
	"github.com/tenterhook/tenterhook/internal/sandbox"
)

// BenchmarkContained compares a contained run with the floor, a bare os/exec spawn of the same static program.
// The runs take turns. With a spare thread the policy is asked for again and again; without one each run
// has a policy that no one asked for before.
func BenchmarkContained(b *testing.B) {
	program := staticProgram(b)
	own := b.TempDir()
	defer sandbox.Forget()
	for _, mode := range sandbox.Modes() {
		for _, spare := range []bool{true, false} {
			if mode == sandbox.None && spare {
				continue
			}
			name := string(mode) + "-without-spare"
			if spare {
				name = string(mode) + "-with-spare"
			}
			b.Run(name, func(b *testing.B) {
				var raw, run []time.Duration
				for n := uint64(1); b.Loop(); n++ {
					policy := &sandbox.Policy{Mode: mode, Read: []string{own, program}}
					if !spare {
						policy.Read = append(policy.Read, own+"/"+strconv.FormatUint(n, 10))
					}
					began := time.Now()
					spawn(b, []string{program})
					raw = append(raw, time.Since(began))
					began = time.Now()
					res, err := process.Run(b.Context(), process.Spec{Argv: []string{program}, Env: os.Environ(), Stdin: payload, Timeout: time.Minute, Sandbox: policy})
					if err != nil || !res.OK() {
						b.Fatal(res, err)
					}
					run = append(run, time.Since(began))
					time.Sleep(4 * time.Millisecond) // the spare is prepared while no one waits
				}
				b.ReportMetric(float64(median(raw).Microseconds()), "raw-µs")
				b.ReportMetric(float64(median(run).Microseconds()), "run-µs")
				b.ReportMetric(float64(median(run))/float64(median(raw)), "ratio")
			})
		}
	}
}
