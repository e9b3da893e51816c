package plugins

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

func TestPluginAnswers(t *testing.T) {
	b := newBench(t).good()
	out := b.mustCall(do{Do: "deny", Text: "not today"})
	if out.Verdict != hook.Deny || out.Reason != "not today" {
		t.Errorf("got %v %q, want a denial", out.Verdict, out.Reason)
	}
	if got := b.mustCall(do{Do: "project"}).Context; got != "/project" {
		t.Errorf("project dir %q", got)
	}
	if out, _, err := b.call(do{Do: "nothing"}); err != nil || out != nil && !cmp.Equal(*out, hook.Output{}) {
		t.Errorf("no opinion: got %+v, %v", out, err)
	}
}

func TestPluginServesConcurrentCallsWithOneProcess(t *testing.T) {
	b := newBench(t).good()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if _, _, err := b.callOn(ctx, b.host, do{Do: "sleep", MS: 50}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := len(b.host.units); got != 1 {
		t.Errorf("%d units", got)
	}
	u := b.host.units[filepath.Join(b.dir, binaryName("fault"))]
	if got := u.Status().Processes; got != 1 {
		t.Errorf("%d processes, want 1", got)
	}
}

func TestPluginFailures(t *testing.T) {
	b := newBench(t).good()
	for _, test := range []struct {
		do      do
		failure hook.Failure
		words   string
	}{
		{do{Do: "fail", Text: "the rules are missing"}, hook.FailureExit, "the rules are missing"},
		{do{Do: "panic", Text: "nil map"}, hook.FailurePanic, "nil map"},
	} {
		_, _, err := b.call(test.do)
		expect(t, err, test.failure, test.words)
	}
	if pid := b.pid(); pid == 0 {
		t.Error("the plugin should have survived")
	}
}

func expect(t *testing.T, err error, failure hook.Failure, words string) {
	t.Helper()
	var failed *hook.Error
	if !errors.As(err, &failed) {
		t.Errorf("got %v, want failure %s", err, failure)
		return
	}
	if failed.Failure != failure || !strings.Contains(failed.Error(), words) {
		t.Errorf("got %v, want %s with %q", failed, failure, words)
	}
}

func TestPluginLogsArriveInTheHostsLog(t *testing.T) {
	b := newBench(t).good()
	b.mustCall(do{Do: "log", Text: "the rules are old"})
	eventually(t, 20*time.Second, "the record", func() bool {
		return b.log.has("level=WARN", `"the rules are old"`, "answer=42", "plugin=fault")
	})
}

func TestPluginThatPrintsALotGoesOn(t *testing.T) {
	b := newBench(t).good()
	if got := b.mustCall(do{Do: "print", MS: 2000, Text: strings.Repeat("noise", 100)}).Context; got != "printed" {
		t.Errorf("got %q", got)
	}
}

func TestPrewarmStartsAPluginOnce(t *testing.T) {
	b := newBench(t).good()
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if err := b.host.Prewarm(t.Context(), &hook.Call{Hook: b.hook()}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	pid := b.pid()
	if pid == 0 {
		t.Fatal("no process")
	}
	b.mustCall(do{Do: "version"})
	if got := b.pid(); got != pid {
		t.Errorf("process %d became %d", pid, got)
	}
}

func TestClosedHostSaysSo(t *testing.T) {
	b := newBench(t).good()
	b.mustCall(do{Do: "version"})
	within(t, 15*time.Second, "Close", func() { b.host.Close(); b.host.Close() })
	_, _, err := b.call(do{Do: "version"})
	expect(t, err, hook.FailureStart, "closed")
}

func TestApprovedPluginIsExchangedWithoutLosingCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	b := newBench(t).good()
	b.mustCall(do{Do: "version"})
	old, enough := make(chan *hook.Output, 1), filepath.Join(t.TempDir(), "enough")
	u := b.host.units[filepath.Join(b.dir, binaryName("fault"))]
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		out, _, err := b.callOn(ctx, b.host, do{Do: "await", Text: enough})
		if err != nil {
			t.Error(err)
		}
		old <- out
	}()
	eventually(t, time.Minute, "a call under way", func() bool { return u.Status().Calls > 0 })
	b.pin(b.install("fault", "second"))
	if got := b.mustCall(do{Do: "version"}).Context; got != "2.0.0" {
		t.Errorf("a call after the approval went to %q", got)
	}
	must(t, os.WriteFile(enough, nil, 0o600)) // an exchange that waits for the old process never gets here
	if out := <-old; out == nil || out.Context != "1.0.0" {
		t.Errorf("the call under way ended with %+v", out)
	}
	eventually(t, time.Minute, "the end of the old process", func() bool {
		return u.Status().Processes == 1
	})
}

func TestVersionsAreNegotiated(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, test := range []struct {
		host   []int
		plugin string
		want   string // "" = refused
	}{
		{[]int{1}, "1,2", "1"},
		{[]int{1, 2}, "1", "1"},
		{[]int{1, 2}, "1,2", "2"},
		{[]int{2}, "1", ""},
		{[]int{1}, "2", ""},
	} {
		b := newBench(t)
		b.host.versions = test.host
		b.pin(b.install("fault", "versions "+test.plugin))
		out, _, err := b.call(do{Do: "version"})
		if test.want == "" {
			expectCode(t, err, CodeVersion)
			continue
		}
		if err != nil || out.Context != test.want {
			t.Errorf("host %v, plugin %s: got %+v, %v, want version %s", test.host, test.plugin, out, err, test.want)
		}
	}
}

func expectCode(t *testing.T, err error, code string) *Problem {
	t.Helper()
	var p *Problem
	if !errors.As(err, &p) {
		t.Errorf("got %v, want a problem %s", err, code)
		return nil
	}
	if p.Code != code || p.Reason == "" || p.Hint == "" || p.Path == "" && code != CodeClosed {
		t.Errorf("got %s: %v, want %s", p.Code, p, code)
	}
	return p
}

// The host sends unknown fields at random, in each call, so that no plugin relies
// on their absence.
func TestEachCallHasUnknownFieldsAtTimes(t *testing.T) {
	for _, call := range []string{"describe", "health", "handle"} {
		b := newBench(t)
		b.pin(b.install("fault", "choosy "+call))
		refused := false
		for i := 0; i < 64 && !refused; i++ { // each other request has some
			var err error
			if call == "handle" {
				_, _, err = b.call(do{Do: "version"})
			} else {
				err = b.host.Learn(t.Context(), b.dir)
			}
			refused = err != nil
			if err != nil && !strings.Contains(err.Error(), "an unknown field in "+call) {
				t.Fatalf("%s: %v", call, err)
			}
		}
		if !refused {
			t.Errorf("%s never has an unknown field", call)
		}
	}
}
