package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenterhook/tenterhook/fleet/internal/archive"
	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/internal/fleetstate"
	"github.com/tenterhook/tenterhook/internal/recording"
	"github.com/tenterhook/tenterhook/journal"
)

// hubOf is a hub that runs in the test, and its folder.
func hubOf(t *testing.T) (dir string, d *hub.Dir, s *hub.Server) {
	t.Helper()
	dir = filepath.Join(home(t), "hub")
	d, err := hub.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err = d.Start(t.Context(), hub.Options{Fleet: "acme", Listen: "127.0.0.1:0", Enroll: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return dir, d, s
}

// tellsHub puts what agents say of themselves at a hub, by machine.
func tellsHub(t *testing.T, s *hub.Server, states map[string]string) {
	t.Helper()
	nc, err := s.InProcess()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for name, state := range states {
		if _, err := js.Publish(t.Context(), "$KV.machines."+name, []byte(state)); err != nil {
			t.Fatal(err)
		}
	}
}

// archived adds records with these numbers to the archive of a hub. A record denies if
// its number is even.
func archived(t *testing.T, dir, machine string, seqs ...int) {
	t.Helper()
	to, err := archive.Open(t.Context(), filepath.Join(dir, "archive", "archive.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	m := archive.Message{Subject: "audit." + machine + ".j1", First: "1", Received: time.Now()}
	for _, seq := range seqs {
		hook, verdict := "user/watch", "none"
		if seq%2 == 0 {
			hook, verdict = "managed/guard", "deny"
		}
		m.Body = fmt.Appendf(m.Body, `%d {"run":"%s-%d","time":"2026-01-%02dT03:04:05Z","agent":"codex","session":"s%d","event":"PreToolUse","tool":"Bash","policy":{"guard":%d},`+
			`"verdict":%q,"elapsed_ms":1,"results":[{"hook":%q,"status":"success","verdict":%q,"failure":"","reason":"because","exit_code":null,"elapsed_ms":2,"stderr":""}]}`+"\n",
			seq, machine, seq, seq, seq, seq, verdict, hook, verdict)
	}
	if _, err := to.Add(t.Context(), []archive.Message{m, {Subject: "audit." + machine + ".j1", First: "none", Received: time.Now()}}); err != nil {
		t.Fatal(err)
	}
}

func policyOf(version int64, issued, expires time.Time) string {
	text, _ := json.Marshal(map[string]any{"channels": map[string]any{"guard": map[string]any{"state": "known", "version": version, "issued": issued, "expires": expires, "signers": []string{"anna"}}}})
	return string(text)
}

func TestStatusOfAFleetTellsEachMachineApart(t *testing.T) {
	dir, d, s := hubOf(t)
	for _, args := range [][]string{{"status"}, {"log"}, {"stats"}, {"archive", "gaps"}} { // before anything came
		code, out, errs := call(t, append(args, "--dir", dir)...)
		if wantError := args[0] != "status"; (code != 0) != wantError || !strings.Contains(out+errs, "there is no archive") {
			t.Errorf("%v with nothing there: %d, %s%s", args, code, out, errs)
		}
	}
	for _, name := range []string{"m1", "m2", "m3", "m4", "m5"} {
		if _, err := d.Credential(hub.Machine, name, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Revoke("m4"); err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	tellsHub(t, s, map[string]string{
		"m1": `{"machine":"m1","audit":{"shipped":7,"last":7},"parts":{"jobs":{"waiting":0,"sent":0},"policy":` + policyOf(3, now.Add(-time.Hour), now.Add(time.Hour)) + `}}`,
		"m2": `{"machine":"m2","audit":{"shipped":2,"last":10,"error":"the hub has no room"},"parts":{"jobs":{"waiting":4,"sent":1},"policy":` + policyOf(2, now.Add(-48*time.Hour), now.Add(-time.Hour)) + `}}`,
		"m3": `{"machine":"m3","stopped":true,"parts":{"policy":{"channels":{"guard":null}}}}`,
		"m4": `not JSON`,
	})
	archived(t, dir, "m1", 1, 2, 3)
	archived(t, dir, "m2", 1, 2, 5)

	byName := map[string]map[string]any{}
	said := says(t, "status", "--dir", dir)
	for _, one := range said["machines"].([]any) {
		byName[one.(map[string]any)["name"].(string)] = one.(map[string]any)
	}
	for name, want := range map[string]string{
		"m1": "backlog 0 missing 0 behind [] stale [] silent false revoked <nil>",
		"m2": "backlog 8 missing 2 behind [guard] stale [guard] silent false revoked <nil>",
		"m3": "backlog 0 missing 0 behind [guard] stale [] silent false revoked <nil>",
		"m4": "backlog 0 missing 0 behind [] stale [] silent false revoked true",
		"m5": "backlog 0 missing 0 behind [] stale [] silent true revoked <nil>", // it never said anything
	} {
		m := byName[name]
		if got := fmt.Sprintf("backlog %v missing %v behind %v stale %v silent %v revoked %v", m["backlog"], m["missing"], m["behind"], m["stale"], m["silent"], m["revoked"]); got != want {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
	if gaps := fmt.Sprint(said["gaps"]); gaps != "[map[from:3 journal:j1 machine:m2 to:4]]" {
		t.Errorf("gaps: %s", gaps)
	}
	_, out, _ := call(t, "status", "--dir", dir)
	for _, want := range []string{"guard 3, 1h0m", "guard 2, 48h0m", "old, stale", "behind in guard", "the hub has no room", "jobs: 4 wait, 1 at the hub", "its agent was stopped", "revoked", "silent",
		"! m2: records 3 to 4 of journal j1 are missing", "were refused: it does not say where its journal begins"} {
		if !strings.Contains(out, want) {
			t.Errorf("status does not say %q:\n%s", want, out)
		}
	}
	s.Stop()
	if said := says(t, "status", "--dir", dir); said["hub"] == nil || len(said["gaps"].([]any)) != 1 || len(said["machines"].([]any)) != 5 {
		t.Errorf("with no hub: %v", said)
	}
}

func TestTheLogOfAFleetTakesFilters(t *testing.T) {
	dir, _, _ := hubOf(t)
	archived(t, dir, "m1", 1, 2, 3, 4)
	archived(t, dir, "m2", 2, 3)
	for _, c := range []struct {
		args string
		want []string
	}{
		{"", []string{"m1-4", "m2-3", "m1-3", "m2-2", "m1-2", "m1-1"}},
		{"-n 1", []string{"m1-4"}},
		{"--machine m2", []string{"m2-3", "m2-2"}},
		{"--verdict deny", []string{"m1-4", "m2-2", "m1-2"}},
		{"--verdict deny --machine m2", []string{"m2-2"}},
		{"--hook managed/guard", []string{"m1-4", "m2-2", "m1-2"}},
		{"--since 2026-01-03", []string{"m1-4", "m2-3", "m1-3"}},
		{"--session s1", []string{"m1-1"}},
		{"--agent codex --event PreToolUse -n 2", []string{"m1-4", "m2-3"}},
		{"--agent claude", nil},
		{"--event Stop", nil},
		{"--failed", nil},
	} {
		code, out, errs := call(t, append([]string{"log", "--dir", dir, "--json"}, strings.Fields(c.args)...)...)
		var got []string
		for line := range strings.Lines(out) {
			var l struct {
				Run    string
				Policy map[string]int64
			}
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatal(err, line)
			}
			if got = append(got, l.Run); !strings.HasSuffix(l.Run, fmt.Sprint("-", l.Policy["guard"])) {
				t.Errorf("%s names the policy %v", l.Run, l.Policy)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) || code != 0 {
			t.Errorf("log %s: %v, want %v; %s", c.args, got, c.want, errs)
		}
	}
	if _, out, _ := call(t, "log", "--dir", dir, "--agent", "claude"); out != "no result fits\n" {
		t.Error(out)
	}
	if _, out, _ := call(t, "log", "--dir", dir, "-n", "1"); !strings.Contains(out, "POLICY") || !strings.Contains(out, "guard 4") || !strings.Contains(out, "because") {
		t.Error(out)
	}
	for _, bad := range [][]string{{"--verdict", "perhaps"}, {"--since", "yesterday"}, {"more"}} {
		if code, out, errs := call(t, append([]string{"log", "--dir", dir}, bad...)...); code == 0 || errs == "" {
			t.Errorf("log %v: %d, %s", bad, code, out)
		}
	}
	for args, want := range map[string]string{
		"":                         "[managed/guard/<nil>/2/3/3 user/watch/<nil>/2/3/0]",
		"--machine m2":             "[managed/guard/<nil>/1/1/1 user/watch/<nil>/1/1/0]",
		"--by-machine":             "[managed/guard/m1/1/2/2 managed/guard/m2/1/1/1 user/watch/m1/1/2/0 user/watch/m2/1/1/0]",
		"--hook user/watch":        "[user/watch/<nil>/2/3/0]",
		"--since 2030-01-01":       "[]",
		"--hook x --machine y":     "[]",
		"--by-machine --hook none": "[]",
	} {
		var got []string
		for _, one := range says(t, append([]string{"stats", "--dir", dir}, strings.Fields(args)...)...)["hooks"].([]any) {
			h := one.(map[string]any)
			got = append(got, fmt.Sprintf("%v/%v/%v/%v/%v", h["hook"], h["machine"], h["machines"], h["runs"], h["denied"]))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("stats %s: %v, want %s", args, got, want)
		}
	}
	if _, out, _ := call(t, "stats", "--dir", dir, "--since", "2030-01-01"); out != "no run was archived in this time\n" {
		t.Errorf("%q", out)
	}
}

// Records that wait for a hub are not deleted by age.
func TestRecordsOfAMachineThatLeftWaitForNoHub(t *testing.T) {
	state := home(t)
	leave := func() {
		t.Helper()
		c := hub.Connection{URL: "tls://127.0.0.1:1", Fleet: "acme", Name: "m1", Role: hub.Machine}
		if err := c.Save(fleetstate.ConnectionFile(state)); err != nil {
			t.Fatal(err)
		}
		says(t, "leave")
	}
	leave() // without a journal
	if _, err := os.Stat(recording.Dir(state)); err == nil {
		t.Error("leave makes a journal")
	}
	opened := func() *journal.Journal {
		t.Helper()
		j, err := journal.Open(t.Context(), recording.Dir(state), journal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	j := opened()
	if s, err := j.BeginShipping(t.Context()); err != nil || s.First == 0 {
		t.Fatal(s, err)
	}
	_ = j.Close()
	leave()
	j = opened()
	defer j.Close()
	if s, _, err := j.Shipped(t.Context()); err != nil || s.First != 0 {
		t.Errorf("records wait from %+v on, %v", s, err)
	}
}

func TestAMachineThatIsInNoFleetSaysSo(t *testing.T) {
	state := home(t)
	for _, args := range [][]string{{"status"}, {"agent"}, {"leave"}, {"jobs", "--carry"}, {"worker", "--queue", "q"}} {
		code, out, errs := call(t, append(args, "--json")...)
		if code != 1 || !strings.Contains(out, `"not_enrolled"`) || !strings.Contains(errs, "tenterhook fleet enroll") {
			t.Errorf("%v: %d, %s%s", args, code, out, errs)
		}
	}
	if fleetstate.Enrolled(state) {
		t.Error("asking enrolls")
	}
	if said := says(t, "jobs"); len(said["jobs"].([]any)) != 0 {
		t.Error(said)
	}
}
