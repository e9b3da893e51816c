//go:build !windows

package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/adrg/xdg"
	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// The defaults are the ones that Options documents, and what is given stands. A host
// keeps copies of the lists that it is given.
func TestHostHasTheDocumentedDefaults(t *testing.T) {
	h := New(Options{})
	defer h.Close()
	want := Options{StateDir: filepath.Join(xdg.StateHome, "tenterhook"),
		Environ: os.Environ(), StartTimeout: 10 * time.Second, HealthTimeout: 2 * time.Second, IdleCheck: 30 * time.Second, Grace: time.Second, MaxReply: 4 << 20}
	compare := func(want Options, h *Host) {
		t.Helper()
		a, _ := json.Marshal(struct {
			Options
			Logger any
		}{Options: want})
		b, _ := json.Marshal(struct {
			Options
			Logger any
		}{Options: h.options})
		if diff := cmp.Diff(string(a), string(b)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	compare(want, h)
	own := Options{StateDir: "/s", Approvals: []string{"/a"}, Env: []string{"A"}, Environ: []string{"A=1"}, SocketDir: "/k", StartTimeout: 1, HealthTimeout: 2, IdleCheck: 3, Grace: 4, MaxReply: 5}
	h = New(own)
	defer h.Close()
	compare(own, h)
	own.Env[0], own.Environ[0], own.Approvals[0] = "B", "B=2", "/b"
	if h.options.Env[0] != "A" || h.options.Environ[0] != "A=1" || h.options.Approvals[0] != "/a" {
		t.Errorf("%v %v", h.options.Env, h.options.Environ)
	}
	if h.sockets.base != "/k" || h.sockets.state != "/s" {
		t.Errorf("%+v", h.sockets)
	}
	if len(h.versions) != int(proto.Version-proto.MinVersion)+1 || h.versions[0] != proto.MinVersion {
		t.Errorf("%v", h.versions)
	}
}

// A host that is closed starts nothing, whoever asks, and closes once more.
func TestClosedHostStartsNothing(t *testing.T) {
	b := newBench(t).good()
	b.host.Close()
	b.host.Close()
	_, _, err := b.call(do{Do: "version"})
	expectCode(t, err, CodeClosed)
	expectCode(t, b.host.Prewarm(t.Context(), &hook.Call{Hook: b.hook()}), CodeClosed)
	expectCode(t, b.host.Learn(t.Context(), b.dir), CodeClosed)
	u := newUnit(b.host, filepath.Join(b.dir, "tenterhook-plugin-fault"))
	want, p := b.host.approval(u.path)
	if p != nil {
		t.Fatal(p)
	}
	_, err = u.acquire(t.Context(), want)
	expectCode(t, err, CodeClosed)
	if b.host.spawn(func() { t.Error("it ran") }) {
		t.Error("a goroutine was started")
	}
	if len(processesOf(b)) != 0 {
		t.Error("something runs")
	}
}

func processesOf(b *bench) map[string]Process { return b.host.processes() }

// Prewarm and Handle say what keeps a plugin from starting, and end with their
// context while it starts.
func TestPrewarmSaysWhyItFails(t *testing.T) {
	b := newBench(t)
	path := b.install("fault", "exit")
	expectCode(t, b.host.Prewarm(t.Context(), &hook.Call{Hook: b.hook()}), CodeUntrusted)
	b.pin(path)
	err := b.host.Prewarm(t.Context(), &hook.Call{Hook: b.hook()})
	if p := expectCode(t, err, CodeExited); p != nil && (p.Path != path || !strings.Contains(p.Reason, `it said: "no licence file"`)) {
		t.Errorf("%+v", p)
	}
	b.pin(b.install("fault", "silent"))
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, hook.ErrTimeout)
	defer cancel()
	if err := b.host.Prewarm(ctx, &hook.Call{Hook: b.hook()}); !errors.Is(err, hook.ErrTimeout) {
		t.Errorf("while it starts: %v", err)
	}
	if p := b.host.processes()[path]; p.State != StateStarting || p.PID != 0 || p.Host != os.Getpid() || p.Digest == "" {
		t.Errorf("%+v", p)
	}
	bad := b.hook()
	bad.Source.Root = ""
	expectCode(t, b.host.Prewarm(t.Context(), &hook.Call{Hook: bad}), CodeMissing)
}

// A call that waits for a start looks again at what is approved then.
func TestCallThatWaitedForAStartLooksAgain(t *testing.T) {
	b := newBench(t)
	path := b.install("fault", "good")
	b.pin(path)
	old, p := b.host.approval(path)
	if p != nil {
		t.Fatal(p)
	}
	b.pin(b.install("fault", "second"))
	u, p := b.host.unit(path)
	if p != nil {
		t.Fatal(p)
	}
	var all sync.WaitGroup
	for range 4 { // some of them wait for a start that others began
		all.Go(func() {
			in, err := u.acquire(t.Context(), old)
			if err != nil {
				t.Error(err)
				return
			}
			defer u.Release(in, false)
			if in.From.equal(old) {
				t.Error("it got a process of bytes that are approved no more")
			}
		})
	}
	all.Wait()
	b.revoke()
	_, err := u.acquire(t.Context(), old)
	expectCode(t, err, CodeUntrusted)
	if pid := b.pid(); pid != 0 {
		t.Errorf("process %d is left", pid)
	}
}

// The folder for sockets is private, made once, and named after this process.
func TestFolderOfSocketsIsPrivateAndMadeOnce(t *testing.T) {
	base := shortDir(t)
	s := &sockets{base: base}
	if s.there() || len(s.others()) != 0 {
		t.Error("it is there before it was made")
	}
	s.keep("early", func() ([]byte, error) { t.Error("it was asked for"); return nil, nil })
	dir, p := s.open()
	if again, _ := s.open(); p != nil || again != dir || !socketsName().MatchString(filepath.Base(dir)) || filepath.Dir(dir) != base {
		t.Fatalf("%s, %s: %v", dir, again, p)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 || !lives(dir) {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	s.keep("status", func() ([]byte, error) { return []byte("x"), nil })
	s.keep("failed", func() ([]byte, error) { return nil, errors.New("no") })
	if names, _ := os.ReadDir(dir); len(names) != 2 || names[1].Name() != "status" {
		t.Errorf("%v", names)
	}
	other := &sockets{base: base}
	theirs, p := other.open()
	if p != nil || theirs == dir {
		t.Fatal(theirs, p)
	}
	if diff := cmp.Diff([]string{theirs}, s.others()); diff != "" {
		t.Error(diff)
	}
	// Another process puts another in its place: it is not this host's any more.
	must(t, os.Rename(dir, dir+"0"), os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, socketsLock), nil, 0o600))
	if s.there() {
		t.Error("the folder of somebody else is taken for its own")
	}
	s.close()
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("the folder of somebody else was removed: %v", err)
	}
	other.close()
	if _, err := os.Stat(theirs); !errors.Is(err, os.ErrNotExist) || lives(theirs) {
		t.Errorf("a closed host's folder: %v", err)
	}
	other.close()
	none := &sockets{base: filepath.Join(base, "none")}
	if dir, p := none.open(); p == nil || p.Code != CodeState || dir != "" {
		t.Errorf("%s, %v", dir, p)
	}
}

