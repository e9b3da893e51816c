package daemon_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// script runs a shell script with the programs on PATH, in a mount namespace of its
// own if it must mount. It skips the test where that is not possible.
func (u *user) script(mounts bool, text string) reply {
	u.t.Helper()
	argv := []string{"sh", "-c", text}
	if mounts {
		if out, err := exec.Command("unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=64k", "none", u.home).CombinedOutput(); err != nil {
			u.t.Skipf("nothing can be mounted here: %v: %s", err, out)
		}
		argv = append([]string{"unshare", "-m"}, argv...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Dir, cmd.Env = u.work, append(append([]string{}, u.env...), "PATH="+u.bin+":"+os.Getenv("PATH"))
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		u.t.Fatal(err)
	}
	return reply{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

const (
	state  = `$HOME/.local/state`
	ask    = `tenterhook run PreToolUse --tool Bash --input '{"command":"rm x"}' > said; echo "run ended with $?"; `
	doctor = `tenterhook doctor > doctored; echo "doctor ended with $?"; cat doctored; `
)

// A hook decides where nothing can be written, the command says so, and doctor too.
func TestRunsDecideWhereTheJournalCannotBeWritten(t *testing.T) {
	for name, tt := range map[string]struct {
		mounts             bool
		before, want, hint string
	}{
		"the limit of file sizes": {false, "mkdir -p " + state + "; ", "file too large", "free space, or make the state directory writable"},
		"a full disk": {true, "mkdir -p " + state + "; mount -t tmpfs -o size=256k none " + state + "; dd if=/dev/zero of=" + state + "/fill bs=4k 2>/dev/null; ",
			"no space left on device", "free space, or make the state directory writable"},
		"a read-only disk":                 {true, "mkdir -p " + state + "; mount -t tmpfs -o ro none " + state + "; ", "read-only file system", "free space, or make the state directory writable"},
		"a state directory that is a file": {false, "mkdir -p $HOME/.local; : > " + state + "; ", "not a directory", "remove the file that stands in the way of "},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t, guard)
			limit := ""
			if name == "the limit of file sizes" {
				limit = "ulimit -f 0; "
			}
			// What is printed goes through pipes: a limit would hold for files.
			piped := strings.ReplaceAll(tt.before+limit+ask+doctor, "> said", "| { exec cat >&2; }")
			piped = strings.ReplaceAll(piped, `; echo "run ended with $?"`, "")
			piped = strings.ReplaceAll(piped, `> doctored; echo "doctor ended with $?"; cat doctored`, `; echo "doctor ended with $?"`)
			r := u.script(tt.mounts, piped)
			if !strings.Contains(r.stderr, "deny: not here") {
				t.Errorf("no decision: %+v", r)
			}
			if n := strings.Count(r.stderr, "not recorded"); n != 1 || !strings.Contains(r.stderr, tt.want) {
				t.Errorf("said %d times that nothing is recorded, want once with %q: %s", n, tt.want, r.stderr)
			}
			if !strings.Contains(r.stdout, "error: journal: ") || !strings.Contains(r.stdout, tt.hint) ||
				!strings.Contains(r.stdout, "doctor ended with 1") {
				t.Errorf("doctor: %s", r.stdout)
			}
		})
	}
}

func TestADaemonThatCannotRecordDecidesAndCounts(t *testing.T) {
	u := newUser(t, guard)
	r := u.script(false, "ulimit -f 0; for i in 1 2 3; do echo '"+u.shell("rm x")+"' | tenterhook-bridge claude PreToolUse; done 2>&1 | cat")
	if n := strings.Count(r.stdout, `"permissionDecision":"deny"`); n != 3 {
		t.Fatalf("%d denials, want 3: %+v", n, r)
	}
	if got := u.run("", nil, "tenterhook", "doctor").stdout; !strings.Contains(got, "warning: daemon: 3 records could not be written to the journal") {
		t.Errorf("doctor: %s", got)
	}
}

// A closed pipe, as of "run | head -1", loses no result.
func TestARunIsRecordedThoughNobodyReadsWhatItPrints(t *testing.T) {
	u := newUser(t, guard)
	u.script(false, `tenterhook run PreToolUse --tool Bash --input '{"command":"rm x"}' 2>&1 | { exec <&-; sleep 1; }`)
	if lines := u.logged(); len(lines) != 1 {
		t.Errorf("got %d lines, want 1", len(lines))
	}
}

