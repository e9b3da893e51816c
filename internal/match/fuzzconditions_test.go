package match

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// conditionCall makes a call of Bash without a *testing.T.
func conditionCall(command string) *Call {
	raw, _ := json.Marshal(map[string]string{"command": command})
	return &Call{ToolName: "Bash", ToolInput: raw, Cwd: "/src/project", Workspace: "/src/project", Home: "/home/alice"}
}

// fuzzCondition checks a condition: it never panics, its work is bounded, it
// says why, and a command behind the line takes no match away.
func fuzzCondition(f *testing.F, judge func(*Call) Decision) {
	for _, list := range []string{"destructive.txt", "network.txt", "secrets.txt", "harmless.txt"} {
		for i, one := range commandsOf(f, list) {
			if i%8 == 0 {
				f.Add(one.command)
			}
		}
	}
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > hostileSize/4 || !utf8.ValidString(line) {
			t.Skip()
		}
		d := judge(conditionCall(line))
		if d.Run != (d.Certainty > No) {
			t.Errorf("%q: %+v", line, d)
		}
		if d.By == "" || strings.ContainsAny(d.By, "\n\x1b") {
			t.Errorf("%q: by %q", line, d.By)
		}
		checkWork(t, line, line)
		for _, end := range []string{"; other", "\nother"} {
			if longer := judge(conditionCall(line + end)); longer.Certainty < min(d.Certainty, Suspected) && endsOpen(line) == endsOpen(line+end) {
				t.Errorf("%q: %+v, with %q: %+v", line, d, end, longer)
			}
		}
	})
}

// endsOpen reports whether text behind a line would be a part of its last word,
// comment or document.
func endsOpen(line string) bool {
	_, err := ParseShell(line)
	return err != nil
}

func FuzzDestructive(f *testing.F) { fuzzCondition(f, Destructive) }

func FuzzNetwork(f *testing.F) { fuzzCondition(f, Network) }

func FuzzTouches(f *testing.F) { fuzzPaths(f, Touch) }

func FuzzReads(f *testing.F) { fuzzPaths(f, Read) }

func FuzzWrites(f *testing.F) { fuzzPaths(f, Write) }

func fuzzPaths(f *testing.F, mode TouchMode) {
	paths, problems := ParseTouches(secretFiles(f), TouchOptions{})
	if len(problems) > 0 {
		f.Fatal(problems)
	}
	fuzzCondition(f, func(c *Call) Decision { return paths.Match(c, mode) })
}
