package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/fleet/internal/policy"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/fleetpolicy"
	"github.com/tenterhook/tenterhook/internal/fleetpolicy/policytest"
	"github.com/tenterhook/tenterhook/internal/recording"
	"github.com/tenterhook/tenterhook/journal"
	"github.com/tenterhook/tenterhook/registry"
)

// world is a hub that can be stopped and started again, and a fleet.
type world struct {
	t      testing.TB
	dir    *hub.Dir
	server *hub.Server
	fleet  *policytest.Fleet
	at     hub.Options
}

func begin(t testing.TB) *world {
	t.Helper()
	d, err := hub.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: d, fleet: policytest.New(t), at: hub.Options{Fleet: "acme", Listen: "127.0.0.1:0", Enroll: "127.0.0.1:0"}}
	w.start()
	t.Cleanup(func() { w.server.Stop() })
	_, w.at.Listen, _ = cut(w.server.Run.URL)
	return w
}

func cut(url string) (scheme, host string, ok bool) {
	for i := range url {
		if url[i:min(len(url), i+3)] == "://" {
			return url[:i], url[i+3:], true
		}
	}
	return "", url, false
}

func (w *world) start() {
	w.t.Helper()
	s, err := w.dir.Start(context.Background(), w.at)
	if err != nil {
		w.t.Fatal(err)
	}
	w.server = s
}

// member is a machine that follows the hub, and a registry on it.
type member struct {
	*policy.Machine
	follower *policy.Follower
	reg      *registry.Registry
	state    string
	stop     func()
}