// damage is done to a journal in which one run lies. doctor says it, and later runs
// are recorded; log shows them at the latest when it is asked again.
func TestADamagedJournalIsReplacedAndTold(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, path string){
		"from the start": func(t *testing.T, path string) { overwrite(t, path, 0, 4096) },
		"in the tables":  func(t *testing.T, path string) { overwrite(t, path, 4096, 1<<20) },
		"cut off": func(t *testing.T, path string) {
			if err := os.Truncate(path, 5000); err != nil {
				t.Fatal(err)
			}
		},
		"without a table": func(t *testing.T, path string) { execute(t, path, `DROP TABLE meta`) },
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t, guard)
			denied := func() {
				t.Helper()
				if r := u.run("", nil, "tenterhook", "run", "PreToolUse", "--tool", "Bash", "--input", `{"command":"rm x"}`); r.code != 2 || r.stderr != "" {
					t.Errorf("run: %+v", r)
				}
			}
			denied()
			u.logged()
			path := filepath.Join(u.home, ".local/state/tenterhook/journal/journal.db")
			damage(t, path)
			denied()
			told := u.run("", nil, "tenterhook", "log")
			if !strings.Contains(told.stderr, "the journal was damaged; it is now ") {
				t.Errorf("log: %+v", told)
			}
			if lines := u.logged(); len(lines) != 1 {
				t.Errorf("got %d lines after the damage, want the one that was recorded since", len(lines))
			}
			if again := u.run("", nil, "tenterhook", "log"); again.stderr != "" || again.code != 0 {
				t.Errorf("it is told twice: %+v", again)
			}
			if got := u.run("", nil, "tenterhook", "doctor").stdout; !strings.Contains(got, "warning: journal: a damaged journal was set aside: "+path+".damaged-") {
				t.Errorf("doctor: %s", got)
			}
		})
	}
}

