package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// cluster is a NATS server that is none of ours: its operator has an account with
// JetStream for the fleet, and one for its machines.
type cluster struct {
	t        *testing.T
	url, dir string
	operator nkeys.KeyPair
	keys     map[string]nkeys.KeyPair
	claims   map[string]*jwt.AccountClaims
	resolver *server.MemAccResolver
	nats     *server.Server
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	operator, err := nkeys.CreateOperator()
	c := &cluster{t: t, dir: t.TempDir(), operator: operator, keys: map[string]nkeys.KeyPair{}, claims: map[string]*jwt.AccountClaims{}, resolver: &server.MemAccResolver{}}
	c.must(err)
	for _, name := range []string{"system", "fleet", "machines"} {
		c.keys[name], err = nkeys.CreateAccount()
		c.must(err)
		c.claims[name] = jwt.NewAccountClaims(c.public(name))
		c.claims[name].Name = name
	}
	c.claims["fleet"].Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	for name := range c.claims {
		c.store(name)
	}
	public, err := operator.PublicKey()
	c.must(err)
	c.nats, err = server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir(), JetStreamMaxStore: 1 << 40, JetStreamMaxMemory: 1 << 28,
		TrustedOperators: []*jwt.OperatorClaims{jwt.NewOperatorClaims(public)}, AccountResolver: c.resolver, SystemAccount: c.public("system"), MaxPayload: 1 << 20})
	c.must(err)
	c.nats.Start()
	t.Cleanup(func() { c.nats.Shutdown(); c.nats.WaitForShutdown() })
	if !c.nats.ReadyForConnections(30 * time.Second) {
		t.Fatal("the cluster does not listen")
	}
	c.url = c.nats.ClientURL()
	return c
}

func (c *cluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) public(name string) string {
	key, err := c.keys[name].PublicKey()
	c.must(err)
	return key
}

func (c *cluster) store(name string) {
	c.t.Helper()
	text, err := c.claims[name].Encode(c.operator)
	c.must(err)
	c.must(c.resolver.Store(c.public(name), text))
	if c.nats == nil {
		return
	}
	account, err := c.nats.LookupAccount(c.public(name))
	c.must(err)
	claims, err := jwt.DecodeAccountClaims(text)
	c.must(err)
	c.nats.UpdateAccountClaims(account, claims)
}

// creds writes the credentials file of a user; publish and subscribe are what it may,
// nil = everything.
func (c *cluster) creds(account, name string, publish, subscribe []string) string {
	c.t.Helper()
	user, err := nkeys.CreateUser()
	c.must(err)
	key, err := user.PublicKey()
	c.must(err)
	claims := jwt.NewUserClaims(key)
	claims.Name = name
	claims.Permissions.Pub.Allow.Add(publish...)
	claims.Permissions.Sub.Allow.Add(subscribe...)
	token, err := claims.Encode(c.keys[account])
	c.must(err)
	seed, err := user.Seed()
	c.must(err)
	text, err := jwt.FormatUserConfig(token, seed)
	c.must(err)
	path := filepath.Join(c.dir, name+".creds")
	c.must(os.WriteFile(path, text, 0o600))
	return path
}

// permissions are the ones that "hub declare" says.
type permissions struct {
	Publish, Subscribe, Services, Streams []string
}

func (p permissions) of(name string) permissions {
	for _, list := range [][]string{p.Publish, p.Subscribe} {
		for i := range list {
			list[i] = strings.ReplaceAll(list[i], "{{name()}}", name)
		}
	}
	return p
}

// grant lets machines reach what is said of them, and returns what each role may.
func (c *cluster) grant(said map[string]any) map[string]permissions {
	c.t.Helper()
	byRole := map[string]permissions{}
	for _, one := range said["permissions"].([]any) {
		text, err := json.Marshal(one)
		c.must(err)
		var p permissions
		c.must(json.Unmarshal(text, &p))
		byRole[one.(map[string]any)["role"].(string)] = p
	}
	machines := byRole["machine"]
	for kind, subjects := range map[jwt.ExportType][]string{jwt.Service: machines.Services, jwt.Stream: machines.Streams} {
		for _, s := range subjects {
			c.claims["fleet"].Exports.Add(&jwt.Export{Name: s, Subject: jwt.Subject(s), Type: kind})
			c.claims["machines"].Imports.Add(&jwt.Import{Name: s, Subject: jwt.Subject(s), Account: c.public("fleet"), Type: kind})
		}
	}
	c.store("fleet")
	c.store("machines")
	return byRole
}

// declared are the states of what was declared, by kind and name.
func declared(said map[string]any) map[string]string {
	states := map[string]string{}
	for _, one := range said["declared"].([]any) {
		d := one.(map[string]any)
		states[fmt.Sprint(d["kind"], " ", d["name"])] = d["state"].(string)
	}
	return states
}

