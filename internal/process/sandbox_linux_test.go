//go:build amd64 || arm64

package process_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/process"
	"github.com/tenterhook/tenterhook/internal/sandbox"
)

// attackerVariable names the program testdata/attacker, for a test that runs as another user.
const attackerVariable = "PROCESS_TEST_ATTACKER"

// attacker builds the program that does what a hostile hook would try.
var attacker = sync.OnceValue(func() string {
	if path := os.Getenv(attackerVariable); path != "" {
		return path
	}
	path := filepath.Join(filepath.Dir(faulthook), "attacker")
	build := exec.Command("go", "build", "-o", path, "github.com/tenterhook/tenterhook/testdata/attacker")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v\n%s", err, out))
	}
	return path
})

// needSandbox skips where this machine does not enforce a strict sandbox.
func needSandbox(t testing.TB) {
	t.Helper()
	for _, f := range (&sandbox.Policy{Mode: sandbox.Strict, Memory: 1, Ports: []uint16{1}}).Missing() {
		t.Skipf("this machine does not enforce %s: %s", f.Mechanism, f.Why)
	}
	t.Cleanup(sandbox.Forget)
}

// contained is the spec of a run of the attacker under a policy that lets it read itself.
func contained(policy sandbox.Policy, args ...string) process.Spec {
	policy.Read = append(policy.Read, attacker())
	return process.Spec{Argv: append([]string{attacker()}, args...), Env: []string{"PATH=/usr/bin:/bin"}, Timeout: time.Minute, Sandbox: &policy}
}

// attacked is what the attacker said, by attack.
func attacked(t *testing.T, policy sandbox.Policy, target map[string]any) map[string]string {
	t.Helper()
	policy.Read = append(policy.Read, target["Own"].(string))
	spec, err := json.Marshal(target)
	if err != nil {
		t.Fatal(err)
	}
	s := contained(policy, string(spec))
	if !policy.Mode.AtLeast(sandbox.ReadOnly) {
		own := t.TempDir()
		s.Env = append(s.Env, "TMPDIR="+own)
	}
	res, err := process.Run(t.Context(), s)
	if err != nil || !res.OK() {
		t.Fatalf("%s: %v %s\n%s%s", policy.Mode, err, res.Describe(), res.Stdout, res.Stderr)
	}
	said := make(map[string]string)
	for line := range strings.Lines(string(res.Stdout)) {
		name, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		said[name] = what
	}
	return said
}