func overwrite(t *testing.T, path string, from, to int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte("damage"), int(min(to, info.Size())-from)/6), from); err != nil {
		t.Fatal(err)
	}
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(15000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

// newer makes the journal one of a newer version, until older is called.
func newer(t *testing.T, path string) (older func()) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(15000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var version int
	if err := db.QueryRow(`PRAGMA user_version`).Scan(&version); err != nil {
		t.Fatal(err)
	}
	execute(t, path, fmt.Sprintf(`PRAGMA user_version = %d; ALTER TABLE result ADD COLUMN later TEXT NOT NULL DEFAULT ''`, version+1))
	return func() {
		t.Helper()
		execute(t, path, fmt.Sprintf(`PRAGMA user_version = %d; ALTER TABLE result DROP COLUMN later`, version))
	}
}

// The journal of a newer version is left as it is, and runs wait for that version.
func TestAJournalOfANewerVersionWaits(t *testing.T) {
	u := newUser(t, guard)
	run := func() {
		if r := u.run("", nil, "tenterhook", "run", "PreToolUse", "--tool", "Bash", "--input", `{"command":"rm x"}`); r.code != 2 || r.stderr != "" {
			t.Errorf("run: %+v", r)
		}
	}
	run()
	u.logged()
	path := filepath.Join(u.home, ".local/state/tenterhook/journal/journal.db")
	older := newer(t, path)
	run()
	if r := u.run("", nil, "tenterhook", "log"); r.code != 1 || !strings.Contains(r.stderr, "a newer version of tenterhook made the journal") || !strings.Contains(r.stderr, "upgrade tenterhook") {
		t.Errorf("log: %+v", r)
	}
	if r := u.run("", nil, "tenterhook", "doctor"); r.code != 0 || !strings.Contains(r.stdout, "warning: journal: a newer version of tenterhook made the journal") {
		t.Errorf("doctor: %+v", r)
	}
	older() // the newer version is back
	if lines := u.logged(); len(lines) != 2 {
		t.Errorf("got %d lines, want 2", len(lines))
	}
}

// Two versions at once: a daemon and a follower of the older one are at work when the
// newer comes. The older one writes as before, moves nothing, and loses nothing.
func TestAnOlderVersionWritesWhileANewerOwnsTheJournal(t *testing.T) {
	u := newUser(t, guard)
	call := func(i int) {
		u.wantDenied(u.claude("PreToolUse", u.shell("rm x", "session_id", fmt.Sprint("session-", i), "tool_use_id", fmt.Sprint(i))), "not here")
	}
	call(0)
	u.logged()
	follow := exec.Command(filepath.Join(u.bin, "tenterhook"), "log", "-f")
	var said bytes.Buffer
	follow.Dir, follow.Env, follow.Stderr = u.work, u.env, &said
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	older := newer(t, filepath.Join(u.home, ".local/state/tenterhook/journal/journal.db"))
	for i := range 4 {
		call(i + 1)
		u.run("", nil, "tenterhook", "run", "PreToolUse", "--tool", "Bash", "--input", `{"command":"rm x"}`, "--set", fmt.Sprintf(`session_id="run-%d"`, i))
	}
	_ = follow.Wait() // it cannot follow any more
	if !strings.Contains(said.String(), "a newer version of tenterhook made the journal") {
		t.Errorf("log -f: %q", &said)
	}
	logFile := filepath.Join(u.home, ".local/state/tenterhook/daemon.log")
	until(t, "the daemon says that lines wait", func() bool { return strings.Contains(u.read(logFile), "a newer version of tenterhook") })
	call(5)
	if n := strings.Count(u.read(logFile), "a newer version of tenterhook"); n != 1 {
		t.Errorf("the daemon says it %d times", n)
	}
	older()
	times := make(map[any]int)
	for _, line := range u.logged() {
		times[line["session"]]++
	}
	for i := range 6 {
		if n := times[fmt.Sprint("session-", i)]; n != 1 {
			t.Errorf("call %d is in the log %d times", i, n)
		}
	}
	for i := range 4 {
		if n := times[fmt.Sprint("run-", i)]; n != 1 {
			t.Errorf("run %d is in the log %d times", i, n)
		}
	}
}

func TestADamagedLineOfTheSpoolIsCountedAndTold(t *testing.T) {
	u := newUser(t, guard)
	run := func() {
		u.run("", nil, "tenterhook", "run", "PreToolUse", "--tool", "Bash", "--input", `{"command":"rm x"}`)
	}
	run()
	spool := filepath.Join(u.home, ".local/state/tenterhook/journal/spool")
	text := u.read(spool)
	u.write(spool, strings.Replace(text, `"verdict":"deny"`, `"verdict":"none"`, 1)+text[:len(text)/2])
	run()
	if lines := u.logged(); len(lines) != 1 {
		t.Errorf("got %d lines, want the whole one", len(lines))
	}
	if got := u.run("", nil, "tenterhook", "doctor").stdout; !strings.Contains(got, "warning: journal: 0 records were dropped and 2 lines were damaged") {
		t.Errorf("doctor: %s", got)
	}
}

// Six processes run at once, while others ask for the log, and 20 are killed: each
// run that was answered is in the log once, and none is there twice.
func TestKillsLoseNoAnsweredRun(t *testing.T) {
	u := newUser(t, guard)
	const runs, kills = 90, 20
	var mu sync.Mutex // guards all below
	running := make(map[*os.Process]bool)
	var answered []string
	killed, started := 0, 0
	start := func(stdin string, args ...string) (string, error) {
		cmd := exec.Command(filepath.Join(u.bin, "tenterhook"), args...)
		var out bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Dir, cmd.Env = strings.NewReader(stdin), &out, u.work, u.env
		if err := cmd.Start(); err != nil {
			return "", err
		}
		mu.Lock()
		running[cmd.Process] = true
		mu.Unlock()
		_, err := cmd.Process.Wait()
		mu.Lock()
		delete(running, cmd.Process)
		mu.Unlock()
		_ = cmd.Wait() // for what it printed
		return out.String(), err
	}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			for {
				mu.Lock()
				done := len(answered) >= runs && killed >= kills
				started++
				session := fmt.Sprintf("session-%d", started)
				mu.Unlock()
				if done {
					return
				}
				out, err := start(u.shell("rm x", "session_id", session), "run", "--json", "--payload", "-")
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if strings.HasSuffix(out, "}\n") && strings.Contains(out, `"verdict": "deny"`) {
					answered = append(answered, session)
				}
				mu.Unlock()
			}
		})
	}
	stop := make(chan struct{})
	var askers sync.WaitGroup
	askers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = start("", "log", "-n", "1")
			}
		}
	})
	for killed < kills {
		time.Sleep(time.Duration(5+rand.IntN(40)) * time.Millisecond)
		mu.Lock()
		for p := range running { // any of them
			if p.Kill() == nil {
				killed++
			}
			break
		}
		mu.Unlock()
	}
	all.Wait()
	close(stop)
	askers.Wait()
	r := u.run("", nil, "tenterhook", "log", "--json", "-n", "100000")
	for _, session := range answered {
		if n := strings.Count(r.stdout, `"session":"`+session+`"`); n != 1 {
			t.Errorf("%s is in the log %d times", session, n)
		}
	}
	for i := range started {
		if n := strings.Count(r.stdout, fmt.Sprintf(`"session":"session-%d"`, i+1)); n > 1 {
			t.Errorf("session-%d is in the log %d times", i+1, n)
		}
	}
	if len(answered) < runs || killed < kills {
		t.Errorf("only %d answers and %d kills", len(answered), killed)
	}
	t.Logf("%d answered of %d started, %d killed", len(answered), started, killed)
}

// TestAPayloadThatComesLateIsDecided holds a payload back for longer than the bridge keeps
// a connection that says nothing.
func TestAPayloadThatComesLateIsDecided(t *testing.T) {
	u := newUser(t, guard)
	u.wantDenied(u.claude("PreToolUse", u.shell("rm x")), "not here") // a daemon runs
	pid := u.daemon().PID
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(u.bin, "tenterhook-bridge"), "claude", "PreToolUse")
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = u.work, u.env, read, &stdout, &stderr
	err = cmd.Start()
	read.Close()
	if err != nil {
		t.Fatal(err)
	}
	payload := u.shell("rm x")
	for _, part := range []string{payload[:40], payload[40:]} {
		time.Sleep(150 * time.Millisecond)
		if _, err := write.WriteString(part); err != nil {
			t.Error(err)
		}
	}
	write.Close()
	_ = cmd.Wait()
	u.wantDenied(reply{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}, "not here")
	if now := u.daemon().PID; now != pid {
		t.Errorf("the daemon is %d, want %d as before", now, pid)
	}
}
