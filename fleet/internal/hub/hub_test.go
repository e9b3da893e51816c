package hub_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/fleet/internal/problem"
)

// start runs a hub on the loopback interface, in a folder of the test.
func start(t *testing.T) (*hub.Dir, *hub.Server) {
	t.Helper()
	d, err := hub.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Start(t.Context(), hub.Options{Fleet: "acme", Listen: "127.0.0.1:0", Enroll: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return d, s
}

// client connects with a credential of its own. Errors that the server says of what
// it published come on the channel.
func client(t *testing.T, d *hub.Dir, role hub.Role, name string) (*nats.Conn, chan error) {
	t.Helper()
	c, err := d.Credential(role, name, 0)
	if err != nil {
		t.Fatal(err)
	}
	errs := make(chan error, 100)
	nc, err := c.Connect(nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { errs <- err }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc, errs
}

// jet is the JetStream of the hub's operator.
func jet(t *testing.T, d *hub.Dir) jetstream.JetStream {
	t.Helper()
	c, err := d.Admin()
	if err != nil {
		t.Fatal(err)
	}
	nc, err := c.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func code(err error) string {
	if p := (*problem.Error)(nil); errors.As(err, &p) {
		return p.Code
	}
	return ""
}

func refused(t *testing.T, errs chan error, what string) {
	t.Helper()
	select {
	case err := <-errs:
		if !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("%s: %v, want a permission violation", what, err)
		}
	case <-time.After(15 * time.Second):
		t.Errorf("%s was not refused", what)
	}
}

// Each subject that a machine has no business with is tried alone.
func TestAMachineIsConfinedToItsOwnSubjects(t *testing.T) {
	d, _ := start(t)
	m1, errs := client(t, d, hub.Machine, "m1")
	for _, subject := range []string{
		"audit.m2.j", "audit.j", "jobs.m2.scan", "$KV.machines.m2", "$KV.policy.guard", "$KV.results.m1.j", "dead.m1",
		"_INBOX.m2.x", "_INBOX.x", "$JS.API.STREAM.CREATE.X", "$JS.API.STREAM.DELETE.AUDIT", "$JS.API.STREAM.PURGE.AUDIT", "$JS.API.STREAM.INFO.AUDIT",
		"$JS.API.STREAM.MSG.GET.AUDIT", "$JS.API.STREAM.MSG.DELETE.KV_policy", "$JS.API.DIRECT.GET.AUDIT.audit.m2.j", "$JS.API.CONSUMER.CREATE.AUDIT",
		"$JS.API.CONSUMER.CREATE.KV_policy", "$JS.API.DIRECT.GET.KV_machines.$KV.machines.m2", "$JS.API.DIRECT.GET.KV_results.$KV.results.m2.j",
		"$JS.API.CONSUMER.MSG.NEXT.JOBS.scan", "$JS.ACK.JOBS.scan.1.1.1.1.1", "$JS.API.INFO", "$SYS.REQ.SERVER.PING", "anything",
	} {
		if err := m1.Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
		refused(t, errs, "publish to "+subject)
	}
	for _, subject := range []string{">", "audit.>", "audit.m1.>", "jobs.>", "results.>", "results.m2.>", "$KV.results.m1.>", "$KV.machines.>", "_INBOX.>", "_INBOX.m2.>", "$JS.EVENT.>", "$SYS.>"} {
		if _, err := m1.Subscribe(subject, func(*nats.Msg) {}); err != nil {
			t.Fatal(err)
		}
		_ = m1.Flush()
		refused(t, errs, "subscribe to "+subject)
	}
}

func TestAMachineShipsAndReadsWhatIsItsOwn(t *testing.T) {
	d, _ := start(t)
	js := jet(t, d)
	m1, _ := client(t, d, hub.Machine, "m1")
	mine, err := jetstream.New(m1)
	if err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{"audit.m1.j", "jobs.m1.scan", "$KV.machines.m1"} {
		if _, err := mine.Publish(t.Context(), subject, []byte("x")); err != nil {
			t.Errorf("%s: %v", subject, err)
		}
	}
	hints, err := m1.SubscribeSync("policy.>")
	if err != nil {
		t.Fatal(err)
	}
	_ = m1.Flush()
	pc, _ := client(t, d, hub.Publisher, "release")
	pjs, err := jetstream.New(pc)
	if err != nil {
		t.Fatal(err)
	}
	policy, err := pjs.KeyValue(t.Context(), hub.PolicyBucket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := policy.Put(t.Context(), "guard", []byte("signed")); err != nil {
		t.Fatal(err)
	}
	if _, err := hints.NextMsg(15 * time.Second); err != nil {
		t.Errorf("no hint of the policy: %v", err)
	}
	results, err := js.KeyValue(t.Context(), hub.ResultBucket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := results.Put(t.Context(), "m1.job", []byte("done")); err != nil {
		t.Fatal(err)
	}
	for subject, want := range map[string]string{"$JS.API.DIRECT.GET.KV_policy.$KV.policy.guard": "signed", "$JS.API.DIRECT.GET.KV_results.$KV.results.m1.job": "done"} {
		if m, err := m1.Request(subject, nil, 15*time.Second); err != nil || string(m.Data) != want {
			t.Errorf("%s: %v %v", subject, m, err)
		}
	}
}

// The answer of JetStream goes where the request says. No answer may become a
// record of another machine, or the policy.
func TestAnAnswerIsStoredNowhere(t *testing.T) {
	d, _ := start(t)
	js := jet(t, d)
	policy, err := js.KeyValue(t.Context(), hub.PolicyBucket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := policy.Put(t.Context(), "guard", []byte("signed")); err != nil {
		t.Fatal(err)
	}
	targets := []string{"$KV.policy.guard", "audit.m2.j", "jobs.m2.scan", "$KV.results.m2.j", "$KV.machines.m2", "$JS.API.STREAM.DELETE.KV_results", "dead.m2"}
	m1, _ := client(t, d, hub.Machine, "m1")
	w1, _ := client(t, d, hub.Worker, "w1")
	for _, target := range targets {
		for nc, asked := range map[*nats.Conn][]string{
			m1: {"audit.m1.j", "jobs.m1.scan", "$KV.machines.m1", "$JS.API.DIRECT.GET.KV_policy.$KV.policy.guard"},
			w1: {"$KV.results.m1.j", "HUB.API.STREAM.INFO.JOBS", "dead.m1"},
		} {
			for _, subject := range asked {
				if err := nc.PublishRequest(subject, target, []byte("x")); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, subject := range []string{"audit.m1.last", "$KV.machines.m1"} { // behind all of these
		if _, err := m1.Request(subject, nil, 15*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w1.Request("$KV.results.m1.last", nil, 15*time.Second); err != nil {
		t.Fatal(err)
	}
	if e, err := policy.Get(t.Context(), "guard"); err != nil || string(e.Value()) != "signed" || e.Revision() != 1 {
		t.Errorf("the policy is %v, %v", e, err)
	}
	for _, name := range []string{hub.AuditStream, hub.JobStream, hub.DeadStream, "KV_results", "KV_machines"} {
		s, err := js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		i, err := s.Info(t.Context(), jetstream.WithSubjectFilter(">"))
		if err != nil {
			t.Fatal(err)
		}
		for _, subject := range []string{"audit.m2.j", "jobs.m2.scan", "$KV.results.m2.j", "$KV.machines.m2", "dead.m2"} {
			if n := i.State.Subjects[subject]; n > 0 {
				t.Errorf("%s has %d messages in %s", subject, n, name)
			}
		}
		if i.State.Msgs == 0 {
			t.Errorf("%s is empty: nothing was tried", name)
		}
	}
}

func TestAWorkerTakesAJobAndAnswersIt(t *testing.T) {
	d, _ := start(t)
	js := jet(t, d)
	if _, err := js.CreateConsumer(t.Context(), hub.JobStream, jetstream.ConsumerConfig{Durable: "scan", FilterSubject: "jobs.*.scan", AckPolicy: jetstream.AckExplicitPolicy}); err != nil {
		t.Fatal(err)
	}
	m1, _ := client(t, d, hub.Machine, "m1")
	results, err := m1.SubscribeSync("results.m1.>")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m1.Request("jobs.m1.scan", []byte("job"), 15*time.Second); err != nil {
		t.Fatal(err)
	}
	c, err := d.Credential(hub.Worker, "w1", 0)
	if err != nil {
		t.Fatal(err)
	}
	errs := make(chan error, 100)
	w1, err := c.Connect(nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { errs <- err }))
	if err != nil {
		t.Fatal(err)
	}
	defer w1.Close()
	wjs, err := c.JetStream(w1)
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := wjs.Consumer(t.Context(), hub.JobStream, "scan")
	if err != nil {
		t.Fatal(err)
	}
	batch, err := consumer.Fetch(1, jetstream.FetchMaxWait(15*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	m, ok := <-batch.Messages()
	if !ok || string(m.Data()) != "job" || m.Subject() != "jobs.m1.scan" {
		t.Fatalf("got %v, %v", m, batch.Error())
	}
	if err := m.InProgress(); err != nil {
		t.Error(err)
	}
	if _, err := wjs.Publish(t.Context(), "$KV.results.m1.job", []byte("done")); err != nil {
		t.Error(err)
	}
	if err := m.DoubleAck(t.Context()); err != nil {
		t.Error(err)
	}
	if r, err := results.NextMsg(15 * time.Second); err != nil || string(r.Data) != "done" {
		t.Errorf("the machine got %v, %v", r, err)
	}
	s, err := js.Stream(t.Context(), hub.JobStream)
	if err != nil {
		t.Fatal(err)
	}
	if i, err := s.Info(t.Context()); err != nil || i.State.Msgs != 0 {
		t.Errorf("%d jobs are left, %v", i.State.Msgs, err)
	}
	for _, subject := range []string{"audit.w1.j", "$KV.policy.guard", "$KV.machines.w1", "jobs.w1.scan", "$JS.API.STREAM.DELETE.JOBS", "HUB.API.STREAM.DELETE.JOBS", "HUB.API.CONSUMER.DELETE.JOBS.scan"} {
		_ = w1.Publish(subject, nil)
		refused(t, errs, "publish to "+subject)
	}
}

func TestAPublisherWritesThePolicyAndNothingElse(t *testing.T) {
	d, _ := start(t)
	p, errs := client(t, d, hub.Publisher, "release")
	for _, subject := range []string{"audit.release.j", "jobs.release.scan", "$KV.machines.m1", "$KV.results.m1.j", "$JS.API.STREAM.DELETE.KV_policy", "$JS.API.STREAM.PURGE.AUDIT"} {
		_ = p.Publish(subject, nil)
		refused(t, errs, "publish to "+subject)
	}
}

func TestStrangersAreNotConnected(t *testing.T) {
	d, _ := start(t)
	own, err := d.Credential(hub.Machine, "m1", 0)
	if err != nil {
		t.Fatal(err)
	}
	other, _ := start(t)
	foreign, err := other.Credential(hub.Machine, "m1", 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(c *hub.Connection){
		"no credential":                  func(c *hub.Connection) { c.JWT, c.Seed = "", "" },
		"another hub's credential":       func(c *hub.Connection) { c.JWT, c.Seed = foreign.JWT, foreign.Seed },
		"a credential without its key":   func(c *hub.Connection) { c.Seed = foreign.Seed },
		"another hub's certificate":      func(c *hub.Connection) { c.CA = foreign.CA },
		"the authorities of this system": func(c *hub.Connection) { c.CA = "" },
	} {
		c := *own
		change(&c)
		if nc, err := c.Connect(nats.NoReconnect()); err == nil {
			nc.Close()
			t.Errorf("%s: connected", name)
		}
	}
}

func TestARevokedCredentialEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	d, _ := start(t)
	c, err := d.Credential(hub.Machine, "m1", 0)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{}, 10)
	nc, err := c.Connect(nats.DisconnectErrHandler(func(*nats.Conn, error) { ended <- struct{}{} }))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	other, _ := client(t, d, hub.Machine, "m2")
	if err := d.Revoke("m1"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(15 * time.Second):
		t.Fatal("it is still connected")
	}
	if nc, err := c.Connect(nats.NoReconnect()); code(err) != "hub_refused" {
		t.Errorf("it connects again: %v, %v", nc, err)
	}
	if m, err := other.Request("audit.m2.j", nil, 15*time.Second); err != nil {
		t.Errorf("another machine cannot ship: %v, %v", m, err)
	}
	if err := d.Revoke("m1"); code(err) != "unknown_machine" {
		t.Errorf("revoked twice: %v", err)
	}
}

func TestATokenEnrollsOnce(t *testing.T) {
	d, s := start(t)
	token, err := d.NewToken(hub.TokenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := hub.Enroll(t.Context(), s.Run.Enroll, token, "m1")
	if err != nil {
		t.Fatal(err)
	}
	if c.Role != hub.Machine || c.Fleet != "acme" || c.Name != "m1" {
		t.Errorf("enrolled as %+v", c)
	}
	nc, err := c.Connect()
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
	if _, err := hub.Enroll(t.Context(), s.Run.Enroll, token, "m2"); code(err) != "bad_token" {
		t.Errorf("a token worked twice: %v", err)
	}
	another, _ := d.NewToken(hub.TokenOptions{})
	if strings.Trim(token+another, "0123456789abcdef") != "" {
		t.Errorf("a command line may read a part of it as a flag: %s %s", token, another)
	}
	if _, err := hub.Enroll(t.Context(), s.Run.Enroll, another, "m1"); code(err) != "name_taken" {
		t.Errorf("a second machine took the name: %v", err)
	}
	named, _ := d.NewToken(hub.TokenOptions{Name: "m1"})
	if _, err := hub.Enroll(t.Context(), s.Run.Enroll, named, "m2"); code(err) != "bad_token" {
		t.Errorf("a token for m1 enrolled m2: %v", err)
	}
	if _, err := hub.Enroll(t.Context(), s.Run.Enroll, named, "m1"); err != nil {
		t.Errorf("m1 cannot enroll anew: %v", err)
	}
	old, _ := d.NewToken(hub.TokenOptions{Expires: time.Nanosecond})
	if _, err := hub.Enroll(t.Context(), s.Run.Enroll, old, "m3"); code(err) != "bad_token" {
		t.Errorf("a token that expired worked: %v", err)
	}
	other, o := start(t)
	foreign, _ := other.NewToken(hub.TokenOptions{})
	if _, err := hub.Enroll(t.Context(), s.Run.Enroll, foreign, "m4"); code(err) != "hub_unreachable" {
		t.Errorf("the token of another hub: %v", err)
	}
	if c, err := hub.Enroll(t.Context(), o.Run.Enroll, foreign, "m4"); err != nil { // and was not spent
		t.Errorf("%v, %v", c, err)
	}
	for _, name := range []string{"", "M1", "a.b", "a>", "*", "../x", "-x"} {
		if _, err := hub.Enroll(t.Context(), s.Run.Enroll, another, name); code(err) != "bad_name" {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestAHubKeepsItsKeysAndStreams(t *testing.T) {
	dir := t.TempDir()
	d, err := hub.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Start(t.Context(), hub.Options{Listen: "127.0.0.1:0", Enroll: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Credential(hub.Machine, "m1", 0)
	if err != nil {
		t.Fatal(err)
	}
	nc, err := c.Connect(nats.NoReconnect())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nc.Request("audit.m1.j", []byte("x"), 15*time.Second); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	again, err := hub.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err = again.Start(t.Context(), hub.Options{Listen: "127.0.0.1:0", Enroll: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	c.URL = s.Run.URL // another port
	nc, err = c.Connect(nats.NoReconnect())
	if err != nil {
		t.Fatalf("the credential of before: %v", err)
	}
	defer nc.Close()
	stream, err := jet(t, again).Stream(t.Context(), hub.AuditStream)
	if err != nil {
		t.Fatal(err)
	}
	if i, err := stream.Info(t.Context()); err != nil || i.State.Msgs != 1 {
		t.Errorf("%d messages, %v", i.State.Msgs, err)
	}
}

// What no credential can be made of is said to who asks for the token, and not to
// the machine that has it.
func TestATokenThatCannotBeRedeemedIsNotMade(t *testing.T) {
	d, err := hub.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for want, options := range map[string][]hub.TokenOptions{
		"bad_role":     {{Role: "king"}, {Role: "Machine"}},
		"bad_duration": {{Valid: -time.Hour}, {Expires: -time.Hour}},
		"bad_name":     {{Name: "a.b"}, {Name: "*"}},
	} {
		for _, o := range options {
			if token, err := d.NewToken(o); err == nil || code(err) != want {
				t.Errorf("%+v: token %q, error %v, want %s", o, token, err, want)
			}
		}
	}
}
