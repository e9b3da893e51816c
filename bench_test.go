package tenterhook_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/adrg/frontmatter"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/plugins"
	"github.com/tenterhook/tenterhook/registry"
)

// versus runs a floor and ours in turn and reports the medians and their
// ratio: one after the other, so that the machine's noise falls on both.
func versus(b *testing.B, floor, ours func()) {
	var floors, all []time.Duration
	timed := func(f func()) time.Duration {
		start := time.Now()
		f()
		return time.Since(start)
	}
	for n := 0; b.Loop(); n++ {
		if n%2 == 0 {
			floors, all = append(floors, timed(floor)), append(all, timed(ours))
		} else {
			all, floors = append(all, timed(ours)), append(floors, timed(floor))
		}
	}
	f, o := median(floors), median(all)
	b.ReportMetric(0, "ns/op") // of both together: it says nothing
	b.ReportMetric(float64(f.Nanoseconds())/1e3, "floor-µs")
	b.ReportMetric(float64(o.Nanoseconds())/1e3, "ours-µs")
	b.ReportMetric(float64(o)/float64(f), "ratio")
}

func median(ds []time.Duration) time.Duration {
	slices.Sort(ds)
	return ds[len(ds)/2]
}

// spawn is what any host would write: start a process with three pipes, feed
// it, read it, wait for it.
func spawn(b *testing.B, stdin []byte, argv ...string) {
	cmd := exec.Command(argv[0], argv[1:]...)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	errs, err3 := cmd.StderrPipe()
	if err1 != nil || err2 != nil || err3 != nil {
		b.Fatal(err1, err2, err3)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	_, _ = in.Write(stdin)
	_ = in.Close()
	_, _ = io.Copy(io.Discard, out)
	_, _ = io.Copy(io.Discard, errs)
	_ = cmd.Wait()
}

// oneHook opens a registry with one PreToolUse command hook.
func oneHook(b *testing.B, command string) *registry.Registry {
	b.Helper()
	dir := b.TempDir()
	writeHook(b, dir, "h", fmt.Sprintf("+++\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\ncommand = '''%s'''\n+++\n", command))
	return openDir(b, dir)
}

func openDir(b *testing.B, dir string) *registry.Registry {
	b.Helper()
	reg, err := tenterhook.Open(b.Context(), tenterhook.Options{Workspace: b.TempDir(), Dirs: []string{dir},
		Without: []hook.Scope{hook.ScopeManaged, hook.ScopeUser, hook.ScopeProject, hook.ScopePlugin}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = reg.Close() })
	return reg
}

func writeHook(b *testing.B, dir, name, text string) {
	b.Helper()
	if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name, "HOOK.md"), []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}

func payloadOf(b *testing.B, in hook.Input) []byte {
	b.Helper()
	payload, err := hook.Encode(in, in.Common())
	if err != nil {
		b.Fatal(err)
	}
	return payload
}

var benchInput = hook.PreToolUse{ToolName: "Bash", ToolInput: []byte(`{"command":"ls -la"}`), ToolUseID: "toolu_1"}

func dispatching(b *testing.B, reg *registry.Registry) func() {
	return func() {
		out, err := reg.Dispatch(b.Context(), benchInput)
		if err != nil || out.Results[0].Status != hook.StatusSuccess {
			b.Fatal(err, out)
		}
	}
}

// BenchmarkDispatchShells is a dispatch of hooks that need a shell, side by side, against as many `sh -c`.
func BenchmarkDispatchShells(b *testing.B) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		b.Skip("no /bin/sh")
	}
	for _, n := range []int{1, 2, 5, 10, 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir, payload := b.TempDir(), payloadOf(b, benchInput)
			for i := range n {
				writeHook(b, dir, fmt.Sprintf("h%d", i), "+++\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\ncommand = \"true; exit 0\"\n+++\n")
			}
			versus(b, func() {
				var all sync.WaitGroup
				for range n {
					all.Go(func() { spawn(b, payload, "/bin/sh", "-c", "true; exit 0") })
				}
				all.Wait()
			}, dispatching(b, openDir(b, dir)))
		})
	}
}

// BenchmarkDispatchProgram is a hook that is a static program, which runs
// without a shell, against that program alone.
func BenchmarkDispatchProgram(b *testing.B) {
	program := staticProgram(b)
	reg, payload := oneHook(b, program), payloadOf(b, benchInput)
	versus(b, func() { spawn(b, payload, program) }, dispatching(b, reg))
}

// BenchmarkDispatchProgramAgainstShell is the same hook against what hosts do
// with it: `sh -c` with the program's name.
func BenchmarkDispatchProgramAgainstShell(b *testing.B) {
	program := staticProgram(b)
	reg, payload := oneHook(b, program), payloadOf(b, benchInput)
	versus(b, func() { spawn(b, payload, "/bin/sh", "-c", program) }, dispatching(b, reg))
}

