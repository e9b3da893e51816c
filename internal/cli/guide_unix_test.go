//go:build !windows

package cli

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/shell"
)

var updateGuide = flag.Bool("update", false, "rewrite the outputs in docs/operating.md")

// guide is the home in which the commands of docs/operating.md run, in the order of
// the document. There it is called /home/ada.
type guide struct {
	t       *testing.T
	base    string            // the home
	project string            // the directory of all commands
	runs    map[string]string // by their names in the document
	ran     []string          // subcommands
}

// newGuide gives the test a home, and a project in it that is the current directory.
func newGuide(t *testing.T) *guide {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	removable(t, base)
	g := &guide{t: t, base: base, project: filepath.Join(base, "app"), runs: make(map[string]string)}
	t.Setenv("HOME", base)
	for name, dir := range map[string]string{"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share", "XDG_STATE_HOME": ".local/state", "XDG_CACHE_HOME": ".cache", "XDG_RUNTIME_DIR": "run"} {
		t.Setenv(name, filepath.Join(base, dir))
	}
	if err := os.Mkdir(g.project, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(g.project)
	return g
}

// prepare changes something before a command of the document.
func (g *guide) prepare(command string) {
	switch command {
	case "tenterhook list":
		g.hook("guard", "PreToolUse", "type = \"rule\"\nif = \"Bash(rm *)\"\ndecision = \"deny\"\nreason = \"Use trash, so that a person can undo it.\"")
		g.hook("lint", "PostToolUse", "matcher = \"Edit|Write\"\ncommand = \"eslint --quiet .\"")
	case "tenterhook test user/guard":
		const event = "-- event.json --\n{\"hook_event_name\": \"PreToolUse\", \"tool_name\": \"Bash\", \"tool_input\": {\"command\": \"rm x\"}}\n"
		for name, want := range map[string]string{"simple": "deny", "quoted": "deny", "split": "ask"} {
			g.write(".config/tenterhook/hooks/guard/cases/"+name+".txtar", "A file is removed.\n"+event+"-- outcome.json --\n{\"verdict\": \""+want+"\"}\n")
		}
	case "tenterhook doctor":
		if err := os.RemoveAll(filepath.Join(g.base, ".config/tenterhook/hooks/guard/cases")); err != nil {
			g.t.Fatal(err)
		}
		for range 5 {
			call(g.t, "run", "PostToolUse", "--tool", "Edit")
		}
	case "tenterhook log -n 3":
		call(g.t, "run", "PreToolUse", "--tool", "Bash", "--input", `{"command":"rm -r dist"}`)
	case "tenterhook replay --since 7d --hook user/guard":
		g.hook("guard", "PreToolUse", "type = \"rule\"\nif = \"Bash(rm *)\"\ndecision = \"ask\"\nreason = \"Is nothing in it needed?\"")
	case "tenterhook import claude":
		g.write(".claude/settings.json", `{
  "hooks": {
    "PreToolUse": [{
      "matcher": "Bash",
      "hooks": [
        {"type": "command", "command": "$HOME/bin/guard.sh"},
        {"type": "command", "command": "$HOME/bin/audit.sh", "async": true},
        {"type": "wasm"}
      ]
    }]
  }
}
`)
		g.write("bin/guard.sh", "#!/bin/sh\n")
		g.write("bin/audit.sh", "#!/bin/sh\n")
	case "tenterhook add ~/src/team-hooks@v1.0.0 --yes":
		g.write("src/team-hooks/no-sudo/HOOK.md", "+++\nevent = \"PreToolUse\"\ncommand = \"./run.sh\"\n+++\n")
		g.write("src/team-hooks/no-sudo/run.sh", "#!/bin/sh\ngrep -q sudo && { echo 'No sudo.' >&2; exit 2; }\nexit 0\n")
		g.git("init", "-q")
		g.tag("v1.0.0")
	case "tenterhook outdated":
		g.write("src/team-hooks/no-sudo/run.sh", "#!/bin/sh\ngrep -qw sudo && { echo 'No sudo.' >&2; exit 2; }\nexit 0\n")
		g.tag("v1.1.0")
	}
}

func (g *guide) write(name, text string) {
	g.t.Helper()
	path := filepath.Join(g.base, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		g.t.Fatal(err)
	}
	mode := map[bool]os.FileMode{true: 0o755, false: 0o644}[filepath.Ext(name) == ".sh"]
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		g.t.Fatal(err)
	}
}

