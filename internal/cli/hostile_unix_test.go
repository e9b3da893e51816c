//go:build !windows

package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// spelling is a way to write a command that runs a file of the workspace, or of
// the folder beside it.
type spelling struct {
	name    string
	handler string   // JSON of a settings hook without its type, "" = hook
	hook    string   // TOML of a HOOK.md in the folder h
	tree    []string // files that say "good"; a name with a -> is a link
	edit    []string // files that say "evil" later, or links as above
	cwd     string   // of the session, relative to the workspace
	want    string   // "bound", "unbound" or "safe": the edited bytes never run
}

func line(s string) string             { return `"command": ` + strconv.Quote(s) }
func with(s, more string) string       { return line(s) + ", " + more }
func envs(s, key, value string) string { return with(s, fmt.Sprintf(`"env": {%q: %q}`, key, value)) }

const sh, py, js = "scripts/check.sh", "scripts/check.py", "lib/index.js"

// spellings are the ways that are tried through the command itself.
var spellings = []spelling{
	// What is common stays bound.
	{name: "path", handler: line("./" + sh), want: "bound"},
	{name: "interpreter", handler: line("sh " + sh), want: "bound"},
	{name: "variable and quotes", handler: line(`"$CLAUDE_PROJECT_DIR"/` + sh), want: "bound"},
	{name: "variable in braces", handler: line(`${CLAUDE_PROJECT_DIR}/` + sh + " arg"), want: "bound"},
	{name: "all in quotes", handler: line(`"$CLAUDE_PROJECT_DIR/` + sh + `" --fix`), want: "bound"},
	{name: "python", handler: line("python3 " + py + " --strict"), tree: []string{py}, edit: []string{py}, want: "bound"},
	{name: "python with a flag", handler: line("python3 -u " + py), tree: []string{py}, edit: []string{py}, want: "bound"},
	{name: "pipe", handler: line("cat | ./" + sh), want: "bound"},
	{name: "list", handler: line("jq -e .tool_name > /dev/null; ./" + sh), want: "bound"},
	{name: "condition", handler: line("true && ./" + sh + " || exit 1"), want: "bound"},
	{name: "if", handler: line("if true; then ./" + sh + "; fi"), want: "bound"},
	{name: "subshell", handler: line("(./" + sh + ")"), want: "bound"},
	{name: "group", handler: line("{ ./" + sh + "; }"), want: "bound"},
	{name: "not", handler: line("! ./" + sh), want: "bound"},
	{name: "two lines", handler: line("true\n./" + sh), want: "bound"},
	{name: "exec", handler: line("exec ./" + sh), want: "bound"},
	{name: "command", handler: line("command ./" + sh), want: "bound"},
	{name: "env", handler: line("env A=1 ./" + sh), want: "bound"},
	{name: "timeout", handler: line("timeout 9 ./" + sh), want: "bound"},
	{name: "nohup", handler: line("nohup ./" + sh), want: "bound"},
	{name: "shell in a shell", handler: line("sh -c './" + sh + "'"), want: "bound"},
	{name: "shell in a shell with flags", handler: line("bash -euc './" + sh + "'"), want: "bound"},
	{name: "args", handler: with("./"+sh, `"args": ["x"]`), want: "bound"},
	{name: "args and a shell", handler: with("sh", `"args": ["-c", "exec ./`+sh+`"]`), want: "bound"},
	{name: "args with a placeholder", handler: with("sh", `"args": ["${CLAUDE_PROJECT_DIR}/`+sh+`"]`), want: "bound"},
	{name: "bash as the shell", handler: with("./"+sh, `"shell": "bash"`), want: "bound"},
	{name: "assignment in front", handler: line("A=1 ./" + sh), want: "bound"},
	{name: "assignment that names an output", handler: line("X=--out ./" + sh), want: "bound"},
	{name: "assignment called tee", handler: line("tee=1 ./" + sh), want: "bound"},
	{name: "behind tee", handler: line("tee /dev/null | ./" + sh), want: "bound"},
	{name: "own variable", handler: envs("./"+sh, "MODE", "strict"), want: "bound"},
	{name: "input from a file", handler: line("cat < scripts/check.sh > /dev/null; ./" + sh), want: "bound"},
	{name: "worker", handler: with("./"+sh, `"worker": true`), want: "bound"},
	{name: "here-document", handler: line("./" + sh + " <<'E'\ntext\nE"), want: "bound"},

	// Names of files in words.
	{name: "argument of a script", handler: line("./wrap.sh ./" + sh), tree: []string{"wrap.sh", sh}, edit: []string{sh}, want: "bound"},
	{name: "value of an option", handler: line("./wrap.sh --opt=./" + sh), tree: []string{"wrap.sh", sh}, edit: []string{sh}, want: "bound"},
	{name: "value of a short option", handler: line("./wrap.sh -f./" + sh), tree: []string{"wrap.sh", sh}, edit: []string{sh}, want: "bound"},
	{name: "value behind an option for output", handler: line("./wrap.sh --out ./" + sh), tree: []string{"wrap.sh", sh}, edit: []string{sh}, want: "bound"},
	{name: "value behind tee's name", handler: line("./wrap.sh tee ./" + sh), tree: []string{"wrap.sh", sh}, edit: []string{sh}, want: "bound"},
	{name: "list of names", handler: line("./wrap.sh a:./" + sh), tree: []string{"wrap.sh", sh}, edit: []string{sh}, want: "bound"},
	{name: "quoted command as an argument", handler: line("./wrap.sh 'exec ./" + sh + "'"), tree: []string{"wrap.sh", sh}, edit: []string{sh}, want: "bound"},
	{name: "value of its variable", handler: envs("./wrap.sh", "TOOL", "./"+sh), tree: []string{"wrap.sh", sh}, edit: []string{sh}, want: "bound"},
	{name: "input of a script", handler: line("./wrap.sh < " + sh), tree: []string{"wrap.sh", sh}, edit: []string{sh}, want: "bound"},
	{name: "name with a space", handler: line("'my scripts/check.sh'"), tree: []string{"my scripts/check.sh"}, edit: []string{"my scripts/check.sh"}, want: "bound"},
	{name: "outside of the workspace", handler: line("../outside.sh"), tree: []string{"../outside.sh"}, edit: []string{"../outside.sh"}, want: "bound"},
	{name: "outside, by an interpreter", handler: line("sh ../outside.sh"), tree: []string{"../outside.sh"}, edit: []string{"../outside.sh"}, want: "bound"},
	{name: "link", handler: line("./link.sh"), tree: []string{sh, "link.sh->" + sh}, want: "bound"},
	{name: "link that is moved", handler: line("./link.sh"), tree: []string{sh, "link.sh->" + sh}, edit: []string{"other.sh", "link.sh->other.sh"}, want: "bound"},
	{name: "folder that becomes a link", handler: line("./lnk/check.sh"), tree: []string{sh, "lnk->scripts"}, edit: []string{"evil/check.sh", "lnk->evil"}, want: "bound"},
	{name: "first line names a file", handler: line("./shebang.sh"), tree: []string{sh, "shebang.sh#!WS/" + sh}, want: "bound"},
	{name: "script that comes into being", handler: line("sh late.sh"), tree: []string{}, edit: []string{"late.sh"}, want: "bound"},
	{name: "program that comes into being", handler: line("./late.sh"), tree: []string{}, edit: []string{"late.sh"}, want: "bound"},
	{name: "cwd with a script of the same name", handler: line("./" + sh), tree: []string{sh, "vendor/x/y"}, edit: []string{"vendor/x/" + sh}, cwd: "vendor/x", want: "safe"},
	{name: "cwd and an interpreter", handler: line("sh " + sh), tree: []string{sh, "vendor/x/y"}, edit: []string{"vendor/x/" + sh}, cwd: "vendor/x", want: "safe"},
	{name: "cwd and a word", handler: line(`"$CLAUDE_PROJECT_DIR"/wrap.sh check.sh`), tree: []string{"wrap.sh", "vendor/x/y"}, edit: []string{"vendor/x/check.sh"}, cwd: "vendor/x", want: "safe"},
	{name: "cwd and a shell text", handler: with("sh", `"args": ["-c", "./`+sh+`"]`), tree: []string{sh, "vendor/x/y"}, edit: []string{"vendor/x/" + sh}, cwd: "vendor/x", want: "safe"},

	// What cannot be located.
	{name: "backslash", handler: line(`./scr\ipts/check.sh`), want: "unbound"},
	{name: "backslash at the end of a line", handler: line("./scripts/\\\ncheck.sh"), want: "unbound"},
	{name: "dollar quotes", handler: with(`$'./scripts/check.sh'`, `"shell": "bash"`), want: "unbound"},
	{name: "dollar quotes with an escape", handler: with(`$'./scripts/\x63heck.sh'`, `"shell": "bash"`), want: "unbound"},
	{name: "translated quotes", handler: with(`$"./scripts/check.sh"`, `"shell": "bash"`), want: "unbound"},
	{name: "cd", handler: line("cd scripts && ./check.sh"), want: "unbound"},
	{name: "cd in a subshell", handler: line("(cd scripts; ./check.sh)"), want: "unbound"},
	{name: "cd in a shell", handler: with("sh", `"args": ["-c", "cd scripts && exec ./check.sh"]`), want: "unbound"},
	{name: "PWD", handler: line("$PWD/" + sh), want: "unbound"},
	{name: "PWD in quotes", handler: line(`"$PWD"/` + sh), want: "unbound"},
	{name: "substitution", handler: line("$(pwd)/" + sh), want: "unbound"},
	{name: "substitution in quotes", handler: line(`"$(pwd)/` + sh + `"`), want: "unbound"},
	{name: "old substitution", handler: line("`pwd`/" + sh), want: "unbound"},
	{name: "default of a variable", handler: line("${NOWHERE:-.}/" + sh), want: "unbound"},
	{name: "default of a known variable", handler: line("${CLAUDE_PROJECT_DIR:-.}/" + sh), want: "unbound"},
	{name: "cut variable", handler: line("${CLAUDE_PROJECT_DIR%x}/" + sh), want: "unbound"},
	{name: "variable of its own", handler: line("d=scripts; ./$d/check.sh"), want: "unbound"},
	{name: "exported variable", handler: line("export D=scripts; ./$D/check.sh"), want: "unbound"},
	{name: "glob", handler: line("./scripts/*.sh"), want: "unbound"},
	{name: "glob of one character", handler: line("./scripts/chec?.sh"), want: "unbound"},
	{name: "glob of a class", handler: line("sh scripts/[c]heck.sh"), want: "unbound"},
	{name: "braces", handler: with("./{scripts,x}/check.sh", `"shell": "bash"`), want: "unbound"},
	{name: "braces that start a program", handler: with("{./scripts/check.sh,x}", `"shell": "bash"`), want: "unbound"},
	{name: "eval", handler: line("eval ./" + sh), want: "unbound"},
	{name: "source", handler: line(". ./" + sh), want: "unbound"},
	{name: "source by its name", handler: with("source ./"+sh, `"shell": "bash"`), want: "unbound"},
	{name: "alias", handler: line("alias x=./" + sh + "\nx"), want: "unbound"},
	{name: "function", handler: line("x() { ./" + sh + "; }; x"), want: "unbound"},
	{name: "function in the place of a program", handler: line("cat() { ./" + sh + "; }; cat"), want: "unbound"},
	{name: "loop", handler: line("for f in scripts/check.sh; do ./$f; done"), want: "unbound"},
	{name: "case", handler: line("case a in a) d=scripts;; esac; ./$d/check.sh"), want: "unbound"},
	{name: "set", handler: line("set -- ./" + sh + "; \"$1\""), want: "unbound"},
	{name: "positional", handler: line(`sh -c '"$0"' ./` + sh), want: "unbound"},
	{name: "read", handler: line("echo ./" + sh + " | { read -r x; $x; }"), want: "unbound"},
	{name: "trap", handler: line("trap ./" + sh + " EXIT"), want: "unbound"},
	{name: "background", handler: line("./" + sh + " & wait"), want: "unbound"},
	{name: "text for an interpreter", handler: line("cat " + sh + " | sh"), want: "unbound"},
	{name: "input of an interpreter", handler: line("sh < " + sh), want: "unbound"},
	{name: "input of an interpreter, by -s", handler: line("sh -s < " + sh), want: "unbound"},
	{name: "device of an interpreter", handler: line("sh /dev/stdin < " + sh), want: "unbound"},
	{name: "here-document for an interpreter", handler: line("sh <<E\n./" + sh + "\nE"), want: "unbound"},
	{name: "xargs", handler: line("echo ./" + sh + " | xargs sh"), want: "unbound"},
	{name: "find", handler: line("find scripts -name check.sh -exec sh {} +"), want: "unbound"},
	{name: "awk", handler: line(`awk 'BEGIN { system("./scripts/check.sh") }'`), want: "unbound"},
	{name: "make", handler: line("make -s"), tree: []string{"Makefile"}, edit: []string{"Makefile"}, want: "unbound"},
	{name: "option of env", handler: line("env -S './" + sh + "'"), want: "unbound"},
	{name: "env that moves", handler: line("env -C scripts ./check.sh"), want: "unbound"},
	{name: "env with PATH", handler: line("env PATH=scripts:/usr/bin:/bin check.sh"), want: "unbound"},
	{name: "python text", handler: line(`python3 -c "import runpy; runpy.run_path('scripts/check.py')"`), tree: []string{py}, edit: []string{py}, want: "unbound"},
	{name: "python module", handler: line("python3 -m scripts.check"), tree: []string{py}, edit: []string{py}, want: "unbound"},
	{name: "python folder", handler: line("python3 ./dir"), tree: []string{"dir/__main__.py"}, edit: []string{"dir/__main__.py"}, want: "unbound"},
	{name: "python in the same folder", handler: line("python3 ."), tree: []string{"__main__.py"}, edit: []string{"__main__.py"}, want: "unbound"},
	{name: "up through a link", handler: line("sh lnk/../check.sh"), tree: []string{"deep/sub/x", "deep/check.sh", "lnk->deep/sub"}, edit: []string{"deep/check.sh"}, want: "unbound"},
	{name: "up and down", handler: line("sh scripts/../" + sh), want: "unbound"},
	{name: "proc", handler: line("sh /proc/self/cwd/" + sh), want: "unbound"},
	{name: "BASH_ENV", handler: with("true | cat", `"shell": "bash", "env": {"BASH_ENV": "./`+sh+`"}`), want: "unbound"},
	{name: "PATH", handler: envs("true; check.sh", "PATH", "scripts:/usr/bin:/bin"), want: "unbound"},
	{name: "PATH of the same folder", handler: envs("true; check.sh", "PATH", ":/usr/bin:/bin"), tree: []string{"check.sh"}, edit: []string{"check.sh"}, want: "unbound"},
	{name: "project elsewhere", handler: envs(`"$CLAUDE_PROJECT_DIR"/check.sh`, "CLAUDE_PROJECT_DIR", "scripts"), want: "unbound"},
	{name: "assigned PATH", handler: line("PATH=scripts:/usr/bin:/bin; check.sh"), want: "unbound"},
	{name: "PYTHONPATH", handler: envs("python3 run.py", "PYTHONPATH", "scripts"), tree: []string{"run.py", py}, edit: []string{"scripts/sitecustomize.py"}, want: "unbound"},
	{name: "output that runs", handler: line("cat scripts/check.sh > out.sh; sh out.sh"), tree: []string{sh, "out.sh"}, edit: []string{sh}, want: "unbound"},
	{name: "array subscript", handler: with("test -v 'a[$(./scripts/check.sh)]'; true", `"shell": "bash"`), want: "unbound"},
	{name: "process substitution", handler: with("cat <(./"+sh+")", `"shell": "bash"`), want: "unbound"},
	{name: "coprocess", handler: with("coproc ./"+sh+"; wait", `"shell": "bash"`), want: "unbound"},
	{name: "time", handler: with("time ./"+sh, `"shell": "bash"`), want: "unbound"},
	{name: "first line that is relative", handler: line("./shebang.sh"), tree: []string{sh, "shebang.sh#!" + sh}, want: "unbound"},
	{name: "here-document that expands", handler: line("cat <<E\n$(./" + sh + ")\nE"), want: "unbound"},

	// Hooks with a folder: what is outside of it.
	{name: "folder, its script", hook: `command = "./run.sh"`, tree: []string{".tenterhook/hooks/h/run.sh"}, edit: []string{".tenterhook/hooks/h/run.sh"}, want: "bound"},
	{name: "folder, a list", hook: `command = "true && sh run.sh"`, tree: []string{".tenterhook/hooks/h/run.sh"}, edit: []string{".tenterhook/hooks/h/run.sh"}, want: "bound"},
	{name: "folder, of the project", hook: `command = "\"$CLAUDE_PROJECT_DIR\"/scripts/check.sh"`, want: "bound"},
	{name: "folder, of the project for an interpreter", hook: `command = "sh \"${TENTERHOOK_PROJECT_DIR}/scripts/check.sh\""`, want: "bound"},
	{name: "folder, by its own path", hook: `command = "sh \"$CLAUDE_PROJECT_DIR/.tenterhook/hooks/h/run.sh\""`, tree: []string{".tenterhook/hooks/h/run.sh"}, edit: []string{".tenterhook/hooks/h/run.sh"}, want: "bound"},
	{name: "folder, cd", hook: `command = "cd \"$CLAUDE_PROJECT_DIR\" && ./scripts/check.sh"`, want: "unbound"},
	{name: "folder, default", hook: `command = "\"${CLAUDE_PROJECT_DIR:-.}\"/scripts/check.sh"`, want: "unbound"},
	{name: "folder, substitution", hook: `command = "$(printenv CLAUDE_PROJECT_DIR)/scripts/check.sh"`, want: "unbound"},
	{name: "folder, a program for a folder", hook: `command = "make -s -C \"$CLAUDE_PROJECT_DIR\""`, tree: []string{"Makefile"}, edit: []string{"Makefile"}, want: "unbound"},
	{name: "folder, args", hook: "command = \"sh\"\nargs = [\"-c\", \"cd $CLAUDE_PROJECT_DIR; ./scripts/check.sh\"]", want: "unbound"},
	{name: "folder, its PATH", hook: "command = \"check.sh\"\n[env]\nPATH = \"WS/scripts:/usr/bin:/bin\"", want: "unbound"},
	{name: "folder, text of a program", hook: `command = "awk 'BEGIN { system(ENVIRON[\"CLAUDE_PROJECT_DIR\"] \"/scripts/check.sh\") }'"`, want: "unbound"},
}

