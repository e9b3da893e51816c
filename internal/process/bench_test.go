package process_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/process"
)

var payload = []byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls -la"}}`)

// BenchmarkSpawn compares Run with the floor, a bare os/exec spawn with three pipes. The ratios are of
// the medians of spawns that take turns, so that what else the machine does falls on both.
func BenchmarkSpawn(b *testing.B) {
	for _, p := range []struct {
		name string
		argv []string
	}{
		{"sh", []string{"/bin/sh", "-c", "true"}},
		{"static", []string{staticProgram(b)}},
	} {
		b.Run("raw-"+p.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				spawn(b, p.argv)
			}
		})
		b.Run("run-"+p.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				runOne(b, p.argv)
			}
		})
		b.Run("ratio-"+p.name, func(b *testing.B) {
			var raw, run []time.Duration
			for b.Loop() {
				began := time.Now()
				spawn(b, p.argv)
				between := time.Now()
				runOne(b, p.argv)
				raw, run = append(raw, between.Sub(began)), append(run, time.Since(between))
			}
			b.ReportMetric(float64(median(raw).Microseconds()), "raw-µs")
			b.ReportMetric(float64(median(run).Microseconds()), "run-µs")
			b.ReportMetric(float64(median(run))/float64(median(raw)), "ratio")
		})
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// spawn is the least that os/exec can do for a child that is fed and listened to.
func spawn(b *testing.B, argv []string) {
	cmd := exec.Command(argv[0], argv[1:]...)
	stdin, _ := cmd.StdinPipe()
	stdout, _ := cmd.StdoutPipe()
	stderr, _ := cmd.StderrPipe()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	stdin.Write(payload)
	stdin.Close()
	io.ReadAll(stdout)
	io.ReadAll(stderr)
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
}

func runOne(b *testing.B, argv []string) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	res, err := process.Run(ctx, process.Spec{Argv: argv, Env: os.Environ(), Stdin: payload, Timeout: time.Minute})
	if err != nil || !res.OK() {
		b.Fatal(res, err)
	}
}

// staticProgram builds a program that does nothing.
func staticProgram(b *testing.B) string {
	dir := b.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	program := filepath.Join(dir, "nothing")
	build := exec.Command("go", "build", "-o", program, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return program
}