// scene is what the attacks are about.
func scene(t *testing.T) map[string]any {
	t.Helper()
	home, err := os.MkdirTemp("/var/tmp", "scene") // no system path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	for _, name := range []string{"victim", "victim2", "victim3", "readable", "secrets/key"} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("content"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, stale := range []string{"/dev/shm/tenterhook-attack", "/tmp/tenterhook-attack"} {
		os.Remove(stale)
		t.Cleanup(func() { os.Remove(stale) })
	}
	listen := func(network, address string) net.Addr {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l.Addr()
	}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { udp.Close() })
	name := "tenterhook-scene-" + filepath.Base(home)
	listen("unix", filepath.Join(home, "agent.sock"))
	listen("unix", "@"+name)
	packets, err := net.ListenPacket("unixgram", filepath.Join(home, "log.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { packets.Close() })
	return map[string]any{
		"Own": filepath.Join(home, "readable"), "Datagram": filepath.Join(home, "log.sock"),
		"Outside": home, "Secret": filepath.Join(home, "secrets", "key"), "Unix": filepath.Join(home, "agent.sock"), "Name": name,
		"TCP": listen("tcp", "127.0.0.1:0").(*net.TCPAddr).Port, "Other": listen("tcp", "127.0.0.1:0").(*net.TCPAddr).Port,
		"UDP": udp.LocalAddr().(*net.UDPAddr).Port, "Host": os.Getpid(),
	}
}

// stoppedBy is the weakest mode under which an attack no longer works.
var stoppedBy = map[sandbox.Mode][]string{
	sandbox.Reap: {"unix-abstract", "signal-host", "pidfd-signal-host", "pidfd-getfd", "ptrace-host", "read-host-memory", "host-mem", "host-descriptor"},
	sandbox.ReadOnly: {"create-outside", "write-outside", "open-truncate", "truncate", "mkdir", "symlink", "mkfifo", "unlink",
		"hardlink-in", "hardlink-secret", "rename-in", "rename-over", "write-shm", "write-tmp", "core-pattern", "exec-of-memfd-writes",
		"unix-path", "datagram-pair-to-path", "raw-pair-to-path", "lease", "packet", "io-uring", "host-environ", "host-oom-score", "host-limits", "host-affinity", "host-renice",
		"keyctl", "user-namespace", "clone3", "userfaultfd", "shared-memory"},
	sandbox.Strict: {"chmod", "utimes", "setxattr", "chown", "inode-flags", "times-of-descriptor", "read-secret", "secret-by-proc-root", "secret-by-symlink", "secret-by-handle",
		"list-secrets", "tcp-connect", "tcp-other-port", "tcp6-connect", "mptcp-connect", "mptcp-other-port", "tcp-fastopen",
		"fastopen-other-port", "udp-send", "tcp-bind", "tcp-listen", "netlink", "vsock"},
}

// mustWork are attacks that work uncontained for everybody: if one does not, the attacker is broken.
var mustWork = []string{"create-outside", "write-outside", "truncate", "unlink", "rename-in", "chmod", "utimes", "write-tmp", "read-secret",
	"secret-by-handle", "tcp-connect", "tcp-fastopen", "udp-send", "tcp-bind", "unix-path", "datagram-pair-to-path", "raw-pair-to-path", "times-of-descriptor", "unix-abstract", "signal-host", "host-environ", "host-renice"}

func TestEachModeStopsItsAttacks(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	needSandbox(t)
	free := attacked(t, sandbox.Policy{}, scene(t))
	for _, name := range mustWork {
		if free[name] != "ok" {
			t.Errorf("uncontained: %s: %s, so it proves nothing", name, free[name])
		}
	}
	for _, mode := range sandbox.Modes()[1:] {
		said := attacked(t, sandbox.Policy{Mode: mode}, scene(t))
		known := map[string]bool{"inherited-descriptors": true}
		for weakest, names := range stoppedBy {
			for _, name := range names {
				known[name] = true
				stopped := said[name] != "ok"
				if mode.AtLeast(weakest) && !stopped {
					t.Errorf("%s: %s worked", mode, name)
				}
				if !mode.AtLeast(weakest) && stopped && free[name] == "ok" && name != "host-environ" { // root alone reads it
					t.Errorf("%s: %s does not work: %s", mode, name, said[name])
				}
			}
		}
		for name, what := range said {
			if strings.HasPrefix(name, "wanted-") && what != "ok" {
				t.Errorf("%s: %s: %s", mode, name, what)
			} else if !known[name] && !strings.HasPrefix(name, "wanted-") {
				t.Errorf("the table does not have %s", name)
			}
		}
		if said["inherited-descriptors"] == "ok" {
			t.Errorf("%s: it has descriptors of the host", mode)
		}
	}
}

// A descriptor signals its owner, which may be any process. The kernel has to judge that as a signal.
func TestDescriptorsSignalNoProcessOutside(t *testing.T) {
	needSandbox(t)
	for _, mode := range sandbox.Modes() {
		victim := exec.Command("sleep", "60")
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		if res, err := process.Run(t.Context(), contained(sandbox.Policy{Mode: mode}, "owner", strconv.Itoa(victim.Process.Pid))); err != nil || !res.OK() {
			t.Fatal(err, res)
		}
		victim.Process.Signal(syscall.SIGTERM) // comes second, where the other came
		var ended *exec.ExitError
		if !errors.As(victim.Wait(), &ended) {
			t.Fatal("it was not killed")
		}
		if signal, free := ended.Sys().(syscall.WaitStatus).Signal(), mode == sandbox.None; (signal == syscall.SIGUSR1) != free {
			t.Errorf("%s: a process outside died of %v", mode, signal)
		}
	}
}

func TestOnlyAllowedPortsCanBeReached(t *testing.T) {
	needSandbox(t)
	s := scene(t)
	for _, mode := range sandbox.Modes()[1:] {
		said := attacked(t, sandbox.Policy{Mode: mode, Ports: []uint16{uint16(s["TCP"].(int))}}, s)
		if said["tcp-connect"] != "ok" {
			t.Errorf("%s: the allowed port: %s", mode, said["tcp-connect"])
		}
		for _, name := range []string{"tcp-other-port", "mptcp-other-port", "fastopen-other-port", "tcp-fastopen", "udp-send", "tcp-bind", "tcp-listen", "unix-path", "netlink"} {
			if said[name] == "ok" {
				t.Errorf("%s: %s worked", mode, name)
			}
		}
	}
}

// TestEachModeStopsItsAttacksForAnybody runs the tests above without root's rights.
func TestEachModeStopsItsAttacksForAnybody(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	needSandbox(t)
	if os.Getuid() != 0 {
		t.Skip("the tests do not run as root")
	}
	dir, err := os.MkdirTemp("", "anybody")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	os.Chmod(dir, 0o755)
	for from, to := range map[string]string{os.Args[0]: "tests", attacker(): "attacker", faulthook: "faulthook"} {
		data, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, to), data, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(dir, "tests"), "-test.run=^(TestEachModeStopsItsAttacks|TestOnlyAllowedPortsCanBeReached|TestNothingOutlivesAContainedRun)$", "-test.v")
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", attackerVariable + "=" + filepath.Join(dir, "attacker"),
		faulthookVariable + "=" + filepath.Join(dir, "faulthook")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 4242, Gid: 4242}}
	out, err := cmd.CombinedOutput()
	if err != nil || bytes.Count(out, []byte("--- PASS")) != 3 {
		t.Errorf("as uid 4242: %v\n%s", err, out)
	}
}

