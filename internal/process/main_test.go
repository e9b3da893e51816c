package process_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/internal/process"
	"github.com/tenterhook/tenterhook/internal/sandbox"
	"github.com/tenterhook/tenterhook/testdata/nolandlock"
)

// faulthook is the program that misbehaves, see testdata/faulthook.
var faulthook string

// hostVariable makes the test binary a host that runs one hook, for the tests that kill the host.
const hostVariable = "PROCESS_TEST_HOST"

// faulthookVariable names faulthook where it is built already, and forbidVariable forbids a host Landlock.
const (
	faulthookVariable = "PROCESS_TEST_FAULTHOOK"
	forbidVariable    = "PROCESS_TEST_FORBID"
)

func TestMain(m *testing.M) {
	if os.Getenv(hostVariable) != "" {
		host()
	}
	if faulthook = os.Getenv(faulthookVariable); faulthook != "" {
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "faulthook")
	if err != nil {
		panic(err)
	}
	faulthook = filepath.Join(dir, "faulthook")
	if runtime.GOOS == "windows" {
		faulthook += ".exe"
	}
	if err := built.Into(dir, "testdata/faulthook"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if r, w, err := os.Pipe(); err == nil { // has Go open its poller, which stays
		r.Close()
		w.Close()
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// host runs what its arguments say, and says how it went.
func host() {
	if os.Getenv(hostVariable) == "service" {
		v, err := process.Start(process.ServiceSpec{Argv: os.Args[1:], Env: os.Environ()})
		if err != nil {
			panic(err)
		}
		<-v.Done()
		os.Exit(0)
	}
	spec := process.Spec{Argv: os.Args[1:], Env: os.Environ(), Timeout: time.Minute}
	if mode := sandbox.Mode(os.Getenv(hostVariable)); mode.Known() {
		spec.Sandbox = &sandbox.Policy{Mode: mode, Read: os.Args[1:2], Write: os.Args[len(os.Args)-1:]}
	}
	if os.Getenv(forbidVariable) != "" {
		if err := nolandlock.Forbid(); err != nil {
			panic(err)
		}
	}
	res, err := process.Run(context.Background(), spec)
	fmt.Printf("%s %v", res.Describe(), err)
	os.Exit(0)
}

// fault is the spec of one mode of faulthook.
func fault(args ...string) process.Spec {
	return process.Spec{Argv: append([]string{faulthook}, args...), Env: os.Environ(), Timeout: 20 * time.Second}
}

// shell is the spec of a command line for sh.
func shell(line string) process.Spec {
	return process.Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", line}, Env: os.Environ(), Timeout: 20 * time.Second}
}
