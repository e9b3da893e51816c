package plugins

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestChaosLeavesNothing has plugins fail at random under concurrent calls, and
// stops and kills them and their hosts from outside. Each call must end in time
// with what really happened; in the end nothing may be left of any of them.
// PLUGINS_TEST_CHAOS says for how long ("10m"), 4 s by default.
func TestChaosLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("long: kills plugins for 5 s")
	}
	length := 4 * time.Second
	if word := os.Getenv("PLUGINS_TEST_CHAOS"); word != "" {
		var err error
		if length, err = time.ParseDuration(word); err != nil {
			t.Fatal(err)
		}
	}
	sockets, err := os.MkdirTemp(os.TempDir(), "chaos")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(sockets) })
	b := newBench(t, inChaos(sockets)).good()
	b.mustCall(do{Do: "version"})
	before := openFiles(t)

	end := time.Now().Add(length)
	var all sync.WaitGroup
	tally, clock := &tally{}, &stallClock{}
	all.Go(func() { clock.run(end) })
	for range 4 {
		all.Go(func() {
			for time.Now().Before(end) {
				stalled := clock.sum()
				took, wrong := b.callInChaos(tally)
				if wrong != "" {
					t.Error(wrong)
				}
				if stalled = clock.sum() - stalled; took > 5*time.Second+stalled {
					t.Errorf("a call of 700 ms took %v, of which the machine stood still for %v", took, stalled)
				}
			}
		})
	}
	all.Go(func() {
		for time.Now().Before(end) {
			time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
			if pid := b.pid(); pid > 1 {
				syscall.Kill(pid, []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP}[rand.IntN(2)])
			}
		}
	})
	all.Go(func() {
		for time.Now().Before(end) {
			b.killHost(sockets, tally)
		}
	})
	all.Wait()
	t.Log(tally)

	if n := tally.of("good"); n == 0 {
		t.Error("not one call was answered")
	}
	within(t, 15*time.Second, "Close", func() { b.host.Close() })
	eventually(t, 15*time.Second, "the end of all processes", func() bool {
		return len(processesWith(t, "TENTERHOOK_PLUGIN_DIR="+b.dir)) == 0
	})
	eventually(t, 15*time.Second, "the end of all open files", func() bool { return openFiles(t) <= before })
	halfMade, _ := filepath.Glob(filepath.Join(sockets, socketsMaking+"*")) // of hosts that were killed while they made them
	for _, dir := range halfMade {
		must(t, os.Chtimes(dir, time.Time{}, time.Now().Add(-2*time.Hour)))
	}
	sweepSockets(sockets) // as each host's first start does
	left, err := os.ReadDir(sockets)
	if err != nil || len(left) != 0 {
		t.Errorf("sockets are left: %v, %v", left, err)
	}
	if runs, _ := filepath.Glob(filepath.Join(b.state, "snapshots", "*.tmp*")); len(runs) != 0 {
		t.Errorf("half-made copies are left: %v", runs)
	}
}

// killHost runs a host that has its plugin do all that, and kills it.
func (b *bench) killHost(sockets string, tally *tally) {
	self, err := os.Executable()
	if err != nil {
		b.t.Error(err)
		return
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), hostVariable+"="+b.dir, chaosVariable+"="+sockets)
	said := &logBuffer{}
	c.Stdout, c.Stderr = said, said
	if err := c.Start(); err != nil {
		b.t.Error(err)
		return
	}
	time.Sleep(time.Duration(rand.IntN(1500)) * time.Millisecond)
	c.Process.Kill()
	c.Wait()
	tally.note("host killed")
	if s := said.String(); s != "" {
		b.t.Error("a host said: ", s)
	}
}

// openFiles counts this process's descriptors.
func openFiles(t testing.TB) int {
	runtime.GC() // what was dropped unclosed counts as left until now
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// stallClock adds up for how long this process was not let run.
type stallClock struct{ total atomic.Int64 }

func (c *stallClock) run(end time.Time) {
	const tick = 10 * time.Millisecond
	for time.Now().Before(end) {
		before := time.Now()
		time.Sleep(tick)
		c.total.Add(int64(time.Since(before) - tick))
	}
}

func (c *stallClock) sum() time.Duration { return time.Duration(c.total.Load()) }
