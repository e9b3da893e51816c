package journal_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/journal"
)

// TestMain makes this binary a writer or an ingester too, in a process that a
// test can kill.
func TestMain(m *testing.M) {
	switch dir := os.Getenv("JOURNAL_TEST_DIR"); os.Getenv("JOURNAL_TEST_ROLE") {
	case "writer":
		write(dir)
	case "ingester":
		for {
			j, err := journal.Open(context.Background(), dir, journal.Options{})
			if err == nil {
				_, err = j.Ingest(context.Background())
				err = errors.Join(err, j.Close())
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, "ingester:", err)
				os.Exit(1)
			}
		}
	default:
		os.Exit(m.Run())
	}
}

// write records one run after the other, each with a Recorder of its own, as a
// command does, and says on standard output which were written.
func write(dir string) {
	for i := 0; ; i++ {
		r, err := journal.NewRecorder(dir, journal.Options{})
		if err != nil {
			fmt.Fprintln(os.Stderr, "writer:", err)
			os.Exit(1)
		}
		run := fmt.Sprintf("%d-%d", os.Getpid(), i)
		r.Record(record(run, time.Now()))
		if err := r.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "writer:", err)
			os.Exit(1)
		}
		fmt.Println(run)
	}
}

// record is a dispatch that one hook denied.
func record(run string, at time.Time) hook.Record {
	h := &hook.Hook{ID: "user/guard", Kind: hook.KindCommand, Event: hook.EventPreToolUse, Source: hook.Source{Path: "/h/guard/HOOK.md", Line: 1}}
	out := hook.Merge(hook.EventPreToolUse, []hook.Result{{Hook: h, Status: hook.StatusBlocked, Reason: "not here", Output: hook.Denied("not here"), Elapsed: 2 * time.Millisecond}})
	return hook.Record{Run: run, Time: at, Elapsed: 3 * time.Millisecond, Workspace: "/w", Event: hook.EventPreToolUse, Tool: "Bash",
		Base: hook.Base{SessionID: "s1", Cwd: "/w"}, Payload: []byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`), Outcome: out}
}

func failure(run string, at time.Time) hook.Record {
	r := record(run, at)
	h := *r.Outcome.Results[0].Hook
	h.ID = "user/broken"
	r.Outcome = hook.Merge(r.Event, []hook.Result{{Hook: &h, Status: hook.StatusFailed, Failure: hook.FailureTimeout, Reason: "no answer within 1s", Elapsed: time.Second}})
	return r
}

func keep(t *testing.T, dir string, o journal.Options, records ...hook.Record) {
	t.Helper()
	r, err := journal.NewRecorder(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range records {
		r.Record(rec)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// ingest opens a folder's journal with everything that was written moved in.
func ingest(t *testing.T, dir string, o journal.Options) *journal.Journal {
	t.Helper()
	j, err := journal.Open(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	if _, err := j.Ingest(t.Context()); err != nil {
		t.Fatal(err)
	}
	return j
}

func TestLogShowsWhatWasRecordedTheNewestFirst(t *testing.T) {
	dir, at := t.TempDir(), time.Now().Add(-time.Hour).UTC().Truncate(time.Microsecond)
	keep(t, dir, journal.Options{}, record("r1", at), failure("r2", at.Add(time.Minute)))
	j := ingest(t, dir, journal.Options{})
	lines, err := j.Log(t.Context(), journal.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	want := []journal.Line{
		{Seq: 2, Run: "r2", Time: at.Add(time.Minute), Hook: "user/broken", Event: hook.EventPreToolUse, Tool: "Bash", Session: "s1", Result: journal.Result{
			Hook: "user/broken", Kind: hook.KindCommand, Source: "/h/guard/HOOK.md:1", Status: hook.StatusFailed, Failure: hook.FailureTimeout, Reason: "no answer within 1s", ElapsedMS: 1000}},
		{Seq: 1, Run: "r1", Time: at, Hook: "user/guard", Event: hook.EventPreToolUse, Tool: "Bash", Session: "s1", Result: journal.Result{
			Hook: "user/guard", Kind: hook.KindCommand, Source: "/h/guard/HOOK.md:1", Status: hook.StatusBlocked, Verdict: hook.Deny, Reason: "not here", ElapsedMS: 2}},
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestEachFilterChooses(t *testing.T) {
	dir, at := t.TempDir(), time.Now().Add(-time.Hour)
	other := record("r3", at.Add(2*time.Minute))
	other.Event, other.Base.SessionID = hook.EventPostToolUse, "s2"
	other.Base.Agent = "codex"
	keep(t, dir, journal.Options{}, record("r1", at), failure("r2", at.Add(time.Minute)), other)
	j := ingest(t, dir, journal.Options{})
	for name, c := range map[string]struct {
		filter journal.Filter
		want   []string
	}{
		"hook":    {journal.Filter{Hook: "user/guard"}, []string{"r3", "r1"}},
		"event":   {journal.Filter{Event: "PostToolUse"}, []string{"r3"}},
		"agent":   {journal.Filter{Agent: "codex"}, []string{"r3"}},
		"session": {journal.Filter{Session: "s1"}, []string{"r2", "r1"}},
		"failed":  {journal.Filter{Failed: true}, []string{"r2"}},
		"verdict": {journal.Filter{Verdict: "deny"}, []string{"r3", "r1"}},
		"since":   {journal.Filter{Since: at.Add(30 * time.Second)}, []string{"r3", "r2"}},
		"after":   {journal.Filter{After: 1}, []string{"r2", "r3"}},
		"limit":   {journal.Filter{Limit: 1}, []string{"r3"}},
		"all":     {journal.Filter{}, []string{"r3", "r2", "r1"}},
	} {
		lines, err := j.Log(t.Context(), c.filter)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range lines {
			got = append(got, l.Run)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestRunIsFoundByAPrefixThatNoOtherHas(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, journal.Options{}, record("abc1", time.Now()), record("abd2", time.Now()), record("ab", time.Now()))
	j := ingest(t, dir, journal.Options{})
	e, err := j.Run(t.Context(), "abc")
	if err != nil || e.Run != "abc1" || len(e.Results) != 1 || string(e.Payload) == "" {
		t.Errorf("got %+v, %v", e, err)
	}
	if e, err := j.Run(t.Context(), "ab"); err != nil || e.Run != "ab" {
		t.Errorf("a whole name: %+v, %v", e, err)
	}
	if _, err := j.Run(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "several") {
		t.Errorf("an ambiguous prefix: %v", err)
	}
	if _, err := j.Run(t.Context(), "x"); !errors.Is(err, journal.ErrNoRun) {
		t.Errorf("an unknown run: %v", err)
	}
}

func TestBackgroundResultJoinsItsDispatch(t *testing.T) {
	dir := t.TempDir()
	r := record("r1", time.Now())
	late := hook.Record{Run: "r1", Time: time.Now(), Event: r.Event, Background: &hook.Result{Hook: r.Outcome.Results[0].Hook, Status: hook.StatusSuccess}}
	keep(t, dir, journal.Options{}, r, late)
	e, err := ingest(t, dir, journal.Options{}).Run(t.Context(), "r1")
	if err != nil || len(e.Results) != 2 || !e.Results[1].Background {
		t.Errorf("got %+v, %v", e, err)
	}
}

func TestLevelsKeepAsMuchAsTheySay(t *testing.T) {
	for level, want := range map[journal.Level]struct {
		rows    int
		payload bool
	}{journal.LevelFull: {1, true}, journal.LevelResults: {1, false}, journal.LevelOff: {0, false}} {
		dir := t.TempDir()
		keep(t, dir, journal.Options{Level: level}, record("r1", time.Now()))
		j := ingest(t, dir, journal.Options{})
		lines, _ := j.Log(t.Context(), journal.Filter{})
		if len(lines) != want.rows {
			t.Errorf("%s: %d lines", level, len(lines))
		}
		if e, err := j.Run(t.Context(), "r1"); err == nil && (e.Payload != nil) != want.payload {
			t.Errorf("%s: payload %s", level, e.Payload)
		}
	}
}

func TestSecretsAreMasked(t *testing.T) {
	dir := t.TempDir()
	r := record("r1", time.Now())
	r.Payload = []byte(`{"tool_input":{"command":"curl -H 'Authorization: Bearer abcdefghijklmnopqrstuvwxyz' x; use hunter2\"hunter2; acme-12345"}}`)
	r.Outcome.Results[0].Reason = "AKIAABCDEFGHIJKLMNOP"
	r.Outcome.Results[0].Report.Stderr = `hunter2"hunter2`
	o := journal.Options{Env: []string{`MY_TOKEN=hunter2"hunter2`, "HOME=/home/someone"}, Redact: []string{`acme-\d+`}}
	keep(t, dir, o, r)
	e, err := ingest(t, dir, o).Run(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(string(e.Payload), e.Results)
	for _, secret := range []string{"abcdefghijklmnop", "hunter2", "AKIA", "acme-12345"} {
		if strings.Contains(got, secret) {
			t.Errorf("%s is in %s", secret, got)
		}
	}
	if !strings.Contains(string(e.Payload), "curl -H") {
		t.Errorf("too much is masked: %s", e.Payload)
	}
	if _, err := journal.NewRecorder(dir, journal.Options{Redact: []string{"("}}); err == nil {
		t.Error("a broken pattern was taken")
	}
}

// Each shape of a credential is found, also in capitals where that is the same.
// In whatever spelling and place a secret stands, no file of the folder has it.
func TestNoFileOfTheJournalHoldsASecret(t *testing.T) {
	const value = "Hunter2/&<é>+s3cret"
	pem := "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIPrivateKeyBody\n-----END EC PRIVATE KEY-----"
	quoted, _ := json.Marshal(value)
	for _, tt := range []struct{ text, secret string }{
		{"use " + value, value}, {"in JSON " + string(quoted), strings.Trim(string(quoted), `"`)},
		{"in a URL ?q=" + url.QueryEscape(value), url.QueryEscape(value)}, {"hex " + hex.EncodeToString([]byte(value)), hex.EncodeToString([]byte(value))},
		{"base64 " + base64.StdEncoding.EncodeToString([]byte(value)), base64.StdEncoding.EncodeToString([]byte(value))[:20]},
		{"base64 " + base64.StdEncoding.EncodeToString([]byte("me:"+value+"!")), base64.StdEncoding.EncodeToString([]byte("me:" + value + "!"))[8:24]},
		{"base64 " + base64.URLEncoding.EncodeToString([]byte("user:"+value)), base64.URLEncoding.EncodeToString([]byte("user:" + value))[8:24]},
		{"git clone https://me:p4ssw0rd@example.com/x", "p4ssw0rd"}, {"git clone https://0123456789abcdef0123@example.com/x", "0123456789abcdef0123"},
		{"GET /x?a=1&access_token=abcdef123&b=2", "abcdef123"}, {"curl -H 'X-Api-Key: k3y-of-mine' x", "k3y-of-mine"},
		{"curl -H 'Authorization: token abcdef123' x", "abcdef123"}, {"Cookie: session=abcdef123", "abcdef123"},
		{"curl -su me:p4ssw0rd x; curl -u me:p4ssw0rd2 x", "p4ssw0rd2"}, {"DB_PASSWORD=p4ssw0rd make", "p4ssw0rd"}, {"export X_TOKEN='abcdef123'", "abcdef123"},
		{"login --password p4ssw0rd", "p4ssw0rd"}, {"login --token=abcdef123", "abcdef123"}, {pem, "PrivateKeyBody"},
		{strings.Replace(pem, "-----END EC PRIVATE KEY-----", "", 1), "PrivateKeyBody"}, {strings.Replace(pem, "-----BEGIN EC PRIVATE KEY-----\n", "", 1), "PrivateKeyBody"},
		{"npm_" + strings.Repeat("a1", 18), strings.Repeat("a1", 18)}, {"sk_live_" + strings.Repeat("b2", 12), strings.Repeat("b2", 12)},
	} {
		dir := t.TempDir()
		r := record("r1", time.Now())
		payload := func(v any) []byte { text, _ := json.Marshal(v); return text }
		r.Payload = payload(map[string]any{"tool_input": map[string]any{"command": tt.text, "list": []any{tt.text}}})
		r.Tool, r.Base.SessionID, r.Base.Cwd, r.Workspace, r.Env = tt.text, tt.text, tt.text, tt.text, []string{"MY_SECRET=" + value}
		res := &r.Outcome.Results[0]
		res.Reason, res.Hint, res.Report.Stderr = tt.text, tt.text, tt.text
		o := journal.Options{}
		keep(t, dir, o, r)
		spool, _ := os.ReadFile(filepath.Join(dir, "spool"))
		_ = ingest(t, dir, o).Close()
		db, _ := os.ReadFile(filepath.Join(dir, "journal.db"))
		if len(spool) == 0 || len(db) == 0 || !bytes.Contains(spool, []byte("[masked]")) {
			t.Errorf("%q: nothing was masked: %s", tt.text, spool)
		}
		for name, file := range map[string][]byte{"spool": spool, "journal.db": db} {
			if bytes.Contains(file, []byte(tt.secret)) {
				t.Errorf("%q: %s holds %q: %s", tt.text, name, tt.secret, spool)
			}
		}
		if !bytes.Contains(spool, []byte(`"payload":{"tool_input":`)) {
			t.Errorf("%q: the event is lost: %s", tt.text, spool)
		}
	}
}

// Escapes of JSON hide nothing, and what stands under a key that says so is secret.
func TestPayloadIsMaskedHoweverItIsEscaped(t *testing.T) {
	for payload, want := range map[string]string{
		`{"a":"g\u0068p_0123456789012345678901234"}`:               `{"a":"[masked]"}`,
		`{"a":"https:\/\/me:p4ssw0rd@x"}`:                          `{"a":"https://[masked]@x"}`,
		`{"password":"hunter","x":["y"],"n":{"apiKey":"k-123"}}`:   `{"password":"[masked]","x":["y"],"n":{"apiKey":"[masked]"}}`,
		`{"max_tokens":12345,"tokenizer":"cl100k","token":""}`:     `{"max_tokens":12345,"tokenizer":"cl100k","token":""}`,
		`{"a":"token","b":"plain text, token and all"}`:            `{"a":"token","b":"plain text, token and all"}`,
		`{"command":"go test ./...; git log --author=me"}`:         `{"command":"go test ./...; git log --author=me"}`,
		`{"command":"cat a.go?x=1; X=1 make KEY=v --tokenizer a"}`: `{"command":"cat a.go?x=1; X=1 make KEY=v --tokenizer a"}`,
	} {
		dir := t.TempDir()
		r := record("r1", time.Now())
		r.Payload = []byte(payload)
		keep(t, dir, journal.Options{}, r)
		e, err := ingest(t, dir, journal.Options{}).Run(t.Context(), "r1")
		if err != nil || string(e.Payload) != want {
			t.Errorf("%s: got %s, want %s: %v", payload, e.Payload, want, err)
		}
	}
}

// What a cut left of the first word may be the end of a secret.
func TestCutOutputLosesItsFirstWord(t *testing.T) {
	dir := t.TempDir()
	r := record("r1", time.Now())
	r.Outcome.Results[0].Report.Stderr = "…cret-of-mine and more"
	keep(t, dir, journal.Options{}, r)
	e, err := ingest(t, dir, journal.Options{}).Run(t.Context(), "r1")
	if err != nil || e.Results[0].Stderr != "… and more" {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestEachKnownCredentialIsMasked(t *testing.T) {
	for _, secret := range []string{"AKIAABCDEFGHIJKLMNOP", "ghp_abcdefghijklmnopqrst", "gho_abcdefghijklmnopqrst", "github_pat_abcdefghijklmnopqrst",
		"glpat-abcdefghijklmnopqrst", "xoxb-1234567890", "sk-abcdefghijklmnopqrst", "AIza" + strings.Repeat("x", 35),
		"eyJabcdefgh.eyJabcdefgh.abcdefgh", "-----BEGIN RSA PRIVATE KEY-----abc-----END RSA PRIVATE KEY-----",
		"Bearer abcdefghijklmnop", "BEARER abcdefghijklmnop", "basic abcdefghijklmnop"} {
		dir := t.TempDir()
		r := record("r1", time.Now())
		r.Outcome.Results[0].Reason = "before " + secret + " after"
		keep(t, dir, journal.Options{}, r)
		e, err := ingest(t, dir, journal.Options{}).Run(t.Context(), "r1")
		if err != nil || e.Results[0].Reason != "before [masked] after" {
			t.Errorf("%s: %+v, %v", secret, e, err)
		}
	}
}

func TestKillsLoseAndDoubleNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	dir := t.TempDir()
	said, err := os.OpenFile(filepath.Join(t.TempDir(), "said"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	start := func(role string) *exec.Cmd {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "JOURNAL_TEST_ROLE="+role, "JOURNAL_TEST_DIR="+dir)
		c.Stdout, c.Stderr = said, os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	roles := []string{"writer", "writer", "writer", "writer", "ingester", "ingester"}
	var running []*exec.Cmd
	for _, role := range roles {
		running = append(running, start(role))
	}
	for range 20 {
		time.Sleep(time.Duration(10+rand.IntN(80)) * time.Millisecond)
		i := rand.IntN(len(running))
		_ = running[i].Process.Kill()
		_ = running[i].Wait()
		running[i] = start(roles[i])
	}
	for _, c := range running {
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	j := ingest(t, dir, journal.Options{})
	runs, err := j.Runs(t.Context(), "", time.Time{}.Add(1))
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, run := range runs {
		times[run]++
	}
	if _, err := said.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	written := 0
	for lines := bufio.NewScanner(said); lines.Scan(); written++ {
		if n := times[lines.Text()]; n != 1 {
			t.Errorf("run %s is %d times in the journal", lines.Text(), n)
		}
	}
	if written < 90 {
		t.Errorf("only %d runs were written", written)
	}
	for run, n := range times {
		if n != 1 {
			t.Errorf("run %s is %d times in the journal", run, n)
		}
	}
}

func TestDamagedDatabaseIsSetAside(t *testing.T) {
	for name, at := range map[string]int64{"header": 0, "schema": 110} {
		dir := t.TempDir()
		keep(t, dir, journal.Options{}, record("r1", time.Now()))
		j := ingest(t, dir, journal.Options{})
		old := j.ID
		_ = j.Close()
		f, err := os.OpenFile(filepath.Join(dir, "journal.db"), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		junk := make([]byte, 900)
		for i := range junk {
			junk[i] = byte(rand.IntN(256))
		}
		_, _ = f.WriteAt(junk, at)
		_ = f.Close()
		keep(t, dir, journal.Options{}, record("r2", time.Now()))
		j = ingest(t, dir, journal.Options{})
		if j.SetAside == "" || j.ID == old {
			t.Errorf("%s: set aside %q, ID %q after %q", name, j.SetAside, j.ID, old)
		}
		if _, err := j.Run(t.Context(), "r2"); err != nil {
			t.Errorf("%s: what came after the damage: %v", name, err)
		}
		if _, err := os.Stat(j.SetAside); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNewerDatabaseIsLeftAloneAndLinesWait(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, journal.Options{}, record("r1", time.Now()))
	_ = ingest(t, dir, journal.Options{}).Close()
	db, err := sql.Open("sqlite", filepath.Join(dir, "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`PRAGMA user_version = 99`); err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	if _, err := journal.Open(t.Context(), dir, journal.Options{}); !errors.Is(err, journal.ErrNewer) {
		t.Errorf("got %v", err)
	}
	keep(t, dir, journal.Options{}, record("r2", time.Now())) // recording continues
	if left, _ := filepath.Glob(filepath.Join(dir, "*damaged*")); len(left) > 0 {
		t.Errorf("set aside: %v", left)
	}
}

func TestDamagedLinesAreCountedAndOthersKept(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, journal.Options{}, record("r1", time.Now()))
	f, err := os.OpenFile(filepath.Join(dir, "spool"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.WriteString("deadbeef {\"run\":\"torn")
	_ = f.Close()
	keep(t, dir, journal.Options{}, record("r2", time.Now()))
	j := ingest(t, dir, journal.Options{})
	runs, _ := j.Runs(t.Context(), "", time.Time{}.Add(1))
	losses, err := j.Losses(t.Context())
	if diff := cmp.Diff([]string{"r1", "r2"}, runs); diff != "" || losses.Damaged != 1 || err != nil {
		t.Errorf("losses %+v, %v; -want +got\n%s", losses, err, diff)
	}
}

func TestASpoolThatIsNoFileIsNamed(t *testing.T) {
	dir := t.TempDir()
	_ = ingest(t, dir, journal.Options{})
	spool := filepath.Join(dir, "spool.0.taken")
	if err := os.Mkdir(spool, 0o700); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(t.Context(), dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, err := j.Ingest(t.Context()); err == nil || err.Error() != spool+": it is no regular file" {
		t.Error(err)
	}
}

func TestOldRunsGoAndNewOnesStay(t *testing.T) {
	dir := t.TempDir()
	o := journal.Options{Keep: time.Hour}
	keep(t, dir, o, record("old", time.Now().Add(-3*time.Hour)), record("new", time.Now()))
	j := ingest(t, dir, o)
	runs, _ := j.Runs(t.Context(), "", time.Time{}.Add(1))
	if diff := cmp.Diff([]string{"new"}, runs); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	stats, err := j.Stats(t.Context(), "", time.Time{}.Add(1))
	if err != nil || len(stats) != 1 || stats[0].Runs != 1 {
		t.Errorf("stats %+v, %v", stats, err)
	}
}

func TestDatabaseStaysWithinItsBound(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	dir := t.TempDir()
	o := journal.Options{MaxSize: 1 << 20}
	j := ingest(t, dir, o)
	for i := range 10 {
		var records []hook.Record
		for k := range 300 {
			r := record(fmt.Sprintf("r%02d-%03d", i, k), time.Now())
			r.Payload = []byte(`{"tool_input":{"command":"` + strings.Repeat("x", 1000) + `"}}`)
			records = append(records, r)
		}
		keep(t, dir, o, records...)
		if _, err := j.Ingest(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	_ = j.Close()
	info, err := os.Stat(filepath.Join(dir, "journal.db"))
	if err != nil || info.Size() > o.MaxSize+o.MaxSize/4 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	j = ingest(t, dir, o)
	if _, err := j.Run(t.Context(), "r09-299"); err != nil {
		t.Errorf("the newest run: %v", err)
	}
}

func TestStatsCountAndTime(t *testing.T) {
	dir := t.TempDir()
	var records []hook.Record
	for i := range 100 {
		r := record(fmt.Sprint("r", i), time.Now())
		r.Outcome.Results[0].Elapsed = time.Duration(i+1) * time.Millisecond
		records = append(records, r)
	}
	keep(t, dir, journal.Options{}, append(records, failure("f", time.Now()))...)
	stats, err := ingest(t, dir, journal.Options{}).Stats(t.Context(), "", time.Now().Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	near := cmpopts.EquateApprox(0.05, 0)
	want := []journal.HookStats{
		{Hook: "user/broken", Runs: 1, Failed: 1, Failures: map[hook.Failure]int64{hook.FailureTimeout: 1}, P50MS: 1000, P95MS: 1000, P99MS: 1000},
		{Hook: "user/guard", Runs: 100, Denied: 100, Failures: map[hook.Failure]int64{}, P50MS: 50, P95MS: 95, P99MS: 99},
	}
	if diff := cmp.Diff(want, stats, near, cmpopts.IgnoreFields(journal.HookStats{}, "Last", "Hourly")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestFullQueueDropsAndCounts(t *testing.T) {
	dir := t.TempDir()
	r, err := journal.NewRecorder(dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil { // nothing can be written
		t.Fatal(err)
	}
	for i := range 10 {
		r.Record(record(fmt.Sprint(i), time.Now()))
	}
	var dropped *journal.DroppedError
	if err := r.Close(); !errors.As(err, &dropped) || dropped.Count != 10 {
		t.Errorf("got %v", err)
	}
	r.Record(record("late", time.Now()))
	if r.Dropped() != 11 {
		t.Errorf("%d dropped", r.Dropped())
	}
}

func TestWhatCannotBeWrittenIsWrittenOnceItCan(t *testing.T) {
	dir := t.TempDir()
	r, err := journal.NewRecorder(dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	aside := dir + "-aside"
	if err := errors.Join(os.Rename(dir, aside), os.WriteFile(dir, nil, 0o600)); err != nil { // nothing can be written
		t.Fatal(err)
	}
	for i := range 5000 {
		r.Record(record(fmt.Sprint(i), time.Now()))
		if i%1000 == 999 { // the queue takes no more at once
			if err := r.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r.Dropped() != 5000 || r.LastError() == nil {
		t.Errorf("%d are not written, last %v", r.Dropped(), r.LastError())
	}
	if err := r.RecordNow(t.Context(), record("now", time.Now())); err == nil {
		t.Error("a record that is waited for was written")
	}
	if err := errors.Join(os.Remove(dir), os.Rename(aside, dir)); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(time.Minute); r.Dropped() > 5000-4096; time.Sleep(10 * time.Millisecond) { // by itself
		if time.Now().After(until) {
			t.Fatalf("%d are still not written", r.Dropped())
		}
	}
	r.Record(record("last", time.Now()))
	if err := r.Flush(t.Context()); err != nil || r.Dropped() != 0 {
		t.Errorf("%d are not written: %v", r.Dropped(), err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	j := ingest(t, dir, journal.Options{})
	runs, err := j.Runs(t.Context(), "", time.Time{})
	if err != nil || len(runs) != 4097 || runs[0] != "0" || runs[4096] != "last" {
		t.Errorf("%d runs: %v", len(runs), err)
	}
	if lost, err := j.Losses(t.Context()); err != nil || lost.Dropped != 5000-4096 {
		t.Errorf("%+v, %v", lost, err)
	}
}

func TestFolderIsItsOwnersAlone(t *testing.T) {
	built.NotOnWindows(t, "files have no modes of others")
	dir := filepath.Join(t.TempDir(), "journal")
	keep(t, dir, journal.Options{}, record("r1", time.Now()))
	_ = ingest(t, dir, journal.Options{}).Close()
	keep(t, dir, journal.Options{}, record("r2", time.Now()))
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if info, e := d.Info(); err == nil && e == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Two versions at once: the older one had the journal open when the newer came.
func TestOpenJournalTakesNoLineOnceANewerVersionOwnsIt(t *testing.T) {
	dir := t.TempDir()
	j := ingest(t, dir, journal.Options{})
	db, err := sql.Open("sqlite", filepath.Join(dir, "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	version := func(n int) {
		if _, err := db.Exec(fmt.Sprintf(`PRAGMA user_version = %d`, n)); err != nil {
			t.Fatal(err)
		}
	}
	version(99)
	keep(t, dir, journal.Options{}, record("r1", time.Now()))
	if n, err := j.Ingest(t.Context()); !errors.Is(err, journal.ErrNewer) || n != 0 {
		t.Errorf("moved %d lines: %v", n, err)
	}
	version(1)
	if n, err := j.Ingest(t.Context()); err != nil || n != 1 {
		t.Errorf("moved %d lines: %v", n, err)
	}
}

func TestOpenJournalTakesNoLineOnceItWasSetAside(t *testing.T) {
	built.NotOnWindows(t, "an open journal cannot be renamed")
	dir := t.TempDir()
	old := ingest(t, dir, journal.Options{})
	if err := os.Rename(filepath.Join(dir, "journal.db"), filepath.Join(dir, "aside")); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(dir, "journal.db-wal"))
	_ = os.Remove(filepath.Join(dir, "journal.db-shm"))
	keep(t, dir, journal.Options{}, record("r1", time.Now()))
	if n, err := old.Ingest(t.Context()); !errors.Is(err, journal.ErrReplaced) || n != 0 {
		t.Errorf("moved %d lines: %v", n, err)
	}
	j := ingest(t, dir, journal.Options{})
	if _, err := j.Run(t.Context(), "r1"); err != nil {
		t.Error(err)
	}
	if aside, err := journal.SetAside(t.Context(), dir); err != nil || aside != "" {
		t.Errorf("a sound journal was set aside: %q, %v", aside, err)
	}
}
