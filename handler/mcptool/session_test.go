package mcptool_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/handler/mcptool"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

func TestCallsShareOneServer(t *testing.T) {
	h := with(t, local(t, "tools"))
	var wg sync.WaitGroup
	pids := make([]int, 30)
	for i := range pids {
		wg.Go(func() { pids[i] = pid(t, h, "pid") })
	}
	wg.Wait()
	for _, p := range pids {
		if p != pids[0] {
			t.Fatalf("calls met several servers: %v", pids)
		}
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	mustBeGone(t, pids[0])
	_, err := h.Handle(t.Context(), call("pid", ""))
	wantFailure(t, err, hook.FailureStart, "closed")
}

func TestG3CrashInACallIsOneFailureAndTheNextCallStartsAnew(t *testing.T) {
	h := with(t, local(t, "tools"))
	first := pid(t, h, "pid")
	c := call("crash", "")
	_, err := h.Handle(within(t, 20*time.Second), c)
	wantFailure(t, err, hook.FailureTransport, "exit code 7", "out of cheese")
	if !strings.Contains(c.Report.Stderr, "out of cheese") {
		t.Errorf("stderr in the report: %q", c.Report.Stderr)
	}
	if second := pid(t, h, "pid"); second == first {
		t.Error("the server that crashed answered")
	}
}

func TestG3CrashLoopIsSlowedDown(t *testing.T) {
	h := with(t, local(t, "tools"))
	crash := func() *hook.Error {
		_, err := h.Handle(within(t, 20*time.Second), call("crash", ""))
		return failure(t, err)
	}
	if failed := crash(); failed.Failure != hook.FailureTransport {
		t.Fatal(failed)
	}
	began := time.Now()
	failed := crash() // it has answered nothing so far
	if failed.Failure != hook.FailureStart || !strings.Contains(failed.Reason, "exit code 7") || !strings.Contains(failed.Hint, "started again by a call in") {
		t.Errorf("within the pause: %v", failed)
	}
	if took := time.Since(began); took > 250*time.Millisecond {
		t.Errorf("a call within the pause took %v", took)
	}
	for deadline := time.Now().Add(10 * time.Second); crash().Failure != hook.FailureTransport; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it was never started again")
		}
	}
}

func TestChangedServerIsReplacedAndCallsUnderWayFinish(t *testing.T) {
	spec := local(t, "tools")
	h := with(t, spec)
	old := pid(t, h, "pid")
	same := spec
	same.Source.Line = 7
	h.Configure(settings("s", same))
	if pid(t, h, "pid") != old {
		t.Error("a server that did not change was replaced")
	}
	napped := make(chan string, 1)
	go func() {
		out, err := h.Handle(context.Background(), asContext("nap", ""))
		if err != nil {
			napped <- err.Error()
			return
		}
		napped <- out.Context
	}()
	time.Sleep(200 * time.Millisecond)
	changed := spec
	changed.Args = []string{"-unused"}
	h.Configure(settings("s", changed))
	if pid(t, h, "pid") == old {
		t.Error("a server that changed answers still")
	}
	if got := <-napped; got != "pid "+strconv.Itoa(old) {
		t.Errorf("the call under way came to %q", got)
	}
	mustBeGone(t, old)
	h.Configure(dialect.Settings{})
	_, err := h.Handle(t.Context(), call("pid", ""))
	wantFailure(t, err, hook.FailureStart, "no MCP server")
}

func TestCancelledCallEndsAtOnceAndTheSessionLivesOn(t *testing.T) {
	h := with(t, local(t, "tools"))
	first := pid(t, h, "pid")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	began := time.Now()
	_, err := h.Handle(ctx, call("hang", ""))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who gave up got %v", err)
	}
	_, err = h.Handle(within(t, 100*time.Millisecond), call("hang", ""))
	if failed := wantFailure(t, err, hook.FailureTimeout, "hang"); !errors.Is(failed, hook.ErrTimeout) {
		t.Error("the error is no ErrTimeout")
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("two calls of 100 ms took %v", took)
	}
	if again := pid(t, h, "pid"); again != first {
		t.Error("the server was replaced")
	}
}

func TestThreeUnansweredCallsReplaceTheServer(t *testing.T) {
	h := with(t, local(t, "tools"))
	first := pid(t, h, "pid")
	for range 3 {
		_, err := h.Handle(within(t, 50*time.Millisecond), call("hang", ""))
		wantFailure(t, err, hook.FailureTimeout)
	}
	if again := pid(t, h, "pid"); again == first {
		t.Error("the server was not replaced")
	}
	mustBeGone(t, first)
}

func TestG1StoppedServerIsKilledAndStartedAnew(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits for a server that hangs")
	}
	if runtime.GOOS == "windows" {
		t.Skip("no SIGSTOP on Windows")
	}
	h := with(t, local(t, "tools"))
	first := pid(t, h, "pid")
	began := time.Now()
	_, err := h.Handle(within(t, 300*time.Millisecond), call("stop", ""))
	wantFailure(t, err, hook.FailureTimeout)
	big := `{"command":"` + strings.Repeat("x", 1<<20) + `"}` // more than its pipe takes
	_, err = h.Handle(within(t, 300*time.Millisecond), call("policy", big))
	wantFailure(t, err, hook.FailureTimeout)
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("two calls of 300 ms took %v", took)
	}
	mustBeGone(t, first)
	if again := pid(t, h, "pid"); again == first {
		t.Error("the stopped server answered")
	}
}