func (g *guide) hook(name, event, keys string) {
	g.write(".config/tenterhook/hooks/"+name+"/HOOK.md", "+++\nevent = \""+event+"\"\n"+keys+"\n+++\n")
}

func (g *guide) git(args ...string) {
	g.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", filepath.Join(g.base, "src/team-hooks"), "-c", "user.name=ada", "-c", "user.email=ada@example.com"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		g.t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func (g *guide) tag(name string) {
	g.git("add", ".")
	g.git("commit", "-qm", name)
	g.git("tag", name)
}

// run runs a command line, and returns what it prints.
func (g *guide) run(line string) string {
	g.t.Helper()
	g.prepare(line)
	words, err := shell.Fields(line, os.Getenv)
	if err != nil {
		g.t.Fatal(err)
	}
	for i, word := range words {
		for name, real := range g.runs {
			if len(word) >= 8 && strings.HasPrefix(name, word) {
				words[i] = real
			}
		}
	}
	if words[0] != "tenterhook" {
		return g.shell(line)
	}
	g.ran = append(g.ran, words[1])
	var out bytes.Buffer
	Main(g.t.Context(), words[1:], Streams{strings.NewReader(""), &out, &out})
	return strings.ReplaceAll(out.String(), g.base, "/home/ada")
}

// shell runs a line that is for the shell; what it exports is there for the others.
func (g *guide) shell(line string) string {
	g.t.Helper()
	if variable, ok := strings.CutPrefix(line, "export "); ok {
		name, value, _ := strings.Cut(variable, "=")
		g.t.Setenv(name, value)
		return ""
	}
	out, err := exec.Command("sh", "-c", line).CombinedOutput()
	if err != nil {
		g.t.Errorf("$ %s\n%v: %s", line, err, out)
	}
	return string(out)
}

var runName = regexp.MustCompile(`\bd[0-9a-v]{15}\b`)

