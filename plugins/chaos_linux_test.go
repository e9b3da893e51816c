package plugins

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// TestChaosLeavesNothing has a plugin fail at random, and kills and stops it
// from outside, under concurrent calls: PLUGINS_TEST_CHAOS says for how long
// ("10m"), 4 s by default.
func TestChaosLeavesNothing(t *testing.T) {
	length := 4 * time.Second
	if word := os.Getenv("PLUGINS_TEST_CHAOS"); word != "" {
		var err error
		if length, err = time.ParseDuration(word); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench(t, func(o *Options) { o.HealthTimeout = 300 * time.Millisecond; o.Logger = nil }).good()
	end := time.Now().Add(length)
	var all sync.WaitGroup
	faults := []string{"version", "version", "version", "deny", "sleep", "panic", "fail", "exit", "crash", "kill", "stop", "grandchild", "print"}
	for range 4 {
		all.Go(func() {
			for time.Now().Before(end) {
				what := do{Do: faults[rand.IntN(len(faults))], Text: "chaos", MS: 20}
				ctx, cancel := context.WithTimeoutCause(context.Background(), 700*time.Millisecond, hook.ErrTimeout)
				began := time.Now()
				out, _, err := b.callOn(ctx, b.host, what)
				cancel()
				var failed *hook.Error
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("%s took %v", what.Do, took)
				}
				if err != nil && !errors.As(err, &failed) && !errors.Is(err, hook.ErrTimeout) {
					t.Errorf("%s: got %v", what.Do, err)
				}
				if err == nil && what.Do == "deny" && (out == nil || out.Verdict != hook.Deny) {
					t.Errorf("a denial became %+v", out)
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
	all.Wait()
	sockets := b.host.sockets.dir
	within(t, 5*time.Second, "Close", func() { b.host.Close() })
	eventually(t, 2*time.Second, "the end of all processes", func() bool {
		return len(processesWith(t, "TENTERHOOK_PLUGIN_DIR="+b.dir)) == 0
	})
	if _, err := os.Stat(filepath.Clean(sockets)); sockets != "" && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there", sockets)
	}
}
