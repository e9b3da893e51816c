//go:build !windows

package resolve

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tenterhook/tenterhook/hook"
)

// pieces are what lines are made of: names in all spellings, and all that can
// stand around them.
var pieces = []string{
	"./a.sh", "a.sh", "d/a.sh", "./d/b.sh", "'./a.sh'", `"./d/a.sh"`, `./d/"a.sh"`, `./d\/a.sh`, "./l.sh", "l.sh", "./f/a.sh", "d/../a.sh", "f/../a.sh",
	"../ws/a.sh", `"$CLAUDE_PROJECT_DIR"/a.sh`, "$CLAUDE_PROJECT_DIR/d/a.sh", "${CLAUDE_PROJECT_DIR}/d/b.sh", "${X:-.}/a.sh", "$X./a.sh", "$D/a.sh", `"$D"/b.sh`,
	"$PWD/a.sh", "$(pwd)/a.sh", "./d/*.sh", "./?.sh", "{./a.sh,x}", "$'./a.sh'", `$"./a.sh"`, "~/a.sh", "./she.sh", "./b.py", "d/b.py", "missing.sh", "./missing.sh",
	"sh", "bash", "env", "timeout 5", "nohup", "exec", "command", "eval", ".", "cd d", "cd", "python3", "python3 -c", "sh -c", "bash -c", "sh -e", "sh -s", "xargs", "xargs sh",
	"cat", "echo", "printf '%s\\n'", "true", "false", "test -e", "tee out.sh", "jq .", "grep -q x", "nice", "builtin", "time", "!", "env -i", "env A=1",
	"&&", "||", ";", "|", "&", "\n", "(", ")", "{", "; }", "if", "; then", "; fi", "<", ">", ">>", "2>&1", "<<<", "$(", "`", "'", `"`, "\\\n",
	"A=1", "PATH=d:/usr/bin:/bin", "D=d", "X=--out", "export D=d;", "set --", "\"$@\"", "$1", "--opt=./a.sh", "-f./d/a.sh", "--out", "-", "--", "-c",
	"alias x=./a.sh", "x", "x() { ./a.sh; };", "for x in ./a.sh; do", "$x", "; done", "case x in x)", ";; esac", "# ", "function", "coproc", "[", "]", "[[", "]]", "a[$(./a.sh)]",
}

// TestWhatABoundCommandRunsIsAmongItsFiles runs lines that no one thought of. Each
// script of the workspace leaves its name: a command that is bound runs none that
// is not among its files.
func TestWhatABoundCommandRunsIsAmongItsFiles(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, mark := filepath.Join(base, "ws"), filepath.Join(base, "mark")
	scripts := map[string]string{"a.sh": "", "d/a.sh": "", "d/b.sh": "", "e/a.sh": "", "b.py": "", "d/b.py": "", "she.sh": ""}
	write := func() {
		for name := range scripts {
			path := filepath.Join(root, name)
			text := "#!/bin/sh\necho " + path + " >> " + mark + "\n"
			switch {
			case name == "she.sh":
				text = "#!" + filepath.Join(root, "d/a.sh") + "\n"
			case strings.HasSuffix(name, ".py"):
				text = "#!/usr/bin/env python3\nopen('" + mark + "', 'a').write('" + path + "\\n')\n"
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	write()
	for name, target := range map[string]string{"l.sh": "d/a.sh", "f": "e"} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	var bound, ran int
	check := func(t *rapid.T) {
		_ = os.Remove(mark)
		_ = os.Remove(filepath.Join(root, "out.sh"))
		line := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 6).Draw(t, "pieces"), " ")
		h := &hook.Hook{Scope: hook.ScopeProject, Command: &hook.Command{Line: line, Shell: rapid.SampledFrom([]string{"", "", "bash"}).Draw(t, "shell")}}
		if rapid.Bool().Draw(t, "args") {
			h.Command.Shell, h.Command.Line = "", rapid.SampledFrom([]string{"sh", "bash", "./a.sh", "env"}).Draw(t, "program")
			h.Command.Args = []string{rapid.SampledFrom([]string{"-c", "-ec", "--", "A=1"}).Draw(t, "arg"), line}
		}
		env := NewEnviron(h, []string{"PATH=/usr/bin:/bin", "HOME=" + root, "D=" + root + "/d"}, root)
		p, failed := Command(h, &env, Place{Project: root, Session: rapid.SampledFrom([]string{root, filepath.Join(root, "d")}).Draw(t, "session")})
		if p.Unbound != "" || failed != nil {
			return
		}
		bound++
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, p.Path)
		cmd.Args, cmd.Dir, cmd.Env = p.Argv, p.Dir, env.List()
		_ = cmd.Run()
		marks, _ := os.ReadFile(mark)
		if len(marks) > 0 {
			ran++
		}
		for path := range strings.FieldsSeq(string(marks)) {
			listed := func(file string) bool {
				real, err := filepath.EvalSymlinks(file)
				return err == nil && real == path
			}
			if !slices.ContainsFunc(p.Files, listed) {
				t.Fatalf("%q runs %s, which is not among %q", append([]string{h.Command.Line}, h.Command.Args...), path, p.Files)
			}
		}
		if len(marks) > 0 { // a line may have written over a script
			write()
		}
	}
	rapid.Check(t, check)
	t.Logf("%d commands were bound, %d of them ran a script", bound, ran)
	if bound == 0 || ran == 0 {
		t.Error("no command was bound and ran: the property shows nothing")
	}
}