func TestDeclaringInAClusterMakesWhatIsMissingAndNothingTwice(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	op := &computer{t, t.TempDir(), programs(t)}
	admin := c.creds("fleet", "ops", nil, nil)
	all := func(state string, args ...string) {
		t.Helper()
		got := declared(op.says(append([]string{"hub", "declare", c.url, "--creds", admin, "--queue", "reviews"}, args...)...))
		if len(got) != 7 {
			t.Errorf("%v", got)
		}
		for what, is := range got {
			if is != state {
				t.Errorf("%s: %s, want %s", what, is, state)
			}
		}
	}
	all("would create", "--dry-run")
	all("would create", "--dry-run") // the first changed nothing
	all("created")
	all("present")
	got := declared(op.says("hub", "declare", c.url, "--creds", admin, "--dry-run", "--audit-bytes", "1000000"))
	if got["stream AUDIT"] != "would update" || got["stream JOBS"] != "present" {
		t.Errorf("%v", got)
	}
	all("present")
	op.says("hub", "declare", c.url, "--creds", admin, "--audit-bytes", "1000000")
	if got := declared(op.says("hub", "declare", c.url, "--creds", admin, "--audit-bytes", "1000000")); got["stream AUDIT"] != "present" {
		t.Errorf("%v", got)
	}
}

func TestAClusterThatCannotServeAFleetSaysWhy(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	op := &computer{t, t.TempDir(), programs(t)}
	admin := c.creds("fleet", "ops", nil, nil)
	nobody := c.creds("machines", "nobody", []string{"x"}, []string{"_INBOX.nobody.>"})
	refused := func(code string, args ...string) {
		t.Helper()
		out, err := op.command(append(args, "--json")...).Output()
		if err == nil || !strings.Contains(string(out), `"code": "`+code+`"`) {
			t.Errorf("%v: %v, want %s: %s", args, err, code, out)
		}
	}
	refused("not_declared", "enroll", c.url, "--creds", admin)
	op.says("enroll", c.url, "--creds", admin, "--role", "admin", "--connection", filepath.Join(op.home, "admin.json")) // who declares comes first
	refused("not_declared", "enroll", c.url, "--creds", admin, "--role", "worker", "--connection", "w.json")
	refused("not_declared", "hub", "declare", c.url, "--creds", c.creds("machines", "mike", nil, nil)) // an account without JetStream
	refused("hub_refused", "enroll", c.url, "--creds", nobody)
	refused("hub_refused", "enroll", c.url, "--name", "m1") // no credential
	refused("bad_credentials", "enroll", c.url, "--creds", filepath.Join(c.dir, "none.creds"))
	refused("bad_role", "enroll", c.url, "--creds", admin, "--role", "king")
	refused("bad_flags", "enroll", "https://127.0.0.1:1", "TOKEN", "--role", "worker")
	refused("no_cluster", "hub", "declare")
	refused("hub_unreachable", "hub", "declare", "nats://"+freePort(t))
	op.says("hub", "declare", c.url, "--creds", admin)
	op.says("enroll", c.url, "--creds", admin) // named as its credential
	if said := op.says("status"); said["machine"] != "ops" || said["running"] != false {
		t.Errorf("%v", said)
	}
	refused("enrolled", "enroll", c.url, "--creds", admin)
	refused("no_admin", "hub", "--connection", filepath.Join(op.state(), "fleet", "connection.json"))
}

func TestAStreamOfSomethingElseIsLeftAlone(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	op := &computer{t, t.TempDir(), programs(t)}
	admin := c.creds("fleet", "ops", nil, nil)
	nc, err := nats.Connect(c.url, nats.UserCredentials(admin))
	c.must(err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	c.must(err)
	_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "JOBS", Subjects: []string{"orders.>"}})
	c.must(err)
	out, err := op.command("hub", "declare", c.url, "--creds", admin, "--json").Output()
	if err == nil || !strings.Contains(string(out), "orders.>") {
		t.Errorf("%v: %s", err, out)
	}
	stream, err := js.Stream(t.Context(), "JOBS")
	c.must(err)
	if subjects := stream.CachedInfo().Config.Subjects; len(subjects) != 1 || subjects[0] != "orders.>" {
		t.Errorf("its subjects are %v", subjects)
	}
}

func TestTheConfigurationOfAClusterInTheDocsServesAFleet(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n    jetstream {")
	config, _, found := strings.Cut("jetstream {"+rest, "\n\n")
	if !found {
		t.Fatal("the docs have no configuration")
	}
	path := filepath.Join(t.TempDir(), "nats.conf")
	config = strings.NewReplacer("/srv/nats", strconv.Quote(t.TempDir()), "…", "pw").Replace(config)
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(path)
	if err != nil {
		t.Fatalf("%v\n%s", err, config)
	}
	o.Host, o.Port, o.NoSigs, o.NoLog = "127.0.0.1", server.RANDOM_PORT, true, true
	o.JetStreamMaxStore = 1 << 40
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("it does not listen")
	}
	who := &computer{t, t.TempDir(), programs(t)}
	url := func(user string) string { return strings.Replace(s.ClientURL(), "nats://", "nats://"+user+":pw@", 1) }
	who.says("hub", "declare", url("ops"))
	for _, said := range []map[string]any{
		who.says("enroll", url("laptop-7"), "--name", "laptop-7"),
		who.says("enroll", url("w1"), "--name", "w1", "--role", "worker", "--connection", filepath.Join(who.home, "w1.json")),
	} {
		if text := fmt.Sprint(said); strings.Contains(text, "pw") {
			t.Errorf("the password is shown: %s", text)
		}
	}
	for _, p := range hub.Permissions() {
		name := map[hub.Role]string{hub.Machine: "laptop-7", hub.Worker: "w1"}[p.Role]
		if name == "" {
			continue
		}
		for _, subject := range slices.Concat(p.Publish, p.Subscribe, p.Services, p.Streams) {
			if quoted := strconv.Quote(strings.ReplaceAll(subject, "{{name()}}", name)); !strings.Contains(config, quoted) {
				t.Errorf("the configuration has no %s", quoted)
			}
		}
	}
}