// beats makes a file that a process lets grow for as long as it lives.
func beats(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "beat")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func size(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return -1
	}
	return info.Size()
}

// stopsGrowing waits until no one writes the file any more.
func stopsGrowing(t *testing.T, file string) {
	t.Helper()
	if size(file) == 0 {
		t.Fatal("it never ran")
	}
	for deadline := time.Now().Add(15 * time.Second); ; {
		before := size(file)
		time.Sleep(200 * time.Millisecond)
		if size(file) == before {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("a process of the run still lives")
		}
	}
}

func TestNothingOutlivesAContainedRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	needSandbox(t)
	others := beats(t)
	host := exec.Command(attacker(), "beat", others) // a child of the host's own
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	defer host.Wait()
	defer host.Process.Kill()
	for _, mode := range sandbox.Modes()[1:] {
		for _, how := range []string{"daemon", "hopper"} {
			file := beats(t)
			s := contained(sandbox.Policy{Mode: mode, Write: []string{file}}, how, file)
			if res, err := process.Run(t.Context(), s); err != nil || !res.OK() {
				t.Fatalf("%s %s: %v %s %s", mode, how, err, res.Describe(), res.Stderr)
			}
			stopsGrowing(t, file)
		}
	}
	before := size(others)
	for until := time.Now().Add(15 * time.Second); size(others) == before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("a child of the host's own was killed as well")
		}
	}
}

func TestManyContainedRunsLeaveNothingBehind(t *testing.T) {
	needSandbox(t)
	runs := 1000
	if testing.Short() {
		runs = 40
	}
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	file := beats(t)
	sleep := "sleep 20." + strconv.Itoa(os.Getpid()) // not that of another test
	var wg sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range runs {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			line := "exit " + strconv.Itoa(i%7)
			if i%8 == 0 {
				line = "(setsid sh -c 'while :; do echo x >> " + file + "; sleep 0.01; done' &) ; " + line
			} else {
				line = "setsid " + sleep + " & " + line
			}
			s := shell(line)
			s.Sandbox = &sandbox.Policy{Mode: sandbox.Modes()[1+i%3], Write: []string{file}}
			if res, err := process.Run(t.Context(), s); err != nil || res.ExitCode != i%7 {
				t.Errorf("run %d: %v %s %s", i, err, res.Describe(), res.Stderr)
			}
		})
	}
	wg.Wait()
	stopsGrowing(t, file)
	for pid, line := range commandLines(t) {
		if strings.TrimSpace(strings.ReplaceAll(line, "\x00", " ")) == sleep {
			t.Errorf("process %s of a run lives", pid)
		}
	}
	sandbox.Forget()
	for deadline := time.Now().Add(15 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left := restrictedThreads(t)
		if left == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d restricted threads are left", left)
		}
	}
}