// A folder that is being made is left alone for an hour, and one of other users,
// or that others can write, for ever.
func TestSweepLeavesWhatIsMadeAndWhatIsOthers(t *testing.T) {
	base := shortDir(t)
	add := func(name string, mode os.FileMode, age time.Duration) {
		t.Helper()
		dir := filepath.Join(base, name)
		must(t, os.Mkdir(dir, 0o700), os.Chmod(dir, mode), os.Chtimes(dir, time.Time{}, time.Now().Add(-age)))
	}
	add("thk-new-1", 0o700, 59*time.Minute)
	add("thk-new-2", 0o700, 61*time.Minute)
	add("thk-1-3", 0o777, time.Hour)
	add("thk-1-4", 0o700, 0)
	must(t, os.WriteFile(filepath.Join(base, "thk-1-5"), nil, 0o600))
	left := []string{"thk-1-3", "thk-1-5", "thk-new-1"}
	if os.Geteuid() == 0 {
		add("thk-1-6", 0o700, time.Hour)
		must(t, os.Chown(filepath.Join(base, "thk-1-6"), 12345, 12345))
		left = []string{"thk-1-3", "thk-1-5", "thk-1-6", "thk-new-1"}
	}
	sweepSockets(base)
	sweepSockets(filepath.Join(base, "none"))
	var names []string
	entries, err := os.ReadDir(base)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff(left, names); diff != "" || err != nil {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSocketsAreWhereTheirPathIsShort(t *testing.T) {
	base := shortDir(t)
	at := func(n int) string {
		dir := filepath.Join(base, strings.Repeat("x", n-len(base)-1))
		must(t, os.MkdirAll(dir, 0o700))
		return dir
	}
	for temp, want := range map[string]string{at(longestBase): at(longestBase), at(longestBase + 1): "/tmp"} {
		t.Setenv("TMPDIR", temp)
		if got := (&sockets{state: at(35)}).where(); got != want {
			t.Errorf("TMPDIR of %d bytes: %s", len(temp), got)
		}
		if got := (&sockets{base: "/own", state: at(35)}).where(); got != "/own" {
			t.Errorf("%s", got)
		}
	}
}

// A plugin that closed its stdout and lives on is told from one that ended, and
// one that did not answer in time from both.
func TestPluginThatClosesStdoutIsToldFromOneThatEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for script, want := range map[string][2]string{
		"exec >&-; echo one >&2; echo 'two words' >&2; exec sleep 60": {CodeGarbage, `it closed stdout without a handshake; it said: "two words"`},
		"echo why >&2; exit 3":          {CodeExited, `it ended before the handshake: exit code 3; it said: "why"`},
		"kill -9 $$":                    {CodeExited, `it ended before the handshake: killed by SIGKILL`},
		"echo half; echo; exec sleep 1": {CodeGarbage, `its first line on stdout is no handshake: "half"`},
	} {
		b := newBench(t)
		b.pin(b.script("fault", script+"\n"))
		_, _, err := b.call(do{Do: "version"})
		if p := expectCode(t, err, want[0]); p != nil && p.Reason != want[1] {
			t.Errorf("%s: %q", script, p.Reason)
		}
	}
}

// A process that was stopped, and one that is gone, ends as often as anybody
// asks for it.
func TestInstanceStopsOnceAndTellsWhatItEndedWith(t *testing.T) {
	b := newBench(t).good()
	b.mustCall(do{Do: "version"})
	u := b.host.units[filepath.Join(b.dir, "tenterhook-plugin-fault")]
	in := u.Status().Process
	if p := in.health(t.Context()); p != nil || in.dead() || in.gone(endedContext(t)) {
		t.Errorf("of one that runs: %v", p)
	}
	must(t, syscall.Kill(in.service.PID(), syscall.SIGKILL))
	<-in.service.Done()
	if p := in.died("/p"); p.Code != CodeExited || p.Path != "/p" || !strings.HasPrefix(p.Reason, "it ended: killed by SIGKILL") {
		t.Errorf("%+v", p)
	}
	if p := in.health(t.Context()); p == nil || p.Code != CodeExited || !in.dead() || !in.gone(t.Context()) {
		t.Errorf("%+v", p)
	}
	in.Stop()
	in.Stop()
	eventually(t, 20*time.Second, "the end of its supervision", func() bool {
		return u.Status().Processes == 0
	})
	if p := b.host.processes()[u.path]; p.State != StateFailing || !strings.HasPrefix(p.Why, "it ended: killed by SIGKILL") || p.Digest == "" {
		t.Errorf("%+v", p)
	}
	b.mustCall(do{Do: "version"})
	if err := u.Status().Failed; err != nil {
		t.Errorf("an answer does not forgive the crash: %v", err)
	}
}

// endedContext is a context that has ended.
func endedContext(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
