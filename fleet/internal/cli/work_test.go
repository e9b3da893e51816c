package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/registry"
)

// computer is one of a fleet: a home directory, and the program.
type computer struct {
	t       *testing.T
	home    string
	program string
}

// programs builds tenterhook-fleet.
func programs(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows: the hooks are shell scripts")
	}
	program, err := builtFleet()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// fleetBin is where builtFleet puts the program; TestMain removes it.
var fleetBin string

var builtFleet = sync.OnceValues(func() (string, error) {
	return filepath.Join(fleetBin, "tenterhook-fleet"), built.Into(fleetBin, "fleet/cmd/tenterhook-fleet")
})

func TestMain(m *testing.M) {
	bin, err := os.MkdirTemp("", "tenterhook-fleet-*")
	if err != nil {
		panic(err)
	}
	fleetBin = bin
	code := m.Run()
	_ = os.RemoveAll(bin)
	os.Exit(code)
}

func (c *computer) state() string { return filepath.Join(c.home, "state", "tenterhook") }

func (c *computer) command(args ...string) *exec.Cmd {
	cmd := exec.Command(c.program, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.home, "XDG_STATE_HOME=" + filepath.Join(c.home, "state"), "XDG_CONFIG_HOME=" + filepath.Join(c.home, "config")}
	return cmd
}

// says runs a command, which must succeed, and returns its JSON.
func (c *computer) says(args ...string) (said map[string]any) {
	c.t.Helper()
	cmd := c.command(append(args, "--json")...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		c.t.Fatalf("%v: %v\n%s%s", args, err, out, errs.String())
	}
	if err := json.Unmarshal(out, &said); err != nil {
		c.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return said
}

// begin starts a command that stays, and ends it with the test.
func (c *computer) begin(log *bytes.Buffer, args ...string) *exec.Cmd {
	c.t.Helper()
	cmd := c.command(args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	return cmd
}

// settings names packs in the user's settings.
func (c *computer) settings(text string) {
	c.t.Helper()
	path := filepath.Join(c.home, "config", "tenterhook", "settings.toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// fleetOf is a hub that runs, a machine that is enrolled, and a worker's computer with
// a credential in worker.json of its home. The pack of the files is in force on both.
func fleetOf(t *testing.T, files map[string]string, hubFlags ...string) (hub, machine, worker *computer) {
	t.Helper()
	program := programs(t)
	hub, machine, worker = &computer{t, t.TempDir(), program}, &computer{t, t.TempDir(), program}, &computer{t, t.TempDir(), program}
	var log bytes.Buffer
	running := hub.begin(&log, append([]string{"hub", "--listen", freePort(t), "--enroll-listen", freePort(t)}, hubFlags...)...)
	t.Cleanup(func() {
		_ = running.Process.Signal(os.Interrupt)
		_ = running.Wait()
		if t.Failed() {
			t.Logf("hub:\n%s", log.String())
		}
	})
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if err := hub.command("hub", "credential", "w1", "--role", "worker", "--output", filepath.Join(worker.home, "worker.json")).Run(); err == nil {
			break
		} else if time.Now().After(until) {
			t.Fatalf("the hub does not begin: %s", log.String())
		}
	}
	admin := filepath.Join(hub.home, "admin.json")
	if out, err := hub.command("hub", "credential", "ops", "--role", "admin", "--output", admin).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	token := hub.says("hub", "token", "--name", "m1")
	machine.says("enroll", token["url"].(string), token["token"].(string), "--name", "m1")
	ref := machine.says("pack", "push", folder(t, files), "oci:"+filepath.Join(t.TempDir(), "guards")+":v1")["reference"].(string)
	machine.says("pack", "pull", ref)
	machine.settings(fmt.Sprintf("packs = [%q]\n", ref))
	worker.settings(fmt.Sprintf("packs = [%q]\n", ref)) // it pulls by itself
	return hub, machine, worker
}

const queued = "+++\nevent = \"PostToolUse\"\nasync = true\nqueue = \"reviews\"\ncommand = \"./run.sh\"\nsandbox = \"none\"\n+++\n"

// reviews answers with what it was asked, and kills its worker where that says so.
const reviews = `#!/bin/sh
in=$(cat)
case $in in *poison*) kill -9 $PPID; sleep 60;; esac
n=${in##*job-}; n=${n%%\"*}
printf '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"reviewed %s"}}' "$n"
`

// machineRegistry is a process of a machine that dispatches events.
func machineRegistry(t *testing.T, m *computer, told func(registry.AsyncResult)) *registry.Registry {
	t.Helper()
	reg, err := registry.Open(t.Context(), registry.Options{Workspace: t.TempDir(), UserDir: filepath.Join(m.home, "config", "tenterhook"), StateDir: m.state(),
		ManagedDir: t.TempDir(), PluginsDir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.home}, OnAsync: told})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reg.Close() })
	return reg
}

