package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/built"

	"github.com/tenterhook/tenterhook/handler/command"
	"github.com/tenterhook/tenterhook/hook"
)

// workerOf is a hook for PreToolUse that stays, in a folder.
func workerOf(line, dir string) *hook.Hook {
	return &hook.Hook{ID: "dir/test", Kind: hook.KindCommand, Event: hook.EventPreToolUse,
		Command: &hook.Command{Line: line, Worker: true}, Source: hook.Source{Dir: dir, Root: filepath.Dir(dir)}}
}

func newHandler(t *testing.T) *command.Handler {
	t.Helper()
	needsShell(t)
	h := command.New(command.Options{})
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return h
}

// handle asks a hook about a tool's input.
func handle(ctx context.Context, h *command.Handler, hk *hook.Hook, input string) (*hook.Output, *hook.Call, error) {
	in := hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(input)}
	payload, err := hook.Encode(in, in.Common())
	if err != nil {
		return nil, nil, err
	}
	c := &hook.Call{Hook: hk, Input: in, Payload: payload, ProjectDir: "/project", Dir: os.TempDir()}
	out, err := h.Handle(ctx, c)
	return out, c, err
}

// counter is a worker that denies what has "rm" in it, and counts.
const counter = `n=0
while read -r event; do
	n=$((n+1))
	case $event in
	*rm*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no rm, '$n'"}}' ;;
	*) echo "{\"systemMessage\":\"$n $$ $OWN\"}" ;;
	esac
done
`

func TestWorkerDecidesCallAfterCall(t *testing.T) {
	for _, line := range []string{"sh guard.sh", "./guard.sh", `exec sh "$HOOK_DIR/guard.sh" && :`} {
		h := newHandler(t)
		hk := workerOf(line, script(t, "guard.sh", "#!/bin/sh\n"+counter))
		for i := 1; i <= 5; i++ {
			command, want := `{"command":"ls"}`, hook.NoOpinion
			if i%2 == 0 {
				command, want = "{\n  \"command\": \"rm -r x\"\n}", hook.Deny
			}
			out, c, err := handle(t.Context(), h, hk, command)
			if err != nil || out.Verdict != want || !strings.Contains(out.Reason+" "+out.SystemMessage, fmt.Sprint(i)) {
				t.Fatalf("%s: call %d: got %+v, %v", line, i, out, err)
			}
			if c.Report.ExitCode != nil || len(c.Report.Warnings) > 0 {
				t.Errorf("%s: call %d: report %+v", line, i, c.Report)
			}
		}
	}
}

