package plugins

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}

// freeze stops a process, and returns when all its threads stand still: until
// then another one may still answer.
func freeze(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, 15*time.Second, "the stop of all threads", func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		for _, path := range threads {
			stat, err := os.ReadFile(path)
			if _, state, _ := strings.Cut(string(stat), ") "); err == nil && !strings.HasPrefix(state, "T") {
				return false
			}
		}
		return err == nil && len(threads) > 0
	})
}

func TestG1StoppedPluginIsKilledAndStartedAnew(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	b := newBench(t, func(o *Options) { o.HealthTimeout = 300 * time.Millisecond }).good()
	b.mustCall(do{Do: "version"})
	pid := b.pid()
	freeze(t, pid)
	within(t, 15*time.Second, "the call", func() {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, hook.ErrTimeout)
		defer cancel()
		if _, _, err := b.callOn(ctx, b.host, do{Do: "version"}); !errors.Is(err, hook.ErrTimeout) {
			t.Errorf("got %v, want a timeout", err)
		}
	})
	within(t, 15*time.Second, "the next call", func() { b.mustCall(do{Do: "version"}) })
	if got := b.pid(); got == pid {
		t.Error("the stopped process is still in service")
	}
	eventually(t, 15*time.Second, "the end of the stopped process", func() bool { return !alive(pid) })
}

func TestG1ShutdownOfAStoppedPluginIsBounded(t *testing.T) {
	b := newBench(t).good()
	b.mustCall(do{Do: "version"})
	pid := b.pid()
	freeze(t, pid)
	within(t, 15*time.Second, "Close", func() { b.host.Close() })
	if alive(pid) {
		t.Error("it is still there")
	}
}

func TestG1PluginThatWasIdleForLongIsCheckedBeforeACall(t *testing.T) {
	b := newBench(t, func(o *Options) { o.HealthTimeout, o.IdleCheck = 300*time.Millisecond, 50*time.Millisecond }).good()
	b.mustCall(do{Do: "version"})
	pid := b.pid()
	freeze(t, pid)
	time.Sleep(100 * time.Millisecond)
	b.mustCall(do{Do: "version"}) // and never sees the stopped one
	if got := b.pid(); got == pid {
		t.Error("the stopped process is still in service")
	}
}

func TestG2GrandchildHoldsStderr(t *testing.T) {
	b := newBench(t).good()
	child, err := strconv.Atoi(b.mustCall(do{Do: "grandchild"}).Context)
	if err != nil || !alive(child) {
		t.Fatal("no grandchild", err)
	}
	within(t, 15*time.Second, "Close", func() { b.host.Close() })
	if alive(child) {
		t.Error("the grandchild is still there")
	}
}

func TestG3EndInMidCallIsOneFailureThenARestart(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, test := range []struct {
		do      do
		failure hook.Failure
		words   string
	}{
		{do{Do: "crash", Text: "nil pointer"}, hook.FailurePanic, "nil pointer"},
		{do{Do: "exit"}, hook.FailureExit, "7"},
		{do{Do: "kill"}, hook.FailureExit, "SIGKILL"},
	} {
		t.Run(test.do.Do, func(t *testing.T) {
			b := newBench(t).good()
			b.mustCall(do{Do: "version"})
			_, c, err := b.call(test.do)
			expect(t, err, test.failure, test.words)
			if code := c.Report.ExitCode; (code == nil) != (test.do.Do == "kill") {
				t.Errorf("exit code %v", code)
			}
			b.mustCall(do{Do: "version"})
		})
	}
}

func TestG3CrashLoopFailsFast(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	b := newBench(t).good()
	var waited int
	for range 8 {
		began := time.Now()
		_, c, err := b.call(do{Do: "exit"})
		var failed *hook.Error
		if !errors.As(err, &failed) {
			t.Fatalf("got %v", err)
		}
		switch failed.Failure {
		case hook.FailureExit:
			if c.Report.ExitCode == nil || *c.Report.ExitCode != 7 {
				t.Errorf("exit code %v", c.Report.ExitCode)
			}
		case hook.FailureStart:
			waited++
			expectCode(t, err, CodeBackoff)
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("a failure without a start took %v", took)
			}
		default:
			t.Errorf("got %v", failed)
		}
	}
	if waited == 0 {
		t.Error("no call failed fast")
	}
	eventually(t, 20*time.Second, "a good call after the loop", func() bool {
		_, _, err := b.call(do{Do: "version"})
		return err == nil
	})
}

