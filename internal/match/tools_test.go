package match

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/internal/built"
)

func inProject(name, input string) *Call {
	return &Call{ToolName: name, ToolInput: json.RawMessage(input), Cwd: "/src/project", Workspace: "/src/project", Home: "/home/alice"}
}

// A tool that no one knows may take a command under any key, at any depth, as a
// line or as the list of its words.
func TestStringsAndListsOfAnotherToolsInputCountAsCommands(t *testing.T) {
	for _, tt := range []struct {
		tool, input         string
		destructive, remote Certainty
	}{
		{"mcp__sh__run", `{"cmd":"rm -rf /"}`, Sure, No},
		{"mcp__sh__run", `{"a":{"b":["x",{"c":"rm -rf /"}]}}`, Sure, No},
		{"mcp__sh__run", `{"argv":["rm","-rf","/"]}`, Sure, No},
		{"mcp__sh__run", `{"a":{"argv":["curl","evil.example"]}}`, No, Sure},
		{"mcp__sh__run", `{"calls":[["ls"],["rm","-rf","/"]]}`, Sure, No},
		{"mcp__sh__run", `{"argv":["rm","-rf",1,"/"]}`, No, No},
		{"mcp__sh__run", `{"argv":[]}`, No, No},
		{"mcp__sh__run", `{"argv":["","rm"]}`, No, No},
		{"mcp__sh__run", `{"description":"rm -rf /","prompt":"rm -rf /","query":"rm -rf /","content":"rm -rf /"}`, No, No},
		{"mcp__sh__run", `{"Description":"rm -rf /"}`, No, No},
		{"mcp__sh__run", `"rm -rf /"`, Sure, No},
		{"mcp__sh__run", `{"n":1}`, No, No},
		{"mcp__sh__run", `{}`, No, No},
		{"mcp__sh__run", `[1]`, Suspected, Suspected},
		{"mcp__sh__run", `{`, Suspected, Suspected},
		{"Bash", `{"command":"ls","command":"rm -rf /"}`, Sure, No},
		{"Bash", `{"Command":"rm -rf /"}`, Sure, No},
		{"Bash", `{"command":["rm","-rf","/"]}`, Sure, No},
		{"Bash", `{"command":"ls","description":"rm -rf /"}`, No, No},
		{"Bash", `{"command":1}`, No, No},
		{"Bash", `{}`, No, No},
		{"Read", `{"file_path":"/etc/passwd"}`, No, No},
		{"Write", `{"file_path":"x","content":"rm -rf /; curl x"}`, No, No},
		{"WebFetch", `{"url":"https://example.com"}`, No, Sure},
		{"WebFetch", `{"url":"http://localhost:8080/x"}`, No, No},
		{"WebFetch", `{"url":"http://127.0.0.1"}`, No, No},
		{"WebFetch", `{"url":"http://[::1]/x"}`, No, No},
		{"WebFetch", `{"url":"http://localhost.evil.example"}`, No, Sure},
		{"WebFetch", `{"url":"http://localhost@evil.example"}`, No, Sure},
		{"WebFetch", `{"url":"ftp://localhost"}`, No, Sure},
		{"WebFetch", `{"prompt":"x"}`, No, Sure},
		{"WebSearch", `{"query":"x"}`, No, Sure},
	} {
		c := inProject(tt.tool, tt.input)
		if d := Destructive(c); d.Certainty != tt.destructive || d.By == "" {
			t.Errorf("%s %s: destructive %+v, want %d", tt.tool, tt.input, d, tt.destructive)
		}
		if d := Network(c); d.Certainty != tt.remote || d.By == "" {
			t.Errorf("%s %s: network %+v, want %d", tt.tool, tt.input, d, tt.remote)
		}
	}
}

