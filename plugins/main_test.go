package plugins

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/trust"
)

// The variables that make the test binary a plugin or a host.
const (
	faultVariable = "PLUGINS_TEST_FAULT"
	hostVariable  = "PLUGINS_TEST_HOST"
	chaosVariable = "PLUGINS_TEST_HOST_SOCKETS" // the host then does all that goes wrong
)

func TestMain(m *testing.M) {
	if mode := faultMode(); mode != "" {
		fault(mode)
		return
	}
	if dir := os.Getenv(hostVariable); dir != "" {
		if sockets := os.Getenv(chaosVariable); sockets != "" {
			hostInChaos(dir, sockets)
		}
		hostThatDies(dir)
		return
	}
	if r, w, err := os.Pipe(); err == nil { // has Go open its poller, which stays
		r.Close()
		w.Close()
	}
	goleak.VerifyTestMain(m)
}

// bench is a package folder, a state folder and the host over them.
type bench struct {
	t     testing.TB
	dir   string // the package's folder
	state string
	log   *logBuffer
	host  *Host
}

func newBench(t testing.TB, change ...func(*Options)) *bench {
	t.Helper()
	base := t.TempDir()
	b := &bench{t: t, dir: filepath.Join(base, "plugins", "guard"), state: filepath.Join(base, "state"), log: &logBuffer{}}
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b.host = b.open(change...)
	return b
}

// open returns another host over the same folders.
func (b *bench) open(change ...func(*Options)) *Host {
	o := Options{
		StateDir: b.state, SocketDir: os.TempDir(), Environ: os.Environ(),
		Logger:        slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		HealthTimeout: 3 * time.Second, Grace: 200 * time.Millisecond, StartTimeout: 20 * time.Second,
	}
	for _, c := range change {
		c(&o)
	}
	h := New(o)
	b.t.Cleanup(func() { h.Close() })
	return h
}