func TestG4PinHoldsOverRestarts(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	b := newBench(t).good()
	for range 4 {
		b.mustCall(do{Do: "version"})
		pid := b.pid()
		syscall.Kill(pid, syscall.SIGKILL)
		eventually(t, 15*time.Second, "its end", func() bool { return b.pid() != pid })
	}
	approved := b.sum(filepath.Join(b.dir, "tenterhook-plugin-fault"))
	path := b.install("fault", "second")
	for range 3 {
		_, _, err := b.call(do{Do: "version"})
		p := expectCode(t, err, CodeChanged)
		expect(t, err, hook.FailureStart, "approved is")
		if have := b.sum(path); p != nil && (!strings.Contains(p.Reason, have) || !strings.Contains(p.Reason, approved)) {
			t.Errorf("%q does not name both digests", p.Reason)
		}
	}
	b.install("fault", "good")
	b.mustCall(do{Do: "version"})
}

func TestG4SwappedCopyIsNotExecuted(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	b := newBench(t).good()
	b.mustCall(do{Do: "version"})
	b.host.Close()
	copies, err := filepath.Glob(filepath.Join(b.state, "snapshots", "*", "*"))
	if err != nil || len(copies) != 1 {
		t.Fatal(copies, err)
	}
	if err := os.Chmod(copies[0], 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copies[0], []byte("#!/bin/sh\nexit 9\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.host = b.open()
	b.mustCall(do{Do: "version"})
}

func TestG4SwapBetweenCheckAndStartIsRefused(t *testing.T) {
	b := newBench(t).good()
	path := filepath.Join(b.dir, "tenterhook-plugin-fault")
	want, p := b.host.approval(path)
	if p != nil {
		t.Fatal(p)
	}
	b.install("fault", "second") // after the check
	if _, p := b.host.launch(t.Context(), path, want); p == nil || p.Code != CodeChanged {
		t.Errorf("got %v, want a refusal", p)
	}
}

func TestG5LargeAnswersAndRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	b := newBench(t).good()
	_, _, err := b.call(do{Do: "big", MS: 64})
	expect(t, err, hook.FailureOverflow, "4194304")
	if got := b.mustCall(do{Do: "size", Text: strings.Repeat("x", 6<<20)}).Context; got != strconv.Itoa(6<<20) {
		t.Errorf("of 6 MiB arrived %s", got)
	}
}

func TestG5PluginThatTakesLittleIsToldOf(t *testing.T) {
	b := newBench(t)
	b.pin(b.install("fault", "versions 1")) // with gRPC's own limit, 4 MiB
	_, _, err := b.call(do{Do: "size", Text: strings.Repeat("x", 6<<20)})
	expect(t, err, hook.FailureTransport, "limit of what the plugin receives")
}

func TestG6BadHandshakesAreNamedSoonAndLeaveNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, test := range []struct{ mode, code, words string }{
		{"garbage", CodeGarbage, "hello, here is your plugin"},
		{"longline", CodeGarbage, "longer than 8192 bytes"},
		{"silent", CodeSilent, "in time"},
		{"exit", CodeExited, "no licence file"},
		{"cookie", CodeExited, "plugin"},
		{"versions 99", CodeVersion, "version 99"},
		{"line 1|1|unix|/tmp/elsewhere.sock|grpc", CodeAddress, "outside"},
		{"line 1|1|tcp|127.0.0.1:1|grpc", CodeUnsecured, "certificate"},
		{"line 1|1|tcp|10.0.0.1:1|grpc", CodeAddress, "others can reach"},
		{"line 1|1|unix|DIR/x|netrpc", CodeGarbage, "netrpc"},
		{"line 1|1|unix|DIR/nobody|grpc", CodeUnhealthy, "did not answer"},
		{"line 2|1|unix|DIR/x|grpc", CodeGarbage, "another kind"},
		{"sick", CodeUnhealthy, "the database is gone"},
	} {
		t.Run(strings.ReplaceAll(test.mode, "/", "_"), func(t *testing.T) {
			b := newBench(t, func(o *Options) {
				if test.mode == "silent" || strings.Contains(test.mode, "nobody") {
					o.StartTimeout = time.Second
				}
			})
			b.pin(b.install("fault", test.mode))
			within(t, 15*time.Second, "the start", func() {
				_, _, err := b.call(do{Do: "version"})
				expect(t, err, hook.FailureStart, test.words)
				expectCode(t, err, test.code)
			})
			if left := processesWith(t, faultVariable+"="+test.mode, b.dir); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			if left, _ := filepath.Glob(filepath.Join(b.host.sockets.dir, "plugin-dir*")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func TestG6NoPlugin(t *testing.T) {
	b := newBench(t)
	path := b.script("broken", "")
	if err := os.WriteFile(path, []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.pin(path)
	_, _, err := b.call(do{Do: "version"})
	expect(t, err, hook.FailureStart, "/no/such/interpreter")
	expectCode(t, err, CodeStart)
}

// processesWith lists the processes whose environment has both texts.
func processesWith(t testing.TB, texts ...string) []string {
	t.Helper()
	var found []string
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		env, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		has := true
		for _, text := range texts {
			has = has && strings.Contains(string(env), text)
		}
		if has {
			found = append(found, path)
		}
	}
	return found
}

// otherHost starts a process that is a host of the plugin. It returns the
// plugin's process and the folder of its sockets.
func (b *bench) otherHost() (c *exec.Cmd, pid int, sockets string) {
	b.t.Helper()
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	c = exec.Command(self)
	c.Env = append(os.Environ(), hostVariable+"="+b.dir)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if n, _ := fmt.Sscan(line, &pid, &sockets); n != 2 {
		b.t.Fatalf("host said %q, %v", line, err)
	}
	return c, pid, sockets
}

func TestG7PluginDiesWithItsHostAndSocketsAreSwept(t *testing.T) {
	b := newBench(t).good()
	c, pid, sockets := b.otherHost()
	b.mustCall(do{Do: "version"}) // this host's sweep leaves a host that lives alone
	if _, err := os.Stat(sockets); err != nil || !alive(pid) {
		t.Fatalf("plugin %d in %s: %v", pid, sockets, err)
	}
	c.Process.Kill()
	c.Wait()
	eventually(t, 15*time.Second, "the plugin's end", func() bool { return !alive(pid) })
	if _, err := os.Stat(sockets); err != nil {
		t.Fatalf("nothing to sweep: %v", err)
	}
	b.host.Close()
	b.host = b.open()
	b.mustCall(do{Do: "version"})
	if _, err := os.Stat(sockets); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", sockets, err)
	}
}

func TestG8StdinIsEmptyAndTheEnvironmentAnAllowList(t *testing.T) {
	b := newBench(t, func(o *Options) {
		o.Environ = []string{"PATH=/usr/bin:.:/bin:relative", "HOME=/home/me", "LC_ALL=C", "AWS_SECRET_ACCESS_KEY=hunter2", "GITHUB_TOKEN=hunter3",
			"GRANTED=yes", "OPERATORS=choice", "GODEBUG=x=1"}
		o.Env = []string{"OPERATORS"}
	})
	b.pin(b.install("fault", "good"), "GRANTED")
	if got := b.mustCall(do{Do: "stdin"}).Context; got != "0 <nil>" {
		t.Errorf("stdin gave %q", got)
	}
	own := map[string]bool{"PATH": true, "HOME": true, "LC_ALL": true, "GRANTED": true, "OPERATORS": true,
		proto.DirVariable: true, proto.CookieKey: true, "TENTERHOOK_RUN": true, faultVariable: true,
		"PWD": true, "OLDPWD": true, "SHLVL": true, "_": true} // what sh sets
	for line := range strings.Lines(b.mustCall(do{Do: "environ"}).Context) {
		name, value, found := strings.Cut(strings.TrimSpace(line), "=")
		if !found || strings.HasPrefix(name, "PLUGIN_") || own[name] {
			if name == "PATH" && value != "/usr/bin:/bin" {
				t.Errorf("PATH is %q", value)
			}
			continue
		}
		if !strings.Contains(name, " ") && strings.ToUpper(name) == name {
			t.Errorf("the plugin sees %s", name)
		}
	}
	if env := b.mustCall(do{Do: "environ"}).Context; strings.Contains(env, "hunter") || !strings.Contains(env, "GRANTED=yes") {
		t.Errorf("environment: %s", env)
	}
}

func TestPluginSpeaksTLSAndNobodyElseGetsIn(t *testing.T) {
	b := newBench(t).good()
	b.mustCall(do{Do: "version"})
	in := b.host.units[filepath.Join(b.dir, "tenterhook-plugin-fault")].Status().Process
	if !in.run.shake.certified {
		t.Fatal("no certificate")
	}
	conn, err := net.Dial("unix", in.run.shake.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	fmt.Fprint(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	answer := make([]byte, 64)
	if n, _ := conn.Read(answer); n > 0 && answer[0] != 0x15 { // a TLS alert
		t.Errorf("it answered %q in the clear", answer[:n])
	}
	info, err := os.Stat(b.host.sockets.dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of the sockets is %v, %v", info.Mode(), err)
	}
}

func TestManyCallsDuringCrashesAllEndTruthfully(t *testing.T) {
	b := newBench(t).good()
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			ctx, cancel := context.WithTimeoutCause(t.Context(), 15*time.Second, hook.ErrTimeout)
			defer cancel()
			what := do{Do: "version"}
			if i%4 == 0 {
				what = do{Do: "kill"}
			}
			out, _, err := b.callOn(ctx, b.host, what)
			var failed *hook.Error
			if err == nil && (out == nil || out.Context != "1.0.0") || err != nil && !errors.As(err, &failed) {
				t.Errorf("got %+v, %v", out, err)
			}
		})
	}
	all.Wait()
}