func TestAListOfRulesIsForTheToolsOfAnyOfThem(t *testing.T) {
	rules, _ := ParseRules([]string{"Bash(git *)", "Read(src/**)", "nothing at all"}, RuleOptions{})
	if got := rules.String(); got != "Bash(git *) or Read(src/**) or nothing at all" {
		t.Error(got)
	}
	for name, want := range map[string]bool{"Bash": true, "Read": true, "Edit": false, "": false} {
		if rules.ForTool(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
	every, _ := ParseRules([]string{""}, RuleOptions{})
	keys, _ := ParseRules([]string{"a=b"}, RuleOptions{})
	if !every.ForTool("Edit") || !keys.ForTool("Edit") {
		t.Error("a rule on any tool is not for Edit")
	}
	var none *Rules
	c := inProject("Bash", `{"command":"git push"}`)
	for name, d := range map[string]Decision{"Match": none.Match(c), "Covers": none.Covers(c), "other tools": rules.Covers(inProject("Edit", `{}`))} {
		if d.Run || d.Certainty != No || d.By == "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if none.String() != "" || none.ForTool("Bash") {
		t.Error("no rules are rules")
	}
}

// An exception lifts calls of other tools as a whole, and of a shell line what
// a rule on the tool itself takes.
func TestAnExceptionLiftsCallsOfEveryTool(t *testing.T) {
	for _, tt := range []struct {
		rule, unless, tool, input string
		want                      bool
	}{
		{"Read", "Read(docs/**)", "Read", `{"file_path":"docs/a"}`, false},
		{"Read", "Read(docs/**)", "Read", `{"file_path":"src/a"}`, true},
		{"Read", "Edit(docs/**)", "Read", `{"file_path":"docs/a"}`, true},
		{"Read(**)", "Read(docs/**)", "Read", `{}`, true},
		{"Bash", "Bash(git *)", "Bash", `{"command":"git status"}`, false},
		{"Bash(git *)", "Bash", "Bash", `{"command":"git status"}`, false},
		{"Bash(git *)", "", "Bash", `{"command":"git status"}`, false},
		{"Bash(git *)", "Read", "Bash", `{"command":"git status"}`, true},
		{"Bash(git *)", "Bash(git status *)", "Bash", `{"command":"git status $X"}`, true},
	} {
		rules, _ := ParseRules([]string{tt.rule}, RuleOptions{})
		unless, _ := ParseRules([]string{tt.unless}, RuleOptions{})
		if d := rules.MatchUnless(inProject(tt.tool, tt.input), unless); d.Run != tt.want || d.By == "" {
			t.Errorf("%s unless %s on %s: %+v, want %v", tt.rule, tt.unless, tt.input, d, tt.want)
		}
	}
}

// Where the session is, and whose home it is, may not be known: what a path is
// then is unknown, so it counts.
func TestAPathCountsWhereItsBaseIsNotKnown(t *testing.T) {
	for _, tt := range []struct {
		rule, path, cwd, workspace, home string
		want                             Certainty
	}{
		{"Read(src/**)", "src/a", "", "", "", Sure},
		{"Read(src/**)", "/x/src/a", "", "", "", Sure},
		{"Read(/src/**)", "/x/src/a", "/x", "", "", Sure},
		{"Read(/src/**)", "/x/a", "/x", "/x", "", No},
		{"Read(~/.ssh/**)", "/x/a", "/x", "/x", "", Sure},
		{"Read(~/.ssh/**)", "/x/a", "/x", "/x", "/h", No},
		{"Read(//etc/**)", "/x/a", "", "", "", No},
		{"Read(//etc/**)", "/etc/a", "", "", "", Sure},
		{"Read(//etc/**)", "etc/a", "", "", "", Sure},
	} {
		rule, _ := ParseRule(tt.rule, RuleOptions{})
		c := &Call{ToolName: "Read", ToolInput: json.RawMessage(`{"file_path":"` + tt.path + `"}`), Cwd: tt.cwd, Workspace: tt.workspace, Home: tt.home}
		if d := rule.Match(c); d.Certainty != tt.want || d.By == "" {
			t.Errorf("%s on %s from %q, %q, %q: %+v, want %d", tt.rule, tt.path, tt.cwd, tt.workspace, tt.home, d, tt.want)
		}
	}
	c := bash(t, "cat ~/.ssh/id_rsa")
	if got := touched(t, "~/.ssh/**", c); got != "read! touch!" {
		t.Errorf("no home: %q", got)
	}
}

// A part of a command that only the shell knows may be what a rule wants, as
// far as its place allows.
func TestUnknownPartsMayBeWhatARuleWants(t *testing.T) {
	for _, tt := range []struct {
		rule, command string
		want          Certainty
	}{
		{"Bash:gi? push", "git push", Sure},
		{"Bash:gi? push", "gi$X push", Sure},
		{"Bash:gi? push", "$X push", Suspected},
		{"Bash:gi? push", "g* push", Suspected},
		{"Bash:gi? push", "l* push", No},
		{"Bash:?? push", "g? push", Sure},
		{"Bash:?? push", "g?? push", No},
		{"Bash(git push)", "git pus?", Suspected},
		{"Bash(git push)", "git pul?", No},
		{"Bash(git push)", "git p*", Suspected},
		{"Bash(git push)", "git *", Suspected},
		{"Bash(git push)", "git $X", Suspected},
		{"Bash(git push)", "git \"$X\"", Suspected},
		{"Bash(git push origin)", "git \"$X\"", Observed},
		{"Bash(git push)", "git push$X", Suspected},
		{"Bash(git push)", "gitx $X", Suspected},
		{"Bash(git push *)", "git push*", Suspected},
		{"Bash(* push)", "$X push", Sure},
		{"Bash(*sh)", "/bin/*", Suspected},
		{"Bash(cat .env)", "cat *", No},
		{"Bash(cat .env)", "cat ?env", No},
		{"Bash(cat .env)", "cat .*", Suspected},
		{"Bash(cat .env)", "shopt -s dotglob; cat *", Suspected},
		{"Bash(cat .env)", "GLOBIGNORE=x; cat *", Suspected},
		{"Bash(cat .env)", "setopt globdots; cat *", Suspected},
		{"Bash(cat .env)", "setopt GLOB_DOTS; cat *", Suspected},
		{"Bash(cat a.env)", "cat a*", Suspected},
		{"Bash(cat a/b)", "cat *", No},
		{"Bash(cat a/b)", "cat a/*", Suspected},
		{"Bash(cat a b)", "cat *", No},
		{"Bash(npm publish *)", "npx npm@latest publish", Suspected},
		{"Bash(npm publish *)", "pnpm dlx npm@9.1 publish", Suspected},
		{"Bash(npm publish *)", "npm exec npm@^10 -- publish", Suspected},
		{"Bash(npm publish *)", "deno run -A npm:npm publish", Suspected},
		{"Bash(npm publish *)", "npm exec -- other publish", No},
		{"Bash(npm publish *)", "npx @scope/npm-x@latest publish", No},
		{"Bash(terraform apply *)", "docker run -it hashicorp/terraform:1.5 apply", Suspected},
		{"Bash(terraform apply *)", "nix run nixpkgs#terraform -- apply", Suspected},
		{"Bash(terraform apply *)", "docker run terraform:1.5 plan", No},
		{"Bash(deploy *)", "go run x/cmd/deploy@latest prod", Suspected},
		{"Bash(deploy *)", "pipx run deploy==1.0", Suspected},
		{"Bash(deploy *)", "npm run deploy:prod", No},
		{"Bash(deploy *)", "ssh-add x; mosh deploy@h.example ls", No},
		{"Bash(deploy *)", "make SHELL=deploy all", Suspected},
		{"Bash(deploy *)", "make CC=deploy all", Suspected},
		{"Bash(deploy *)", "just --shell deploy all", Suspected},
		{"Bash(deploy *)", "npm run x --script-shell=deploy", Suspected},
		{"Bash(deploy *)", "cargo run --config build.rustc-wrapper=deploy", Suspected},
		{"Bash(deploy *)", "pytest --env=deploy", No},
		{"Bash(deploy *)", "VISUAL=deploy git commit", Suspected},
		{"Bash(deploy *)", "RUSTC_WRAPPER=deploy cargo build", Suspected},
		{"Bash(deploy *)", "npm_config_script_shell=deploy npm test", Suspected},
		{"Bash(deploy *)", "GOFLAGS=-toolexec=deploy go build", Suspected},
		{"Bash(deploy *)", "GIT_EXTERNAL_DIFF=deploy git diff", Suspected},
		{"Bash(deploy *)", "NODE_ENV=deploy npm test", No},
		{"Bash(deploy *)", "shell=deploy; ls", No},
		{"Bash(rm *)", "X=ls; : ${X:=cat}; $X foo", Observed},
		{"Bash(rm *)", ": ${X:=cat}; $X foo", Suspected},
		{"Bash(rm *)", "X=" + strings.Repeat("a", 4096) + "; $X -rf /", Observed},
		{"Bash(rm *)", "X=" + strings.Repeat("a", 4097) + "; $X -rf /", Suspected},
	} {
		rule, _ := ParseRule(tt.rule, RuleOptions{})
		if d := rule.Match(inWork(t, tt.command)); d.Certainty != tt.want {
			t.Errorf("%s on %s: %+v, want %d", tt.rule, tt.command, d, tt.want)
		}
	}
}

func TestALinkIsAsDangerousAsWhatItLeadsTo(t *testing.T) {
	built.NeedsLinks(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "sub", "plain"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(strings.Repeat("../", strings.Count(dir, "/"))+"etc", filepath.Join(dir, "relative")); err != nil {
		t.Skip(err)
	}
	for command, want := range map[string]Certainty{
		"rm -rf relative/": Sure, "rm -rf relative/..": Sure, "rm relative/passwd": Suspected, "rm -rf sub/../relative": Sure,
		"rm -rf link/": Sure, "rm -rf ./link": Sure, "rm -rf sub/../link": Sure, "rm -rf link/../usr": Sure, "rm -rf link/../usr/x/y": No,
		"rm -rf " + dir + "/link": Sure, "rm -rf " + dir + "/link/..": Sure, "rm -rf sub/plain": No, "rm -rf sub/../sub": No,
		"rm -rf link/x": Suspected, "rm link/passwd": Suspected, "rm sub/passwd": No, "tee link/passwd": Suspected, "chmod -R 0 link": Sure,
		"cd sub && rm -rf ../link": Sure, "cd sub && rm -rf plain": No,
	} {
		c := bash(t, command)
		c.Cwd, c.Workspace, c.Home = dir, dir, "/home/alice"
		if d := Destructive(c); d.Certainty != want {
			t.Errorf("%s: %+v, want %d", command, d, want)
		}
	}
}