// changing is what is another one each time, and what stands for it.
var changing = []struct {
	what *regexp.Regexp
	as   string
}{
	{runName, "RUN"},
	{regexp.MustCompile(`-d[0-9a-v]{7}\b`), "-RUN"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)?`), "TIME"},
	{regexp.MustCompile(`\d\d-\d\d \d\d:\d\d(:\d\d)?`), "TIME"},
	{regexp.MustCompile(`\d+\.\d m?s\b`), "LONG"},
	{regexp.MustCompile(`\b\d+\.\d\b`), "LONG"},
	{regexp.MustCompile(`in (\d+m)?\d+s\b`), "in LONG"},
	{regexp.MustCompile(`[·▁▂▃▄▅▆▇█]+`), "PLOT"},
	{regexp.MustCompile(`\b[0-9a-f]{40,64}\b`), "DIGEST"},
	{regexp.MustCompile(` +`), " "},
}

func normal(line string) string {
	for _, c := range changing {
		line = c.what.ReplaceAllString(line, c.as)
	}
	return strings.TrimSpace(line)
}

// same compares a line of the document with one that was printed. "…" at the end
// stands for the rest of a line.
func same(want, got string) bool {
	want, got = normal(want), normal(got)
	if begin, cut := strings.CutSuffix(want, "…"); cut {
		return strings.HasPrefix(got, strings.TrimSpace(begin))
	}
	return want == got
}

// compare holds the lines of the document against the ones that were printed, and
// learns the names of runs. A line "…" stands for any number of lines.
func (g *guide) compare(command string, want, got []string) {
	g.t.Helper()
	i := 0
	for n, line := range want {
		if strings.TrimSpace(line) == "…" {
			for i < len(got) && n+1 < len(want) && !same(want[n+1], got[i]) {
				i++
			}
			if n+1 == len(want) {
				return
			}
			continue
		}
		if i == len(got) || !same(line, got[i]) {
			g.t.Errorf("$ %s\nthe document has\n  %s\nand it prints\n  %s", command, line, strings.Join(got[min(i, len(got)):], "\n  "))
			return
		}
		g.learn(line, got[i])
		if names, reals := runName.FindAllString(line, -1), runName.FindAllString(got[i], -1); len(names) > 0 && g.runs[names[0]] != reals[0] {
			g.t.Errorf("$ %s\nthe document calls a run %s that has another name elsewhere", command, names[0])
		}
		i++
	}
	if i < len(got) {
		g.t.Errorf("$ %s\nprints as well\n  %s", command, strings.Join(got[i:], "\n  "))
	}
}

// learn learns which names of the document stand for which runs.
func (g *guide) learn(want, got string) {
	names, reals := runName.FindAllString(want, -1), runName.FindAllString(got, -1)
	for k, real := range reals {
		switch _, known := g.runs[real]; {
		case k < len(names) && g.runs[names[k]] == "":
			g.runs[names[k]] = real
		case !known:
			g.runs[real] = real
		}
	}
}

// Each command of the guide prints what the guide shows, in the guide's order, and
// each question of its table has one. -update rewrites the outputs.
func TestTheGuideShowsWhatCommandsPrint(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	path, err := filepath.Abs(filepath.Join(repository, "docs", "operating.md"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g := newGuide(t)
	fresh := g.follow(strings.Split(string(text), "\n"))
	if *updateGuide {
		if err := os.WriteFile(path, []byte(strings.Join(fresh, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range regexp.MustCompile(`(?m)^\| [^|]*\? \| `+"`tenterhook (\\w+)").FindAllStringSubmatch(string(text), -1) {
		if row[1] != "top" && !slices.Contains(g.ran, row[1]) {
			t.Errorf("the guide answers %q without an output", row[0])
		}
	}
}

// follow runs each command of the document, and returns the document with what
// they print.
func (g *guide) follow(lines []string) (fresh []string) {
	const indent, prompt = "    ", "    $ "
	for len(lines) > 0 {
		command, is := strings.CutPrefix(lines[0], prompt)
		fresh, lines = append(fresh, lines[0]), lines[1:]
		if !is {
			continue
		}
		n := 0
		for n < len(lines) && (strings.HasPrefix(lines[n], indent) || lines[n] == "" && n+1 < len(lines) && strings.HasPrefix(lines[n+1], indent)) && !strings.HasPrefix(lines[n], prompt) {
			n++
		}
		var want, elided []string
		for _, line := range lines[:n] {
			line = strings.TrimPrefix(line, indent)
			want = append(want, line)
			if strings.HasSuffix(line, "…") {
				elided = append(elided, line)
			}
		}
		if len(want) > 0 && want[len(want)-1] == "" { // before the next prompt
			want = want[:len(want)-1]
		}
		var got []string
		if out := strings.TrimRight(g.run(command), "\n"); out != "" {
			got = strings.Split(out, "\n")
		}
		if *updateGuide && len(elided) == 0 {
			g.learn(strings.Join(want, "\n"), strings.Join(got, "\n"))
			for _, line := range got {
				for name, real := range g.runs { // which the document keeps
					line = strings.ReplaceAll(line, real, name)
				}
				fresh = append(fresh, strings.TrimRight(indent+line, " "))
			}
		} else {
			fresh = append(fresh, lines[:n]...)
			g.compare(command, want, got)
		}
		lines = lines[n:]
	}
	return fresh
}
