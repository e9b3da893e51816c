//go:build !windows

package resolve_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/resolve"
)

// inspect says as much of a file as these tests need.
func inspect(path string, script bool) *hook.Error {
	info, err := os.Stat(path)
	if err == nil && (script || info.Mode().Perm()&0o111 != 0 && info.Mode().IsRegular()) {
		return nil
	}
	return &hook.Error{Failure: hook.FailureStart, Reason: path + ": it cannot be started"}
}

// complains is what shells and interpreters say of what they cannot start.
var complains = regexp.MustCompile(`not found|[Nn]o such file|can't open|[Cc]annot open|Cannot find module|Permission denied|can't cd|Could not open`)

// Each line is run for real by sh. What certainly starts nothing is broken, and
// starts nothing; what is not broken starts something, or copes.
func TestBrokenIsWhatStartsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	dir := t.TempDir()
	mark := filepath.Join(dir, "mark")
	for name, text := range map[string]string{
		"there.sh": "#!/bin/sh\necho ran >>" + mark + "\n", "sub/inner.sh": "#!/bin/sh\necho ran >>" + mark + "\n",
		"plain.sh": "echo ran >>" + mark + "\n", "there.py": "open('" + mark + "', 'a').write('ran')\n", "a b.sh": "#!/bin/sh\necho ran >>" + mark + "\n",
	} {
		mode := os.FileMode(0o755)
		if name == "plain.sh" {
			mode = 0o644
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		line   string
		broken bool
	}{
		{"exec ./missing.sh", true}, {"timeout 5 ./missing.sh", true}, {"FOO=bar missing", true}, {"bash -c ./missing.sh", true},
		{"( ./missing.sh )", true}, {"! ./missing", true}, {"./missing.sh && true", true}, {"cd sub && ./x.sh", true}, {"env A=1 missing", true},
		{"nice ./missing", true}, {"if ./missing; then echo yes; fi", true}, {`"$CLAUDE_PROJECT_DIR"/missing.sh`, true}, {"python3 missing.py", true},
		{"node missing.js", true}, {"bash missing.sh", true}, {". ./missing.sh", true}, {"source missing", true},
		{"command ./missing", true}, {"exec env A=1 B=2 nice -n 5 missing --fast", true}, {"timeout -k 1 5 nohup ./missing", true}, {"sh -ec 'exec ./missing'", true},
		{"eval ./missing", true}, {"eval './missing.sh --x'", true}, {"{ ./missing.sh; }", true}, {"( cd sub && sh ./missing.sh )", true}, {"cd nowhere && ./there.sh", true},
		{"set -e; ./missing.sh; ./there.sh", true}, {"true && ./missing.sh", true}, {"while ./missing; do ./there.sh; done", true}, {"./missing &", true},
		{"X=./missing.sh; $X", true}, {"INPUT=$(cat); ./missing.sh \"$INPUT\"", true}, {"export A=1; ./missing", true}, {"./missing <there.sh", true}, {"./there.sh <missing", true},
		{"cat | ./missing.sh", true}, {"./missing.sh | head -1", true}, {"./plain.sh", true}, {"python3 -u ./missing.py | cat", true}, {"sh -c 'bash ./missing'", true},
		{"./missing.sh 2>/dev/null", true}, {"$CLAUDE_PROJECT_DIR/sub/missing.sh \"$1\"", true}, {"f() { ./there.sh; }; ./missing", true},

		{"exec ./there.sh", false}, {"timeout 5 ./there.sh", false}, {"FOO=bar ./there.sh", false}, {"bash -c ./there.sh", false}, {"( ./there.sh )", false},
		{"./missing.sh || ./there.sh", false}, {"./missing.sh; ./there.sh", false}, {"! ./missing && ./there.sh", false}, {"if ./missing; then :; else ./there.sh; fi", false},
		{"if ! ./missing; then ./there.sh; fi", false}, {"until ./missing; do ./there.sh; break; done", false}, {"cd nowhere; ./there.sh", false}, {"cd sub && ./inner.sh", false},
		{"./missing.sh & ./there.sh", false}, {"./there.sh | ./missing", false}, {"./missing | ./there.sh", false}, {"sh plain.sh", false}, {". ./plain.sh", false},
		{"ls() { ./there.sh; }; ls", false}, {"missing() { ./there.sh; }; missing", false}, {"PATH=$PATH:$CLAUDE_PROJECT_DIR there.sh", false}, {"PATH=$PATH:. ; there.sh", false},
		{"X=./missing; X=./there.sh; $X", false}, {"X=./there.sh; \"$X\"", false}, {"D=$CLAUDE_PROJECT_DIR/nowhere; D=. ; $D/there.sh", false}, {`"./a b.sh"`, false},
		{"[ -x ./missing ] && ./missing; ./there.sh", false}, {"command -v missing >/dev/null || ./there.sh", false}, {"for f in there.sh; do ./$f; done", false},
		{"case x in x) ./there.sh;; esac", false}, {"set -e; ./missing || ./there.sh", false}, {"set -e; if ./missing; then :; fi; ./there.sh", false},
		{"trap ./there.sh EXIT; ./missing", false}, {"python3 there.py", false}, {"sh -c 'cd sub; ./inner.sh'", false}, {"env -i PATH=/usr/bin:/bin ./there.sh", false},
		{"./th?re.sh", false}, {"$(echo ./there.sh)", false}, {"eval \"$(echo ./there.sh)\"", false}, {"eval 'X=./there.sh'; $X", false}, {"cd . && cd sub && ./inner.sh", false}, {"true || ./missing; ./there.sh", false},
		{"alias x=./missing; ./there.sh", false}, {"HOME=/nowhere ./there.sh ~/x", false}, {"time -p ./there.sh || ./there.sh", false}, {"(cd nowhere) || ./there.sh", false},
		{"./missing 2>/dev/null || ./there.sh", false}, {"echo ran >>mark; ./missing", false}, {": >>there.log && ./there.sh", false}, {"CLAUDE_PROJECT_DIR=/nowhere \"$CLAUDE_PROJECT_DIR\"/there.sh", false},
	} {
		t.Run(test.line, func(t *testing.T) {
			for _, program := range []string{"python3", "node", "bash"} {
				if _, err := exec.LookPath(program); err != nil && strings.Contains(test.line, program) {
					t.Skip("without " + program)
				}
			}
			h := &hook.Hook{Scope: hook.ScopeUser, Command: &hook.Command{Line: test.line}}
			env := resolve.NewEnviron(h, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, dir)
			p, failed := resolve.Command(h, &env, resolve.Place{Project: dir})
			if failed == nil {
				failed = resolve.Broken(h, &p, &env, inspect)
			}
			if (failed != nil) != test.broken {
				t.Errorf("broken: %v, want %v", failed, test.broken)
			}
			_ = os.Remove(mark)
			cmd := exec.Command("/bin/sh", "-c", test.line)
			cmd.Dir, cmd.Env = dir, env.List()
			out, _ := cmd.CombinedOutput()
			_, err := os.Stat(mark)
			if ran := err == nil; ran == test.broken || test.broken && !strings.Contains(test.line, "2>") && !complains.Match(out) {
				t.Errorf("the table is wrong: it ran: %v, and said %q", ran, out)
			}
		})
	}
}
