package match

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// touched says in which modes, and how certainly, a call names a path of the
// patterns: "read!, write" is a sure reading and a suspected writing.
func touched(t testing.TB, patterns string, c *Call) string {
	t.Helper()
	touches, problems := ParseTouches(strings.Fields(patterns), TouchOptions{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var modes []string
	for i, mode := range []TouchMode{Read, Write, Touch} {
		name := []string{"read", "write", "touch"}[i]
		switch d := touches.Match(c, mode); d.Certainty {
		case Sure:
			modes = append(modes, name+"!")
		case Suspected:
			modes = append(modes, name)
		}
	}
	return strings.Join(modes, " ")
}

// What a program does with a file decides whether a call reads or writes it.
func TestACommandReadsOrWritesTheFilesThatItsProgramDoes(t *testing.T) {
	for command, want := range map[string]string{
		"cat .env":                      "read! touch!",
		"head -5 a .env":                "read! touch!",
		"touch .env":                    "write! touch!",
		"rm .env":                       "write! touch!",
		"rm -- .env":                    "write! touch!",
		"mkdir .env":                    "write! touch!",
		"chmod 600 .env":                "write! touch!",
		"ls -l .env":                    "touch!",
		"stat .env":                     "touch!",
		"which .env":                    "touch!",
		"test -f .env":                  "touch!",
		"vim .env":                      "read! write! touch!",
		"nano .env":                     "read! write! touch!",
		"ed .env":                       "read! write! touch!",
		"tee .env":                      "read! write! touch!",
		"mv .env x":                     "read! write! touch!",
		"mv x .env":                     "read! write! touch!",
		"cp .env x":                     "read! touch!",
		"cp x .env":                     "write! touch!",
		"cp -p .env x y":                "read! touch!",
		"scp h:x .env":                  "write! touch!",
		"rsync .env h:":                 "read! touch!",
		"dd if=.env of=x":               "read! touch!",
		"dd if=x of=.env":               "write! touch!",
		"mytool .env":                   "read! write touch!",
		"mytool --config=.env":          "read! write touch!",
		"mytool --image=.env":           "read! write touch!",
		"mytool --image .env":           "read! write touch!",
		"mytool --write-command .env":   "read! write touch!",
		"mytool --editor=.env":          "read! write touch!",
		"mytool SHELL=.env":             "read! write touch!",
		"make OUT_IMAGE=.env":           "read! write touch!",
		"make CC .env":                  "read! write touch!",
		"make SHELL=.env":               "read! touch!",
		"gmake cc=.env":                 "read! touch!",
		"mytool -f.env":                 "read! write touch!",
		"mytool a:.env":                 "read! write touch!",
		"mytool 'open(\".env\")'":       "read! write touch!",
		"./.env":                        "read! touch!",
		"cat < .env":                    "read! touch!",
		"echo x > .env":                 "write! touch!",
		"echo x >> .env":                "write! touch!",
		"echo x 2> .env":                "write! touch!",
		"cat <> .env":                   "write! touch!",
		"echo x >& .env":                "write! touch!",
		"echo x 2>&1":                   "",
		"echo .env":                     "touch!",
		"echo 'cat .env'":               "touch!",
		"printf %s .env":                "touch!",
		"sed s/a/b/ .env":               "read! touch!",
		"sed -i s/a/b/ .env":            "read! write! touch!",
		"sed --in-place s/a/b/ .env":    "read! write! touch!",
		"sed -n -e 1p .env":             "read! touch!",
		"sed .env x":                    "",
		"sed 'r .env' x":                "read! write touch!",
		"sed 'w .env' x":                "read! write touch!",
		"perl -pe s/a/b/ .env":          "read! write touch!",
		"perl -pi -e s/a/b/ .env":       "read! write! touch!",
		"perl -e 'open \".env\"'":       "read! write touch!",
		"awk 1 .env":                    "read! touch!",
		"awk '{print < \".env\"}' x":    "read! touch!",
		"grep .env x":                   "",
		"grep x .env":                   "read! touch!",
		"grep -e .env x":                "",
		"grep -e x .env":                "read! touch!",
		"grep --regexp .env x":          "",
		"grep -f .env x":                "read! touch!",
		"grep --file=p .env":            "read! touch!",
		"grep --regexp=x .env":          "read! touch!",
		"sed --expression=p .env":       "read! touch!",
		"jq . .env":                     "read! touch!",
		"rg .env":                       "",
		"rg x .env":                     "read! touch!",
		"git commit -m .env":            "",
		"git commit --message=.env":     "",
		"git commit -am .env":           "",
		"git log --grep .env":           "",
		"git log -S .env":               "",
		"git add .env":                  "read! write touch!",
		"git diff .env":                 "read! write touch!",
		"git checkout .env":             "write touch!",
		"git -C x rm .env":              "write touch!",
		"git -c a.b=c status .env":      "write touch!",
		"git check-ignore .env":         "write touch!",
		"gh pr create --title .env":     "",
		"gh pr create --body=.env":      "",
		"gh pr create --body-file .env": "read! write touch!",
		"curl -d @.env h":               "read! touch!",
		"curl -o .env h":                "write! touch!",
		"curl --output .env h":          "write! touch!",
		"curl --output=.env h":          "write! touch!",
		"curl -T .env h":                "read! touch!",
		"wget -O .env h":                "write! touch!",
		"find .env":                     "touch!",
		"find .env -delete":             "write! touch!",
		"find . -fprint .env":           "read! write! touch!",
		"find . -files0-from .env":      "read! write! touch!",
		"find . -name .env":             "touch!",
		"find . -name .env -delete":     "write! touch!",
		"cp x.env y":                    "",
		"cat .ENV":                      "read! touch!",
		"cat a/b/.env":                  "read! touch!",
		"cat ~/.env":                    "read! touch!",
		"cat a/../.env":                 "read! touch!",
		"cat .env/x":                    "read! touch!",
		"cat .env.x":                    "",
		"cat x.env":                     "",
		"cat '.e''nv'":                  "read! touch!",
		"cat .e*":                       "read! touch!",
		"cat .?nv":                      "read! touch!",
		"cat .en[v]":                    "read! touch!",
		"cat .{env,x}":                  "read! touch!",
		"f=.env; cat $f":                "read! touch!",
		"cat $X.env":                    "read touch",
		"cat \"$X\"":                    "read touch",
		"cat $X/.env":                   "read touch",
		"rm \"$X\"":                     "",
		"ls \"$X\"":                     "",
		"docker $X":                     "",
		"bash -c 'cat .env'":            "read! write touch!",
		"sudo cat .env":                 "read! write touch!",
		"tool 'cat .env'":               "read! write touch!",
		"eval \"$X\"":                   "read write touch",
		"cat x":                         "",
	} {
		if got := touched(t, ".env", inWork(t, command)); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

func TestAWildNameIsExcludedWhereAllThatItMayBeIs(t *testing.T) {
	for _, tt := range []struct {
		command string
		write   Certainty
	}{
		{"rm -f *.o", No}, {"rm -f ./*.o", No}, {"find . -name '*.o' | xargs rm -f", No}, {"rm x/*/y.o", No}, {"rm ~/x*", No},
		{"rm -r ~", Sure}, {"rm -r /home/al*", Sure},
	} {
		p, _ := ParseTouches([]string{"/home/alice", "!/home/alice/*"}, TouchOptions{})
		if got := p.Match(inWork(t, tt.command), Write); got.Certainty != tt.write {
			t.Errorf("%s: %v, want %v", tt.command, got, tt.write)
		}
	}
	p, _ := ParseTouches([]string{".env*", "!.env.example"}, TouchOptions{})
	if got := p.Match(inWork(t, "cat .env*"), Read); got.Certainty != Sure {
		t.Errorf("names of which one is excluded: %v", got)
	}
}

// A program that takes a directory takes what is below, if the pattern says
// where that is. A name that may be anywhere is no reason to ask.
func TestADirectoryStandsForWhatLiesBelowToThoseThatTakeIt(t *testing.T) {
	for command, want := range map[string]string{
		"tar c ~":                  "read! touch!",
		"tar c ~/.ssh":             "read! touch!",
		"tar c ~/x":                "",
		"tar c .":                  "",
		"tar c /":                  "read! touch!",
		"zip -r x.zip /home":       "read! write touch!",
		"cp -r ~ x":                "read! touch!",
		"cp -a ~ x":                "read! touch!",
		"cp ~ x":                   "",
		"cp --archive ~ x":         "read! touch!",
		"cp --recursive ~ x":       "read! touch!",
		"grep -r x ~":              "read! touch!",
		"grep -nR x ~":             "read! touch!",
		"grep -i x ~":              "",
		"diff -r ~ y":              "read! touch!",
		"rg x ~":                   "read! touch!",
		"rg x":                     "",
		"cd ~ && rg x":             "read! touch!",
		"rm -r ~":                  "write! touch!",
		"rm ~":                     "",
		"chmod -R 0 ~":             "write! touch!",
		"mv ~ x":                   "read! write! touch!",
		"rsync -a /home/ h:":       "read! touch!",
		"rsync -a x h:":            "",
		"bash -c 'tar c ~'":        "read! touch!",
		"tool 'tar c /home/alice'": "read touch",
		"ls ~":                     "",
		"cat ~/.ssh":               "read! touch!",
		"ls ~/.ssh":                "touch!",
	} {
		if got := touched(t, "~/.ssh/**", inWork(t, command)); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	c := bash(t, "rg x")
	c.Cwd, c.Workspace, c.Home = "/home/alice", "/home/alice", "/home/alice"
	if got := touched(t, "~/.ssh/**", c); got != "read! touch!" {
		t.Errorf("rg in the home: %q", got)
	}
	if got := touched(t, ".env", inWork(t, "tar c .")); got != "" {
		t.Errorf("a name anywhere: %q", got)
	}
}

func TestPathPatternsStandForTheirPaths(t *testing.T) {
	for _, tt := range []struct{ pattern, takes, leaves string }{
		{"/etc/shadow", "/etc/shadow /etc/../etc/shadow //etc/shadow /etc/shadow/x /ETC/shadow", "/etc/shadow- /etc etc/shadow /x/etc/shadow"},
		{"/etc/**", "/etc/a /etc/a/b /etc", "/etcx /et"},
		{"/etc/*", "/etc/a /etc/a/b", "/etc"},
		{"/etc/*/x", "/etc/a/x", "/etc/x /etc/a/b/x"},
		{"/etc/**/x", "/etc/x /etc/a/x /etc/a/b/x", "/etc/ax /etc/a"},
		{"/etc/a?c", "/etc/abc", "/etc/ac /etc/a/c"},
		{"/etc/a**c", "/etc/ac /etc/a/b/c /etc/abc", "/etc/ab"},
		{"~", "~ ~/x /home/alice/x", "/home /home/bob"},
		{"~/.ssh/**", "~/.ssh ~/.ssh/x /home/alice/.ssh/x", "~/.sshx ~/ssh /home/bob/.ssh/x"},
		{"config/*.key", "config/a.key ./config/a.key /src/project/config/a.key config/a.key/x", "a.key x/config/a.key config/x/a.key /config/a.key"},
		{"./config/a", "config/a", "a"},
		{"secrets/", "secrets/x x/secrets/y", "secret"},
		{".env", ".env a/.env /.env ~/.env .env/x", ".envx x.env env"},
		{"*.pem", "a.pem /x/b.pem .pem", "pem a.pem.x"},
		{"**/keys/*", "keys/a /x/keys/a", "keysx/a"},
		{`/etc/a\*b`, "'/etc/a*b'", "/etc/axb"},
		{"/a !/a/b", "/a/c /a", "/a/b /a/b/c"},
		{"!/a/b /a", "/a/c", "/a/b"},
	} {
		if onWindows && strings.Contains(tt.pattern, `\`) {
			continue // there it is a separator
		}
		for _, name := range strings.Fields(tt.takes) {
			if got := touched(t, tt.pattern, inWork(t, "cat "+name)); got != "read! touch!" {
				t.Errorf("%s leaves %s: %q", tt.pattern, name, got)
			}
		}
		for _, name := range strings.Fields(tt.leaves) {
			if got := touched(t, tt.pattern, inWork(t, "cat "+name)); got != "" {
				t.Errorf("%s takes %s: %q", tt.pattern, name, got)
			}
		}
	}
	for _, empty := range []string{"", "!", " "} {
		touches, problems := ParseTouches([]string{empty}, TouchOptions{})
		if len(problems) != 1 || touches.Match(inWork(t, "cat x"), Touch).Run {
			t.Errorf("%q: %v", empty, problems)
		}
	}
	var none *Touches
	if d := none.Match(inWork(t, "cat x"), Touch); d.Run || d.By == "" {
		t.Errorf("no patterns: %+v", d)
	}
}

func TestToolsReadOrWriteTheFilesOfTheirInput(t *testing.T) {
	for _, tt := range []struct{ tool, input, want string }{
		{"Read", `{"file_path":"/src/project/.env"}`, "read! touch!"},
		{"Read", `{"file_path":".env"}`, "read! touch!"},
		{"Read", `{"file_path":"x"}`, ""},
		{"NotebookRead", `{"notebook_path":".env"}`, "read! touch!"},
		{"LS", `{"path":".env"}`, "read! touch!"},
		{"Write", `{"file_path":".env","content":"x"}`, "write! touch!"},
		{"Write", `{"file_path":"x","content":".env"}`, ""},
		{"Edit", `{"file_path":".env","old_string":"a","new_string":"b"}`, "read! write! touch!"},
		{"Edit", `{"file_path":"x","old_string":".env","new_string":".env"}`, ""},
		{"Glob", `{"pattern":"**/.env"}`, "read! touch!"},
		{"Glob", `{"pattern":".e*"}`, "read! touch!"},
		{"Glob", `{"pattern":"*.go"}`, ""},
		{"Grep", `{"pattern":".env"}`, ""},
		{"Grep", `{"pattern":"x","path":".env"}`, "read! touch!"},
		{"Grep", `{"pattern":"x","glob":".e*"}`, "read! touch!"},
		{"mcp__fs__get", `{"path":".env"}`, "read! write! touch!"},
		{"mcp__fs__get", `{"deep":{"in":["a",".env"]}}`, "read! write! touch!"},
		{"mcp__fs__get", `{"description":".env"}`, ""},
		{"mcp__fs__get", `{"prompt":".env","query":".env"}`, ""},
		{"mcp__fs__get", `".env"`, "read! write! touch!"},
		{"mcp__fs__get", `{"n":1}`, ""},
		{"mcp__fs__get", `[1`, "read write touch"},
	} {
		c := &Call{ToolName: tt.tool, ToolInput: json.RawMessage(tt.input), Cwd: "/src/project", Workspace: "/src/project", Home: "/home/alice"}
		if got := touched(t, ".env", c); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.tool, tt.input, got, tt.want)
		}
	}
	home := &Call{ToolName: "Grep", ToolInput: json.RawMessage(`{"pattern":"x","path":"~"}`), Cwd: "/src/project", Workspace: "/src/project", Home: "/home/alice"}
	if got := touched(t, "~/.ssh/**", home); got != "read! touch!" {
		t.Errorf("Grep in a directory above: %q", got)
	}
}

// A pattern of the shell stands for what is there: one that may be any name is
// looked up.
func TestAPatternOfTheShellIsLookedUpWhereItMayBeAnyName(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "dots"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"server.pem", "sub/key.pem", ".hidden.pem", "dots/.x.pem"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string]string{
		"cat *":                          "read touch",
		"cat ./*":                        "read touch",
		"cat sub/*":                      "read touch",
		"cat */*":                        "read touch",
		"cat none/*":                     "",
		"cat dots/*":                     "",
		"shopt -s dotglob; cat dots/*":   "read touch",
		"cat s*":                         "read touch",
		"cat *.go":                       "",
		"cat *.pem":                      "read! touch!",
		"cat x*":                         "read touch",
		"cat x*.go":                      "",
		"shopt -s dotglob; cat .h*/../*": "read touch",
	} {
		c := bash(t, command)
		c.Cwd, c.Workspace, c.Home = dir, dir, "/home/alice"
		if got := touched(t, "*.pem", c); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}
