package match

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// listedCommand is a command of a list, and the first word of its section's name: what
// has to come of it.
type listedCommand struct{ command, want string }

// commandsOf reads a list of commands: one a line, quoted as in Go if it has
// several, below the name of their section.
func commandsOf(t testing.TB, name string) (list []listedCommand) {
	t.Helper()
	data, err := os.ReadFile("testdata/commands/" + name)
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if section, ok := strings.CutPrefix(line, "## "); ok {
			want, _, _ = strings.Cut(section, ":")
		}
		if line == "" || strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "## ") {
			continue
		}
		if strings.HasPrefix(line, `"`) {
			text, err := strconv.Unquote(line)
			if err != nil {
				t.Fatalf("%s: %v: %s", name, err, line)
			}
			line = text
		}
		list = append(list, listedCommand{line, want})
	}
	return list
}

// inWork makes a call of Bash in a workspace.
func inWork(t testing.TB, command string) *Call {
	c := bash(t, command)
	c.Cwd, c.Workspace, c.Home = "/src/project", "/src/project", "/home/alice"
	return c
}

// outcomes are what hooks make of a certainty: they refuse, ask a person, or let
// the call pass.
var outcomes = map[Certainty]string{Sure: "refused", Suspected: "asked", Observed: "passed", No: "passed"}

func checkList(t *testing.T, name string, least int, judge func(*Call) Decision) {
	t.Helper()
	missed, list := 0, commandsOf(t, name)
	for _, one := range list {
		d := judge(inWork(t, one.command))
		got := outcomes[d.Certainty]
		if one.want == "missed" {
			missed++
			got = strings.Replace(got, "passed", "missed", 1)
		}
		if onWindows && one.command == "cat a:$X" {
			continue // a drive there, with anything behind it
		}
		if got != one.want || d.By == "" {
			t.Errorf("%s is %s (%s), want %s", one.command, got, d.By, one.want)
		}
	}
	if len(list) < least || missed*20 > len(list) {
		t.Errorf("%d commands, want %d; %d are missed, want at most 5 %%", len(list), least, missed)
	}
}

func TestDestructiveCommandsAreRefusedOrAskedAbout(t *testing.T) {
	checkList(t, "destructive.txt", 400, Destructive)
}

func TestNetworkCommandsAreRefusedOrAskedAbout(t *testing.T) {
	checkList(t, "network.txt", 210, Network)
}

var update = flag.Bool("update", false, "write testdata/commands/also.txt anew")

// also is the list of what conditions make of commands that are listed for another
// condition. What is not in it passes.
const also = "also.txt"

func TestEachConditionJudgesTheCommandsOfTheOthersLists(t *testing.T) {
	judges := map[string]func(*Call) Decision{"destructive": Destructive, "network": Network, "secrets": secrets(t)}
	want, got := map[string]string{}, map[string]string{}
	for _, one := range commandsOf(t, also) {
		want[one.command] += one.want + ", "
	}
	sections := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(judges)) {
		for _, list := range []string{"covered", "destructive", "network", "pushes", "secrets"} {
			if list == name {
				continue
			}
			for _, one := range commandsOf(t, list+".txt") {
				outcome := outcomes[judges[name](inWork(t, one.command)).Certainty]
				if section := name + " " + outcome; outcome != "passed" && !strings.Contains(got[one.command], section) {
					got[one.command] += section + ", "
					sections[section] = append(sections[section], one.command)
				}
			}
		}
	}
	if *update {
		writeList(t, also, sections)
		return
	}
	for command := range maps.Keys(got) {
		if _, listed := want[command]; !listed {
			want[command] = ""
		}
	}
	for command, outcome := range want {
		if got[command] != outcome && !(onWindows && command == "cat a:$X") {
			t.Errorf("%s is %s want %s look at it, then write the list with -update", command, got[command], outcome)
		}
	}
}

func writeList(t *testing.T, name string, sections map[string][]string) {
	text := "# What conditions make of commands that are listed for another condition. Others pass.\n"
	for _, section := range slices.Sorted(maps.Keys(sections)) {
		text += "\n## " + section + "\n"
		for _, command := range slices.Sorted(slices.Values(sections[section])) {
			if strings.ContainsAny(command[:1], "\"#") || strconv.Quote(command) != `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(command)+`"` {
				command = strconv.Quote(command)
			}
			text += command + "\n"
		}
	}
	if err := os.WriteFile("testdata/commands/"+name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// secretFiles are the patterns of the guards that keep secrets.
func secretFiles(t testing.TB) (patterns []string) {
	t.Helper()
	for _, name := range []string{"protect-secrets", "ask-before-secrets"} {
		text, err := os.ReadFile("../../examples/hooks/" + name + "/HOOK.md")
		if err != nil {
			t.Fatal(err)
		}
		_, list, _ := strings.Cut(string(text), "reads = [")
		list, _, _ = strings.Cut(list, "\n]")
		for i, part := range strings.Split(list, `"`) {
			if i%2 == 1 {
				patterns = append(patterns, part)
			}
		}
	}
	return patterns
}

func secrets(t testing.TB) func(*Call) Decision {
	patterns, problems := ParseTouches(secretFiles(t), TouchOptions{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return func(c *Call) Decision {
		read, write := patterns.Match(c, Read), patterns.Match(c, Write)
		if write.Certainty > read.Certainty {
			return write
		}
		return read
	}
}

func TestCommandsThatReadSecretsAreRefusedOrAskedAbout(t *testing.T) {
	checkList(t, "secrets.txt", 220, secrets(t))
}

func TestEverydayCommandsPass(t *testing.T) {
	list := commandsOf(t, "harmless.txt")
	asked := 0
	for name, judge := range map[string]func(*Call) Decision{"destructive": Destructive, "network": Network, "secrets": secrets(t)} {
		for _, one := range list {
			want := "passed"
			if one.want == "asked by "+name {
				want = "asked"
				asked++
			}
			if d := judge(inWork(t, one.command)); outcomes[d.Certainty] != want {
				t.Errorf("%s: %s is %s, want %s: %s", name, one.command, outcomes[d.Certainty], want, d.By)
			}
		}
	}
	if len(list) < 150 || asked*20 > len(list) {
		t.Errorf("%d commands, want 150; %d are asked about, want at most 5 %%", len(list), asked)
	}
}