func staticProgram(b *testing.B) string {
	b.Helper()
	source := filepath.Join(b.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	program := filepath.Join(b.TempDir(), "program")
	build := exec.Command("go", "build", "-o", program, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return program
}

const manifestText = `+++
name = "hook-%d"
description = "Keeps an eye on something"
event = "PreToolUse"
matcher = "Tool%d|Bash"
command = "./guard.sh --level 3"
timeout = 5
on_failure = "block"
[requires]
envs = ["HOME"]
+++
# hook-%d

What it does, for whoever reads the folder.
`

// BenchmarkLoad1000 loads a thousand hook folders against reading and decoding
// the same files, one after the other, with the two libraries alone.
func BenchmarkLoad1000(b *testing.B) {
	dir := b.TempDir()
	for i := range 1000 {
		writeHook(b, dir, fmt.Sprintf("hook-%04d", i), fmt.Sprintf(manifestText, i, i, i))
	}
	opts := tenterhook.Options{Workspace: b.TempDir(), Dirs: []string{dir},
		Without: []hook.Scope{hook.ScopeManaged, hook.ScopeUser, hook.ScopeProject, hook.ScopePlugin}}
	versus(b, func() { decodeAll(b, dir) }, func() {
		reg, err := tenterhook.Open(b.Context(), opts)
		if err != nil {
			b.Fatal(err)
		}
		if n := len(reg.Diagnostics()); n != 0 {
			b.Fatal(reg.Diagnostics()[0])
		}
		_ = reg.Close()
	})
}

// BenchmarkReload1000 reloads a thousand hook folders of which none changed
// against listing their folder and a stat of each.
func BenchmarkReload1000(b *testing.B) {
	dir := b.TempDir()
	for i := range 1000 {
		writeHook(b, dir, fmt.Sprintf("hook-%04d", i), fmt.Sprintf(manifestText, i, i, i))
	}
	time.Sleep(200 * time.Millisecond) // until the files' times tell one write from the next
	reg := openDir(b, dir)
	reload := func() {
		changed, err := reg.Reload(b.Context())
		if err != nil || changed.Any() {
			b.Fatal(changed, err)
		}
	}
	reload()
	versus(b, func() {
		entries, err := os.ReadDir(dir)
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range entries {
			if _, err := os.Stat(filepath.Join(dir, e.Name(), "HOOK.md")); err != nil {
				b.Fatal(err)
			}
		}
	}, reload)
}

// BenchmarkLoadPackages50 loads fifty packages, each with a plugin of its own
// that was approved, against a stat of each and the reading of the approvals.
// "starts" counts the processes that this starts, which must be none.
func BenchmarkLoadPackages50(b *testing.B) {
	bin := b.TempDir()
	if err := built.Into(bin, "examples/plugins/guard"); err != nil {
		b.Fatal(err)
	}
	guard := built.Program(bin, "guard")
	state, packages, mark := b.TempDir(), b.TempDir(), filepath.Join(b.TempDir(), "mark")
	opts := tenterhook.Options{Workspace: b.TempDir(), PluginsDir: packages, StateDir: state,
		Without: []hook.Scope{hook.ScopeManaged, hook.ScopeUser, hook.ScopeProject}}
	host := plugins.New(plugins.Options{StateDir: state})
	defer host.Close()
	var binaries []string
	for i := range 50 {
		dir := filepath.Join(packages, fmt.Sprintf("pack%02d", i))
		binaries = append(binaries, filepath.Join(dir, "tenterhook-plugin-guard"))
		script := fmt.Sprintf("#!/bin/sh\necho %d >> %s\nexec %s\n", i, mark, guard)
		uncontained := []byte("sandbox = \"none\"\n") // the script runs a program of another folder
		if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "plugin.toml"), uncontained, 0o644),
			os.WriteFile(binaries[i], []byte(script), 0o755)); err != nil {
			b.Fatal(err)
		}
		if err := host.Learn(b.Context(), dir); err != nil {
			b.Fatal(err)
		}
	}
	reg, err := tenterhook.Open(b.Context(), opts)
	if err != nil {
		b.Fatal(err)
	}
	approveAll(b, reg)
	if err := reg.Close(); err != nil {
		b.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond) // until the files' times tell one write from the next
	starts := func() int {
		data, err := os.ReadFile(mark)
		if err != nil {
			b.Fatal(err)
		}
		return bytes.Count(data, []byte("\n"))
	}
	before := starts()
	versus(b, func() {
		if _, err := os.ReadFile(filepath.Join(state, "approvals.json")); err != nil {
			b.Fatal(err)
		}
		for _, path := range binaries {
			if _, err := os.Stat(path); err != nil {
				b.Fatal(err)
			}
		}
	}, func() {
		reg, err := tenterhook.Open(b.Context(), opts)
		if err != nil {
			b.Fatal(err)
		}
		if n := len(reg.List()); n != 50 {
			b.Fatal(n, reg.Diagnostics())
		}
		_ = reg.Close()
	})
	b.ReportMetric(float64(starts()-before), "starts")
}

// approveAll approves all that needs it.
func approveAll(t testing.TB, reg *registry.Registry) {
	t.Helper()
	for _, s := range reg.Subjects() {
		seal, err := s.Seal()
		if err == nil {
			err = reg.Approvals().Approve(seal)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func decodeAll(b *testing.B, dir string) {
	format := frontmatter.NewFormat("+++", "+++", toml.Unmarshal)
	entries, err := os.ReadDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name(), "HOOK.md"))
		if err != nil {
			b.Fatal(err)
		}
		var fields map[string]any
		if _, err := frontmatter.MustParse(bytes.NewReader(data), &fields, format); err != nil {
			b.Fatal(err)
		}
		if !strings.HasPrefix(fields["name"].(string), "hook-") {
			b.Fatal(fields)
		}
	}
}
