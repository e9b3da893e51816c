//go:build linux || darwin

package process_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/process"
)

// programs lays out, in a fresh directory, programs that do not start, and returns it. Its path has a
// space.
func programs(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "my hooks")
	if err := os.MkdirAll(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]struct {
		mode os.FileMode
		text string
	}{
		"good.sh":       {0o755, "#!/bin/sh\necho fine\n"},
		"plain.sh":      {0o644, "#!/bin/sh\necho fine\n"},
		"crlf.sh":       {0o755, "#!/bin/sh\r\necho fine\r\n"},
		"lost.sh":       {0o755, "#!/opt/no/such/interpreter -x\necho fine\n"},
		"noword.sh":     {0o755, "#!  \necho fine\n"},
		"envlost.sh":    {0o755, "#!/usr/bin/env no-such-program\n"},
		"envs.sh":       {0o755, "#!/usr/bin/env -S A=b no-such-program -x\n"},
		"envcrlf.sh":    {0o755, "#!/usr/bin/env sh\r\necho fine\r\n"},
		"noshebang":     {0o755, "echo fine\n"},
		"bom.sh":        {0o755, "\xef\xbb\xbf#!/bin/sh\necho fine\n"},
		"garbage":       {0o755, "\x7fELF\x00\x00garbage\x00\x01\x02"},
		"folder/inside": {0o644, ""},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(p.text), p.mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestP14StartFailuresAreExplained(t *testing.T) {
	dir := programs(t)
	for name, want := range map[string]struct {
		cause  process.Cause
		remedy string
	}{
		"missing.sh": {process.CauseNotFound, "check the path"},
		"plain.sh":   {process.CauseNotExecutable, "chmod +x"},
		"crlf.sh":    {process.CauseCRLF, "LF line ends"},
		"lost.sh":    {process.CauseInterpreter, "install it"},
		"noword.sh":  {process.CauseInterpreter, "#!/bin/sh"},
		"noshebang":  {process.CauseFormat, "#!/bin/sh"},
		"bom.sh":     {process.CauseFormat, "without a byte order mark"},
		"garbage":    {process.CauseFormat, "build it for this system"},
		"folder":     {process.CauseDirectory, "name the program"},
	} {
		path := filepath.Join(dir, name)
		res, err := process.Run(context.Background(), process.Spec{Path: path, Timeout: 20 * time.Second})
		var se *process.StartError
		if !errors.As(err, &se) || se.Cause != want.cause || !strings.Contains(se.Remedy, want.remedy) {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		if res.Started || se.Err == nil || !strings.Contains(err.Error(), name) || strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%s: got %q, started %v", name, err, res.Started)
		}
	}
}

func TestP14ExitsOfShellsAreExplained(t *testing.T) {
	dir := programs(t)
	shells := []string{"/bin/sh"}
	for _, name := range []string{"bash", "dash", "zsh", "busybox"} {
		if path, err := exec.LookPath(name); err == nil {
			shells = append(shells, path)
		}
	}
	tests := []struct {
		line  string
		cause process.Cause
		names string // what the reason or the path has to name
	}{
		{"no-such-program --flag", process.CauseNotFound, "no-such-program"},
		{"./missing.sh", process.CauseNotFound, "missing.sh"},
		{"./plain.sh", process.CauseNotExecutable, "plain.sh"},
		{"./crlf.sh", process.CauseCRLF, "crlf.sh"},
		{"./lost.sh", process.CauseInterpreter, "/opt/no/such/interpreter"},
		{"./envlost.sh", process.CauseInterpreter, "no-such-program"},
		{`"./envlost.sh" with arguments`, process.CauseInterpreter, "no-such-program"},
		{"./envcrlf.sh", process.CauseCRLF, "envcrlf.sh"},
		{"./folder", process.CauseDirectory, "folder"},
		{dir + "/good.sh", process.CauseSpace, "good.sh"},
		{"echo noise >&2; " + dir + "/good.sh with arguments", process.CauseSpace, "good.sh"},
	}
	for _, sh := range shells {
		for _, tt := range tests {
			s := process.Spec{Path: sh, Argv: []string{"sh", "-c", tt.line}, Dir: dir, Env: os.Environ(), Timeout: 20 * time.Second}
			res, err := process.Run(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			d, ok := process.Explain(s, res)
			if !ok || d.Cause != tt.cause || !strings.Contains(d.Reason+d.Path, tt.names) || d.Remedy == "" {
				t.Errorf("%s: %s: exit %d, %q: got %+v, %v", sh, tt.line, res.ExitCode, res.Stderr, d, ok)
			}
		}
	}
}

func TestP14ScriptsRunByEnvAreExplained(t *testing.T) {
	dir := programs(t)
	for name, cause := range map[string]process.Cause{
		"envlost.sh": process.CauseInterpreter,
		"envs.sh":    process.CauseInterpreter,
		"envcrlf.sh": process.CauseCRLF,
	} {
		s := process.Spec{Path: filepath.Join(dir, name), Env: os.Environ(), Timeout: 20 * time.Second}
		res, err := process.Run(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := process.Explain(s, res); !ok || d.Cause != cause {
			t.Errorf("%s: exit %d, %q: got %+v", name, res.ExitCode, res.Stderr, d)
		}
	}
}

func TestP14PathWithSpaceRunsUnharmed(t *testing.T) {
	res, err := process.Run(context.Background(), process.Spec{Path: filepath.Join(programs(t), "good.sh"), Timeout: 20 * time.Second})
	if err != nil || string(res.Stdout) != "fine\n" {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestExplainIsSilentAboutOtherEnds(t *testing.T) {
	for name, r := range map[string]process.Result{
		"exit 1":         {Started: true, ExitCode: 1, Stderr: []byte("sh: 1: foo: not found")},
		"timed out":      {Started: true, ExitCode: 127, TimedOut: true, Stderr: []byte("sh: 1: foo: not found")},
		"not started":    {ExitCode: 127, Stderr: []byte("sh: 1: foo: not found")},
		"nothing to say": {Started: true, ExitCode: 127},
	} {
		if d, ok := process.Explain(shell("foo"), r); ok {
			t.Errorf("%s: got %+v", name, d)
		}
	}
}

func TestBadSpecsAreRefused(t *testing.T) {
	sh := func(change func(*process.Spec)) process.Spec {
		s := shell("true")
		change(&s)
		return s
	}
	for name, tt := range map[string]struct {
		spec  process.Spec
		cause process.Cause
		says  string
	}{
		"empty":          {process.Spec{}, process.CauseSpec, "no program"},
		"relative":       {process.Spec{Path: "sh"}, process.CauseSpec, "not absolute"},
		"relative argv":  {process.Spec{Argv: []string{"./sh"}}, process.CauseSpec, "not absolute"},
		"timeout":        {sh(func(s *process.Spec) { s.Timeout = -1 }), process.CauseSpec, "negative"},
		"cap":            {sh(func(s *process.Spec) { s.MaxStderr = -1 }), process.CauseSpec, "negative"},
		"NUL in argv":    {sh(func(s *process.Spec) { s.Argv[2] = "a\x00b" }), process.CauseSpec, "NUL"},
		"NUL in env":     {sh(func(s *process.Spec) { s.Env = []string{"A=\x00"} }), process.CauseSpec, "NUL"},
		"directory":      {sh(func(s *process.Spec) { s.Dir = "/no/such/dir" }), process.CauseWorkingDir, "/no/such/dir"},
		"file as folder": {sh(func(s *process.Spec) { s.Dir = "/bin/sh" }), process.CauseWorkingDir, "/bin/sh"},
		"too long":       {sh(func(s *process.Spec) { s.Argv = append(s.Argv, strings.Repeat("x", 8<<20)) }), process.CauseTooBig, "stdin"},
	} {
		_, err := process.Run(context.Background(), tt.spec)
		var se *process.StartError
		if !errors.As(err, &se) || se.Cause != tt.cause || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestEndedContextStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("the agent has left")
	cancel(why)
	mark := filepath.Join(t.TempDir(), "mark")
	res, err := process.Run(ctx, shell("echo >"+mark))
	if !errors.Is(err, why) || !res.Cancelled || res.Started {
		t.Errorf("got %+v, %v", res, err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it ran")
	}
}

func TestChildSeesWhatTheSpecSays(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := fault("cwd")
	s.Dir = dir
	if res, err := process.Run(context.Background(), s); err != nil || string(res.Stdout) != dir {
		t.Errorf("cwd: got %q, %v", res.Stdout, err)
	}
	args := []string{"", "a b", "*", "$HOME", "\xff", "line\nbreak"}
	res, err := process.Run(context.Background(), fault(append([]string{"args"}, args...)...))
	want, _ := json.Marshal(args)
	if err != nil || !bytes.Equal(bytes.TrimSpace(res.Stdout), want) {
		t.Errorf("args: got %s, %v, want %s", res.Stdout, err, want)
	}
	s = fault("env")
	s.Env = []string{"A=1", "B=2", "A=3"}
	res, err = process.Run(context.Background(), s)
	var env []string
	if jerr := json.Unmarshal(res.Stdout, &env); err != nil || jerr != nil {
		t.Fatal(err, jerr)
	}
	if len(env) != 3 || !strings.HasPrefix(env[0], process.RunVariable+"=") || env[1] != "B=2" || env[2] != "A=3" {
		t.Errorf("env: got %q", env)
	}
}
