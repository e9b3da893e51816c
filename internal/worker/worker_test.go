package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/internal/process"
	"github.com/tenterhook/tenterhook/internal/worker"
)

// talk is a pool with one command, and a test that talks to it.
type talk struct {
	*testing.T
	pool *worker.Pool
	cmd  worker.Command
}

func newTalk(t *testing.T, o worker.Options) *talk {
	t.Helper()
	p := worker.NewPool(o)
	t.Cleanup(func() {
		began := time.Now()
		if err := p.Close(); err != nil || time.Since(began) > 750*time.Millisecond+slack {
			t.Errorf("Close took %v: %v", time.Since(began), err)
		}
	})
	return &talk{t, p, program("worker")}
}

// try makes one call, which has a minute unless ctx ends before.
func (t *talk) try(ctx context.Context, r request) (answer, worker.Reply, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	body, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := t.pool.Call(ctx, "key", planned(t.cmd), body)
	var a answer
	if err == nil && len(reply.Line) > 0 {
		if err := json.Unmarshal(reply.Line, &a); err != nil {
			t.Errorf("%+v: answer %q: %v", r, reply.Line, err)
		}
	}
	return a, reply, err
}

// ask wants an answer to its own request.
func (t *talk) ask(r request) (answer, worker.Reply) {
	t.Helper()
	a, reply, err := t.try(context.Background(), r)
	if err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	if a.ID != r.ID {
		t.Fatalf("%+v: the answer is to %d", r, a.ID)
	}
	return a, reply
}

// wantFresh asks once more, and wants the n-th process to answer its first request.
func (t *talk) wantFresh(old answer) answer {
	t.Helper()
	now, _ := t.ask(request{ID: 99})
	if now.Seq != 1 || now.PID == old.PID {
		t.Fatalf("got %+v, after %+v: not another process", now, old)
	}
	return now
}

func TestOneProcessAnswersAllCalls(t *testing.T) {
	talk := newTalk(t, worker.Options{})
	var pid int
	for i := 1; i <= 50; i++ {
		a, reply := talk.ask(request{ID: i, Text: strings.Repeat("é\u2028\n", i)})
		if a.Seq != i || i > 1 && a.PID != pid || a.Text != strings.Repeat("é\u2028\n", i) || len(reply.Notes) > 0 {
			t.Fatalf("call %d: got %+v, %q", i, a, reply.Notes)
		}
		pid = a.PID
	}
}

