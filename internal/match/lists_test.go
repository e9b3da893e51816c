package match

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// commandsOf reads a list of commands, one a line, quoted as in Go if it has
// several. Those behind a ? are out of reach of what reads a line alone.
func commandsOf(t testing.TB, name string) (commands, outOfReach []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/commands/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		list := &commands
		if rest, ok := strings.CutPrefix(line, "?"); ok {
			line, list = rest, &outOfReach
		}
		if strings.HasPrefix(line, `"`) {
			text, err := strconv.Unquote(line)
			if err != nil {
				t.Fatalf("%s: %v: %s", name, err, line)
			}
			line = text
		}
		*list = append(*list, line)
	}
	return commands, outOfReach
}

// inWork makes a call of Bash in a workspace.
func inWork(t testing.TB, command string) *Call {
	c := bash(t, command)
	c.Cwd, c.Workspace, c.Home = "/src/project", "/src/project", "/home/alice"
	return c
}

func checkList(t *testing.T, name string, least int, judge func(*Call) Decision) {
	t.Helper()
	commands, outOfReach := commandsOf(t, name)
	if len(commands) < least || len(outOfReach)*20 > len(commands) {
		t.Errorf("%d commands, want %d; %d out of reach, want at most 5 %%", len(commands), least, len(outOfReach))
	}
	sures := 0
	for _, command := range commands {
		d := judge(inWork(t, command))
		if d.Certainty < Suspected {
			t.Errorf("passes: %s", command)
		}
		if d.Certainty == Sure {
			sures++
		}
		if d.Run && d.By == "" {
			t.Errorf("no reason: %s", command)
		}
	}
	for _, command := range outOfReach {
		if d := judge(inWork(t, command)); d.Certainty >= Suspected {
			t.Errorf("is within reach: %s: %s", command, d.By)
		}
	}
	t.Logf("%d of %d are certain", sures, len(commands))
}

func TestDestructiveCommandsAreSeen(t *testing.T) {
	checkList(t, "destructive.txt", 400, Destructive)
}

func TestNetworkCommandsAreSeen(t *testing.T) {
	checkList(t, "network.txt", 210, Network)
}

// secretFiles are patterns like those of a guard that keeps secrets.
var secretFiles = strings.Fields(`.env .env.* *.env !.env.example !.env.*.example !.env.sample !.env.*.sample !process.env
	id_rsa id_dsa id_ecdsa id_ed25519 *.pem *.p12 *.pfx *.jks *.kdbx .netrc .pgpass .git-credentials
	~/.ssh/** **/.ssh/** ~/.gnupg/** **/.gnupg/** !**/.ssh/config !**/.ssh/known_hosts !**/.ssh/*.pub
	~/.aws/credentials* **/.aws/credentials* **/.kube/config **/.docker/config.json **/.config/gh/hosts.yml
	/etc/shadow* /proc/*/environ`)

func secrets(t testing.TB) func(*Call) Decision {
	patterns, problems := ParseTouches(secretFiles, TouchOptions{})
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

func TestCommandsThatReadSecretsAreSeen(t *testing.T) {
	checkList(t, "secrets.txt", 220, secrets(t))
}

func TestEverydayCommandsPass(t *testing.T) {
	commands, _ := commandsOf(t, "harmless.txt")
	if len(commands) < 150 {
		t.Errorf("%d commands, want 150", len(commands))
	}
	for name, judge := range map[string]func(*Call) Decision{"destructive": Destructive, "network": Network, "secrets": secrets(t)} {
		asked := 0
		for _, command := range commands {
			switch d := judge(inWork(t, command)); d.Certainty {
			case Sure:
				t.Errorf("%s: refused: %s: %s", name, command, d.By)
			case Suspected:
				asked++
				t.Logf("%s: asked: %s: %s", name, command, d.By)
			}
		}
		if asked*20 > len(commands) {
			t.Errorf("%s: asks about %d of %d", name, asked, len(commands))
		}
	}
}