// trial is a workspace, and what runs in it.
type trial struct {
	t    *testing.T
	root string
	mark string
}

// put writes a file that leaves a word in the mark, or a link.
func (w *trial) put(name, word string) {
	w.t.Helper()
	name, shebang, _ := strings.Cut(name, "#!")
	name, target, link := strings.Cut(name, "->")
	path := filepath.Join(w.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if link {
		_ = os.Remove(path)
		if err := os.Symlink(target, path); err != nil {
			w.t.Fatal(err)
		}
		return
	}
	text := "echo " + word + " >> " + w.mark + "; exit 2\n"
	switch {
	case shebang != "":
		text = "#!" + strings.ReplaceAll(shebang, "WS", w.root) + "\n"
	case strings.HasSuffix(name, ".py"):
		text = "import sys\nopen('" + w.mark + "', 'a').write('" + word + "\\n')\nsys.exit(2)\n"
	case filepath.Base(name) == "Makefile":
		text = "all:\n\techo " + word + " >> " + w.mark + "; exit 2\n"
	case filepath.Base(name) == "wrap.sh": // runs whatever it can find in what it gets
		text = "#!/bin/sh\necho " + word + " >> " + w.mark + "\nfor a in \"$@\" \"$TOOL\"; do for b in $a; do b=${b#*=}; b=${b#-f}; b=${b#*:}; if [ -f \"$b\" ]; then sh \"$b\"; fi; done; done\n[ -t 0 ] || sh\nexit 2\n"
	case filepath.Ext(name) == ".sh":
		text = "#!/bin/sh\n" + text
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

// tenterhook runs the command.
func (w *trial) tenterhook(args ...string) (code int, out string) {
	w.t.Helper()
	var b bytes.Buffer
	code = Main(w.t.Context(), append(args, "--workspace", w.root), Streams{strings.NewReader(""), &b, &b})
	return code, b.String()
}

// run fires the event and returns what was left in the mark, and what was said.
func (w *trial) run(cwd string) (marks, out string) {
	w.t.Helper()
	_ = os.Remove(w.mark)
	args := []string{"run", "PreToolUse", "--tool", "Bash", "--input", `{"command": "ls"}`}
	if cwd != "" {
		args = append(args, "--set", fmt.Sprintf("cwd=%q", filepath.Join(w.root, cwd)))
	}
	_, out = w.tenterhook(args...)
	data, _ := os.ReadFile(w.mark)
	return string(data), out
}

// TestWhatWasApprovedIsWhatRuns approves each spelling through the command, edits
// what it runs, and fires an event. What is bound does not run any more; what is
// unbound is refused unless --unbound is given, and then the edit is seen to run.
func TestWhatWasApprovedIsWhatRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("long: tries each way to name a script")
	}
	home := t.TempDir()
	removable(t, home)
	t.Setenv("HOME", home)
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1") // an edit of the same length within a second would not be seen
	for _, name := range []string{"CONFIG", "DATA", "STATE", "CACHE"} {
		t.Setenv("XDG_"+name+"_HOME", filepath.Join(home, strings.ToLower(name)))
	}
	seen := make(map[string]bool)
	for _, s := range spellings {
		if seen[s.name] {
			t.Errorf("two spellings are called %q", s.name)
		}
		seen[s.name] = true
		t.Run(s.name, func(t *testing.T) { s.try(t) })
	}
}

// removable lets the copies of approved folders below dir be removed, which cannot
// be written.
func removable(t *testing.T, dir string) {
	t.Cleanup(func() {
		_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				err = os.Chmod(path, 0o700)
			}
			return err
		})
	})
}