// member enrolls a machine. Its store is its own.
func (w *world) member(name string) *member {
	w.t.Helper()
	connection, err := w.dir.Credential(hub.Machine, name, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	nc, err := connection.ConnectLater()
	if err != nil {
		w.t.Fatal(err)
	}
	return w.follows(nc)
}

// follows makes a machine obey what comes over a connection, which it closes.
func (w *world) follows(nc *nats.Conn) *member {
	w.t.Helper()
	base := w.t.TempDir()
	fleet := *w.fleet
	fleet.Dir = filepath.Join(base, "policy")
	opts := registry.Options{UserDir: filepath.Join(base, "user"), StateDir: filepath.Join(base, "state"), Without: []hook.Scope{hook.ScopeManaged}}
	if err := os.MkdirAll(opts.UserDir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(opts.UserDir, "settings.toml"), []byte(fleet.TOML("")), 0o600); err != nil {
		w.t.Fatal(err)
	}
	m, err := policy.Open(context.Background(), policy.Options{Registry: opts})
	if err != nil {
		w.t.Fatal(err)
	}
	opts.Workspace, opts.Without = base, []hook.Scope{hook.ScopeManaged, hook.ScopeProject, hook.ScopePlugin}
	reg, err := registry.Open(context.Background(), opts)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	f := &policy.Follower{Machine: m, Conn: nc}
	go func() { ended <- f.Follow(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
		nc.Close()
		_ = reg.Close()
		if err := m.Close(); err != nil {
			w.t.Error(err)
		}
	})
	w.t.Cleanup(stop)
	return &member{m, f, reg, opts.StateDir, stop}
}

// decides waits until a registry decides so.
func (m *member) decides(t testing.TB, want hook.Verdict) {
	t.Helper()
	for until := time.Now().Add(15 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		out, err := m.reg.Dispatch(context.Background(), hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"ls"}`)})
		if err != nil {
			t.Fatal(err)
		}
		if out.Verdict == want {
			return
		}
		if time.Now().After(until) {
			known := m.reg.Policies()[1]
			t.Errorf("it decides %v, want %v: %s; in force is %s %d; the hub answered %v ago, and says what is refused: %v", out.Verdict, want, out.Reason,
				known.State, known.Version, time.Since(m.follower.Answered()), m.follower.Problem("guard"))
			return
		}
	}
}

// publish brings a guard to the hub.
func (w *world) publish(version int64, settings string) error {
	connection, err := w.dir.Credential(hub.Publisher, "anna", 0)
	if err != nil {
		return err
	}
	desk, err := policy.OpenDesk(context.Background(), connection)
	if err != nil {
		return err
	}
	defer desk.Close()
	_, err = desk.Publish(context.Background(), w.fleet.Store().Roots, w.fleet.Sign(policytest.Document("guard", version, settings), "oncall"))
	return err
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestAGuardReachesMachinesThatAreConnectedThatWereNotAndAfterTheHubWasAway(t *testing.T) {
	w := begin(t)
	one := w.member("one")
	one.decides(t, hook.NoOpinion)
	w.must(w.publish(1, policytest.Deny))
	one.decides(t, hook.Deny)
	two := w.member("two") // it was said before
	two.decides(t, hook.Deny)
	w.server.Stop()
	one.decides(t, hook.Deny) // as before
	w.start()
	w.must(w.publish(2, `{}`))
	one.decides(t, hook.NoOpinion)
	two.decides(t, hook.NoOpinion)
}

// The first answer after a hub's start may be lost. What the hub publishes is in
// force all the same, while the machine still waits for that answer.
func TestAGuardDoesNotWaitForALostAnswer(t *testing.T) {
	t.Cleanup(policy.SetAnswerTime(time.Hour))
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(15 * time.Second) {
		t.Fatal("the server does not start")
	}
	connect := func() *nats.Conn {
		nc, err := nats.Connect(s.ClientURL())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		return nc
	}
	w := &world{t: t, fleet: policytest.New(t)}
	silent := connect()
	guard := w.fleet.Sign(policytest.Document("guard", 1, policytest.Deny), "oncall")
	_, err = silent.Subscribe("$JS.API.DIRECT.GET.KV_policy.$KV.policy.guard", func(*nats.Msg) { _ = silent.Publish("policy.guard", guard) })
	w.must(err)
	_, err = silent.Subscribe("$JS.API.DIRECT.GET.KV_policy.$KV.policy.packs", func(*nats.Msg) {})
	w.must(err)
	w.must(silent.Flush())
	w.follows(connect()).decides(t, hook.Deny)
}

func TestAHubCanWithholdAPolicyAndBringNoOther(t *testing.T) {
	w := begin(t)
	m := w.member("one")
	w.must(w.publish(3, policytest.Deny))
	m.decides(t, hook.Deny)
	admin, err := w.server.InProcess()
	w.must(err)
	defer admin.Close()
	put := func(channel string, raw []byte) {
		t.Helper()
		if _, err := admin.Request("$KV.policy."+channel, raw, 15*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	older := w.fleet.Sign(policytest.Document("guard", 2, `{}`), "oncall")
	var want []string
	for _, c := range []struct {
		channel string
		raw     []byte
		code    string
	}{
		{"guard", older, fleetpolicy.CodeOlder},
		{"guard", policytest.New(t).Sign(policytest.Document("guard", 9, `{}`), "oncall"), fleetpolicy.CodeForged},
		{"guard", older, ""}, // each is recorded once
		{"guard", []byte("off"), fleetpolicy.CodeMalformed},
		{"packs", w.fleet.Sign(policytest.Document("guard", 9, `{}`), "oncall"), fleetpolicy.CodeChannel},
		{"packs", w.fleet.Sign(policytest.Document("packs", 1, `{"disable_all_hooks":true}`), "oncall"), fleetpolicy.CodeChannel},
	} {
		put(c.channel, c.raw)
		if c.code == "" {
			continue
		}
		want = append(want, c.code)
		for until := time.Now().Add(15 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			got := codes(t, m.state)
			slices.Sort(got)
			slices.Sort(want)
			if slices.Equal(got, want) {
				break
			}
			if time.Now().After(until) {
				t.Fatalf("refused are %v, want %v", got, want)
			}
		}
	}
	put("packs", w.fleet.Sign(policytest.Document("packs", 1, `{"max_async":3}`), "release"))
	for until := time.Now().Add(15 * time.Second); m.Policies()[0].State != registry.PolicyKnown; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the good one does not come into force")
		}
	}
	m.decides(t, hook.Deny)
}

// codes are why the journal says that policies were refused.
func codes(t testing.TB, state string) (codes []string) {
	t.Helper()
	err := recording.Use(context.Background(), state, journal.Options{}, func(err error) { t.Error(err) }, func(j *journal.Journal) error {
		lines, err := j.Log(context.Background(), journal.Filter{})
		for _, l := range lines {
			run, err := j.Run(context.Background(), l.Run)
			if err != nil {
				return err
			}
			var said struct{ Code string }
			if json.Unmarshal(run.Payload, &said) == nil && said.Code != "" {
				codes = append(codes, said.Code)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return codes
}

// TENTERHOOK_MEASURE_POLICY=200 measures how long it takes from a guard at the hub
// until that many registries deny, also right after the hub was away.
func TestMeasureFromGuardOnToDenied(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("TENTERHOOK_MEASURE_POLICY"))
	if n == 0 {
		t.Skip("set TENTERHOOK_MEASURE_POLICY to the number of registries")
	}
	w := begin(t)
	members := make([]*member, n)
	for i := range members {
		members[i] = w.member(fmt.Sprint("m", i))
	}
	var all sync.WaitGroup
	each := func(want hook.Verdict) []time.Duration {
		began := time.Now()
		took := make([]time.Duration, n)
		for i, m := range members {
			all.Go(func() { m.decides(t, want); took[i] = time.Since(began) })
		}
		all.Wait()
		slices.Sort(took)
		return took
	}
	say := func(what string, took []time.Duration) {
		t.Logf("%s: %d registries: p50 %v, p99 %v, max %v", what, n, took[n/2].Round(time.Millisecond), took[n*99/100].Round(time.Millisecond), took[n-1].Round(time.Millisecond))
	}
	version := int64(0)
	next := func(settings string) {
		version++
		w.must(w.publish(version, settings))
	}
	next(`{}`)
	time.Sleep(2 * time.Second)
	for range 5 {
		next(policytest.Deny)
		say("connected", each(hook.Deny))
		next(`{}`)
		each(hook.NoOpinion)
	}
	for range 3 {
		w.server.Stop()
		time.Sleep(2 * time.Second)
		w.start()
		next(policytest.Deny)
		say("after a restart of the hub", each(hook.Deny))
		next(`{}`)
		each(hook.NoOpinion)
	}
}