func TestThousandCallsOfFiftyGoroutinesAreInOrder(t *testing.T) {
	for _, processes := range []int{1, 3} {
		talk := newTalk(t, worker.Options{Processes: processes})
		var wg sync.WaitGroup
		var mu sync.Mutex
		seen := map[[2]int]bool{} // by process, the requests that it had
		for g := range 50 {
			wg.Go(func() {
				last := map[int]int{}
				for i := range 20 {
					a, _, err := talk.try(context.Background(), request{ID: g*100 + i})
					if err != nil || a.ID != g*100+i || a.Seq <= last[a.PID] {
						t.Errorf("goroutine %d, call %d: %+v after %v, %v", g, i, a, last, err)
						return
					}
					last[a.PID] = a.Seq
					mu.Lock()
					seen[[2]int{a.PID, a.Seq}] = true
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		pids := map[int]int{}
		for at := range seen {
			pids[at[0]] = max(pids[at[0]], at[1])
		}
		total := 0
		for _, most := range pids {
			total += most
		}
		if len(seen) != 1000 || total != 1000 || len(pids) > processes {
			t.Errorf("%d answers, %d requests, processes %v", len(seen), total, pids)
		}
	}
}

func TestCallsWaitInTheOrderInWhichTheyCame(t *testing.T) {
	talk := newTalk(t, worker.Options{})
	talk.ask(request{ID: 1})
	var wg sync.WaitGroup
	wg.Go(func() { talk.try(context.Background(), request{ID: 2, Do: "slow"}) })
	time.Sleep(20 * time.Millisecond)
	answers := make([]answer, 5)
	for i := range answers {
		wg.Go(func() { answers[i], _, _ = talk.try(context.Background(), request{ID: 10 + i, Do: "slow"}) })
		time.Sleep(20 * time.Millisecond) // so that they queue one after the other
	}
	wg.Wait()
	for i, a := range answers {
		if a.ID != 10+i || a.Seq != 3+i {
			t.Errorf("call %d got %+v", i, a)
		}
	}
}

func TestTwoProcessesWorkAtOnce(t *testing.T) {
	talk := newTalk(t, worker.Options{Processes: 2})
	var wg sync.WaitGroup
	pids := make([]int, 2)
	for i := range pids {
		wg.Go(func() {
			a, _, _ := talk.try(context.Background(), request{ID: i, Do: "slow"})
			pids[i] = a.PID
		})
	}
	wg.Wait()
	if pids[0] == pids[1] || pids[0] == 0 || pids[1] == 0 {
		t.Errorf("processes %v", pids)
	}
	for range 4 { // one call after the other starts no third
		if a, _ := talk.ask(request{ID: 5}); a.PID != pids[0] && a.PID != pids[1] {
			t.Errorf("process %d, not of %v", a.PID, pids)
		}
	}
}

func TestKeysHaveProcessesOfTheirOwn(t *testing.T) {
	talk := newTalk(t, worker.Options{})
	a, _ := talk.ask(request{ID: 1})
	reply, err := talk.pool.Call(t.Context(), "other", planned(talk.cmd), []byte(`{"id":2}`))
	if err != nil || !strings.Contains(string(reply.Line), `"seq":1`) || strings.Contains(string(reply.Line), fmt.Sprint(a.PID)) {
		t.Errorf("got %s, %v, beside %+v", reply.Line, err, a)
	}
}

func TestTooManyCommandsStopTheOneAskedLeastRecently(t *testing.T) {
	p := worker.NewPool(worker.Options{Commands: 2})
	defer p.Close()
	pids := make(map[string]int)
	ask := func(key string) int {
		t.Helper()
		plan := planned(program("worker"))
		reply, err := p.Call(t.Context(), key, plan, []byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		var a answer
		if err := json.Unmarshal(reply.Line, &a); err != nil {
			t.Fatal(err)
		}
		return a.PID
	}
	for _, key := range []string{"a", "b", "a", "c"} {
		pids[key] = ask(key)
	}
	for end := time.Now().Add(15 * time.Second); processExists(pids["b"]); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the one that was asked least recently still runs")
		}
	}
	if ask("a") != pids["a"] || ask("c") != pids["c"] || ask("b") == pids["b"] {
		t.Error("another one was stopped")
	}
}

func TestEmptyAnswersHaveNothingToSay(t *testing.T) {
	talk := newTalk(t, worker.Options{})
	for text, want := range map[string]string{"\n": "", " \r\n": "", "{}\n": "{}", " {\"a\" : 1} \r\n": `{"a" : 1}`} {
		_, reply, err := talk.try(context.Background(), request{Do: "print", Text: text})
		if err != nil || string(reply.Line) != want {
			t.Errorf("%q: got %q, %v", text, reply.Line, err)
		}
	}
	if a, _ := talk.ask(request{ID: 3}); a.Seq != 5 {
		t.Errorf("got %+v: another process", a)
	}
}

func TestAnswersThatAreNoneStopTheWorker(t *testing.T) {
	for name, tt := range map[string]struct {
		request
		says    string
		tooLong bool
	}{
		"noise":      {request{Do: "print", Text: "Welcome \x1b[31mback\u202e!\n"}, `"Welcome \x1b[31mback\u202e!"`, false},
		"noise then": {request{Do: "print", Text: "hello\n{}\n"}, `more than one line: "hello"`, false},
		"pretty":     {request{Do: "print", Text: "{\n  \"a\": 1\n}\n"}, `more than one line: "{"`, false},
		"list":       {request{Do: "print", Text: "[1]\n"}, `no JSON object: it begins with "[1]"`, false},
		"broken":     {request{Do: "print", Text: "{\"a\"\n"}, `no JSON object`, false},
		"binary":     {request{Do: "print", Text: "\x00\x01\n"}, `"\x00\x01"`, false},
		"twice":      {request{Do: "twice", ID: 4}, `more than one line: "{`, false},
		"overfill":   {request{Do: "overfill"}, "longer than 1 MiB", true},
		"flood":      {request{Do: "flood"}, "longer than 1 MiB", true},
	} {
		t.Run(name, func(t *testing.T) {
			talk := newTalk(t, worker.Options{})
			old, _ := talk.ask(request{ID: 1})
			_, reply, err := talk.try(context.Background(), tt.request)
			var bad *worker.AnswerError
			if !errors.As(err, &bad) || !strings.Contains(bad.Reason, tt.says) || bad.TooLong != tt.tooLong || bad.Hint == "" || len(reply.Line) > 0 {
				t.Fatalf("got %v, %q", err, reply.Line)
			}
			talk.wantFresh(old)
		})
	}
}

func TestAnswerOfJustOneMebibyteIsTaken(t *testing.T) {
	talk := newTalk(t, worker.Options{})
	old, _ := talk.ask(request{ID: 1})
	if _, reply, err := talk.try(context.Background(), request{Do: "fill"}); err != nil || len(reply.Line) != 1<<20 {
		t.Errorf("got %d bytes, %v", len(reply.Line), err)
	}
	if now, _ := talk.ask(request{ID: 2}); now.PID != old.PID {
		t.Errorf("got %+v after %+v", now, old)
	}
}

func TestLineThatNobodyAskedForFailsTheNextCall(t *testing.T) {
	talk := newTalk(t, worker.Options{})
	old, _ := talk.ask(request{ID: 1, Do: "later"})
	time.Sleep(500 * time.Millisecond)
	_, _, err := talk.try(context.Background(), request{ID: 2})
	var bad *worker.AnswerError
	if !errors.As(err, &bad) || !strings.Contains(bad.Reason, "a line without a question") || !strings.Contains(bad.Reason, `\"id\":1`) {
		t.Fatalf("got %v", err)
	}
	talk.wantFresh(old)
}

func TestTimeoutStopsTheWorker(t *testing.T) {
	for _, do := range []string{"hang", "stop"} {
		t.Run(do, func(t *testing.T) {
			talk := newTalk(t, worker.Options{})
			old, _ := talk.ask(request{ID: 1})
			cause := errors.New("time is up")
			ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, cause)
			defer cancel()
			began := time.Now()
			_, _, err := talk.try(ctx, request{ID: 2, Do: do})
			if !errors.Is(err, cause) || time.Since(began) > 100*time.Millisecond+slack {
				t.Fatalf("got %v after %v", err, time.Since(began))
			}
			talk.wantFresh(old)
		})
	}
}

func TestTimeoutTellsOfALineWithoutEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	talk := newTalk(t, worker.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, reply, err := talk.try(ctx, request{Do: "print", Text: `{"decision":"block"}`})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(strings.Join(reply.Notes, "\n"), `{\"decision\":\"block\"}" without a line end`) {
		t.Errorf("got %v, notes %q", err, reply.Notes)
	}
}

func TestTimeoutCoversTheQueueAndTheWrite(t *testing.T) {
	talk := newTalk(t, worker.Options{})
	old, _ := talk.ask(request{ID: 1})
	held, release := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { talk.try(held, request{ID: 2, Do: "hang"}) })
	time.Sleep(100 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, _, err := talk.try(ctx, request{ID: 3}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("in the queue: got %v", err)
	}
	release()
	wg.Wait()
	talk.wantFresh(old)

	if runtime.GOOS == "windows" {
		return // without /bin/sh
	}
	talk.cmd = worker.Command{Path: "/bin/sh", Argv: []string{"sh", "-c", "sleep 60"}, Env: os.Environ()}
	if _, err := os.Stat(talk.cmd.Path); err != nil {
		t.Skip("no /bin/sh on this system")
	}
	ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	body := []byte(`{"text":"` + strings.Repeat("x", 5<<20) + `"}`)
	if _, err := talk.pool.Call(ctx, "deaf", planned(talk.cmd), body); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("in the write: got %v", err)
	}
}

func TestCallerThatGaveUpInTheQueueLeavesTheWorkerAlone(t *testing.T) {
	talk := newTalk(t, worker.Options{})
	old, _ := talk.ask(request{ID: 1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := talk.try(ctx, request{ID: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if a, _ := talk.ask(request{ID: 3}); a.PID != old.PID || a.Seq != 2 {
		t.Errorf("got %+v after %+v", a, old)
	}
}

func TestWorkerThatEndsInsteadOfAnsweringIsReplaced(t *testing.T) {
	talk := newTalk(t, worker.Options{})
	old, _ := talk.ask(request{ID: 1})
	_, _, err := talk.try(context.Background(), request{Do: "exit"})
	var ended *worker.ExitError
	if !errors.As(err, &ended) || ended.Result.ExitCode != 3 || string(ended.Result.Stderr) != "because\n" || ended.Row != 1 ||
		!strings.Contains(err.Error(), "exit code 3") {
		t.Fatalf("got %v, %+v", err, ended)
	}
	talk.wantFresh(old)
}

func TestWorkerThatClosedItsStdoutIsReplaced(t *testing.T) {
	talk := newTalk(t, worker.Options{})
	old, _ := talk.ask(request{ID: 1})
	_, _, err := talk.try(context.Background(), request{Do: "mute"})
	var ended *worker.ExitError
	if !errors.As(err, &ended) || !strings.Contains(err.Error(), "closed its stdin or stdout") {
		t.Fatalf("got %v", err)
	}
	talk.wantFresh(old)
}

func TestWorkerThatEndsBetweenCallsIsReplacedAndSaid(t *testing.T) {
	talk := newTalk(t, worker.Options{})
	old, _ := talk.ask(request{ID: 1, Do: "last"})
	time.Sleep(300 * time.Millisecond)
	now, reply := talk.ask(request{ID: 2})
	if now.PID == old.PID || len(reply.Notes) != 1 || !strings.Contains(reply.Notes[0], "after one call (exit code 7)") {
		t.Errorf("got %+v, notes %q", now, reply.Notes)
	}
	if reply.Stderr != "enough\n" {
		t.Errorf("of its last words %q are left", reply.Stderr)
	}
}

func TestCrashLoopPausesBeforeStarts(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	talk := newTalk(t, worker.Options{})
	began := time.Now()
	for i := 1; i <= 4; i++ { // pauses of 0, 0, 100 and 200 ms before these
		_, _, err := talk.try(context.Background(), request{Do: "exit"})
		var ended *worker.ExitError
		if !errors.As(err, &ended) || ended.Row != i {
			t.Fatalf("crash %d: got %v", i, err)
		}
	}
	if took := time.Since(began); took < 300*time.Millisecond {
		t.Errorf("four crashes in %v", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) // the next start is in 400 ms
	defer cancel()
	_, _, err := talk.try(ctx, request{ID: 1})
	var ended *worker.ExitError
	if !errors.As(err, &ended) || ended.Pause <= 0 || !strings.Contains(err.Error(), "4 times in a row") || ctx.Err() != nil {
		t.Errorf("got %v, with the context's %v", err, ctx.Err())
	}
	talk.ask(request{ID: 2}) // waits, and ends the row
	if _, _, err := talk.try(context.Background(), request{Do: "exit"}); !errors.As(err, &ended) || ended.Row != 1 {
		t.Errorf("after a success: got %v", err)
	}
}

func TestWorkerIsReplacedAfterManyCalls(t *testing.T) {
	talk := newTalk(t, worker.Options{MaxCalls: 3})
	var last answer
	for i := range 10 {
		a, reply := talk.ask(request{ID: i})
		if a.Seq != i%3+1 || (a.PID == last.PID) != (i%3 > 0) || len(reply.Notes) > 0 {
			t.Fatalf("call %d: got %+v after %+v, %q", i, a, last, reply.Notes)
		}
		last = a
	}
}

func TestWorkerIsReplacedWhenItsFileChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	file, gone := filepath.Join(t.TempDir(), "guard.py"), filepath.Join(t.TempDir(), "rules.json")
	write := func(path, text string) {
		t.Helper()
		temp := path + ".new"
		if err := errors.Join(os.WriteFile(temp, []byte(text), 0o600), os.Rename(temp, path)); err != nil {
			t.Fatal(err)
		}
	}
	write(file, "one")
	talk := newTalk(t, worker.Options{})
	talk.cmd.Files = []string{file, gone}
	old, _ := talk.ask(request{ID: 1})
	if a, _ := talk.ask(request{ID: 2}); a.PID != old.PID {
		t.Fatalf("got %+v after %+v, though nothing changed", a, old)
	}
	write(file, "two")
	old = talk.wantFresh(old)
	write(gone, "is there")
	old = talk.wantFresh(old)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	talk.wantFresh(old)
}

func TestCallEndsInTimeThoughTheOldWorkerDoesNot(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits for 6 s")
	}
	file := filepath.Join(t.TempDir(), "guard.py")
	talk := newTalk(t, worker.Options{Grace: 6 * time.Second})
	talk.cmd.Files = []string{file}
	old, _ := talk.ask(request{ID: 1, Do: "deaf"})
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, _, err := talk.try(ctx, request{ID: 2}); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 4*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	talk.wantFresh(old)
}

func TestCallEndsInTimeThoughItsMuteWorkerDoesNot(t *testing.T) {
	built.NotOnWindows(t, "the time that Wine takes to start a program is more than the bound")
	talk := newTalk(t, worker.Options{})
	var took time.Duration
	for range 5 { // one in time will do: the machine may be busy
		talk.ask(request{ID: 1})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		began := time.Now()
		_, _, err := talk.try(ctx, request{Do: "mute"})
		took = time.Since(began)
		cancel()
		if err == nil {
			t.Fatal("it answered")
		}
		if took < 150*time.Millisecond {
			return
		}
	}
	t.Errorf("a call of 30 ms took %v", took)
}

func TestLastWordsOfAWorkerAreToldWithoutEarlierOnes(t *testing.T) {
	talk := newTalk(t, worker.Options{})
	if _, reply := talk.ask(request{ID: 1, Do: "stderr", Text: "early"}); reply.Stderr != "early\n" {
		t.Errorf("stderr %q", reply.Stderr)
	}
	for range 3 { // mostly they come after the end of stdout
		_, reply, err := talk.try(context.Background(), request{Do: "exit"})
		var ended *worker.ExitError
		if !errors.As(err, &ended) || reply.Stderr != "because\n" {
			t.Errorf("got %v with %q", err, reply.Stderr)
		}
	}
}

func TestIdleWorkerIsStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	talk := newTalk(t, worker.Options{Idle: 200 * time.Millisecond})
	old, _ := talk.ask(request{ID: 1})
	for began := time.Now(); processExists(old.PID); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > 20*time.Second {
			t.Fatal("it was not stopped")
		}
	}
	time.Sleep(500 * time.Millisecond) // its queue is forgotten
	if now, reply := talk.ask(request{ID: 2}); now.PID == old.PID || now.Seq != 1 || len(reply.Notes) > 0 {
		t.Errorf("got %+v after %+v, %q", now, old, reply.Notes)
	}
}

func TestStderrIsToldOnce(t *testing.T) {
	talk := newTalk(t, worker.Options{})
	for _, want := range []string{"first", "", "second"} {
		r := request{ID: 1}
		if want != "" {
			r.Do, r.Text = "stderr", want
		}
		if _, reply := talk.ask(r); strings.TrimSpace(reply.Stderr) != want {
			t.Errorf("got %q, want %q", reply.Stderr, want)
		}
	}
	long := strings.Repeat("x", 100_000)
	if _, reply := talk.ask(request{ID: 2, Do: "stderr", Text: long}); len(reply.Stderr) != 8<<10 || !strings.HasSuffix(reply.Stderr, "xx\n") {
		t.Errorf("got %d bytes", len(reply.Stderr))
	}
}

func TestWorkerThatCannotBeStartedSaysWhy(t *testing.T) {
	talk := newTalk(t, worker.Options{})
	talk.cmd = worker.Command{Path: filepath.Join(t.TempDir(), "missing")}
	_, _, err := talk.try(context.Background(), request{})
	var broken *process.StartError
	if !errors.As(err, &broken) || broken.Cause != process.CauseNotFound {
		t.Errorf("got %v", err)
	}
	wrong := errors.New("no plan")
	if _, err := talk.pool.Call(t.Context(), "key", func() (worker.Command, error) { return worker.Command{}, wrong }, []byte("{}")); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
	talk.cmd = program("worker")
	talk.ask(request{ID: 1}) // the queue continues
	if _, err := talk.pool.Call(t.Context(), "key", planned(talk.cmd), []byte("{\n")); err == nil || !strings.Contains(err.Error(), "no JSON") {
		t.Errorf("a request that is no JSON: %v", err)
	}
	talk.ask(request{ID: 2})
}

func TestCloseStopsWorkersAndCalls(t *testing.T) {
	p := worker.NewPool(worker.Options{Grace: 300 * time.Millisecond})
	talk := &talk{t, p, program("worker")}
	idle, _ := talk.ask(request{ID: 1, Do: "stubborn"})
	var wg sync.WaitGroup
	for i := range 10 { // one at work, the others in the queue
		wg.Go(func() {
			body := fmt.Appendf(nil, `{"id":%d,"do":"hang"}`, i)
			if _, err := p.Call(t.Context(), "busy", planned(talk.cmd), body); !errors.Is(err, worker.ErrClosed) {
				t.Errorf("got %v", err)
			}
		})
	}
	time.Sleep(200 * time.Millisecond)
	began := time.Now()
	for range 3 {
		wg.Go(func() {
			if err := p.Close(); err != nil || time.Since(began) > 550*time.Millisecond+slack {
				t.Errorf("Close took %v: %v", time.Since(began), err)
			}
			if processExists(idle.PID) {
				t.Error("a worker is left")
			}
		})
	}
	wg.Wait()
	if _, _, err := talk.try(context.Background(), request{ID: 2}); !errors.Is(err, worker.ErrClosed) {
		t.Errorf("after Close: got %v", err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("again: %v", err)
	}
}

func TestCloseRacesWithCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for i := range 10 {
		p := worker.NewPool(worker.Options{MaxCalls: 2, Idle: 5 * time.Millisecond})
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for {
					reply, err := p.Call(t.Context(), fmt.Sprint(g%3), planned(program("worker")), []byte(`{"id":7}`))
					switch {
					case errors.Is(err, worker.ErrClosed):
						return
					case err != nil || !bytes.Contains(reply.Line, []byte(`"id":7`)):
						t.Errorf("got %q, %v", reply.Line, err)
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(i) * 10 * time.Millisecond)
		p.Close()
		wg.Wait()
	}
}
