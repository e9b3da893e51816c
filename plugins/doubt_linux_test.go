package plugins

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

func TestCallWhoseAnswerIsALostConnectionEndsWithItsContext(t *testing.T) {
	b := newBench(t)
	b.pin(b.install("fault", "deaf"))
	b.mustCall(do{Do: "version"})
	var took time.Duration
	for range 5 { // one in time will do: the machine may be busy
		ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, hook.ErrTimeout)
		began := time.Now()
		_, _, err := b.callOn(ctx, b.host, do{Do: "unavailable"})
		took = time.Since(began)
		cancel()
		if err == nil {
			t.Fatal("it answered")
		}
		if took < 300*time.Millisecond {
			return
		}
	}
	t.Errorf("a call of 50 ms took %v", took)
}

func TestPluginThatListensNoMoreIsStartedAnew(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	b := newBench(t, func(o *Options) { o.HealthTimeout = 500 * time.Millisecond })
	b.pin(b.install("fault", "deaf"))
	b.mustCall(do{Do: "version"})
	old := b.pid()
	_, _, err := b.call(do{Do: "deaf"})
	expect(t, err, hook.FailureTransport, "the way to the plugin broke")
	b.mustCall(do{Do: "version"})
	if got := b.pid(); got == old {
		t.Error("the deaf process is still in service")
	}
}

func TestG3EndAfterTheHandshakeIsToldSoon(t *testing.T) {
	b := newBench(t, func(o *Options) { o.StartTimeout = 40 * time.Second })
	b.pin(b.install("fault", "leave"))
	within(t, 20*time.Second, "the start", func() {
		_, _, err := b.call(do{Do: "version"})
		expect(t, err, hook.FailureStart, "exit code 4")
		expectCode(t, err, CodeExited)
	})
}

func TestPluginWithoutHealthIsToldOf(t *testing.T) {
	b := newBench(t)
	b.pin(b.install("fault", "alien"))
	_, _, err := b.call(do{Do: "version"})
	if p := expectCode(t, err, CodeUnhealthy); p != nil && !strings.Contains(p.Reason, "not implemented") {
		t.Errorf("got %q", p.Reason)
	}
}

func TestKilledPluginThatOnceSaidPanicDidNotPanic(t *testing.T) {
	b := newBench(t).good()
	_, _, err := b.call(do{Do: "kill", Text: "panic: so it said\n"})
	expect(t, err, hook.FailureExit, "SIGKILL")
}

func TestProcessEndsWithItsApproval(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	b := newBench(t).good()
	b.mustCall(do{Do: "version"})
	pid := b.pid()
	slow, enough := make(chan error, 1), filepath.Join(t.TempDir(), "enough")
	go func() {
		_, _, err := b.callOn(context.Background(), b.host, do{Do: "await", Text: enough})
		slow <- err
	}()
	u := b.host.units[filepath.Join(b.dir, "tenterhook-plugin-fault")]
	eventually(t, 20*time.Second, "a call under way", func() bool {
		return u.Status().Calls > 0
	})
	b.revoke()
	_, _, err := b.call(do{Do: "version"})
	expectCode(t, err, CodeUntrusted)
	must(t, os.WriteFile(enough, nil, 0o600))
	if err := <-slow; err != nil {
		t.Errorf("the call under way: %v", err)
	}
	eventually(t, 20*time.Second, "its end", func() bool { return !alive(pid) })
}

func TestWhatIsApprovedNoMoreIsNotStartedForACallThatCameBefore(t *testing.T) {
	b := newBench(t).good()
	path := filepath.Join(b.dir, "tenterhook-plugin-fault")
	b.mustCall(do{Do: "version"})
	before, p := b.host.approval(path)
	if p != nil {
		t.Fatal(p)
	}
	b.pin(b.install("fault", "second"))
	b.mustCall(do{Do: "version"})
	u := b.host.units[path]
	in, err := u.acquire(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Release(in, false)
	if in.From.equal(before) || b.pid() != in.Process.service.PID() {
		t.Error("it got a process of the old bytes")
	}
}

func TestCloseWaitsForAPluginThatIsAsked(t *testing.T) {
	base := shortDir(t)
	b := newBench(t, func(o *Options) { o.SocketDir = base })
	b.install("fault", "silent")
	asked := make(chan error, 1)
	go func() { asked <- b.host.Learn(context.Background(), b.dir) }()
	running := func() []string { return processesWith(t, faultVariable+"=silent", b.dir) }
	eventually(t, 20*time.Second, "its start", func() bool { return len(running()) > 0 })
	b.host.Close()
	if left := running(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	expectCode(t, <-asked, CodeClosed)
	expectCode(t, b.host.Learn(t.Context(), b.dir), CodeClosed)
	if left, _ := os.ReadDir(base); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