// commandLines are those of all processes, by the id.
func commandLines(t *testing.T) map[string]string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(all) == 0 {
		t.Fatal("no processes", err)
	}
	lines := make(map[string]string)
	for _, file := range all {
		text, _ := os.ReadFile(file) // some are gone
		lines[filepath.Base(filepath.Dir(file))] = string(text)
	}
	return lines
}

// restrictedThreads counts the threads of this process that may not gain privileges.
func restrictedThreads(t *testing.T) int {
	t.Helper()
	all, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(all) == 0 {
		t.Fatal("no threads", err)
	}
	n := 0
	for _, file := range all {
		if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, []byte("NoNewPrivs:\t1")) {
			n++
		}
	}
	return n
}

func TestContainedProcessesDieWithAKilledHost(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	needSandbox(t)
	for _, mode := range sandbox.Modes()[1:] {
		file := beats(t)
		host := exec.Command(os.Args[0], attacker(), "daemon-and-stay", file)
		host.Env = append(os.Environ(), hostVariable+"="+string(mode))
		if err := host.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(15 * time.Second); size(file) == 0 && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond)
		}
		host.Process.Kill()
		host.Wait()
		stopsGrowing(t, file)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	needSandbox(t)
	s := shell(`head -c 300000000 /dev/zero | tail -c 200000000 | wc -c`)
	s.Sandbox = &sandbox.Policy{Mode: sandbox.Strict, Memory: 64 << 20}
	res, err := process.Run(t.Context(), s)
	if err != nil || strings.TrimSpace(string(res.Stdout)) == "200000000" {
		t.Errorf("%v %s %q %s", err, res.Describe(), res.Stdout, res.Stderr)
	}
	s.Sandbox = &sandbox.Policy{Mode: sandbox.Strict, Memory: 2 << 30}
	if res, err := process.Run(t.Context(), s); err != nil || strings.TrimSpace(string(res.Stdout)) != "200000000" {
		t.Errorf("with enough memory: %v %s %q %s", err, res.Describe(), res.Stdout, res.Stderr)
	}
}

// With a bound of memory come others, and root cannot lift them, in no mode.
func TestLimitsCannotBeLifted(t *testing.T) {
	needSandbox(t)
	for _, mode := range sandbox.Modes()[1:] {
		s := shell(`ulimit -d; ulimit -f; ulimit -n; ulimit -c; ulimit -Hd unlimited 2>&1; ulimit -Hf unlimited 2>&1; ulimit -Hn 5000 2>&1; exit 0`)
		s.Argv[0], s.Path = "bash", "/bin/bash"
		s.Sandbox = &sandbox.Policy{Mode: mode, Memory: 64 << 20}
		res, err := process.Run(t.Context(), s)
		lines := strings.Split(strings.TrimSpace(string(res.Stdout)), "\n")
		if err != nil || !res.OK() || len(lines) != 7 || lines[0] != "65536" || lines[1] != "1048576" || lines[3] != "0" {
			t.Errorf("%s: %v %s %q", mode, err, res.Describe(), res.Stdout)
			continue
		}
		if n, err := strconv.Atoi(lines[2]); err != nil || n > sandbox.MaxFiles {
			t.Errorf("%s: %s files", mode, lines[2])
		}
		for _, line := range lines[4:] {
			if !strings.Contains(line, "ermitted") {
				t.Errorf("%s: a limit was lifted: %q", mode, line)
			}
		}
	}
}

