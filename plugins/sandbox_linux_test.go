//go:build amd64 || arm64

package plugins

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/sandbox"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// needSandbox skips where this machine does not enforce a strict sandbox.
func needSandbox(t *testing.T) {
	t.Helper()
	for _, f := range (&sandbox.Policy{Mode: sandbox.Strict}).Missing() {
		t.Skipf("this machine does not enforce %s: %s", f.Mechanism, f.Why)
	}
	t.Cleanup(sandbox.Forget)
}

// targets are what a plugin may want to reach, and the file that its daemon lets grow.
func targets(t *testing.T) (list, beat string) {
	t.Helper()
	dir := t.TempDir()
	secret, open := filepath.Join(dir, "secret"), filepath.Join(dir, "open")
	beat = filepath.Join(dir, "beat")
	for _, file := range []string{secret, open, beat} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	words := []string{"read:" + secret, "write:" + open, "daemon:" + beat}
	for network, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": filepath.Join(dir, "s")} {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		words = append(words, network+":"+l.Addr().String())
	}
	return strings.Join(words, " "), beat
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// A contained plugin serves on its socket, reaches what its mode allows, and leaves nothing behind.
func TestContainedPluginServesAndReachesNothingElse(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	needSandbox(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[hook.SandboxMode]string{
		hook.SandboxNone: "read write daemon tcp unix", hook.SandboxReap: "read write daemon tcp unix",
		hook.SandboxReadOnly: "read daemon", hook.SandboxStrict: "daemon",
	} {
		t.Run(string(mode), func(t *testing.T) {
			b := newBench(t)
			list, beat := targets(t)
			path := b.install("fault", "good")
			b.grant(path, terms{granted: &hook.Sandbox{Mode: mode, AllowRead: []string{self}, AllowWrite: []string{beat}}})
			if box := b.host.Sandbox(b.hook()); box == nil || box.Mode != mode {
				t.Errorf("the host says %+v", box)
			}
			got := strings.Fields(b.mustCall(do{Do: "reach", Text: list}).Context)
			if !sameWords(got, strings.Fields(want)) {
				t.Errorf("it reached %v, want %v", got, want)
			}
			if b.pid() == 0 {
				t.Error("no process")
			}
			eventually(t, 20*time.Second, "its daemon runs", func() bool { return fileSize(t, beat) > 0 })
			b.host.Close()
			if mode == hook.SandboxNone {
				return
			}
			eventually(t, 20*time.Second, "its daemon is gone", func() bool {
				before := fileSize(t, beat)
				time.Sleep(100 * time.Millisecond)
				return fileSize(t, beat) == before
			})
		})
	}
}

func sameWords(a, b []string) bool {
	for _, w := range a {
		if !strings.Contains(" "+strings.Join(b, " ")+" ", " "+w+" ") {
			return false
		}
	}
	return len(a) == len(b)
}

// What plugin.toml asks for is what an approval grants; another grant starts another process; without one the sandbox
// of the hook's scope counts.
func TestApprovalGrantsTheSandboxThatAPackageAsksFor(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	needSandbox(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	list, _ := targets(t)
	b.install("fault", "good")
	call := func(mode hook.SandboxMode) string {
		t.Helper()
		c := callOf(b.hook(), do{Do: "reach", Text: list})
		c.Hook.Sandbox = &hook.Sandbox{Mode: mode, AllowRead: []string{self}}
		out, err := b.host.Handle(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return out.Context
	}
	b.manifest("[sandbox]\nmode = \"read-only\"\n")
	b.trust()
	pkg, _ := b.host.Package(b.dir)
	if pkg.Sandbox == nil || pkg.Sandbox.Mode != hook.SandboxReadOnly {
		t.Fatalf("%+v", pkg)
	}
	hooks, notes := described(b.host, b.dir)
	if len(hooks) != 1 || len(notes) > 0 || hooks[0].Sandbox == nil || hooks[0].Sandbox.Mode != hook.SandboxReadOnly {
		t.Errorf("%+v %v", hooks, notes)
	}
	if got := call(hook.SandboxNone); got != "read daemon" && got != "read" {
		t.Errorf("the package's sandbox does not count: it reached %q", got)
	}
	first := b.pid()
	b.manifest("sandbox = \"reap\"\n")
	b.trust()
	if got := call(hook.SandboxStrict); !strings.Contains(got, "write") || b.pid() == first {
		t.Errorf("what was granted later does not count: it reached %q", got)
	}
	b.manifest("")
	if err := b.host.Learn(t.Context(), b.dir); err == nil { // it cannot read the test's binary under strict
		t.Error("a package that asks for nothing was asked for its hooks uncontained")
	}
	b.pin(filepath.Join(b.dir, "tenterhook-plugin-fault"))
	if got := call(hook.SandboxStrict); strings.Contains(got, "read") {
		t.Errorf("the sandbox of the scope does not count: it reached %q", got)
	}
}

func TestPluginThatEndsInItsSandboxIsToldSo(t *testing.T) {
	needSandbox(t)
	b := newBench(t)
	b.manifest("sandbox = \"strict\"\n")
	b.pin(b.script("fault", "exit 3\n"))
	_, _, err := b.call(do{Do: "version"})
	if p := expectCode(t, err, CodeExited); p != nil && !strings.Contains(p.Hint, `in the sandbox "strict"`) {
		t.Errorf("%+v", p)
	}
}

func TestSandboxOfAPluginNamesPlacesOfTheProject(t *testing.T) {
	needSandbox(t)
	project, dir, sockets := t.TempDir(), t.TempDir(), t.TempDir()
	s := &start{path: "/bin/true", dir: dir, approval: approval{confines: confines{&hook.Sandbox{Mode: hook.SandboxStrict,
		AllowWrite: []string{"${TENTERHOOK_PROJECT_DIR}/build", "${" + proto.DirVariable + "}/cache"}}, project}}}
	policy := s.policy(sockets)
	if policy == nil || !policy.Serve {
		t.Fatalf("%+v", policy)
	}
	for _, place := range []string{filepath.Join(project, "build"), filepath.Join(dir, "cache"), sockets} {
		if !slices.Contains(policy.Write, place) {
			t.Errorf("%s is not among %v", place, policy.Write)
		}
	}
}
