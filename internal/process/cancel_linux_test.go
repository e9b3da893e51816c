package process_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/process"
)

func TestCancelStopsTheChild(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(200*time.Millisecond, cancel)
	s := fault("nest", "60s")
	s.Timeout = 0
	res := surviveCtx(t, ctx, s)
	if !res.Cancelled || res.TimedOut || res.Elapsed > 30*time.Second {
		t.Errorf("got %+v", res)
	}
}

func TestCallersDeadlineIsACancellation(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if res := surviveCtx(t, ctx, fault("sleep", "60s")); !res.Cancelled || res.TimedOut {
		t.Errorf("got %+v", res)
	}
}

func TestChildThatClosesItsDescriptorsIsWaitedFor(t *testing.T) {
	res := survive(t, fault("mute", "300ms"))
	if !res.OK() || res.Elapsed < 300*time.Millisecond {
		t.Errorf("got %+v", res)
	}
}

// A process that is stopped hears no other signal than SIGCONT and SIGKILL.
func TestStoppedChildHearsThatItIsToEnd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	s := shell("trap 'echo heard; exit 3' TERM; echo $$ > " + file + "; kill -STOP $$; exit 4")
	s.Grace = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer cancel()
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
			pid, _ := os.ReadFile(file)
			if stat, _ := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat"); strings.Contains(string(stat), ") T ") {
				return
			}
		}
		t.Error("the child does not stop")
	}()
	res, err := process.Run(ctx, s)
	if err != nil || !res.Cancelled || string(res.Stdout) != "heard\n" || res.ExitCode != 3 {
		t.Errorf("%+v %v", res, err)
	}
}