func TestG1CloseWhileStoppedIsBounded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGSTOP on Windows")
	}
	h := with(t, local(t, "tools"))
	first := pid(t, h, "pid")
	_, err := h.Handle(within(t, 100*time.Millisecond), call("stop", ""))
	wantFailure(t, err, hook.FailureTimeout)
	began := time.Now()
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("Close took %v", took)
	}
	mustBeGone(t, first)
}

func TestG2GrandchildHoldsStderr(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no sleep on Windows")
	}
	h := with(t, local(t, "tools"))
	server, grandchild := pid(t, h, "pid"), pid(t, h, "grandchild")
	began := time.Now()
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("Close took %v", took)
	}
	mustBeGone(t, server)
	mustBeGone(t, grandchild)
}

func TestCloseEndsCallsUnderWay(t *testing.T) {
	h := with(t, local(t, "tools"))
	server := pid(t, h, "pid")
	failed := make(chan error, 1)
	go func() {
		_, err := h.Handle(context.Background(), call("hang", ""))
		failed <- err
	}()
	time.Sleep(100 * time.Millisecond)
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	wantFailure(t, <-failed, hook.FailureStart, "closed")
	mustBeGone(t, server)
}

func TestG5HugeReplyIsRefused(t *testing.T) {
	h := with(t, local(t, "huge reply"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := h.Handle(within(t, 30*time.Second), call("big", ""))
	runtime.ReadMemStats(&after)
	wantFailure(t, err, hook.FailureOverflow, "4 MiB")
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 48<<20 {
		t.Errorf("it took %d MiB", grown>>20)
	}
	h = with(t, local(t, "tools"))
	first := pid(t, h, "pid")
	_, err = h.Handle(within(t, 30*time.Second), call("big", `{"bytes":1500000}`))
	wantFailure(t, err, hook.FailureOverflow, "1048576")
	if second := pid(t, h, "pid"); second != first { // within the message's bound it costs no session
		t.Errorf("servers %d, %d", first, second)
	}
}

func TestG5HugeRequestWorks(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	h := with(t, local(t, "tools"))
	if _, err := h.Handle(within(t, 30*time.Second), call("policy", `{"command":"`+strings.Repeat("x", 5<<20)+`"}`)); err != nil {
		t.Error(err)
	}
}

func TestG6FailedHandshakeIsNamedAndLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, tt := range []struct {
		mode  string
		kind  hook.Failure
		words []string
	}{
		{"silent", hook.FailureStart, []string{"did not answer the handshake within 1s"}},
		{"garbage", hook.FailureStart, []string{"Server listening on stdio", "stderr"}},
		{"long line", hook.FailureStart, []string{"more than 4 MiB"}},
		{"exits", hook.FailureStart, []string{"exit code 3", "no such config: policy.toml", "key was [redacted]"}},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			spec := local(t, tt.mode)
			file := filepath.Join(t.TempDir(), "pid")
			spec.Env["MCPTOOL_TEST_PIDFILE"] = file
			h := mcptool.New(mcptool.Options{StartTimeout: time.Second})
			defer h.Close()
			h.Configure(settings("s", spec))
			began := time.Now()
			_, err := h.Handle(within(t, 20*time.Second), call("t", ""))
			wantFailure(t, err, tt.kind, tt.words...)
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(string(raw))
			if err != nil {
				t.Fatal(err)
			}
			mustBeGone(t, pid)
		})
	}
}

func TestG6GarbageInACallIsATransportFailure(t *testing.T) {
	h := with(t, local(t, "garbage in call"))
	_, err := h.Handle(within(t, 20*time.Second), call("t", ""))
	wantFailure(t, err, hook.FailureTransport, "panic: oh no", "stderr")
}

func TestTimeoutInTheHandshakeIsATimeoutAndTheStartGoesOn(t *testing.T) {
	h := mcptool.New(mcptool.Options{StartTimeout: 10 * time.Second})
	defer h.Close()
	h.Configure(settings("s", local(t, "silent")))
	began := time.Now()
	_, err := h.Handle(within(t, 200*time.Millisecond), call("t", ""))
	wantFailure(t, err, hook.FailureTimeout, "handshake")
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("a call of 200 ms took %v", took)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("Close waited for the handshake: %v", took)
	}
}

func TestProgramThatCannotBeStarted(t *testing.T) {
	for _, command := range []string{"no-such-mcp-server", filepath.Join(t.TempDir(), "missing")} {
		h := with(t, dialect.MCPServer{Command: command})
		_, err := h.Handle(within(t, 20*time.Second), call("t", ""))
		wantFailure(t, err, hook.FailureStart, filepath.Base(command))
	}
}

func TestReconfigureWhileCallsRun(t *testing.T) {
	one, two := local(t, "tools"), local(t, "tools")
	two.Args = []string{"-two"}
	h := with(t, one)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				if _, err := h.Handle(within(t, 30*time.Second), call("policy", `{"command":"ls"}`)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		time.Sleep(20 * time.Millisecond)
		h.Configure(settings("s", two))
		h.Configure(settings("s", one))
	}
	wg.Wait()
}

func TestPrewarmStartsTheServerOfCallsToCome(t *testing.T) {
	h := with(t, local(t, "tools"))
	hk := call("pid", "")
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if err := h.Prewarm(within(t, 20*time.Second), hk); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // a call that could not start a server any more
	if err := h.Prewarm(ctx, hk); err != nil {
		t.Errorf("a second time: %v", err)
	}
	other := *hk.Hook
	other.Params = hook.Params{"server": []byte(`"none"`), "tool": []byte(`"pid"`)}
	wantFailure(t, h.Prewarm(t.Context(), &hook.Call{Hook: &other}), hook.FailureStart, "none")
}