func TestProgramThatTheSystemRefusesIsNotTheSandboxsFault(t *testing.T) {
	needSandbox(t)
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, []byte("\x00no program"), 0o700); err != nil {
		t.Fatal(err)
	}
	res, err := process.Run(t.Context(), process.Spec{Path: path, Sandbox: &sandbox.Policy{Mode: sandbox.ReadOnly, Memory: 1 << 30}})
	if failed, ok := errors.AsType[*process.StartError](err); !ok || failed.Cause != process.CauseFormat || res.Started {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestServiceWithoutItsSandboxDoesNotStart(t *testing.T) {
	needSandbox(t)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing")) // its own directory cannot be made
	v, err := process.Start(process.ServiceSpec{Path: "/bin/cat", Sandbox: &sandbox.Policy{Mode: sandbox.Strict}})
	if failed, ok := errors.AsType[*process.StartError](err); !ok || failed.Cause != process.CauseSandbox || v != nil {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestOwnDirectoryIsTheOnlyOneNamed(t *testing.T) {
	needSandbox(t)
	s := process.Spec{Argv: []string{"/usr/bin/env"}, Env: []string{"A=1", "TMPDIR=/nonexistent", "B=2"}, Sandbox: &sandbox.Policy{Mode: sandbox.Strict}}
	res, err := process.Run(t.Context(), s)
	if err != nil || !res.OK() || strings.Count(string(res.Stdout), "TMPDIR=") != 1 || !strings.Contains(string(res.Stdout), "A=1\nB=2\nTMPDIR=") {
		t.Fatalf("%v %s %s%s", err, res.Describe(), res.Stdout, res.Stderr)
	}
}

func TestOwnDirectoryIsThereAndIsRemoved(t *testing.T) {
	needSandbox(t)
	s := shell(`echo x > "$TMPDIR/file" && mkdir -m 0 "$TMPDIR/locked" && echo "$TMPDIR"`)
	s.Sandbox = &sandbox.Policy{Mode: sandbox.Strict}
	res, err := process.Run(t.Context(), s)
	dir := strings.TrimSpace(string(res.Stdout))
	if err != nil || !res.OK() || dir == "" {
		t.Fatalf("%v %s %s", err, res.Describe(), res.Stderr)
	}
	for deadline := time.Now().Add(15 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(dir, "is left")
		}
	}
}

func TestContainedServiceAnswersAndLeavesNothing(t *testing.T) {
	needSandbox(t)
	file := beats(t)
	policy := &sandbox.Policy{Mode: sandbox.Strict, Write: []string{file}}
	v, err := process.Start(process.ServiceSpec{Path: "/bin/sh", Argv: []string{"sh", "-c",
		"(setsid sh -c 'while :; do echo x >> " + file + "; done' </dev/null >/dev/null 2>&1 &); while read -r l; do cat /etc/shadow; echo \"got $l\"; done"},
		Env: os.Environ(), Sandbox: policy})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(v.Stdin(), "a")
	buf := make([]byte, 64)
	n, err := v.Stdout().Read(buf)
	if string(buf[:n]) != "got a\n" {
		t.Errorf("%q %v", buf[:n], err)
	}
	for size(file) == 0 {
		time.Sleep(time.Millisecond)
	}
	v.Stop()
	stopsGrowing(t, file)
	if tail := v.StderrTail(); !strings.Contains(tail, "ermission denied") {
		t.Errorf("it read secrets: %q", tail)
	}
}

func TestSandboxThatCannotBeEnforcedStartsNothing(t *testing.T) {
	needSandbox(t)
	file := filepath.Join(t.TempDir(), "ran")
	host := exec.Command(os.Args[0], "/bin/sh", "-c", "echo x > "+file)
	host.Env = append(os.Environ(), hostVariable+"=strict", forbidVariable+"=1")
	out, err := host.CombinedOutput()
	if _, statErr := os.Stat(file); statErr == nil || err != nil || !bytes.Contains(out, []byte("cannot enforce its sandbox")) {
		t.Errorf("%v %s", err, out)
	}
}

// A host that is contained itself contains what it runs, or says why it cannot.
func TestSandboxWithinASandboxHoldsOrIsRefused(t *testing.T) {
	needSandbox(t)
	for outer, want := range map[sandbox.Mode]string{sandbox.Reap: "exit code 7", sandbox.ReadOnly: "it runs in a sandbox itself", sandbox.Strict: "it runs in a sandbox itself"} {
		file := beats(t)
		line := "(setsid sh -c 'while :; do echo x >> " + file + "; sleep 0.01; done' &); while [ ! -s " + file + " ]; do :; done; cat /etc/shadow || exit 7"
		s := process.Spec{Argv: []string{os.Args[0], "/bin/sh", "-c", line, file}, Env: append(os.Environ(), hostVariable+"=strict"), Timeout: time.Minute,
			Sandbox: &sandbox.Policy{Mode: outer, Read: os.Args[:1], Write: []string{file}}}
		res, err := process.Run(t.Context(), s)
		if err != nil || !strings.Contains(string(res.Stdout), want) {
			t.Errorf("within %s: %v %s %q %s", outer, err, res.Describe(), res.Stdout, res.Stderr)
		}
		if outer == sandbox.Reap {
			stopsGrowing(t, file)
		} else if size(file) > 0 {
			t.Errorf("within %s: it ran", outer)
		}
	}
}

// In a user namespace, as root there and as nobody, sandboxes hold.
func TestSandboxHoldsInAUserNamespace(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	needSandbox(t)
	for _, how := range []string{"-U", "-Ur"} {
		if exec.Command("unshare", how, "true").Run() != nil {
			t.Skip("user namespaces are not available")
		}
		file := beats(t)
		os.Chmod(filepath.Dir(file), 0o777)
		os.Chmod(file, 0o666)
		line := "(setsid sh -c 'while :; do echo x >> " + file + "; sleep 0.01; done' &); while [ ! -s " + file + " ]; do :; done; cat /etc/shadow || exit 7"
		cmd := exec.Command("unshare", how, os.Args[0], "/bin/sh", "-c", line, file)
		cmd.Env = append(os.Environ(), hostVariable+"=strict")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "exit code 7") {
			t.Errorf("unshare %s: %v %s", how, err, out)
		}
		stopsGrowing(t, file)
	}
}

func TestDeniedFilesStayUnreadable(t *testing.T) {
	needSandbox(t)
	root := t.TempDir()
	project := filepath.Join(root, "project")
	for _, name := range []string{"open", ".env", "deep/key", "deep/open"} {
		path := filepath.Join(project, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("content of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(root, "link")
	if err := os.Symlink(project, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("deep/key", filepath.Join(project, "alias")); err != nil {
		t.Fatal(err)
	}
	denied := []string{filepath.Join(link, ".env"), filepath.Join(project, "alias")}
	for name, policy := range map[string]sandbox.Policy{
		"strict":                {Mode: sandbox.Strict, Read: []string{project}, Deny: denied},
		"strict, through links": {Mode: sandbox.Strict, Read: []string{link}, Deny: denied},
		"strict, writable":      {Mode: sandbox.Strict, Write: []string{project}, Deny: denied},
		"read-only":             {Mode: sandbox.ReadOnly, Deny: denied},
		"read-only, writable":   {Mode: sandbox.ReadOnly, Write: []string{link}, Deny: denied},
	} {
		s := shell("cd '" + project + "'; cat open deep/open || exit 7; cat .env deep/key alias; mv .env \"$TMPDIR/x\" && cat \"$TMPDIR/x\"; ln deep/key \"$TMPDIR/y\" && cat \"$TMPDIR/y\"; exit 0")
		s.Sandbox = &policy
		res, err := process.Run(t.Context(), s)
		if err != nil || !res.OK() || string(res.Stdout) != "content of opencontent of deep/open" {
			t.Errorf("%s: %v %s %q\n%s", name, err, res.Describe(), res.Stdout, res.Stderr)
		}
	}
}
