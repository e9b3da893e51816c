package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/internal/sandbox"
)

// The scripts start the commands as they are installed. Starting this test binary
// in their place would take ten times as long with -race.
func TestScripts(t *testing.T) {
	caches, bin, fleet := goCaches(), t.TempDir(), t.TempDir()
	if err := built.Into(bin, "cmd/tenterhook", "cmd/tenterhook-bridge", "testdata/nolandlock/withoutlandlock"); err != nil {
		t.Fatal(err)
	}
	if err := built.Into(fleet, "fleet/cmd/tenterhook-fleet"); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 scripts(t),
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"code": exitsWith, "slashed": slashed, "tidy": tidyOffline},
		Condition: func(name string) (bool, error) {
			if name == "sandbox" {
				return len((&sandbox.Policy{Mode: sandbox.Strict}).Missing()) == 0, nil
			}
			if name == "links" {
				return built.Links(t.TempDir()), nil
			}
			if name == "mount" {
				dir := t.TempDir()
				if exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "tenterhook-test", dir).Run() != nil {
					return false, nil
				}
				return true, exec.Command("umount", dir).Run()
			}
			return false, fmt.Errorf("no condition %q", name)
		},
		Setup: func(e *testscript.Env) error {
			home := filepath.ToSlash(e.WorkDir) + "/home"
			e.Setenv("WORK", filepath.ToSlash(e.WorkDir))
			e.Setenv("HOME", home)
			e.Setenv("USERPROFILE", home) // Windows' name for it
			e.Setenv("FLEET", fleet)      // not on PATH: a script puts it there
			e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("XDG_CONFIG_HOME", home+"/.config")
			e.Setenv("XDG_DATA_HOME", home+"/.local/share")
			e.Setenv("XDG_STATE_HOME", home+"/.local/state")
			e.Setenv("GOFLAGS", "")
			e.Setenv("GOPROXY", "off")
			for name, dir := range caches {
				e.Setenv(name, dir)
			}
			e.Defer(func() { _ = exec.Command("umount", "-l", home+"/.local/state").Run() }) // a script may mount it
			return os.MkdirAll(home, 0o755)
		},
	})
}

// goCaches are the folders that hold what building needs without a network, by
// their variables; empty where Go is not installed.
func goCaches() map[string]string {
	caches := make(map[string]string)
	out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE").Output()
	if err == nil {
		_ = json.Unmarshal(out, &caches)
	}
	return caches
}

// tidyOffline is "tidy DIR": a module that requires this one and nothing else
// gets all that this one requires. It stands for "go mod tidy", which would look
// at more than what building this module has put into the cache.
func tidyOffline(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(repository, name))
		ts.Check(err)
		if name == "go.mod" {
			at := bytes.Index(text, []byte("require ("))
			text = append([]byte(ts.ReadFile(filepath.Join(args[0], name))), text[at:]...)
		}
		ts.Check(os.WriteFile(ts.MkAbs(filepath.Join(args[0], name)), text, 0o644))
	}
}

// exitsWith is "code N command…": the command ends with this exit code.
func exitsWith(ts *testscript.TestScript, _ bool, args []string) {
	got := run(ts, args[1:])
	if want, _ := strconv.Atoi(args[0]); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// run starts a command and returns its exit code. On Windows what it prints has slashes in paths below $WORK.
func run(ts *testscript.TestScript, args []string) int {
	err := ts.Exec(args[0], args[1:]...)
	if runtime.GOOS == "windows" {
		out, errs := withSlashes(ts, "stdout"), withSlashes(ts, "stderr")
		fmt.Fprint(ts.Stdout(), out)
		fmt.Fprint(ts.Stderr(), errs)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		ts.Fatalf("%v", err)
	}
	return 0
}

func withSlashes(ts *testscript.TestScript, output string) string {
	const separator = `(?:/|\\+)` // within JSON it is doubled
	below := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(ts.Getenv("WORK")), "/", separator) + `[^\s"'<>|:;,]*`)
	either := regexp.MustCompile(separator)
	return below.ReplaceAllStringFunc(ts.ReadFile(output), func(path string) string { return either.ReplaceAllString(path, "/") })
}

