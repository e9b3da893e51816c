package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
)

// call runs a command line in this process.
func call(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = Main(t.Context(), args, Streams{strings.NewReader(""), &stdout, &stderr})
	return code, stdout.String(), stderr.String()
}

// hermetic gives the test a home of its own and makes it the current directory.
func hermetic(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", filepath.Join(dir, "home"))
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, filepath.Join(dir, "home", name))
	}
	return dir
}

// A new hook for an event does what its comments say: the command that is
// suggested blocks where the event can be blocked.
func TestANewHookForEachEventDoesWhatItSays(t *testing.T) {
	goCache(t)
	home := hermetic(t)
	for _, lang := range languageNames {
		if bin := languages[lang].bin; bin != "" {
			if _, err := exec.LookPath(bin); err != nil {
				continue
			}
		}
		for _, info := range hook.Events() {
			if (lang == "go" || testing.Short()) && info.Event != hook.EventPreToolUse && info.Event != hook.EventWorktreeCreate {
				continue
			}
			if lang == "powershell" && built.UnderWine() { // its powershell.exe runs nothing
				continue
			}
			t.Run(lang+"/"+string(info.Event), func(t *testing.T) {
				t.Parallel()
				newHookDoesWhatItSays(t, filepath.Join(home, lang, string(info.Event)), lang, &info)
			})
		}
	}
}

func newHookDoesWhatItSays(t *testing.T, dir, lang string, info *hook.EventInfo) {
	code, out, errs := call(t, "new", "mine", "--event", string(info.Event), "--lang", lang, "--dir", dir, "--json")
	if code != 0 {
		t.Fatalf("new: %d %s", code, errs)
	}
	var made struct{ Try string }
	if err := json.Unmarshal([]byte(out), &made); err != nil {
		t.Fatal(err)
	}
	words, err := wordsOf(made.Try)
	if err != nil || words[0] != "tenterhook" {
		t.Fatalf("%q: %v", made.Try, err)
	}
	code, out, errs = call(t, append(words[1:], "--json")...)
	var got struct {
		Verdict string
		Results []struct{ Status, Failure, Reason string }
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s %s", err, out, errs)
	}
	if len(got.Results) != 1 || got.Results[0].Failure != "" {
		t.Fatalf("%s: %s%s", made.Try, out, errs)
	}
	want, wantCode := "none", 0
	if blocks(info) {
		want, wantCode = "deny", exitDeny
	}
	if got.Verdict != want || code != wantCode {
		t.Errorf("%s: exit code %d, %s; want %d, %s", made.Try, code, out, wantCode, want)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "mine", "*"))
	said := false
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		said = said || strings.Contains(string(text), exit2Comment(info))
	}
	if !said {
		t.Errorf("no file says %q", exit2Comment(info))
	}
	if code, out, _ := call(t, "check", dir); code != 0 || !strings.Contains(out, "nothing wrong") {
		t.Errorf("check: %d %s", code, out)
	}
}

// goCache lets hooks in Go be built with the caches of this machine.
func goCache(t *testing.T) {
	for name, dir := range goCaches() {
		t.Setenv(name, dir)
	}
}

func TestTheSuggestedCommandFiresWhatTheMatcherSelects(t *testing.T) {
	for matcher, subject := range map[string]string{
		"": "Bash", "*": "Bash", "Bash": "Bash", "Edit|Write": "Edit", "Edit, Write": "Edit", "mcp__memory__.*": "mcp__memory__x",
		"^Web": "WebFetch", "mcp__.*__write": "mcp__x__write", "(?!Bash)W.*": "Write",
	} {
		if got := subjectOf(hook.Info(hook.EventPreToolUse), matcher); got != subject {
			t.Errorf("%q: %q, want %q", matcher, got, subject)
		}
	}
	want := `tenterhook run SessionStart --set 'source="resume"'`
	if runtime.GOOS == "windows" {
		want = `tenterhook run SessionStart --set "source=\"resume\""`
	}
	if got := tryCommand(hook.Info(hook.EventSessionStart), "resume|clear"); got != want {
		t.Error(got)
	}
}

// The first hook that README shows is the one that its command makes.
func TestTheNewHookIsTheOneOfTheReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	hermetic(t)
	const command = "./tenterhook new guard --matcher Bash --dir ./hooks"
	if !bytes.Contains(readme, []byte("\n    "+command+"\n")) {
		t.Fatalf("README has no line %q", command)
	}
	if code, _, errs := call(t, strings.Fields(command)[1:]...); code != 0 {
		t.Fatal(errs)
	}
	made, err := os.ReadFile("hooks/guard/HOOK.md")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(made), "\n# ")
	if shown := "    " + strings.ReplaceAll(strings.TrimSpace(head), "\n", "\n    ") + "\n"; !bytes.Contains(readme, []byte(shown)) {
		t.Errorf("README does not show\n%s", shown)
	}
}

// A hook that builds itself does so in the sandbox that hooks of a workspace have.
func TestANewHookInGoRunsWhereItIsContained(t *testing.T) {
	if testing.Short() {
		t.Skip("long: builds a program with an empty cache")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("without go; Wine has none")
	}
	hermetic(t)
	if code, _, errs := call(t, "new", "mine", "--lang", "go", "--dir", ".tenterhook/hooks"); code != 0 {
		t.Fatal(errs)
	}
	if code, out, errs := call(t, "trust", "project/mine", "--yes"); code != 0 {
		t.Fatalf("%s%s", out, errs)
	}
	code, out := 0, ""
	for range 10 { // what was compiled when the time was up stays compiled
		code, out, _ = call(t, "run", "PreToolUse", "--tool", "Bash", "--input", `{"command":"echo FORBIDDEN"}`, "--json")
		if !strings.Contains(out, `"failure": "timeout"`) {
			break
		}
	}
	if strings.Contains(out, `"failure": "sandbox"`) {
		t.Skip("this machine contains nothing")
	}
	if code != exitDeny || !strings.Contains(out, "FORBIDDEN is not allowed here") {
		t.Errorf("%d: %s", code, out)
	}
}
