package process_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tenterhook/tenterhook/internal/process"
)

// slack is what a busy machine may add to each promise about time.
const slack = 15 * time.Second

// survive runs a spec and checks what must hold of every run: it returns in time, and leaves behind no
// process, no goroutine and no descriptor.
func survive(t *testing.T, s process.Spec) process.Result {
	t.Helper()
	return surviveCtx(t, context.Background(), s)
}

func surviveCtx(t *testing.T, ctx context.Context, s process.Spec) process.Result {
	t.Helper()
	mark := fmt.Sprintf("PROCESS_TEST_MARK=%s-%d", t.Name(), time.Now().UnixNano())
	s.Env = append(slices.Clip(s.Env), mark)
	descriptors := openDescriptors(t)
	began := time.Now()
	res, err := process.Run(ctx, s)
	took := time.Since(began)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	grace := max(s.Grace, 0)
	if s.Grace == 0 {
		grace = process.DefaultGrace
	}
	if s.Timeout > 0 && took > s.Timeout+grace+250*time.Millisecond+slack {
		t.Errorf("Run took %v, with timeout %v and grace %v", took, s.Timeout, grace)
	}
	left := marked(t, mark)
	for began := time.Now(); len(left) > 0 && time.Since(began) < 10*time.Second; left = marked(t, mark) {
		time.Sleep(10 * time.Millisecond)
	}
	for _, p := range left {
		t.Errorf("left behind: %s", p)
	}
	if len(left) == 0 && len(res.Survivors) > 0 {
		// A machine that stalls shows a process that was killed alive for a moment.
		t.Logf("survivors that were gone soon: %v", res.Survivors)
		res.Survivors = nil
		for i, w := range res.Warnings {
			res.Warnings[i] = strings.Replace(w, "which could not be killed", "which was killed", 1)
			if strings.HasPrefix(w, "still running after SIGKILL") {
				res.Signal = "SIGKILL"
			}
		}
	}
	goleak.VerifyNone(t)
	for fd, to := range openDescriptors(t) {
		if descriptors[fd] != to {
			t.Errorf("descriptor %s was left open: %s", fd, to)
		}
	}
	return res
}

// marked lists the living processes whose environment has the mark.
func marked(t *testing.T, mark string) []string {
	t.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range environs {
		if env, err := os.ReadFile(path); err == nil && bytes.Contains(env, []byte(mark)) {
			if pid := filepath.Base(filepath.Dir(path)); alive(pid) {
				found = append(found, "pid "+pid)
			}
		}
	}
	return found
}

func alive(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	return stat[bytes.LastIndexByte(stat, ')')+2] != 'Z'
}

// openDescriptors maps each open descriptor of this process to what it is.
func openDescriptors(t *testing.T) map[string]string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]string{}
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && !strings.HasPrefix(to, "/proc/") { // that would be the listing's own
			open[e.Name()] = to
		}
	}
	return open
}

func wantWarning(t *testing.T, res process.Result, part string) {
	t.Helper()
	if !strings.Contains(strings.Join(res.Warnings, "\n"), part) {
		t.Errorf("no warning has %q: %q", part, res.Warnings)
	}
}
