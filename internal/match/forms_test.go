package match

import (
	"hash/crc32"
	"strings"
	"testing"
)

// judgements are the conditions, and the rules that listed commands are held against.
func judgements(t testing.TB) map[string]func(*Call) Decision {
	push, _ := ParseRule("Bash(git push *)", RuleOptions{})
	rm, _ := ParseRule("Bash(rm *)", RuleOptions{})
	return map[string]func(*Call) Decision{"destructive": Destructive, "network": Network, "secrets": secrets(t), "pushes": push.Match, "rm": rm.Match}
}

// A part of a command, as it is typed or as a mistake leaves it, is read like any
// other: nothing takes words that are not there.
func TestEachPartOfACommandIsRead(t *testing.T) {
	judge := judgements(t)
	seen := map[string]bool{}
	for _, list := range []string{"destructive.txt", "network.txt", "secrets.txt", "harmless.txt", "covered.txt", "pushes.txt"} {
		for _, one := range commandsOf(t, list) {
			words := strings.Fields(one.command)
			for n := 1; n <= min(3, len(words)); n++ {
				for _, part := range []string{strings.Join(words[:n], " "), strings.Join(words[len(words)-n:], " ")} {
					if seen[part] {
						continue
					}
					seen[part] = true
					c := inWork(t, part)
					for name, judge := range judge {
						if d := judge(c); d.Certainty > No && d.By == "" {
							t.Errorf("%s: %s: %+v", name, part, d)
						}
					}
					if why := c.shellTexts()[0].line.unread; why == "cannot be read" {
						t.Errorf("%s %s", part, why)
					}
				}
			}
		}
	}
}

// forms are the ways in which the shell's grammar may hold a command. What comes
// of it does not depend on them.
var forms = []string{
	"true; X", "X; true", "true && X", "X && true", "false || X", "X || true", "(X)", "{ X; }", "if X; then :; fi", "if true; then X; fi", "if true; then :; else X; fi",
	"if true; then :; elif X; then :; fi", "while X; do break; done", "while true; do X; done", "until X; do break; done", "for i in 1; do X; done", "for ((;;)); do X; done",
	"case 1 in 1) X ;; esac", "case 1 in 2) ;; *) X ;; esac", "f() { X; }; f", "f() { X; }", "! X", "time X", "X &", "X 2> /dev/null", "X 2>&1", "true | { X; }", "\nX\n", "# note\nX",
}

// within puts a command into a form. What holds a quote, a comment or a document
// stays out: it would end somewhere else.
func within(form, command string) string { return strings.Replace(form, "X", command, 1) }

func simpleCommand(command string) bool {
	return !strings.ContainsAny(command, "\n#;&|<>(){}'\"`\\=!") && !strings.HasPrefix(command, "time ") && !strings.HasPrefix(command, "coproc")
}

// drawn chooses one command of so many, the same ones whatever is listed beside them.
func drawn(command string, of uint32) bool {
	return crc32.ChecksumIEEE([]byte(command))%of == 0
}

func TestNoFormOfTheShellChangesWhatACommandDoes(t *testing.T) {
	for list, judge := range map[string]func(*Call) Decision{"destructive.txt": Destructive, "network.txt": Network, "secrets.txt": secrets(t)} {
		n := 0
		for _, one := range commandsOf(t, list) {
			if !simpleCommand(one.command) || !drawn(one.command, 9) {
				continue
			}
			n++
			want := judge(inWork(t, one.command)).Certainty
			for _, form := range forms {
				if d := judge(inWork(t, within(form, one.command))); d.Certainty != want {
					t.Errorf("%s: %+v, and %d without its form", within(form, one.command), d, want)
				}
			}
		}
		if n == 0 {
			t.Errorf("no command of %s is simple", list)
		}
	}
}

func TestNoFormOfTheShellMakesACommandHarmful(t *testing.T) {
	judge := judgements(t)
	n := 0
	for _, one := range commandsOf(t, "harmless.txt") {
		if one.want != "passed" || !simpleCommand(one.command) || !drawn(one.command, 7) {
			continue
		}
		n++
		for _, form := range forms {
			for _, name := range []string{"destructive", "network", "secrets"} {
				if d := judge[name](inWork(t, within(form, one.command))); d.Certainty > Observed {
					t.Errorf("%s: %s: %+v", name, within(form, one.command), d)
				}
			}
		}
	}
}