func (s spelling) try(t *testing.T) {
	for _, program := range []string{"python3", "bash", "make", "jq", "awk"} {
		if _, err := exec.LookPath(program); err != nil && strings.Contains(s.handler+s.hook, program) {
			t.Skip("no " + program)
		}
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &trial{t: t, root: filepath.Join(base, "ws"), mark: filepath.Join(base, "mark")}
	tree, edit := s.tree, s.edit
	if tree == nil {
		tree = []string{sh}
	}
	if edit == nil {
		edit = []string{sh}
	}
	w.put("README", "x")
	for _, name := range tree {
		w.put(name, "good")
	}
	id := "project/h"
	if s.hook == "" {
		id = "project/settings.json:PreToolUse[0].0"
		w.write(".tenterhook/settings.json", `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "sandbox": "none", `+s.handler+`}]}]}}`)
	} else {
		w.write(".tenterhook/hooks/h/HOOK.md", "+++\nevent = \"PreToolUse\"\nsandbox = \"none\"\n"+strings.ReplaceAll(s.hook, "WS", w.root)+"\n+++\n")
	}
	code, out := w.tenterhook("trust", id, "--yes")
	if refused := code == 1 && strings.Contains(out, "unbound: what this command runs may change without a new approval"); refused != (s.want == "unbound") {
		t.Fatalf("trust: exit code %d\n%s", code, out)
	} else if refused {
		if marks, out := w.run(s.cwd); marks != "" {
			t.Fatalf("it ran unapproved: %q\n%s", marks, out)
		}
		code, out = w.tenterhook("trust", id, "--yes", "--unbound")
	}
	if code != 0 {
		t.Fatalf("trust: exit code %d\n%s", code, out)
	}
	before, out := w.run(s.cwd)
	if strings.Contains(before, "evil") || strings.Contains(out, "untrusted") || len(tree) > 0 && s.edit == nil && s.want != "safe" && before == "" && s.want == "bound" {
		t.Fatalf("approved, it left %q\n%s", before, out)
	}
	for _, name := range edit {
		w.put(name, "evil")
	}
	after, out := w.run(s.cwd)
	switch s.want {
	case "bound":
		if strings.Contains(after, "evil") || !strings.Contains(out, "untrusted") {
			t.Errorf("after the edit it left %q\n%s", after, out)
		}
	case "safe":
		if strings.Contains(after, "evil") {
			t.Errorf("after the edit it left %q\n%s", after, out)
		}
	case "unbound":
		if !strings.Contains(after, "evil") {
			t.Errorf("the edit does not run, so the case shows nothing: %q\n%s", after, out)
		}
	}
}

func (w *trial) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}