// TestEachJobHasOneResultWhateverIsKilled kills each worker. It runs with
// TENTERHOOK_TEST_JOBS=300 with twenty of them, and is small otherwise.
func TestEachJobHasOneResultWhateverIsKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long: kills workers and waits for their jobs")
	}
	good, poisonous, atWork := 30, 1, 3
	if n, err := strconv.Atoi(os.Getenv("TENTERHOOK_TEST_JOBS")); err == nil {
		good, poisonous, atWork = n, 3, 20
	}
	hub, machine, worker := fleetOf(t, map[string]string{"review/HOOK.md": queued, "review/run.sh": reviews}, "--job-wait", "1s")

	var mu sync.Mutex
	results := make(map[string]int)
	reg := machineRegistry(t, machine, func(a registry.AsyncResult) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case a.Result.Failure != "":
			results["failed: "+a.Result.Reason]++
		case a.Result.Output != nil:
			results[a.Result.Output.Context]++
		}
	})
	for i := range good + poisonous {
		what := fmt.Sprintf("job-%d", i)
		if i >= good {
			what = "poison " + what
		}
		out, err := reg.Dispatch(t.Context(), hook.PostToolUse{ToolName: "Bash", ToolInput: json.RawMessage(fmt.Sprintf(`{"command":%q}`, what))})
		if err != nil || len(out.Results) != 1 || out.Results[0].Status != hook.StatusAsync {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	jobs := filepath.Join(machine.state(), "fleet", "jobs")
	files := func(folder string) []string {
		names, _ := filepath.Glob(filepath.Join(jobs, folder, "*.json"))
		return names
	}
	eventually(t, "the jobs are on disk", func() bool { return len(files("new")) == good+poisonous })
	stash := t.TempDir()
	for _, name := range files("new") {
		if err := os.Link(name, filepath.Join(stash, filepath.Base(name))); err != nil {
			t.Fatal(err)
		}
	}
	carry := func() *exec.Cmd { return machine.begin(new(bytes.Buffer), "jobs", "--carry") }
	carrier := carry()
	eventually(t, "the hub has the jobs", func() bool { return len(files("new")) == 0 })
	_ = carrier.Process.Kill() // and they are submitted once more, as after a crash before they were noted
	_ = carrier.Wait()
	for _, name := range files("sent") {
		if err := os.Rename(name, filepath.Join(jobs, "new", filepath.Base(name))); err != nil {
			t.Fatal(err)
		}
	}
	carrier = carry()
	t.Cleanup(func() { _ = carrier.Process.Kill(); _ = carrier.Wait() })

	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	workers := make([]*exec.Cmd, atWork)
	var alive sync.Mutex // guards workers
	died := 0
	for i := range workers {
		all.Go(func() {
			for ctx.Err() == nil { // as a service is started again
				var log bytes.Buffer
				alive.Lock()
				cmd := worker.command("worker", "--queue", "reviews", "--connection", filepath.Join(worker.home, "worker.json"))
				cmd.Stderr = &log
				err := cmd.Start()
				if err == nil {
					workers[i] = cmd
				}
				alive.Unlock()
				if err != nil {
					t.Error(err)
					return
				}
				_ = cmd.Wait()
				alive.Lock()
				died++
				alive.Unlock()
			}
		})
	}
	t.Cleanup(func() {
		stop()
		alive.Lock()
		for _, w := range workers {
			if w != nil {
				_ = w.Process.Kill()
			}
		}
		alive.Unlock()
		all.Wait()
	})
	for _, i := range rand.Perm(atWork) {
		time.Sleep(time.Duration(100+rand.IntN(300)) * time.Millisecond)
		for killed := false; !killed && !t.Failed(); time.Sleep(10 * time.Millisecond) { // it may be between two lives
			alive.Lock()
			killed = workers[i] != nil && workers[i].Process.Kill() == nil
			alive.Unlock()
		}
	}
	counted := func() (ok, failed, twice int) {
		mu.Lock()
		defer mu.Unlock()
		for what, n := range results {
			switch {
			case strings.HasPrefix(what, "failed: no worker of the queue reviews survived it"):
				failed += n
			case n == 1:
				ok++
			default:
				twice++
			}
		}
		return ok, failed, twice
	}
	eventually(t, "each job has its result", func() bool { ok, failed, _ := counted(); return ok+failed >= good+poisonous })
	time.Sleep(time.Second) // a second result would come now
	ok, failed, twice := counted()
	if ok != good || failed != poisonous || twice != 0 {
		t.Errorf("%d results, %d failed, %d came twice; want %d, %d, 0: %v", ok, failed, twice, good, poisonous, results)
	}
	dead := hub.says("jobs", "--dead", "--connection", filepath.Join(hub.home, "admin.json"))["dead"].([]any)
	if len(dead) != poisonous {
		t.Errorf("%d dead letters, want %d: %v", len(dead), poisonous, dead)
	}
	if left := machine.says("jobs")["jobs"].([]any); len(left) != 0 {
		t.Errorf("%d jobs are left: %v", len(left), left)
	}
	alive.Lock()
	defer alive.Unlock()
	if died < atWork+poisonous {
		t.Errorf("%d workers died, which is less than was tried", died)
	}
	t.Logf("%d results, %d dead letters, %d workers died", ok, len(dead), died)
}

// eventually waits up to two minutes for what must come.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for until := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%s: not within two minutes", what)
		}
	}
}

