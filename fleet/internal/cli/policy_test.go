package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/fleet/internal/cli"
	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/fleetpolicy"
	"github.com/tenterhook/tenterhook/internal/fleetpolicy/policytest"
	"github.com/tenterhook/tenterhook/internal/recording"
	"github.com/tenterhook/tenterhook/journal"
	"github.com/tenterhook/tenterhook/registry"
)

// machine is this machine in a fleet of the test: its user's settings name it.
type machine struct {
	t     *testing.T
	state string
	fleet *policytest.Fleet
}

func inFleet(t *testing.T) *machine {
	t.Helper()
	m := &machine{t, home(t), policytest.New(t)}
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(os.Getenv("HOME"), ".config"))
	m.configure("")
	return m
}

// configure writes the settings that name the fleet, with more lines of [fleet].
func (m *machine) configure(more string) {
	m.t.Helper()
	m.write(filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "tenterhook", "settings.toml"), []byte(m.fleet.TOML(more)))
}

func (m *machine) write(path string, text []byte) string {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		m.t.Fatal(err)
	}
	return path
}

// key makes a key with keygen and lets the machine know it. It returns its file.
func (m *machine) key(id, channel string) string {
	m.t.Helper()
	path := filepath.Join(m.t.TempDir(), id)
	said := says(m.t, "fleet", "policy", "keygen", path, "--channel", channel)
	k := m.fleet.Says[id]
	k.Channel, k.Key = channel, said["key"].(string)
	m.fleet.Says[id] = k
	m.configure("")
	return path + ".key"
}

