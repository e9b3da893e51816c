package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/recording"
	"github.com/tenterhook/tenterhook/journal"
)

// doctored is a home with hooks, whose runs are recorded as of any time.
type doctored struct {
	t    *testing.T
	home string
	runs int
	rec  *journal.Recorder
}

func newDoctored(t *testing.T) *doctored {
	d := &doctored{t: t, home: t.TempDir()}
	t.Setenv("HOME", d.home)
	for name, dir := range map[string]string{"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".data", "XDG_STATE_HOME": ".state"} {
		t.Setenv(name, filepath.Join(d.home, dir))
	}
	t.Chdir(d.home)
	var err error
	if d.rec, err = journal.NewRecorder(recording.Dir(filepath.Join(d.home, ".state", "tenterhook")), journal.Options{}); err != nil {
		t.Fatal(err)
	}
	return d
}

// hook installs a hook that is older than all runs, and returns its file.
func (d *doctored) hook(name, matcher string) string {
	d.t.Helper()
	path := filepath.Join(d.home, ".config", "tenterhook", "hooks", name, "HOOK.md")
	text := fmt.Sprintf("+++\nevent = \"PreToolUse\"\nmatcher = %q\ncommand = \"true\"\n+++\n", matcher)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	old := time.Now().Add(-30 * 24 * time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		d.t.Fatal(err)
	}
	return path
}

// ran records runs of a hook.
func (d *doctored) ran(name, path string, n int, ago, took time.Duration, failure hook.Failure) {
	for range n {
		d.runs++
		h := &hook.Hook{ID: "user/" + name, Event: hook.EventPreToolUse, Source: hook.Source{Path: path, Line: 1}}
		r := hook.Result{Hook: h, Status: hook.StatusSuccess, Elapsed: took}
		if failure != "" {
			r.Status, r.Failure, r.Reason = hook.StatusFailed, failure, "it broke"
		}
		d.rec.Record(hook.Record{Run: fmt.Sprintf("run%06d", d.runs), Time: time.Now().Add(-ago), Event: hook.EventPreToolUse, Tool: "Bash",
			Payload: []byte(`{}`), Outcome: hook.Merge(hook.EventPreToolUse, []hook.Result{r})})
	}
}

// problems are what doctor says, by code and subject.
func (d *doctored) problems() map[string]problem {
	d.t.Helper()
	if err := d.rec.Close(); err != nil {
		d.t.Fatal(err)
	}
	var out, errs bytes.Buffer
	Main(d.t.Context(), []string{"doctor", "--json"}, Streams{Out: &out, Err: &errs})
	var said struct{ Problems []problem }
	if err := json.Unmarshal(out.Bytes(), &said); err != nil {
		d.t.Fatalf("%v: %s%s", err, &out, &errs)
	}
	found := make(map[string]problem)
	for _, p := range said.Problems {
		found[p.Code+" "+p.Subject] = p
	}
	return found
}

func TestDoctorTellsHooksByTheirRuns(t *testing.T) {
	d := newDoctored(t)
	slower, slow, same := d.hook("slower", ""), d.hook("slow", ""), d.hook("same", "")
	broken, mended, rare := d.hook("broken", ""), d.hook("mended", ""), d.hook("rare", "Nothing")
	d.hook("renewed", "")
	d.hook("matching", "Bash")
	now := time.Now()
	if err := os.Chtimes(d.hook("fresh", "Nothing"), now, now); err != nil {
		t.Fatal(err)
	}
	d.ran("slower", slower, 30, 50*time.Hour, 100*time.Millisecond, "")
	d.ran("slower", slower, 30, time.Hour, 900*time.Millisecond, "")
	d.ran("same", same, 30, 50*time.Hour, 100*time.Millisecond, "")
	d.ran("same", same, 30, time.Hour, 120*time.Millisecond, "")
	d.ran("slow", slow, 3, time.Hour, 3*time.Second, "")
	d.ran("broken", broken, 5, time.Hour, time.Millisecond, hook.FailureExit)
	d.ran("mended", mended, 9, 2*time.Hour, time.Millisecond, hook.FailureExit)
	d.ran("mended", mended, 1, time.Hour, time.Millisecond, "")
	d.ran("renewed", "/elsewhere/HOOK.md", 9, time.Hour, time.Millisecond, hook.FailureExit)
	d.ran("removed", filepath.Join(d.home, "gone", "HOOK.md"), 9, time.Hour, 3*time.Second, hook.FailureExit)
	d.ran("matching", filepath.Join(filepath.Dir(filepath.Dir(rare)), "matching", "HOOK.md"), 1, time.Hour, time.Millisecond, "")
	found := d.problems()
	want := map[string]hook.Severity{
		"always_fails user/broken": hook.SeverityError, "got_slow user/slower": hook.SeverityWarning, "slow user/slow": hook.SeverityWarning,
		"never_matches user/rare": hook.SeverityInfo,
	}
	for key, severity := range want {
		if p, ok := found[key]; !ok || p.Severity != severity || p.Message == "" || p.Hint == "" {
			t.Errorf("%s: got %+v, want one of severity %s", key, p, severity)
		}
		delete(found, key)
	}
	for key, p := range found {
		if slices.Contains([]string{"always_fails", "got_slow", "slow", "never_matches"}, p.Code) {
			t.Errorf("unexpected %s: %+v", key, p)
		}
	}
}

// One cause is one problem, and each says what to do.
func TestDoctorSaysEachCauseOnce(t *testing.T) {
	say := func(s hook.Severity, subject, message, hint string) problem {
		return problem{Severity: s, Code: "c", Subject: subject, Message: message, Hint: hint, path: "/h/" + subject, line: 2}
	}
	list := []problem{say(hook.SeverityError, "user/a", "the folder is open", "chmod it"), say(hook.SeverityWarning, "user/a", "it cannot run: the folder is open", ""),
		say(hook.SeverityError, "user/b", "the folder is open", "chmod it"), say(hook.SeverityWarning, "user/c", "no hint", "")}
	for i := range 30 {
		list = append(list, say(hook.SeverityError, "claude", fmt.Sprintf("entry %d is gone", i), "install it"))
	}
	for i := range 3 {
		list = append(list, say(hook.SeverityError, "codex", fmt.Sprintf("entry %d is gone", i), "install it"))
	}
	var got []string
	for _, p := range tidied(list) {
		got = append(got, p.Subject+": "+p.Message+": "+p.Hint)
	}
	want := []string{"user/a: the folder is open: chmod it", "user/b: the folder is open: chmod it", "user/c: no hint: see /h/user/c:2", "claude: entry 0 is gone (and 29 more like this): install it",
		"codex: entry 0 is gone: install it", "codex: entry 1 is gone: install it", "codex: entry 2 is gone: install it"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A workflow's annotation names its file with slashes on each system: a relative path with others is none to GitHub.
func TestAnnotationsNameFilesWithSlashes(t *testing.T) {
	var out bytes.Buffer
	printAnnotations(&out, []problem{{Severity: hook.SeverityError, Subject: "s", Message: "m", path: filepath.Join("hooks", "a", "HOOK.md"), line: 3}})
	if want := "::error file=hooks/a/HOOK.md,line=3,title=s::s: m\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