// install writes a plugin that is the test binary in a mode.
func (b *bench) install(name, mode string) string {
	b.t.Helper()
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(b.dir, manifestName)); err != nil {
		// A strict sandbox keeps it from the test binary.
		if err := os.WriteFile(filepath.Join(b.dir, manifestName), []byte("sandbox = \"none\"\n"), 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	return b.testBinary(name, self, mode)
}

// store is the bench's approvals, as the command line changes them.
func (b *bench) store() *trust.Store {
	b.t.Helper()
	s, err := trust.Open(b.state)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// pin approves an executable as it is, without asking it.
func (b *bench) pin(path string, env ...string) {
	b.t.Helper()
	file, _ := readPackageFile(filepath.Join(filepath.Dir(path), manifestName))
	b.grant(path, terms{env, file.box})
}

// grant approves an executable as it is, with other terms than its plugin.toml asks for.
func (b *bench) grant(path string, t terms) {
	b.t.Helper()
	subject := subjectOf(path)
	var err error
	if subject.Definition, err = define(t, nil); err != nil {
		b.t.Fatal(err)
	}
	b.approve(subject)
}

func (b *bench) approve(s trust.Subject) {
	b.t.Helper()
	seal, err := s.Seal()
	if err == nil {
		err = b.store().Approve(seal)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// approvals is the file that they are in.
func (b *bench) approvals() string { return filepath.Join(b.state, "approvals.json") }

// revoke takes all approvals back.
func (b *bench) revoke() {
	b.t.Helper()
	if removed, err := b.store().RevokeWhere(func(*trust.Approval) bool { return true }); err != nil || len(removed) == 0 {
		b.t.Fatal(removed, err)
	}
}

// trust asks the plugins of the package for their hooks, and approves them, as the
// command line does.
func (b *bench) trust() {
	b.t.Helper()
	if err := b.host.Learn(b.t.Context(), b.dir); err != nil {
		b.t.Fatal(err)
	}
	plugins, _ := b.host.Describe("guard", b.dir)
	for _, p := range plugins {
		b.approve(p.Subject)
	}
}

// described are the hooks of the package's plugins.
func described(h *Host, dir string) (hooks []*hook.Hook, notes []hook.Diagnostic) {
	plugins, notes := h.Describe("guard", dir)
	for _, p := range plugins {
		hooks = append(hooks, p.Hooks...)
	}
	return hooks, notes
}

// sum is the digest of an executable.
func (b *bench) sum(path string) string {
	b.t.Helper()
	seal, p := b.host.seal(path)
	if p != nil {
		b.t.Fatal(p)
	}
	return digestOf(seal.Folder())
}

var someDigest = strings.Repeat("0a", 32)

// good installs the plugin that does what the test asks, and approves it.
func (b *bench) good() *bench {
	b.t.Helper()
	b.pin(b.install("fault", "good"))
	return b
}

// hookOf is the hook of the plugin that does what the test asks.
func (b *bench) hook() *hook.Hook {
	return &hook.Hook{ID: "plugin/fault", Name: "fault", Event: hook.EventPreToolUse, Kind: hook.KindPlugin, Scope: hook.ScopePlugin,
		Source: hook.Source{Root: b.dir, Path: b.dir}}
}

// do is what the plugin has to do, and with what.
type do struct {
	Do   string `json:"do"`
	MS   int    `json:"ms,omitempty"`
	Text string `json:"text,omitempty"`
}

// call has the plugin do something, with a minute to spare: the machine may be busy.
func (b *bench) call(d do) (*hook.Output, *hook.Call, error) {
	b.t.Helper()
	ctx, cancel := context.WithTimeoutCause(b.t.Context(), 60*time.Second, hook.ErrTimeout)
	defer cancel()
	return b.callOn(ctx, b.host, d)
}

func (b *bench) callOn(ctx context.Context, h *Host, d do) (*hook.Output, *hook.Call, error) {
	b.t.Helper()
	c := callOf(b.hook(), d)
	out, err := h.Handle(ctx, c)
	return out, c, err
}

func callOf(hk *hook.Hook, d do) *hook.Call {
	raw, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	in := hook.PreToolUse{ToolName: "Bash", ToolInput: raw}
	payload, err := hook.Encode(in, in.Base)
	if err != nil {
		panic(err)
	}
	return &hook.Call{Hook: hk, Input: in, Payload: payload, ProjectDir: "/project"}
}

// mustCall is call for what must succeed.
func (b *bench) mustCall(d do) *hook.Output {
	b.t.Helper()
	out, _, err := b.call(d)
	if err != nil {
		b.t.Fatalf("%+v: %v\n%s", d, err, b.log)
	}
	if out == nil {
		b.t.Fatalf("%+v: no answer", d)
	}
	return out
}

// pid is the process of the bench's only plugin, 0 if none runs.
func (b *bench) pid() int {
	pkg, _ := b.host.Package(b.dir)
	for _, p := range pkg.Plugins {
		for _, one := range p.Processes {
			if one.Host == os.Getpid() && one.PID != 0 {
				return one.PID
			}
		}
	}
	return 0
}

// within fails the test unless f is done in time.
func within(t testing.TB, limit time.Duration, what string, f func()) {
	t.Helper()
	began := time.Now()
	f()
	if took := time.Since(began); took > limit {
		t.Errorf("%s took %v, more than %v", what, took, limit)
	}
}

// eventually waits for a condition.
func eventually(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("not within %v: %s", limit, what)
}

// logBuffer is what plugins logged.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logBuffer) has(words ...string) bool {
	for line := range strings.Lines(l.String()) {
		all := true
		for _, w := range words {
			all = all && strings.Contains(line, w)
		}
		if all {
			return true
		}
	}
	return false
}

// hostThatDies runs the plugin of a package until it is killed. It prints the
// plugin's process and the folder of its sockets.
func hostThatDies(dir string) {
	state := filepath.Join(filepath.Dir(filepath.Dir(dir)), "state")
	h := New(Options{StateDir: state, SocketDir: os.TempDir()})
	hk := &hook.Hook{ID: "plugin/fault", Name: "fault", Kind: hook.KindPlugin, Source: hook.Source{Root: dir}}
	if err := h.Prewarm(context.Background(), &hook.Call{Hook: hk}); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	pkg, _ := h.Package(dir)
	fmt.Println(pkg.Plugins[0].Processes[0].PID, h.sockets.dir)
	time.Sleep(time.Minute)
}
