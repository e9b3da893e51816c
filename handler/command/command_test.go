package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/built"

	"go.uber.org/goleak"

	"github.com/tenterhook/tenterhook/handler/command"
	"github.com/tenterhook/tenterhook/hook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// needsShell skips where there is no POSIX shell.
func needsShell(t testing.TB) {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no /bin/sh on this system")
	}
}

// script writes an executable file and returns its folder.
func script(t testing.TB, name, text string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "script")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // Windows keeps the directory of a worker that lives longer than this test
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// run runs a command hook for PreToolUse in a folder.
func run(t testing.TB, h hook.Hook) (*hook.Output, *hook.Call, error) {
	t.Helper()
	needsShell(t)
	if h.Event == "" {
		h.Event = hook.EventPreToolUse
	}
	if h.Source.Dir == "" {
		h.Source.Dir = t.TempDir()
	}
	h.ID, h.Kind = "dir/test", hook.KindCommand
	in := map[hook.Event]hook.Input{
		hook.EventPreToolUse:   hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"ls"}`)},
		hook.EventSessionStart: hook.SessionStart{Source: "startup"},
	}[h.Event]
	payload, err := hook.Encode(in, in.Common())
	if err != nil {
		t.Fatal(err)
	}
	c := &hook.Call{Hook: &h, Input: in, Payload: payload, ProjectDir: "/project", Dir: t.TempDir()}
	ctx := t.Context()
	if h.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, h.Timeout, hook.ErrTimeout)
		defer cancel()
	}
	out, err := command.New(command.Options{}).Handle(ctx, c)
	return out, c, err
}

func line(s string) hook.Hook { return hook.Hook{Command: &hook.Command{Line: s}} }

func inDir(s, dir string) hook.Hook {
	h := line(s)
	h.Source.Dir, h.Source.Root = dir, filepath.Dir(dir)
	return h
}

func TestExitCodeTwoDeniesWithStderr(t *testing.T) {
	out, c, err := run(t, line("cat >/dev/null; echo not that >&2; exit 2"))
	if err != nil || out.Verdict != hook.Deny || out.Reason != "not that" {
		t.Fatalf("%+v, %v", out, err)
	}
	if c.Report.ExitCode == nil || *c.Report.ExitCode != 2 || c.Report.Stderr != "not that" {
		t.Errorf("report %+v", c.Report)
	}
}

func TestEventComesOnStandardInput(t *testing.T) {
	out, c, err := run(t, line("cat >&2; exit 2"))
	if err != nil || out.Reason != string(c.Payload) {
		t.Errorf("got %q, %v", out.Reason, err)
	}
}

func TestHookSeesItsFolderAndTheProject(t *testing.T) {
	h := line(`echo "$HOOK_DIR|$TENTERHOOK_PROJECT_DIR|$CLAUDE_PROJECT_DIR|$OWN|$(pwd)" >&2; exit 2`)
	h.Env = map[string]string{"OWN": "mine"}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h.Source.Dir = dir
	out, _, err := run(t, h)
	if want := dir + "|/project|/project|mine|" + dir; err != nil || out.Reason != want {
		t.Errorf("got %q, want %q, %v", out.Reason, want, err)
	}
}

func TestHookWithoutAFolderRunsInTheFirstDirectoryThatIsThere(t *testing.T) {
	needsShell(t)
	session, project := t.TempDir(), t.TempDir()
	for _, tt := range []struct{ session, project, want string }{
		{session, project, session},
		{filepath.Join(session, "gone"), project, project},
	} {
		h := line("pwd -P >&2; exit 2")
		h.Event = hook.EventPreToolUse
		c := &hook.Call{Hook: &h, Input: hook.PreToolUse{}, Payload: []byte("{}"), Dir: tt.session, ProjectDir: tt.project}
		out, err := command.New(command.Options{}).Handle(t.Context(), c)
		want, _ := filepath.EvalSymlinks(tt.want)
		if err != nil || out.Reason != want {
			t.Errorf("got %v, want %q, %v", out, want, err)
		}
	}
}

func TestP13TimeoutIsATimeout(t *testing.T) {
	h := line("sleep 60; echo")
	h.Timeout = 300 * time.Millisecond
	start := time.Now()
	_, _, err := run(t, h)
	if !errors.Is(err, hook.ErrTimeout) || time.Since(start) > 30*time.Second {
		t.Errorf("%v after %s", err, time.Since(start))
	}
}

func TestP2DecisionCountsThoughAChildHoldsStdout(t *testing.T) {
	built.NotOnWindows(t, "the sh of these tests has no processes in the background")
	out, c, err := run(t, line(`echo '{"decision":"block","reason":"R"}'; sleep 60 & exit 0`))
	if err != nil || out.Verdict != hook.Deny || out.Reason != "R" {
		t.Fatalf("%+v, %v", out, err)
	}
	if len(c.Report.Warnings) == 0 {
		t.Error("nothing was said of the child")
	}
}

func TestP5DecisionIsNotLostToAHookThatDoesNotRead(t *testing.T) {
	needsShell(t)
	h := line("echo no >&2; exit 2")
	h.Event = hook.EventPreToolUse
	c := &hook.Call{Hook: &h, Input: hook.PreToolUse{}, Payload: []byte(strings.Repeat("x", 50<<20)), Dir: t.TempDir()}
	if out, err := command.New(command.Options{}).Handle(t.Context(), c); err != nil || out.Verdict != hook.Deny {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestP7EndlessOutputIsAnOverflow(t *testing.T) {
	for _, to := range []string{"", " >&2"} {
		_, _, err := run(t, line("while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"+to+"; done"))
		if failure(err) != hook.FailureOverflow {
			t.Errorf("yes%s: %v", to, err)
		}
	}
}

func TestP12DeathBySignalIsAFailedHook(t *testing.T) {
	built.NotOnWindows(t, "it has no signals")
	for _, s := range []string{"kill -KILL $$", "kill -SEGV $$"} {
		if _, _, err := run(t, line(s)); failure(err) != hook.FailureExit {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestP14StartFailuresSayWhatToDo(t *testing.T) {
	built.NotOnWindows(t, "no modes, and no first lines that the system reads; a test of its own says what holds there")
	needsShell(t)
	noBit := t.TempDir()
	if err := os.WriteFile(filepath.Join(noBit, "x.sh"), []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	spaced := filepath.Join(t.TempDir(), "a folder")
	if err := os.Mkdir(spaced, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(spaced, "x.sh"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		h    hook.Hook
		want string
	}{
		"a script that is gone":        {inDir("./gone.sh", t.TempDir()), "gone.sh"},
		"the same in a shell":          {inDir("./gone.sh | cat; exit 127", t.TempDir()), "gone.sh"},
		"no run bit":                   {inDir("./x.sh", noBit), "chmod"},
		"no run bit in a shell":        {inDir("./x.sh || exit", noBit), "chmod"},
		"a missing interpreter":        {inDir("./x", script(t, "x", "#!/no/such/interpreter\n")), "/no/such/interpreter"},
		"a CRLF shebang":               {inDir("./x", script(t, "x", "#!/bin/sh\r\necho\r\n")), "CR"},
		"a program that is not there":  {line("no-such-program-here"), "no-such-program-here"},
		"the same in a shell form":     {line("no-such-program-here; exit $?"), "no-such-program-here"},
		"a path with a space unquoted": {line(spaced + "/x.sh"), "space"},
		"a folder":                     {line("/"), "directory"},
	} {
		_, _, err := run(t, tt.h)
		var failed *hook.Error
		if !errors.As(err, &failed) || failed.Failure != hook.FailureStart || failed.Hint == "" || !strings.Contains(failed.Reason+failed.Hint, tt.want) {
			t.Errorf("%s: %#v", name, err)
		}
	}
}

func TestScriptWithoutAFirstLineIsForTheShell(t *testing.T) {
	out, _, err := run(t, inDir("./x", script(t, "x", "echo plain >&2\nexit 2\n")))
	if err != nil || out.Reason != "plain" {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestArgsMeanNoShell(t *testing.T) {
	h := hook.Hook{Command: &hook.Command{Line: "sh", Args: []string{"-c", `echo "$1" >&2; exit 2`, "x", "$HOME; ${CLAUDE_PROJECT_DIR}"}}}
	out, _, err := run(t, h)
	if err != nil || out.Reason != "$HOME; /project" {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestS2PayloadIsNeverPartOfACommandLine(t *testing.T) {
	needsShell(t)
	marker := filepath.Join(t.TempDir(), "ran")
	evil := fmt.Sprintf("$(touch %s)`touch %s`; touch %s", marker, marker, marker)
	h := line(`cat >/dev/null; printf '%s' "$CLAUDE_PROJECT_DIR" >/dev/null`)
	h.Event = hook.EventPreToolUse
	raw, _ := json.Marshal(map[string]string{"command": evil})
	c := &hook.Call{Hook: &h, Input: hook.PreToolUse{}, Payload: raw, Dir: t.TempDir(), ProjectDir: evil}
	if _, err := command.New(command.Options{}).Handle(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("text of the payload was executed")
	}
}

func TestF2ProgramThatIsALinkOutOfItsScopeIsRefused(t *testing.T) {
	built.NeedsLinks(t)
	root := t.TempDir()
	dir := filepath.Join(root, "hooks", "h")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	outside := script(t, "x", "#!/bin/sh\nexit 2\n")
	inside := filepath.Join(root, "x")
	if err := os.WriteFile(inside, []byte("#!/bin/sh\nexit 2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"out": filepath.Join(outside, "x"), "in": inside} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	h := line("./out")
	h.Source.Dir, h.Source.Root = dir, root
	if _, _, err := run(t, h); failure(err) != hook.FailureStart {
		t.Errorf("a link out of the scope: %v", err)
	}
	h.Command = &hook.Command{Line: "./in"}
	if out, _, err := run(t, h); err != nil || out.Verdict != hook.Deny {
		t.Errorf("a link within: %v", err)
	}
}

func TestF6RelativePathElementsFindNoProgram(t *testing.T) {
	needsShell(t)
	dir := script(t, "own-git", "#!/bin/sh\nexit 2\n")
	h := line("own-git")
	h.Event, h.Source.Dir = hook.EventPreToolUse, dir
	for _, path := range []string{".", "", ".:", "bin:."} {
		c := &hook.Call{Hook: &h, Input: hook.PreToolUse{}, Payload: []byte("{}"), Dir: dir}
		_, err := command.New(command.Options{Env: []string{"PATH=" + path}}).Handle(t.Context(), c)
		if failure(err) != hook.FailureStart {
			t.Errorf("PATH=%q: %v", path, err)
		}
	}
}

func TestExportLinesComeBackAsVariables(t *testing.T) {
	h := line(`{ echo "export A=1"; echo "export B='two words'"; echo 'C="$A-3"'; echo 'export D=$(touch x)'; echo "rm -rf x"; } > "$CLAUDE_ENV_FILE"`)
	h.Event = hook.EventSessionStart
	out, c, err := run(t, h)
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"A": "1", "B": "two words", "C": "1-3"}; fmt.Sprint(out.Env) != fmt.Sprint(want) {
		t.Errorf("got %v", out.Env)
	}
	if len(c.Report.Warnings) != 1 {
		t.Errorf("warnings %v", c.Report.Warnings)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "tenterhook-env-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestShellPrefixWrapsTheShellForm(t *testing.T) {
	h := line(`echo "it's $PREFIXED" >&2; exit 2`)
	t.Setenv("CLAUDE_CODE_SHELL_PREFIX", "PREFIXED=yes sh -c")
	if out, _, err := run(t, h); err != nil || out.Reason != "it's yes" {
		t.Errorf("%+v, %v", out, err)
	}
	h.Env = map[string]string{"CLAUDE_CODE_SHELL_PREFIX": "PREFIXED=hook sh -c"}
	if out, _, err := run(t, h); err != nil || out.Reason != "it's yes" {
		t.Errorf("the hook's own prefix: %+v, %v", out, err)
	}
}

func TestShellPrefixIsNotForAHookToSet(t *testing.T) {
	h := line(`echo "it's $PREFIXED$CLAUDE_CODE_SHELL_PREFIX" >&2; exit 2`)
	h.Env = map[string]string{"CLAUDE_CODE_SHELL_PREFIX": "PREFIXED=hook sh -c"}
	if out, _, err := run(t, h); err != nil || out.Reason != "it's" {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestUnknownShellIsAStartFailure(t *testing.T) {
	h := hook.Hook{Command: &hook.Command{Line: "x", Shell: "no-such-shell"}}
	if _, _, err := run(t, h); failure(err) != hook.FailureStart {
		t.Errorf("got %v", err)
	}
}

// TestLineWithoutAShellMeansTheSame holds what runs without a shell against
// what a shell makes of it.
func TestLineWithoutAShellMeansTheSame(t *testing.T) {
	built.NotOnWindows(t, "the sh of these tests starts no scripts by their names")
	needsShell(t)
	dir := script(t, "args", "#!/bin/sh\nfor a; do printf '<%s>' \"$a\" >&2; done\nexit 2\n")
	env := append(os.Environ(), "WORDS=two words", "EMPTY=", "STAR=*")
	for _, s := range []string{
		`./args`, `./args a b`, `./args 'a b' "c d"`, `./args "$WORDS" "${WORDS}x"`, `./args $WORDS`, `./args "$EMPTY" x`,
		`./args $EMPTY x`, `./args "$STAR"`, `./args *`, `./args '*'`, `./args a\ b`, `./args "a\"b"`, `./args 'a'"b"c`,
		`./args {a,b}`, `./args ~`, `./args "~"`, `./args a=b`, `A=b ./args`, `./args "$(echo x)"`, "./args \"`echo x`\"",
		`./args "${WORDS#two }"`, `./args "${#WORDS}"`, `./args "${NONE:-d}"`, `./args "$NONE"`, `./args "$1" "$@"`,
		`./args a; ./args b`, `./args a && ./args b`, `./args a # b`, `! ./args`, `./args > /dev/null`, `./args a &`,
		`  ./args   a   b  `, `"./args" x`, `'./ar'gs x`, `./args "$PWD"`, `./args [ab]`, `./args a'b c'd`, `./args "a
b"`, `printf x >&2; exit 2`, `test a = b`, `./args $'a\tb'`, `./args \$HOME`, `./args "\$HOME"`, `./args '$HOME'`, `exec ./args x`,
		`command ./args x`, `./args "!x"`, `./args !x`, `./args ^x`, `./args a{b`, `./args é "日本"`, `./args --flag=a:b,c@d%e+f/g.h_i-j`,
	} {
		h := line(s)
		h.Event, h.Source.Dir = hook.EventPreToolUse, dir
		c := &hook.Call{Hook: &h, Input: hook.PreToolUse{}, Payload: []byte("{}"), Dir: dir}
		_, err := command.New(command.Options{Env: env}).Handle(t.Context(), c)
		shell := exec.Command("/bin/sh", "-c", s)
		shell.Dir, shell.Env = dir, env
		var want strings.Builder
		shell.Stderr = &want
		_ = shell.Run()
		if got := c.Report.Stderr; strings.TrimSpace(got) != strings.TrimSpace(want.String()) {
			t.Errorf("%s: got %q, a shell makes %q of it (%v)", s, got, want.String(), err)
		}
	}
}

func failure(err error) hook.Failure {
	var failed *hook.Error
	if errors.As(err, &failed) {
		return failed.Failure
	}
	return ""
}

func TestCheckTellsWhatWouldNotStart(t *testing.T) {
	needsShell(t)
	dir := script(t, "ok.sh", "#!/bin/sh\n")
	if err := os.WriteFile(filepath.Join(dir, "nobit.sh"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	handler := command.New(command.Options{})
	var codes []string
	for _, s := range []string{"./ok.sh", "./ok.sh | cat", "./nobit.sh", "./gone.sh", "no-such-program-here", "."} {
		h := inDir(s, dir)
		ds := handler.Check(&hook.Call{Hook: &h})
		codes = append(codes, fmt.Sprint(len(ds)))
		for _, d := range ds {
			if d.Code != "cannot_start" || d.Hint == "" {
				t.Errorf("%s: %v", s, d)
			}
		}
	}
	want := []string{"0", "0", "1", "1", "1", "0"}
	if runtime.GOOS == "windows" {
		want[2] = "0" // there is no such bit
	}
	if !slices.Equal(codes, want) {
		t.Errorf("got %v, want %v", codes, want)
	}
}
