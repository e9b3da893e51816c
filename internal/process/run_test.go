package process_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenterhook/tenterhook/internal/process"
)

const decision = `{"continue":true,"systemMessage":"faulthook decided"}` + "\n"

func TestResultTellsHowTheChildEnded(t *testing.T) {
	with := func(s process.Spec, change func(*process.Spec)) process.Spec { change(&s); return s }
	for name, tt := range map[string]struct {
		spec process.Spec
		want process.Result
		ok   bool
		says string
	}{
		"success": {fault("ok"),
			process.Result{Started: true, Stdout: []byte(decision)}, true, "exit code 0"},
		"failure": {fault("exit", "3", "because"),
			process.Result{Started: true, ExitCode: 3, Stderr: []byte("because")}, false, "exit code 3"},
		"input": {with(fault("echo"), func(s *process.Spec) { s.Stdin = []byte("in and out") }),
			process.Result{Started: true, Stdout: []byte("in and out")}, true, "exit code 0"},
		"overflow": {with(fault("flood"), func(s *process.Spec) { s.MaxStdout = 5 }),
			process.Result{Started: true, Overflow: "stdout", Stdout: []byte("y\ny\ny")}, false, "wrote too much to stdout"},
		"timeout": {with(fault("sleep", "60s"), func(s *process.Spec) { s.Timeout = 200 * time.Millisecond }),
			process.Result{Started: true, TimedOut: true}, false, "timed out, stopped after"},
	} {
		res, err := process.Run(context.Background(), tt.spec)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if res.OK() != tt.ok || !strings.HasPrefix(res.Describe(), tt.says) {
			t.Errorf("%s: OK %v, %q", name, res.OK(), res.Describe())
		}
		ignore := []string{"Elapsed"}
		if tt.want.Overflow != "" || tt.want.TimedOut { // how a stopped child dies is its own affair
			ignore = append(ignore, "ExitCode", "Signal")
		}
		if diff := cmp.Diff(tt.want, res, cmpopts.IgnoreFields(process.Result{}, ignore...), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestDescribeOfWhatDidNotEndByItself(t *testing.T) {
	for want, r := range map[string]process.Result{
		"not started":                           {},
		"cancelled by the caller":               {Started: true, Cancelled: true, Signal: "SIGTERM"},
		"wrote too much to stderr":              {Started: true, Overflow: "stderr"},
		"ended, but its exit code is not known": {Started: true, ExitCode: -1},
	} {
		if got := r.Describe(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