// slashed is "exec" on Windows.
func slashed(ts *testscript.TestScript, fails bool, args []string) {
	if code := run(ts, args); (code != 0) != fails {
		ts.Fatalf("exit code %d", code)
	}
}

// scripts is the directory of the scripts. On Windows it has copies, in which tenterhook is started by "slashed".
func scripts(t *testing.T) string {
	if runtime.GOOS != "windows" {
		return "testdata"
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the hooks of the scripts are written for sh, which this Windows does not have on PATH")
	}
	dir := t.TempDir()
	files, err := filepath.Glob("testdata/*.txtar")
	started := regexp.MustCompile(`(?m)^(! )?exec (tenterhook.*[^&\n])$`)
	for _, file := range files {
		text, failed := os.ReadFile(file)
		script, _, _ := bytes.Cut(text, []byte("\n-- "))
		copied := append(started.ReplaceAll(script, []byte("${1}slashed $2")), text[len(script):]...)
		err = errors.Join(err, failed, os.WriteFile(filepath.Join(dir, filepath.Base(file)), copied, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestS1TextFromHooksCannotDriveATerminal(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":          "plain\ttext\n",
		"a\x1b[31mred":           `a\x1b[31mred`,
		"\x1b]52;c;ZXZpbA==\x07": `\x1b]52;c;ZXZpbA==\x07`,
		"over\rwritten":          `over\x0dwritten`,
		"user\u202eexe.txt":      `user\u202eexe.txt`,
		"zero\u200bwidth":        `zero\u200bwidth`,
		"csi\u009b1m":            `csi\x9b1m`,
		"grüße 你好":               "grüße 你好",
		"bad\xffutf8":            `bad\ufffdutf8`,
	} {
		if got := phrase.Printable(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// A caller that writes to the journal writes nothing to the terminal of who reads it, in
// any field, as text or as JSON.
func TestNothingInTheJournalDrivesATerminal(t *testing.T) {
	dir := hermetic(t)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	const evil = "x\x1b]0;t\x07\u009b2J\u202e\u200b\U000e0041\x7f"
	entry := map[string]any{"run": "run1" + evil, "time": "2099-01-02T03:04:05Z", "agent": evil, "session": evil, "workspace": evil, "cwd": evil, "event": evil, "tool": evil, "verdict": "deny",
		"reason": evil, "error": evil, "omitted": evil, "elapsed_ms": 1, "payload": map[string]string{"hook_event_name": evil},
		"results": []any{map[string]any{"hook": "user/" + evil, "kind": evil, "source": evil + ":1", "status": evil, "verdict": "deny", "failure": evil, "reason": evil, "hint": evil, "elapsed_ms": 1, "stderr": evil}}}
	line, err := json.Marshal(entry)
	if err != nil {
		t.Fatal(err)
	}
	journalDir := filepath.Join(dir, "state", "tenterhook", "journal")
	if err := errors.Join(os.MkdirAll(journalDir, 0o700), os.WriteFile(filepath.Join(journalDir, "spool"), fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(line), line), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"log"}, {"log", "--json"}, {"show", "run1"}, {"show", "run1", "--json"}, {"stats"}, {"stats", "--json"}, {"replay", "run1"}, {"replay", "run1", "--json"},
		{"show", "user/" + evil}, {"show", "user/" + evil, "--json"}, {"doctor"}, {"doctor", "--json"}, {"test", "--record", "run1", "user/" + evil}} {
		_, out, errs := call(t, args...)
		if strings.ContainsFunc(out+errs, func(r rune) bool { return phrase.Hostile(r) }) {
			t.Errorf("%q prints %q%q", args, out, errs)
		}
		if args[0] == "log" && !strings.Contains(out, "run1") {
			t.Errorf("%q prints %q%q", args, out, errs)
		}
		if slices.Contains(args, "--json") && !json.Valid([]byte(out)) {
			t.Errorf("%q prints no JSON: %q", args, out)
		}
	}
}