// verdict is what a registry of this machine decides of a tool call.
func (m *machine) verdict() (hook.Verdict, string) {
	m.t.Helper()
	reg, err := registry.Open(m.t.Context(), registry.Options{StateDir: m.state, Workspace: m.t.TempDir()})
	if err != nil {
		m.t.Fatal(err)
	}
	defer reg.Close()
	out, err := reg.Dispatch(m.t.Context(), hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"ls"}`)})
	if err != nil {
		m.t.Fatal(err)
	}
	return out.Verdict, out.Reason
}

// recorded are the records of policies in the journal, the newest first.
func (m *machine) recorded() (runs []journal.Entry) {
	m.t.Helper()
	err := recording.Use(context.Background(), m.state, journal.Options{}, func(err error) { m.t.Error(err) }, func(j *journal.Journal) error {
		lines, err := j.Log(context.Background(), journal.Filter{})
		for _, l := range lines {
			run, err := j.Run(context.Background(), l.Run)
			if err != nil {
				return err
			}
			runs = append(runs, *run)
		}
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return runs
}

func TestAGuardIsSwitchedOnAndOff(t *testing.T) {
	m := inFleet(t)
	key := m.key("anna", "guard")
	if said := says(t, "fleet", "guard", "on", "--here", "--reason", "incident 7", "--key", key); said["version"] != 1.0 || fmt.Sprint(said["signers"]) != "[anna]" {
		t.Errorf("%v", said)
	}
	if v, why := m.verdict(); v != hook.Deny || why != "incident 7" {
		t.Errorf("%v %q", v, why)
	}
	says(t, "guard", "on", "--here", "--reason", "no Writes", "--matcher", "Write", "--ask", "--key", key)
	if v, _ := m.verdict(); v != hook.NoOpinion {
		t.Error(v)
	}
	says(t, "fleet", "guard", "on", "--here", "--reason", "sure?", "--matcher", "Bash", "--if", "Bash(ls *)", "--if", "Bash(ls)", "--ask", "--key", key)
	if v, _ := m.verdict(); v != hook.Ask {
		t.Error(v)
	}
	shown := says(t, "fleet", "policy", "show")
	if text := fmt.Sprint(shown); !strings.Contains(text, "known") || !strings.Contains(text, "Bash(ls *)") || !strings.Contains(text, "sure?") {
		t.Error(text)
	}
	says(t, "fleet", "guard", "off", "--here", "--reason", "over", "--key", key)
	if v, _ := m.verdict(); v != hook.NoOpinion {
		t.Error(v)
	}
	says(t, "fleet", "policy", "rollback", "guard", "--to", "1", "--here", "--key", key)
	if v, why := m.verdict(); v != hook.Deny || why != "incident 7" {
		t.Errorf("after a rollback: %v %q", v, why)
	}
	runs := m.recorded()
	if len(runs) != 5 || runs[4].Results[0].Hook != "fleet/policy/guard" || runs[4].Results[0].Status != hook.StatusSuccess || !strings.Contains(string(runs[4].Payload), "incident 7") {
		t.Errorf("the journal has %+v", runs)
	}
}

func TestEachRefusalIsRecordedOnceAndChangesNothing(t *testing.T) {
	m := inFleet(t)
	m.fleet.Apply("guard", 5, policytest.Deny)
	sign := func(change func(*fleetpolicy.Document), ids ...string) []byte {
		d := policytest.Document("guard", 6, `{}`)
		change(d)
		return m.fleet.Sign(d, ids...)
	}
	same := func(*fleetpolicy.Document) {}
	stranger := policytest.New(t)
	for name, c := range map[string]struct {
		raw  []byte
		code string
	}{
		"unknown key":      {stranger.Sign(policytest.Document("guard", 6, `{}`)), "policy_unknown_key"},
		"stolen key ID":    {stranger.Sign(policytest.Document("guard", 6, `{}`), "oncall"), "policy_forged"},
		"changed byte":     {bytes.Replace(sign(same, "oncall"), []byte("eyJ"), []byte("eyK"), 1), "policy_forged"},
		"wrong channel":    {sign(same, "release"), "policy_channel"},
		"other fleet":      {sign(func(d *fleetpolicy.Document) { d.Fleet = "other" }, "oncall"), "policy_foreign"},
		"older":            {sign(func(d *fleetpolicy.Document) { d.Version = 4 }, "oncall"), "policy_older"},
		"replayed version": {sign(func(d *fleetpolicy.Document) { d.Version = 5 }, "oncall"), "policy_replaced"},
		"expired": {sign(func(d *fleetpolicy.Document) {
			d.Issued, d.Expires = d.Issued.Add(-2*time.Hour), d.Issued.Add(-time.Hour)
		}, "oncall"), "policy_expired"},
		"code in the guard": {sign(func(d *fleetpolicy.Document) {
			d.Settings = json.RawMessage(`{"hooks":{"PreToolUse":[{"command":"id"}]}}`)
		}, "oncall"), "policy_reach"},
		"no document": {[]byte("{}"), "policy_malformed"},
	} {
		path := m.write(filepath.Join(t.TempDir(), "document"), c.raw)
		for _, command := range [][]string{{"verify", path}, {"set", "--here", path}} {
			code, out, errs := call(t, append(append([]string{"fleet", "policy"}, command...), "--json")...)
			if code != 1 || !strings.Contains(out, `"`+c.code+`"`) || !strings.Contains(errs, "the policy is refused: ") {
				t.Errorf("%s: %s: exit code %d\n%s%s", name, command[0], code, out, errs)
			}
		}
		runs := m.recorded()
		if len(runs) == 0 || runs[0].Results[0].Status != hook.StatusFailed || runs[0].Results[0].Failure != hook.FailureUntrusted ||
			!strings.Contains(runs[0].Results[0].Reason, c.code) || !strings.Contains(string(runs[0].Payload), c.code) {
			t.Fatalf("%s: the journal has %+v", name, runs)
		}
		if v, why := m.verdict(); v != hook.Deny || why != "incident 7" {
			t.Errorf("%s: %v %q", name, v, why)
		}
	}
	if runs := m.recorded(); len(runs) != 10 {
		t.Errorf("%d records of 10 refusals", len(runs))
	}
}

func TestAPolicyIsSignedOfASettingsFileAndBringsItsPacks(t *testing.T) {
	m := inFleet(t)
	key := m.key("build", "packs")
	layout := "oci:" + filepath.Join(t.TempDir(), "layout") + ":v1"
	ref := says(t, "pack", "push", hooks(t), layout)["reference"].(string)
	draft := m.write(filepath.Join(t.TempDir(), "packs.toml"), []byte("default_on_failure = \"block\"\npacks = ["+fmt.Sprintf("%q", ref)+"]\n"))
	signed := filepath.Join(t.TempDir(), "packs.policy")
	if said := says(t, "fleet", "policy", "sign", draft, "--channel", "packs", "--key", key, "--reason", "first", "--output", signed); fmt.Sprint(said["signers"]) != "[build]" {
		t.Errorf("%v", said)
	}
	if said := says(t, "fleet", "policy", "verify", signed); said["version"] != 1.0 {
		t.Errorf("%v", said)
	}
	if list, _ := filepath.Glob(filepath.Join(m.state, "packs", "sha256-*")); len(list) != 0 {
		t.Fatalf("verify brought %v", list)
	}
	says(t, "fleet", "policy", "set", "--here", signed)
	if list, _ := filepath.Glob(filepath.Join(m.state, "packs", "sha256-*")); len(list) != 1 {
		t.Errorf("in the store is %v", list)
	}
	// A pack that cannot be had keeps the policy of before in force.
	gone := strings.Replace(ref, "layout@", "other@", 1)
	m.write(draft, []byte("packs = ["+fmt.Sprintf("%q", gone[:len(gone)-4]+"0000")+"]\n"))
	says(t, "fleet", "policy", "sign", draft, "--channel", "packs", "--key", key, "--output", signed)
	if code, out, _ := call(t, "fleet", "policy", "set", "--here", signed, "--json"); code != 1 || !strings.Contains(out, `"pack_missing"`) {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if text := fmt.Sprint(says(t, "fleet", "policy", "show")["policies"]); !strings.Contains(text, ref) {
		t.Errorf("in force is %s", text)
	}
}

func TestPoliciesAreSignedWithSSHKeysHereAndElsewhere(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip(err)
	}
	m := inFleet(t)
	key := filepath.Join(t.TempDir(), "id")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	anna := m.fleet.Says["oncall"]
	anna.Key = strings.TrimSpace(string(public))
	m.fleet.Says["anna"] = anna
	m.configure("")
	if said := says(t, "fleet", "guard", "on", "--here", "--reason", "incident 7", "--key", key); fmt.Sprint(said["signers"]) != "[anna]" {
		t.Errorf("%v", said)
	}
	draft := m.write(filepath.Join(t.TempDir(), "guard.json"), []byte(`{"disabled": ["user/x"]}`))
	unsigned, signed := filepath.Join(t.TempDir(), "unsigned"), filepath.Join(t.TempDir(), "signed")
	if code, out, errs := call(t, "fleet", "policy", "sign", draft, "--channel", "guard", "--output", unsigned); code != 0 || !strings.Contains(errs, "nobody has signed it") {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	_, message, _ := call(t, "fleet", "policy", "sign", unsigned, "--message")
	c := exec.Command("ssh-keygen", "-Y", "sign", "-f", key, "-n", "tenterhook-policy")
	c.Stdin = strings.NewReader(message)
	armored, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	signature := m.write(filepath.Join(t.TempDir(), "signature"), armored)
	says(t, "fleet", "policy", "sign", unsigned, "--signature", "anna="+signature, "--output", signed)
	says(t, "fleet", "policy", "set", "--here", signed)
	if v, _ := m.verdict(); v != hook.NoOpinion {
		t.Error(v)
	}
}

func TestCommandsOfPoliciesSayWhatIsMissing(t *testing.T) {
	home(t)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(os.Getenv("HOME"), ".config"))
	for _, c := range []struct{ args, code string }{
		{"fleet policy show", "no_fleet"},
		{"fleet guard on --reason x --key k", "no_fleet"},
		{"fleet policy keygen x --channel other", "bad_channel"},
		{"fleet policy set nothing", "no_file"},
		{"fleet policy", "unknown_subcommand"},
	} {
		if code, out, _ := call(t, append(strings.Fields(c.args), "--json")...); code == 0 || !strings.Contains(out, `"`+c.code+`"`) {
			t.Errorf("%s: exit code %d, %s", c.args, code, out)
		}
	}
	m := inFleet(t)
	draft := m.write(filepath.Join(t.TempDir(), "x.toml"), []byte("mcp_servers = {}\n"))
	key := m.key("build", "packs")
	for _, c := range []struct{ args, code string }{
		{"fleet guard on --reason x --here", "no_key"},
		{"fleet guard on --reason x --here --key " + key, "policy_channel"},
		{"fleet guard on --reason x --key " + key, "not_enrolled"},
		{"fleet guard on --reason x --here --event SessionEnd --key " + key, "unknown_event"},
		{"fleet policy sign " + draft, "no_channel"},
		{"fleet policy sign --channel packs --key " + key + " " + draft, "policy_reach"},
		{"fleet policy rollback packs --here --key " + key, "no_version"},
	} {
		if code, out, _ := call(t, append(strings.Fields(c.args), "--json")...); code == 0 || !strings.Contains(out, `"`+c.code+`"`) {
			t.Errorf("%s: exit code %d, %s", c.args, code, out)
		}
	}
}

func TestAnAgentBringsWhatIsPublishedAtTheHub(t *testing.T) {
	m := inFleet(t)
	key := m.key("anna", "guard")
	d, err := hub.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Start(t.Context(), hub.Options{Fleet: "acme", Listen: "127.0.0.1:0", Enroll: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	credential := func(role hub.Role, name, path string) {
		t.Helper()
		c, err := d.Credential(role, name, 0)
		if err == nil {
			err = c.Save(path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	own, publisher := filepath.Join(m.state, "fleet", "connection.json"), filepath.Join(t.TempDir(), "publisher.json")
	credential(hub.Machine, "laptop", own)
	credential(hub.Publisher, "anna", publisher)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	var said, complained bytes.Buffer
	go func() { ended <- cli.Main(ctx, []string{"fleet", "agent"}, &said, &complained) }()
	defer func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("the agent ended with %d\n%s%s", code, said.String(), complained.String())
		}
	}()
	decides := func(want hook.Verdict) {
		t.Helper()
		for until := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			v, why := m.verdict()
			if v == want {
				return
			}
			if time.Now().After(until) {
				t.Fatalf("it decides %v: %s", v, why)
			}
		}
	}
	if code, out, _ := call(t, "fleet", "guard", "on", "--reason", "incident 7", "--key", key, "--json"); code != 1 || !strings.Contains(out, `"no_publisher"`) {
		t.Errorf("a machine's credential publishes: %d %s", code, out)
	}
	says(t, "fleet", "guard", "on", "--reason", "incident 7", "--key", key, "--connection", publisher)
	decides(hook.Deny)
	if said := says(t, "fleet", "guard", "off", "--reason", "over", "--key", key, "--connection", publisher); said["version"] != 2.0 {
		t.Errorf("%v", said)
	}
	decides(hook.NoOpinion)
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		if text := fmt.Sprint(says(t, "fleet", "status")["agent"]); strings.Contains(text, "signers:[anna]") && strings.Contains(text, "version:2") {
			break
		} else if time.Now().After(until) {
			t.Fatalf("status says %s", text)
		}
	}
}
