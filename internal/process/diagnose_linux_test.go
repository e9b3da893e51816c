package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/testdata/asowner"
)

// layOut makes files with a mode below a fresh directory.
func layOut(t *testing.T, files map[string]string, mode os.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestProgramThatLooksWellIsTold(t *testing.T) {
	dir := layOut(t, map[string]string{
		"ok": "#!/bin/sh\n", "arg": "#! /bin/sh -e", "env": "#!/usr/bin/env sh\n", "envopts": "#!/usr/bin/env -S A=b sh -x\n", "envalone": "#!/usr/bin/env\n",
		"elf": "\x7fELF\x02", "high": "\xff\xfe\x00", "crlf": "#!/bin/sh\r\nx", "crlater": "#!/bin/sh\nx\r\n", "bare": "#!", "blank": "#! \t\n", "none": "#!/no/such -x\n",
		"folder": "#!/bin\n", "enone": "#!/usr/bin/env -i X=y none -x\n", "text": "echo\tx\r\n", "empty": "", "del": "\x7f", "bom": "\xef\xbb\xbf#!/bin/sh\n",
		"long": "#!/bin/" + strings.Repeat("x", 300),
	}, 0o755)
	for name, mode := range map[string]os.FileMode{"byowner": 0o744, "bygroup": 0o654, "byothers": 0o645} { // each is a program
		if err := errors.Join(os.WriteFile(filepath.Join(dir, name), []byte("\x7fELF"), mode), os.WriteFile(filepath.Join(dir, "for"+name), []byte("#!"+dir+"/"+name+"\n"), mode)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "plain.txt"), nil, 0o644), os.WriteFile(filepath.Join(dir, "data"), []byte("#!"+dir+"/plain.txt\n"), 0o755),
		os.Mkdir(filepath.Join(dir, "dir"), 0o755), syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o755), os.Symlink("gone", filepath.Join(dir, "dangling"))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"ok": "", "arg": "", "env": "", "envopts": "", "envalone": "", "elf": "", "high": "", "crlater": "", "del": "",
		"byowner": "", "bygroup": "", "byothers": "", "forbyowner": "", "forbygroup": "", "forbyothers": "",
		"crlf":      "crlf: its lines end in CR LF, so that its interpreter's name ends in a CR: save it with LF line ends (dos2unix, or sed -i 's/\\r$//')",
		"bare":      "interpreter: its first line names no interpreter: begin it with, for instance, #!/bin/sh",
		"blank":     "interpreter: its first line names no interpreter: begin it with, for instance, #!/bin/sh",
		"none":      "interpreter: its interpreter /no/such is missing or not executable: install it, or correct the first line",
		"folder":    "interpreter: its interpreter /bin is missing or not executable: install it, or correct the first line",
		"data":      "interpreter: its interpreter DIR/plain.txt is missing or not executable: install it, or correct the first line",
		"enone":     "interpreter: its interpreter none is not on the PATH it is run with: install it, or add its folder to PATH",
		"text":      "format: it is a script without a first line: begin it with the program that runs it, such as #!/bin/sh",
		"empty":     "format: it is a script without a first line: begin it with the program that runs it, such as #!/bin/sh",
		"bom":       "format: a byte order mark stands before its first line: save it as UTF-8 without a byte order mark",
		"long":      "interpreter: its interpreter /bin/" + strings.Repeat("x", 249) + " is missing or not executable: install it, or correct the first line",
		"plain.txt": "not_executable: it is not executable: run: chmod +x DIR/plain.txt",
		"dir":       "directory: it is a directory: name the program in it",
		"pipe":      "directory: it is no regular file: name a program",
		"dangling":  "not_found: there is no such file: check the path, or install the program",
		"gone":      "not_found: there is no such file: check the path, or install the program",
		"ok/x":      "not_executable: it can not be reached (not a directory): give this user access to it and to its folders",
	} {
		path := filepath.Join(dir, name)
		d, found := Inspect(path, []string{"PATH=/no", "PATH=/usr/bin:/bin"})
		got := ""
		if found {
			got = strings.ReplaceAll(string(d.Cause)+": "+d.String(), dir, "DIR")
		}
		if got != want || found && d.Path != path {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestProgramThatMayNotBeReadLooksWell(t *testing.T) {
	dir := layOut(t, map[string]string{"folder/tool": "e"}, 0o755)
	tool := filepath.Join(dir, "folder", "tool")
	if err := os.Chmod(tool, 0o100); err != nil {
		t.Fatal(err)
	}
	look := func() (d Diagnosis, found bool) {
		asowner.Do(t, func() { d, found = inspect(tool, nil) })
		return d, found
	}
	if d, found := look(); found {
		t.Errorf("there is nothing to see, and %v", d)
	}
	if err := os.Chmod(filepath.Dir(tool), 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Dir(tool), 0o755)
	if d, _ := look(); d.Cause != CauseNotExecutable || d.Reason != "it can not be reached (permission denied)" {
		t.Errorf("%+v", d)
	}
}

func TestProgramIsLookedForInPATH(t *testing.T) {
	dir := layOut(t, map[string]string{"a/tool": "", "b/tool": "", "b/other": ""}, 0o755)
	if err := errors.Join(os.Chmod(filepath.Join(dir, "a/tool"), 0o644), os.Chmod(filepath.Join(dir, "b/tool"), 0o601), os.Chmod(filepath.Join(dir, "b/other"), 0o610), os.Mkdir(filepath.Join(dir, "a/other"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, path, want string }{
		{"tool", "PATH=DIR/a:DIR/b", "b/tool"}, {"other", "PATH=DIR/a:DIR/b", "b/other"}, {"tool", "PATH=DIR/a", ""}, {"none", "PATH=DIR/b", ""}, {"tool", "XPATH=DIR/b", ""},
	} {
		want := ""
		if tt.want != "" {
			want = filepath.Join(dir, tt.want)
		}
		if got := lookPath(tt.name, []string{"PATH=/no", strings.ReplaceAll(tt.path, "DIR", dir)}); got != want {
			t.Errorf("%s by %s: %q", tt.name, tt.path, got)
		}
	}
}

func TestWhatTheSystemSaysIsExplained(t *testing.T) {
	dir := layOut(t, map[string]string{"ok": "#!/bin/sh\n", "lost": "#!/no/such\n"}, 0o755)
	ok, lost := filepath.Join(dir, "ok"), filepath.Join(dir, "lost")
	for _, tt := range []struct {
		path, dir string
		err       error
		cause     Cause
		says      string
	}{
		{ok, "", syscall.ETXTBSY, CauseBusy, "another process is writing it"},
		{ok, "", syscall.E2BIG, CauseTooBig, "too long for the system"},
		{ok, "", syscall.EMFILE, CauseResources, "too many open files"},
		{ok, "", syscall.ENFILE, CauseResources, "too many open files"},
		{ok, "", syscall.EAGAIN, CauseResources, "no room for another process"},
		{ok, "", syscall.ENOMEM, CauseResources, "no room for another process"},
		{ok, dir, syscall.ENOMEM, CauseResources, "no room for another process"},
		{ok, dir + "/none", syscall.ENOENT, CauseWorkingDir, "its working directory " + dir + "/none is no directory"},
		{ok, ok, syscall.ENOTDIR, CauseWorkingDir, "its working directory " + ok + " is no directory"},
		{lost, dir, syscall.ENOENT, CauseInterpreter, "/no/such"},
		{dir + "/none", "", syscall.ENOENT, CauseNotFound, "no such file"},
		{ok, dir, syscall.EACCES, CauseNotExecutable, "although its mode allows it"},
		{ok, "", syscall.EPERM, CauseNotExecutable, "although its mode allows it"},
		{ok, "", syscall.ENOENT, CauseFormat, "no program that this machine can run"},
		{ok, "", fs.ErrNotExist, CauseFormat, "no program that this machine can run"},
		{ok, "", syscall.ENOEXEC, CauseFormat, "no program that this machine can run"},
		{ok, "", errors.New("odd"), CauseOther, "odd"},
	} {
		err := startError(&Spec{Path: tt.path, Dir: tt.dir}, fmt.Errorf("around: %w", tt.err))
		var failed *StartError
		if !errors.As(err, &failed) || failed.Cause != tt.cause || !strings.Contains(failed.Reason, tt.says) || failed.Remedy == "" || failed.Path != tt.path || !errors.Is(err, tt.err) {
			t.Errorf("%v in %q: %v", tt.err, tt.dir, err)
		}
		if want := "start " + tt.path + ": " + failed.Reason + ": " + failed.Remedy; err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
}

func TestShellsComplaintIsTracedToItsCause(t *testing.T) {
	dir := layOut(t, map[string]string{"ok": "#!/bin/sh\n", "my dir/run me": "#!/bin/sh\n", "lost": "#!/no/such\n", "byenv": "#!/usr/bin/env none\n"}, 0o755)
	for _, tt := range []struct {
		line, stderr string
		code         int
		cause        Cause // "" = nothing can be told
		path         string
	}{
		{"none -x", "sh: 1: none: not found", 127, CauseNotFound, "none"},
		{"none -x", "sh: 1: none: not found", 126, CauseNotFound, "none"},
		{"none -x", "sh: 1: none: not found", 125, "", ""},
		{"none -x", "sh: 1: none: not found", 128, "", ""},
		{"none -x", "", 127, "", ""},
		{"./lost", "sh: 1: ./lost: not found", 127, CauseInterpreter, "DIR/lost"},
		{"./ok", "sh: 1: ./ok: Permission denied", 126, CauseOther, "DIR/ok"},
		{"./ok", "sh: 1: ./ok: Text file busy", 126, CauseBusy, "./ok"},
		{"./byenv -x", "env: ‘none’: No such file or directory", 127, CauseInterpreter, "DIR/byenv"},
		{"'./byenv' -x", "env: ‘none’: No such file or directory", 127, CauseInterpreter, "DIR/byenv"},
		{" ", "env: ‘none’: No such file or directory", 127, CauseNotFound, "none"},
		{"./my dir/run me", "sh: 1: ./my: not found", 127, CauseSpace, "DIR/my dir/run me"},
		{"DIR/my dir/run me now", "sh: 1: DIR/my: not found", 127, CauseSpace, "DIR/my dir/run me"},
		{"./my dir/none", "sh: 1: ./my: not found", 127, CauseNotFound, "DIR/my"},
		{"./my dir", "sh: 1: ./my: not found", 127, CauseNotFound, "DIR/my"},
	} {
		fill := func(s string) string { return strings.ReplaceAll(s, "DIR", dir) }
		s := Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", fill(tt.line)}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}}
		d, ok := Explain(s, Result{Started: true, ExitCode: tt.code, Stderr: []byte(fill(tt.stderr))})
		if ok != (tt.cause != "") || d.Cause != tt.cause || d.Path != fill(tt.path) || ok && (d.Reason == "" || d.Remedy == "") {
			t.Errorf("%s, %q: %+v %v", tt.line, tt.stderr, d, ok)
		}
	}
	// A script that runs by itself is looked at, whatever its stderr says.
	d, ok := Explain(Spec{Path: filepath.Join(dir, "byenv")}, Result{Started: true, ExitCode: 127, Stderr: []byte("x")})
	if !ok || d.Cause != CauseInterpreter {
		t.Errorf("%+v", d)
	}
	if d, ok := Explain(Spec{Path: "relative"}, Result{Started: true, ExitCode: 127, Stderr: []byte("sh: 1: none: not found")}); ok {
		t.Errorf("a spec that cannot run: %+v", d)
	}
	long := strings.Repeat("x", 4096) + "\nsh: 1: none: not found"
	if d, ok := Explain(Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", "none"}}, Result{Started: true, ExitCode: 127, Stderr: []byte(long)}); ok {
		t.Errorf("what stands behind 4 KiB is read: %+v", d)
	}
	said := "\nsh: 1: none: not found"
	long = strings.Repeat("x", 4096-len(said)) + said
	if d, ok := Explain(Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", "none"}}, Result{Started: true, ExitCode: 127, Stderr: []byte(long)}); !ok {
		t.Errorf("the last of 4 KiB is not read: %+v", d)
	}
}

func TestShellsAreKnownByName(t *testing.T) {
	for _, name := range []string{"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "busybox"} {
		s := &Spec{Path: "/bin/" + name, Argv: []string{name, "-c", "line", "x"}}
		if line, ok := s.shellLine(); line != "line" || !ok {
			t.Errorf("%s: %q, %v", name, line, ok)
		}
	}
	for _, s := range []*Spec{{Path: "/bin/fish", Argv: []string{"fish", "-c", "line"}}, {Path: "/bin/sh", Argv: []string{"sh", "-c"}},
		{Path: "/bin/sh", Argv: []string{"sh", "-e", "line"}}, {Path: "/bin/sh"}} {
		if line, ok := s.shellLine(); ok {
			t.Errorf("%v: %q", s.Argv, line)
		}
	}
}

// Only a command line of one program that found it busy, and did nothing else, is
// run once more.
func TestOnlyAShellThatDidNothingElseIsRunOnceMore(t *testing.T) {
	busy := Result{ExitCode: 126, Stderr: []byte("sh: 1: ./x: Text file busy\n")}
	change := func(f func(r *Result)) Result { r := busy; f(&r); return r }
	for _, tt := range []struct {
		line string
		r    Result
		want bool
	}{
		{"./x -a", busy, true}, {"a; ./x", busy, false}, {"a | ./x", busy, false}, {"a & ./x", busy, false}, {"a\n./x", busy, false},
		{"./x `a`", busy, false}, {"./x $(a)", busy, false}, {"./x $A", busy, true},
		{"./x", change(func(r *Result) { r.ExitCode = 127 }), false}, {"./x", change(func(r *Result) { r.Stdout = []byte("x") }), false},
		{"./x", change(func(r *Result) { r.Stderr = []byte("noise\nsh: 1: ./x: Text file busy\n") }), false},
		{"./x", change(func(r *Result) { r.Stderr = []byte("sh: 1: ./x: Text file busy, it seems") }), false},
		{"./x", change(func(r *Result) { r.Stderr = []byte("Text file busy") }), true},
	} {
		s := &Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", tt.line}}
		if got := shellFoundBusy(s, &tt.r); got != tt.want {
			t.Errorf("%q %+v: %v", tt.line, tt.r, got)
		}
	}
	if shellFoundBusy(&Spec{Path: "/bin/x", Argv: []string{"x"}}, &busy) {
		t.Error("what is no shell is run once more")
	}
}

func TestSpecGetsItsDefaults(t *testing.T) {
	full := Spec{Path: "/bin/sh", Argv: []string{"x"}, Grace: time.Minute, MaxStdout: 1, MaxStderr: 2, Timeout: time.Hour}
	for _, tt := range []struct{ in, want Spec }{
		{Spec{Path: "/bin/sh"}, Spec{Path: "/bin/sh", Argv: []string{"/bin/sh"}, Grace: time.Second, MaxStdout: 1 << 20, MaxStderr: 1 << 20}},
		{Spec{Argv: []string{"/bin/sh", "-c"}}, Spec{Path: "/bin/sh", Argv: []string{"/bin/sh", "-c"}, Grace: time.Second, MaxStdout: 1 << 20, MaxStderr: 1 << 20}},
		{Spec{Path: "/bin/sh", Grace: -1}, Spec{Path: "/bin/sh", Argv: []string{"/bin/sh"}, Grace: -1, MaxStdout: 1 << 20, MaxStderr: 1 << 20}},
		{full, full},
	} {
		got, err := tt.in.complete()
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
	}
	for want, s := range map[string]Spec{
		"no program is named": {}, "the program's path is not absolute": {Path: "sh"},
		"a negative timeout or output cap": {Path: "/x", Timeout: -1}, "a negative timeout or output cap ": {Path: "/x", MaxStdout: -1}, "a negative timeout or output cap  ": {Path: "/x", MaxStderr: -1},
		"a NUL byte in the path, the arguments or the environment": {Path: "/x\x00"}, "a NUL byte in the path, the arguments or the environment ": {Path: "/x", Dir: "\x00"},
		"a NUL byte in the path, the arguments or the environment  ": {Path: "/x", Argv: []string{"a", "\x00"}}, "a NUL byte in the path, the arguments or the environment   ": {Path: "/x", Env: []string{"A=\x00"}},
	} {
		_, err := s.complete()
		var failed *StartError
		if !errors.As(err, &failed) || failed.Cause != CauseSpec || failed.Reason != strings.TrimRight(want, " ") || failed.Remedy == "" || failed.Err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func TestResultIsOKOnlyAfterExitCode0(t *testing.T) {
	for _, tt := range []struct {
		r           Result
		ok, stopped bool
		says        string
	}{
		{Result{Started: true}, true, false, "exit code 0"}, {Result{}, false, false, "not started"}, {Result{Started: true, ExitCode: 1}, false, false, "exit code 1"},
		{Result{Started: true, TimedOut: true, Elapsed: 1500600 * time.Microsecond}, false, true, "timed out, stopped after 1.501s"},
		{Result{Started: true, Cancelled: true}, false, true, "cancelled by the caller"}, {Result{Started: true, Overflow: "stderr"}, false, true, "wrote too much to stderr"},
		{Result{Started: true, ExitCode: -1}, false, false, "ended, but its exit code is not known"}, {Result{Started: true, ExitCode: -1, Signal: "SIGHUP"}, false, false, "killed by SIGHUP"},
		{Result{Started: true, ExitCode: 128}, false, false, "exit code 128"},
		{Result{Started: true, ExitCode: 129}, false, false, "exit code 129: by a shell's convention, a command in it was killed by SIGHUP"},
		{Result{Started: true, ExitCode: 159}, false, false, "exit code 159: by a shell's convention, a command in it was killed by SIGSYS"},
		{Result{Started: true, ExitCode: 160}, false, false, "exit code 160"},
	} {
		if tt.r.OK() != tt.ok || tt.r.Stopped() != tt.stopped || tt.r.Describe() != tt.says {
			t.Errorf("%+v: %v %v %q", tt.r, tt.r.OK(), tt.r.Stopped(), tt.r.Describe())
		}
	}
	if got := (Process{7, "a\x1b"}).String(); got != `"a\x1b" (pid 7)` {
		t.Error(got)
	}
}