// The permissions are the ones that the command says, so that this fails where they do not do.
func TestAFleetWorksThroughAClusterThatIsThereAlready(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	program := programs(t)
	op, machine, worker := &computer{t, t.TempDir(), program}, &computer{t, t.TempDir(), program}, &computer{t, t.TempDir(), program}
	may := c.grant(op.says("hub", "declare", c.url, "--creds", c.creds("fleet", "ops", nil, nil), "--dry-run"))
	connect := func(who *computer, role, account, name string, more ...string) string {
		p := may[role].of(name)
		who.says(append([]string{"enroll", c.url, "--fleet", "acme", "--role", role, "--creds", c.creds(account, name, p.Publish, p.Subscribe)}, more...)...)
		return filepath.Join(who.home, role+".json")
	}
	run := func(who *computer, args ...string) {
		var log bytes.Buffer
		cmd := who.begin(&log, args...)
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			if t.Failed() {
				t.Logf("%v:\n%s", args, log.String())
			}
		})
	}
	at := func(who *computer, role string) string { return filepath.Join(who.home, role+".json") }
	op.says("hub", "declare", c.url, "--creds", c.creds("fleet", "ops", nil, nil))
	admin := connect(op, "admin", "fleet", "chief", "--connection", at(op, "admin"))
	archive := filepath.Join(op.home, "archive")
	run(op, "hub", "--connection", admin, "--dir", archive, "--job-wait", "5s")
	connect(machine, "machine", "machines", "laptop-7")

	key := filepath.Join(op.home, "oncall")
	public := op.says("policy", "keygen", key, "--channel", "guard")["key"]
	settings := fmt.Sprintf("[fleet]\nname = \"acme\"\ndir = %q\n[fleet.keys.oncall]\nchannel = \"guard\"\nkey = %q\n", filepath.Join(machine.home, "policy"), public)
	op.settings(strings.Replace(settings, machine.home, op.home, 1))
	ref := machine.says("pack", "push", folder(t, map[string]string{"review/HOOK.md": queued, "review/run.sh": reviews}), "oci:"+filepath.Join(t.TempDir(), "guards")+":v1")["reference"]
	machine.says("pack", "pull", ref.(string))
	machine.settings(fmt.Sprintf("packs = [%q]\n", ref) + settings)
	worker.settings(fmt.Sprintf("packs = [%q]\n", ref))
	run(machine, "agent")
	run(worker, "worker", "--queue", "reviews", "--connection", connect(worker, "worker", "fleet", "w1", "--connection", at(worker, "worker")))

	got := make(chan registry.AsyncResult, 10)
	reg := machineRegistry(t, machine, func(a registry.AsyncResult) { got <- a })
	if _, err := reg.Dispatch(t.Context(), hook.PostToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"job-1"}`)}); err != nil {
		t.Fatal(err)
	}
	select {
	case a := <-got:
		if a.Result.Output == nil || a.Result.Output.Context != "reviewed 1" {
			t.Errorf("%+v", a.Result)
		}
	case <-time.After(2 * time.Minute):
		t.Error("no result of the worker")
	}
	publisher := connect(op, "publisher", "fleet", "herald", "--connection", at(op, "publisher"))
	op.says("guard", "on", "--reason", "incident 7", "--key", key+".key", "--connection", publisher)
	eventually(t, "the machine denies", func() bool {
		out, err := reg.Dispatch(t.Context(), hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"ls"}`)})
		return err == nil && out.Verdict == hook.Deny && out.Reason == "incident 7"
	})
	for _, args := range [][]string{{"status", "--connection", publisher}, {"status", "--connection", admin, "--dir", archive}} {
		eventually(t, "the cluster knows the machine", func() bool {
			list := op.says(args...)["machines"].([]any)
			return len(list) == 1 && list[0].(map[string]any)["name"] == "laptop-7"
		})
	}
	eventually(t, "the archive has the policy's record", func() bool {
		out, err := op.command("log", "--dir", archive, "--json", "--machine", "laptop-7", "--hook", "fleet/policy/guard").Output()
		return err == nil && strings.Contains(string(out), "version 1 of the policy guard is in force")
	})
	if dead := op.says("jobs", "--dead", "--connection", admin)["dead"].([]any); len(dead) != 0 {
		t.Errorf("%v", dead)
	}
}