func TestWorkerWithoutAFirstLineIsRunByTheShell(t *testing.T) {
	out, _, err := handle(t.Context(), newHandler(t), workerOf("./guard.sh", script(t, "guard.sh", counter)), `{"command":"rm"}`)
	if err != nil || out.Verdict != hook.Deny {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestWorkerIsSharedByHooksThatRunTheSame(t *testing.T) {
	h := newHandler(t)
	dir := script(t, "guard.sh", counter)
	pid := func(hk *hook.Hook) string {
		t.Helper()
		out, _, err := handle(t.Context(), h, hk, `{}`)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(out.SystemMessage)[1]
	}
	first := pid(workerOf("sh guard.sh", dir))
	if pid(workerOf("sh guard.sh", dir)) != first {
		t.Error("the same definition, loaded again, has another process")
	}
	args := workerOf("sh", dir)
	args.Command.Args = []string{"guard.sh"}
	own := workerOf("sh guard.sh", dir)
	own.Env = map[string]string{"OWN": "x"}
	for name, hk := range map[string]*hook.Hook{"arguments": args, "environment": own, "folder": workerOf("sh guard.sh", script(t, "guard.sh", counter))} {
		if pid(hk) == first {
			t.Errorf("with another %s it has the same process", name)
		}
	}
}

func TestWorkerIsSharedByConcurrentCalls(t *testing.T) {
	h := newHandler(t)
	hk := workerOf("sh guard.sh", script(t, "guard.sh", counter))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				if out, _, err := handle(t.Context(), h, hk, `{"command":"rm"}`); err != nil || out.Verdict != hook.Deny {
					t.Errorf("got %+v, %v", out, err)
				}
			}
		})
	}
	wg.Wait()
	if out, _, err := handle(t.Context(), h, hk, `{}`); err != nil || !strings.HasPrefix(out.SystemMessage, "81 ") {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestWorkerRunsWhatWasEdited(t *testing.T) {
	for _, line := range []string{"sh guard.sh", "./guard.sh", `exec sh "$HOOK_DIR"/guard.sh; exit 1`, "(exec sh $HOOK_DIR/guard.sh)"} {
		h := newHandler(t)
		dir := script(t, "guard.sh", "#!/bin/sh\nwhile read -r event; do echo; done\n")
		hk := workerOf(line, dir)
		if out, _, err := handle(t.Context(), h, hk, `{"command":"rm"}`); err != nil || out != nil && out.Verdict != hook.NoOpinion {
			t.Fatalf("%s: got %+v, %v", line, out, err)
		}
		edited := filepath.Join(dir, "edited")
		if err := errors.Join(os.WriteFile(edited, []byte("#!/bin/sh\n"+counter), 0o755), os.Rename(edited, filepath.Join(dir, "guard.sh"))); err != nil {
			t.Fatal(err)
		}
		if out, _, err := handle(t.Context(), h, hk, `{"command":"rm"}`); err != nil || out.Verdict != hook.Deny {
			t.Errorf("%s: after the edit: got %+v, %v", line, out, err)
		}
	}
}

func TestWorkerFailuresAreClassified(t *testing.T) {
	built.NotOnWindows(t, "it has no signals, and the sh of these tests has other words")
	for name, tt := range map[string]struct {
		line    string
		failure hook.Failure
		says    string
	}{
		"exit":       {"read -r e; echo because >&2; exit 3", hook.FailureExit, `exit code 3: "because"`},
		"at once":    {"exit 0; :", hook.FailureExit, "instead of answering"},
		"signal":     {"read -r e; kill -9 $$", hook.FailureExit, "killed by SIGKILL"},
		"noise":      {"read -r e; echo Welcome; sleep 60", hook.FailureOutput, `begins with "Welcome"`},
		"two lines":  {"read -r e; printf '{}\\n{}\\n'; sleep 60", hook.FailureOutput, "more than one line"},
		"overflow":   {"read -r e; yes", hook.FailureOutput, "more than one line"},
		"long line":  {"read -r e; yes | tr -d '\\n'", hook.FailureOverflow, "1 MiB"},
		"no program": {"no-such-program", hook.FailureStart, "no-such-program"},
		"no script":  {"./missing.sh", hook.FailureStart, "missing.sh"},
		"in a shell": {"no-such-program; exit 127", hook.FailureStart, "no-such-program"},
		"hand-off":   {`read -r e; echo '{"async":true}'; sleep 60`, hook.FailureOutput, "async"},
	} {
		t.Run(name, func(t *testing.T) {
			out, c, err := handle(t.Context(), newHandler(t), workerOf(tt.line, t.TempDir()), `{}`)
			var failed *hook.Error
			if !errors.As(err, &failed) || failed.Failure != tt.failure || !strings.Contains(failed.Reason, tt.says) || failed.Hint == "" {
				t.Fatalf("got %+v, %v", out, err)
			}
			if out != nil && (out.Verdict != hook.NoOpinion || out.Handoff != nil) {
				t.Errorf("got %+v", out)
			}
			if name == "exit" && (c.Report.ExitCode == nil || *c.Report.ExitCode != 3 || c.Report.Stderr != "because") {
				t.Errorf("report %+v", c.Report)
			}
		})
	}
}

func TestReportOfAWorkersEndHasItsLastWordsAlone(t *testing.T) {
	h, hk := newHandler(t), workerOf(`while read -r e; do
		case $e in
		*last*) echo because >&2; exit 3 ;;
		*) echo of another event >&2; sleep 0.1; echo ;;
		esac
	done`, t.TempDir())
	if _, c, err := handle(t.Context(), h, hk, `{}`); err != nil || c.Report.Stderr != "of another event" {
		t.Fatalf("got %+v, %v", c.Report, err)
	}
	_, c, err := handle(t.Context(), h, hk, `{"a":"last"}`)
	if err == nil || !strings.Contains(err.Error(), `"because"`) || c.Report.Stderr != "because" {
		t.Errorf("got %q, %v", c.Report.Stderr, err)
	}
}

func TestWorkerTimesOutAndIsStartedAnew(t *testing.T) {
	h := newHandler(t)
	hk := workerOf("sh guard.sh", script(t, "guard.sh", `while read -r e; do
	case $e in *hang*) printf '{}'; sleep 60 ;; esac
	echo '{"systemMessage":"'$$'"}'
done`))
	before, _, err := handle(t.Context(), h, hk, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, hook.ErrTimeout)
	defer cancel()
	began := time.Now()
	_, c, err := handle(ctx, h, hk, `"hang"`)
	if !errors.Is(err, hook.ErrTimeout) || time.Since(began) > 15*time.Second {
		t.Fatalf("got %v after %v", err, time.Since(began))
	}
	if len(c.Report.Warnings) != 1 || !strings.Contains(c.Report.Warnings[0].Message, `"{}" without a line end`) {
		t.Errorf("warnings %+v", c.Report.Warnings)
	}
	if after, _, err := handle(t.Context(), h, hk, `{}`); err != nil || after.SystemMessage == before.SystemMessage {
		t.Errorf("got %+v after %+v, %v", after, before, err)
	}
}

func TestWorkerThatIsNoneIsSaidToBeNone(t *testing.T) {
	h := newHandler(t)
	hk := workerOf("read -r e; echo '{}'; exit 0", t.TempDir())
	if _, _, err := handle(t.Context(), h, hk, `{}`); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	_, c, err := handle(t.Context(), h, hk, `{}`)
	if err != nil || len(c.Report.Warnings) != 1 || !strings.Contains(c.Report.Warnings[0].Message, "ended by itself after one call (exit code 0)") {
		t.Errorf("%v, warnings %+v", err, c.Report.Warnings)
	}
}

func TestWorkersEnvironmentIsThatOfTheHook(t *testing.T) {
	built.NotOnWindows(t, "a path in JSON would need its separators doubled")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	hk := workerOf(`while read -r e; do echo "{\"systemMessage\":\"$HOOK_DIR|$CLAUDE_PROJECT_DIR|$OWN|$(pwd -P)|$CLAUDE_ENV_FILE\"}"; echo told >&2; sleep 0.1; done`, dir)
	hk.Env = map[string]string{"OWN": "mine"}
	out, _, err := handle(t.Context(), newHandler(t), hk, `{}`)
	if want := dir + "|/project|mine|" + dir + "|"; err != nil || out.SystemMessage != want {
		t.Errorf("got %+v, want %q, %v", out, want, err)
	}
}

func TestCloseStopsWorkers(t *testing.T) {
	needsShell(t)
	h := command.New(command.Options{})
	hk := workerOf("sh guard.sh", script(t, "guard.sh", counter))
	if _, _, err := handle(t.Context(), h, hk, `{}`); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := h.Close(); err != nil || time.Since(began) > 15*time.Second {
		t.Errorf("Close: %v after %v", err, time.Since(began))
	}
	_, _, err := handle(t.Context(), h, hk, `{}`)
	var failed *hook.Error
	if !errors.As(err, &failed) || failed.Failure != hook.FailureTransport {
		t.Errorf("after Close: %v", err)
	}
}

func TestCheckTellsThatAWorkerCannotWake(t *testing.T) {
	needsShell(t)
	hk := workerOf("sh guard.sh", script(t, "guard.sh", counter))
	h := newHandler(t)
	if found := h.Check(&hook.Call{Hook: hk}); len(found) > 0 {
		t.Errorf("got %+v", found)
	}
	hk.AsyncRewake = true
	if found := h.Check(&hook.Call{Hook: hk}); len(found) != 1 || !strings.Contains(found[0].Message, "exit code") || found[0].Hint == "" {
		t.Errorf("got %+v", found)
	}
}
