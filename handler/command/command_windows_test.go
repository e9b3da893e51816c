package command_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/handler/command"
	"github.com/tenterhook/tenterhook/hook"
)

// runIn runs a command from a folder with a space, a letter that is not ASCII and a character that cmd.exe reads.
func runIn(t *testing.T, files map[string]string, cmd hook.Command, env ...string) (*hook.Output, error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ein täst & so")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h := hook.Hook{ID: "dir/test", Event: hook.EventPreToolUse, Kind: hook.KindCommand, Command: &cmd, Source: hook.Source{Dir: dir, Root: filepath.Dir(dir)}}
	c := &hook.Call{Hook: &h, Input: hook.PreToolUse{}, Payload: []byte("{}"), ProjectDir: dir, Dir: dir}
	handler := command.New(command.Options{Env: append(os.Environ(), env...)})
	defer handler.Close()
	return handler.Handle(t.Context(), c)
}

const echo = "@echo off\r\necho [%1][%2][%3] 1>&2\r\nexit /b 2\r\n"

// fake stands for a program that PATH leads to, and prints what it is given.
const fake = "@echo off\r\necho %* 1>&2\r\nexit /b 2\r\n"

func TestProgramsAreStartedAsWindowsHasThem(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		cmd   hook.Command
		want  string // a part of the reason
	}{
		"text for cmd.exe":                {nil, hook.Command{Line: "cmd.exe", Args: []string{"/c", `echo "a b" & exit 2 & rem`}}, ""},
		"cmd as the shell":                {nil, hook.Command{Line: `if exist "%HOOK_DIR%" (echo its folder 1>&2 & exit 2)`, Shell: "cmd"}, "its folder"},
		"a batch file":                    {map[string]string{"check.cmd": echo}, hook.Command{Line: "./check.cmd"}, "[][][]"},
		"by PATHEXT":                      {map[string]string{"check.cmd": echo}, hook.Command{Line: "./check", Args: []string{"x"}}, "[x][][]"},
		"with a space in its name":        {map[string]string{"check it.bat": echo}, hook.Command{Line: `"./check it.bat" a`}, "[a][][]"},
		"arguments that cmd.exe reads":    {map[string]string{"check.cmd": echo}, hook.Command{Line: "./check.cmd", Args: []string{"a b", "x&echo injected", "|more>x"}}, `["a b"]["x&echo injected"]["|more>x"]`},
		"a script for sh":                 {map[string]string{"check.sh": "echo \"sh $1\" >&2\nexit 2\n"}, hook.Command{Line: "./check.sh 'a b'"}, "sh a b"},
		"a first line":                    {map[string]string{"check": "#!/usr/bin/env sh\necho first >&2\nexit 2\n"}, hook.Command{Line: "./check"}, "first"},
		"a text without one":              {map[string]string{"check": "echo text >&2\nexit 2\n"}, hook.Command{Line: "./check"}, "text"},
		"a line for sh":                   {nil, hook.Command{Line: `echo "$HOOK_DIR" | cat >&2; exit 2`}, "täst & so"},
		"a script of PowerShell":          {map[string]string{"check.ps1": ""}, hook.Command{Line: "./check.ps1", Args: []string{"a"}}, "-ExecutionPolicy Bypass -File"},
		"a script of Python, by launcher": {map[string]string{"check.py": ""}, hook.Command{Line: "./check.py"}, "check.py"},
	} {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			for _, program := range []string{"pwsh.cmd", "py.cmd"} {
				if err := os.WriteFile(filepath.Join(bin, program), []byte(fake), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			out, err := runIn(t, tt.files, tt.cmd, "Path="+bin+";"+os.Getenv("PATH"))
			if err != nil || out.Verdict != hook.Deny || !strings.Contains(out.Reason, tt.want) {
				t.Errorf("%+v, %v, want a denial with %q", out, err, tt.want)
			}
		})
	}
}

func TestWhatWindowsWouldReadOtherwiseIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		cmd   hook.Command
		want  string
	}{
		"a quote in an argument of a batch file": {map[string]string{"check.cmd": echo}, hook.Command{Line: "./check.cmd", Args: []string{`" & calc`}}, "would not take"},
		"a variable there":                       {map[string]string{"check.cmd": echo}, hook.Command{Line: "./check.cmd", Args: []string{"%PATH%"}}, "would not take"},
		"a line there":                           {map[string]string{"check.cmd": echo}, hook.Command{Line: "./check.cmd", Args: []string{"a\r\ncalc"}}, "would not take"},
		"a folder in text for cmd.exe":           {nil, hook.Command{Line: "cmd", Args: []string{"/c", "dir ${HOOK_DIR}"}}, "would not take for a path"},
		"CR LF in a script for sh":               {map[string]string{"check.sh": "#!/bin/sh\r\nexit 2\r\n"}, hook.Command{Line: "./check.sh"}, "CR LF"},
		"a program that is not there":            {nil, hook.Command{Line: "no-such-program-here"}, "no-such-program-here"},
		"a script that is not there":             {nil, hook.Command{Line: "./gone.cmd"}, "gone.cmd"},
		"a shell that is none":                   {nil, hook.Command{Line: "x", Shell: "no-such-shell"}, "no-such-shell"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := runIn(t, tt.files, tt.cmd)
			var failed *hook.Error
			if !errors.As(err, &failed) || failed.Failure != hook.FailureStart || failed.Hint == "" || !strings.Contains(failed.Reason, tt.want) {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}