func TestAWorkerRunsWhatItsOwnSettingsNameAlone(t *testing.T) {
	t.Parallel()
	hub, machine, worker := fleetOf(t, map[string]string{"review/HOOK.md": queued, "review/run.sh": reviews}, "--job-wait", "1s")
	got := make(chan registry.AsyncResult, 10)
	reg := machineRegistry(t, machine, func(a registry.AsyncResult) { got <- a })
	worker.settings("packs = []\n")
	dispatch := func() {
		t.Helper()
		if _, err := reg.Dispatch(t.Context(), hook.PostToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"job-1"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	dispatch()
	// With nothing there the job waits on disk, and is shown.
	eventually(t, "the job waits", func() bool {
		list := machine.says("jobs")["jobs"].([]any)
		return len(list) == 1 && list[0].(map[string]any)["state"] == "waiting" && list[0].(map[string]any)["queue"] == "reviews"
	})
	machineCredential := machine.command("worker", "--queue", "reviews")
	if out, err := machineCredential.CombinedOutput(); err == nil || !strings.Contains(string(out), "the credential of a machine takes no jobs") {
		t.Errorf("a machine works: %v, %s", err, out)
	}
	for _, c := range []*exec.Cmd{machine.begin(new(bytes.Buffer), "jobs", "--carry"),
		worker.begin(new(bytes.Buffer), "worker", "--queue", "reviews", "--connection", filepath.Join(worker.home, "worker.json"))} {
		t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	}
	select {
	case a := <-got:
		if a.Result.Failure != hook.FailureUntrusted || !strings.Contains(a.Result.Reason, "the settings name no such hook of a pack") {
			t.Errorf("%+v", a.Result)
		}
	case <-time.After(2 * time.Minute):
		t.Error("no result")
	}
	if dead := hub.says("jobs", "--dead", "--connection", filepath.Join(hub.home, "admin.json"))["dead"].([]any); len(dead) != 0 {
		t.Errorf("a job that was answered is dead: %v", dead)
	}
}
