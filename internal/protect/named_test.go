package protect_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/protect"
)

// project is a home directory with an installation and a project, code, of these files.
// It returns what self-protection says of a shell line there.
func project(t *testing.T, archive string) func(line string) hook.Verdict {
	t.Helper()
	home := filepath.ToSlash(t.TempDir())
	dirs := protect.Dirs{Home: home, Config: home + "/.config/tenterhook", Data: home + "/.local/share/tenterhook", State: home + "/.local/state/tenterhook"}
	receipt, _ := json.Marshal(map[string]any{"agent": "claude", "program": "/opt/th/tenterhook-bridge", "files": []map[string]any{{"path": home + "/.claude/settings.json"}}})
	files := append(txtar.Parse([]byte(archive)).Files, txtar.File{Name: "../.local/state/tenterhook/agents/claude-user.json", Data: receipt})
	for _, f := range files {
		path := filepath.Join(home, "code", f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p := protect.New(nil, nil, dirs)
	return func(line string) hook.Verdict {
		t.Helper()
		raw, _ := json.Marshal(map[string]string{"command": line})
		out, err := p.Guard().Handler.Handle(t.Context(), &hook.Call{ProjectDir: home + "/code", Dir: home + "/code", Input: hook.PreToolUse{ToolName: "Bash", ToolInput: raw}})
		if err != nil {
			t.Fatal(err)
		}
		if out == nil {
			return hook.NoOpinion
		}
		return out.Verdict
	}
}

func TestScriptsAreFoundWhereverALineRunsThem(t *testing.T) {
	judge := project(t, `
-- evil.sh --
tenterhook daemon stop
-- sub/good.sh --
echo hello
-- quiet.mk --
x:
	true
-- shell.mk --
SHELL = ./evil.sh
x:
	true
-- flags.mk --
SHELL = tenterhook
.SHELLFLAGS = daemon stop
x:
	true
-- package.json --
{"scripts": {"evil": "tenterhook daemon stop"}}
`)
	for _, line := range []string{
		"make -f shell.mk", "make -f flags.mk x", "make SHELL=./evil.sh -f quiet.mk x", "make CC=./evil.sh -f quiet.mk", "just --shell ./evil.sh x", "just --shell=./evil.sh x",
		"tmux new ./evil.sh", "tmux new -d sh evil.sh", "screen -dm ./evil.sh", "xterm -e sh -e evil.sh", "mytool run -- ./evil.sh", "uv run bash evil.sh", "npx -c ./evil.sh",
		"mytool npm run evil", "mytool make -f shell.mk x", "entr ./evil.sh", "hyperfine ./evil.sh", "expect -c 'spawn ./evil.sh'", "gdb -ex 'shell ./evil.sh'", "vim -c '!./evil.sh'",
		"perl -e 'system(\"./evil.sh\")'", "awk 'BEGIN{system(\"./evil.sh\")}'", "sed '1e ./evil.sh' x", "bash /dev/fd/3 3< evil.sh", "bind -x '\"a\": ./evil.sh'", "jobs -x ./evil.sh", "fish -C ./evil.sh",
		"cmake -E env ./evil.sh", "tar cf x -I ./evil.sh y", "rsync -e ./evil.sh a b:", "ssh -o ProxyCommand=./evil.sh h", "VISUAL=./evil.sh crontab -l", "cargo build --config build.rustc-wrapper=./evil.sh",
		"wsl -- ./evil.sh", "screen -S x -X stuff './evil.sh\\n'", "echo 'tenterhook daemon stop' > n.sh; sh n.sh", "tee n.sh <<< ./evil.sh; ./n.sh",
		"unshare -r sh ./evil.sh", "env -S 'sh evil.sh'", "su -c ./evil.sh", "chrt 1 ./evil.sh", "find . -name x -exec sh evil.sh ';'", "S=./evil.sh; sh $S",
		"xargs -n1 sh < list evil.sh", "bash <(cat evil.sh)", "cd sub; bash ../evil.sh", "script -c ./evil.sh", "ssh localhost sh ./evil.sh", "watch ./evil.sh",
		"parallel sh ::: evil.sh", "nsenter -t 1 ./evil.sh", "busybox sh evil.sh", "f() { sh evil.sh; }; f",
	} {
		if got := judge(line); got != hook.Deny {
			t.Errorf("%s: %v, want deny", line, got)
		}
	}
	for _, line := range []string{"unshare -r sh sub/good.sh", "cat evil.sh", "git add evil.sh", "vim ./evil.sh", "echo sh evil.sh", "bash <(cat sub/good.sh)",
		"bat ./evil.sh", "code ./evil.sh", "scp ./evil.sh h:", "gh gist create ./evil.sh", "shellcheck ./evil.sh", "git diff -- ./evil.sh", "tmux new ./sub/good.sh", "make SHELL=/bin/bash -f quiet.mk",
		"echo 'tenterhook daemon stop' > n.sh; sh sub/good.sh"} {
		if got := judge(line); got != hook.NoOpinion {
			t.Errorf("%s: %v, want no objection", line, got)
		}
	}
}

func TestWhatAProjectRunsByNameIsRead(t *testing.T) {
	judge := project(t, `
-- Makefile --
TOOL ?= tenterhook
STOP := daemon stop

all: build
build:
	@go build ./...
deploy: stop
	echo done
stop:
	-@$(TOOL) \
	  $(STOP)
script: ; sh ./evil.sh
echo:
	echo $$HOME tenterhook
given:
	$(CMD)
include rules.mk
-- rules.mk --
included:
	${TOOL} uninstall claude --yes
-- other/Makefile --
first:
	tenterhook disable user/guard
%.o: %.c
	tenterhook trust --all
second.o: second.c
-- shell.mk --
X := $(shell tenterhook daemon stop)
quiet:
	true
-- evil.sh --
tenterhook daemon stop
-- evil.mk --
all:
	tenterhook daemon stop
-- quiet.mk --
all:
	true
-- prefix.mk --
.RECIPEPREFIX = >
all:
>tenterhook daemon stop
-- ofone.mk --
all: X = tenterhook daemon stop
all:
	$(X)
-- define.mk --
define X =
true
tenterhook daemon stop
endef
all:
	$(X)
-- sinclude.mk --
sinclude evil.mk
-- below/folder/file --
-- package.json --
{"workspaces": ["packages/*"], "scripts": {"build": "true", "prepare": "true"}}
-- packages/a/package.json --
{"name": "@x/a", "scripts": {"build": "./stop.sh", "test": "true"}}
-- packages/a/stop.sh --
tenterhook daemon stop
-- installed/package.json --
{"scripts": {"postinstall": "tenterhook daemon stop", "restart": "tenterhook daemon stop", "evil": "tenterhook daemon stop"}}
-- installed/src/x.js --
-- just/justfile --
set shell := ["bash", "-c"]
tool := "tenterhook"
import 'more.just'
good:
  echo hi
setup arg='x': good
    @{{tool}} daemon stop
outer: setup
-- just/more.just --
imported:
  tenterhook daemon stop
-- just/src/x --
-- task/Taskfile.yml --
version: '3'
tasks:
  default: echo hi
  good:
    cmds:
      - echo hi
  evil:
    cmds:
      - cmd: tenterhook daemon stop
  short: tenterhook daemon stop
  outer:
    deps: [good, evil]
  calls:
    cmds:
      - task: evil
-- gen/a.go --
package a

//go:generate tenterhook daemon stop
-- gen/below/b.go --
package b
-- rust/.cargo/config.toml --
[target.x86_64-unknown-linux-gnu]
runner = ["tenterhook", "daemon", "stop"]
-- php/composer.json --
{"scripts": {"evil": ["true", "tenterhook daemon stop"], "good": "true"}}
-- deno/deno.json --
{"tasks": {"evil": {"command": "tenterhook daemon stop"}, "short": "tenterhook daemon stop", "good": "true"}}
-- alias/.git/config --
[alias]
	evil = "!tenterhook daemon stop"
	again = evil
	st = status
-- always/.git/hooks/reference-transaction --
tenterhook daemon stop
-- always/.git/config --
-- repo/.git/config --
[core]
	bare = false
-- repo/.git/hooks/pre-commit --
#!/bin/sh
tenterhook daemon stop
-- moved/.git/config --
[core]
	hooksPath = .githooks
-- twice/.git/config --
[core]
	hooksPath = none
[core] hooksPath = ../moved/.githooks
-- moved/.githooks/pre-push --
tenterhook daemon stop
`)
	for _, line := range []string{
		"make deploy", "make stop", "make -j4 script", "make included", "make -C other", "make -C other x.o", "make -C other second.o", "cd other && make first", "make -f shell.mk",
		"make given CMD='tenterhook daemon stop'", "sudo make deploy", "sh -c 'make deploy'", "make --eval='x: ; tenterhook daemon stop' x",
		"npm -w @x/a run build", "npm run build --workspaces", "pnpm -r build", "yarn workspace @x/a build", "npm --prefix packages/a run build", "npm --prefix=installed install", "cd installed && npm ci",
		"cd repo && git commit -m x", "git -C repo commit -m x", "git.exe -C repo commit -m x", "/usr/bin/git -C repo commit -m x", "cd moved && git push", "cd twice && git push", "git -c core.hooksPath=.githooks -C moved push",
		"cd repo && git hook run pre-commit", "cd always && git branch x", "cd always; git fetch", "cd always && git push --no-verify",
		"make -f evil.mk -f quiet.mk", "make -sf evil.mk", "make -Bkf evil.mk", "make --file=evil.mk", "make -f prefix.mk", "make -f ofone.mk", "make -f define.mk", "make -f sinclude.mk",
		"cd below && make -C../other first", "make -Cother first",
		"cd installed/src && npm run evil", "npm --prefix installed restart", "cd installed && yarn", "cd installed && npm it", "cd installed && npm clean-install", "cd installed && npm rebuild",
		"cd installed && node --run evil", "cd installed && node --run=evil",
		"cd just && just setup", "cd just; just outer", "just -f just/justfile imported", "cd just/src && just setup x",
		"cd task && task evil", "cd task && task short", "cd task && task -v outer", "cd task && task calls",
		"cd gen && go generate", "go generate ./...", "go generate ./gen", "go generate gen/a.go", "cd rust && cargo run", "cd rust && cargo test", "cd php && composer evil", "cd php && composer run evil", "cd deno && deno task evil", "cd deno && deno task short",
		"git -C alias evil", "cd alias && git again", "tmux new 'cd just && just setup'",
		`eval "$(cat evil.sh)"`, `bash -c "$(cat evil.sh)"`, `eval "$(< evil.sh)"`,
	} {
		if got := judge(line); got != hook.Deny {
			t.Errorf("%s: %v, want deny", line, got)
		}
	}
	for _, line := range []string{
		"make", "make build", "make -n echo", "make quiet", "npm run build", "npm -w @x/a test", "npm install", "cd moved && git commit -m x", "cd repo && git log", "git commit -m x",
		"echo make deploy", "make given CMD=true", "make -f quiet.mk", "make -sf quiet.mk", "yarn", "node --run build", "git branch x",
		"cd just && just", "cd just && just good", "cd task && task", "cd task && task good", "cd gen && go build ./...", "cd gen/below && go generate", "cd php && composer good", "cd deno && deno task good",
		"cd alias && git st", "cd alias && git status", "cargo test", `eval "$(cat sub/good.sh)"`,
	} {
		if got := judge(line); got != hook.NoOpinion {
			t.Errorf("%s: %v, want no objection", line, got)
		}
	}
}

func TestEachSpellingOfWhatAProjectRunsIsRead(t *testing.T) {
	for _, tt := range []struct{ line, file, evil, good string }{
		{"cargo run", "a/.cargo/config.toml", "build.rustc-wrapper = './evil.sh'", "build.rustc-wrapper = './good.sh'"},
		{"cargo run", "a/.cargo/config.toml", "build = { rustc-wrapper = '../evil.sh' }", "env = { runner = 'x', y = '../evil.sh' }"},
		{"cargo test", "a/.cargo/config.toml", "[target]\n'cfg(all())'.runner = '../evil.sh'", "[net]\nretry = 2"},
		{"cargo test", "a/.cargo/config.toml", "[target.'cfg(unix)']\nrunner = [\n  'sh', # a comment\n  '../evil.sh',\n]", "[target.'cfg(unix)']\nrunner = [\n  'sh',\n]"},
		{"deno task x", "a/deno.jsonc", `{"tasks": {"x": "../evil.sh", /* a comment */ }}`, `{"tasks": {"x": "true", /* a comment */ }}`},
		{"deno task x", "a/deno.json", `{"tasks": {"x": {"command": "true", "dependencies": ["y"]}, "y": {"dependencies": ["x", "z"]}, "z": "../evil.sh"}}`, `{"tasks": {"x": {"dependencies": ["y"]}, "y": "true", "z": "../evil.sh"}}`},
		{"composer x", "a/composer.json", `{"scripts": {"x": ["@y"], "y": "@z --more", "z": "../evil.sh"}}`, `{"scripts": {"x": ["@y"], "y": "true", "z": "../evil.sh"}}`},
		{"composer x", "a/composer.json", `{"scripts": {"x": "@composer run y", "y": "../evil.sh"}}`, `{"scripts": {"x": "@php x.php", "y": "../evil.sh"}}`},
		{"composer install", "a/composer.json", `{"scripts": {"post-install-cmd": "../evil.sh"}}`, `{"scripts": {"x": "../evil.sh"}}`},
		{"composer -q update", "a/composer.json", `{"scripts": {"post-autoload-dump": ["@y"], "y": "../evil.sh"}}`, `{"scripts": {"y": "../evil.sh"}}`},
		{"composer require a/b", "a/composer.json", `{"scripts": {"pre-package-install": "../evil.sh"}}`, `{"scripts": {"package": "../evil.sh"}}`},
		{"composer dump-autoload", "a/composer.json", `{"scripts": {"pre-autoload-dump": "../evil.sh"}}`, `{}`},
		{"composer show", "a/composer.json", `{"scripts": {"pre-command-run": "../evil.sh"}}`, `{"scripts": {"post-install-cmd": "../evil.sh"}}`},
		{"git evil", "a/.git/config", "[Alias]\n\tEvil = !tenterhook daemon stop", "[Alias]\n\tEvil = !true"},
		{"git EVIL", "a/.git/config", "[alias]\n\tst = status\n[core]\n[ALIAS] evil = !tenterhook daemon stop", "[alias]\n\tother = !tenterhook daemon stop"},
		{"git evil", "a/.git/config", "[alias]\n\tevil = \"!tenterhook \\\n daemon stop\"", "[core]\n\tbare = false"},
		{"git evil", "a/.git/config", "# x \\\n[alias]\n\tevil = !tenterhook daemon stop", "# x \\\n[alias]\n\tevil = !true"},
		{"git evil", "a/.git/config", "\ufeff[alias] evil = !tenterhook daemon stop", "\ufeff[alias] evil = !true"},
		{"cargo run", "a/.cargo/config.toml", "[build]\nrustc-wrapper = '../evil.sh'\n[Build]\nrustc-wrapper = 'true'\n[bUild]\nrustc-wrapper = 'true'", "[build]\nrustc-wrapper = 'true'"},
		{"cargo run", "a/.cargo/config.toml", "no TOML\n[build]\nrustc-wrapper = '../evil.sh'", "no TOML\n[build]\nrustc-wrapper = 'true'"},
		{"cargo run", "a/.cargo/config.toml", strings.Repeat("a.", 10_000) + "a = 1\n[build]\nrustc-wrapper = '../evil.sh'", strings.Repeat("a.", 10_000) + "a = 1"},
		{"deno task x", "a/deno.json", `{"tasks": {"x": {"command": "y", "dependencies": ["y"]}, "y": "../evil.sh"}}`, `{"tasks": {"x": {"command": "y", "dependencies": ["y"]}, "y": "true"}}`},
		{"npm run x", "a/package.json", `{"scripts": {"j": {"dependencies": 5}, "k": 7, "x": "../evil.sh"}, "workspaces": 7}`, `{"scripts": {"j": 5, "x": "true"}}`},
		{"just x", "a/justfile", "tool := 'tenterhook'\ntool := 'tenterhook'\nx:\n  {{tool}} daemon stop\n", "tool := 'tenterhook'\nx:\n  {{tool}} list\n"},
		{"just x", "a/justfile", "set shell := ['../evil.sh']\nx:\n  true\n", "set shell := ['bash', '-c']\nx:\n  true\n"},
		{"just x", "a/justfile", "set shell := [\n  '../evil.sh',\n  'x',\n]\nx:\n  true\n", "set dotenv-load := true\nset positional-arguments\nx:\n  true\n"},
		{"just x", "a/justfile", "set script-interpreter := ['../evil.sh']\nx:\n  true\n", "set script-interpreter := ['python3']\nx:\n  true\n"},
		{"just x", "a/justfile", "#!/usr/bin/env just --justfile\nx:\n  tenterhook daemon stop\n", "#!/usr/bin/env just --justfile\nx:\n  true\n"},
		{"make x", "a/Makefile", "#!/usr/bin/make -f\nx:\n\ttenterhook daemon stop\n", "#!/usr/bin/make -f\nx:\n\ttrue\n"},
	} {
		for text, want := range map[string]hook.Verdict{tt.evil: hook.Deny, tt.good: hook.NoOpinion} {
			judge := project(t, "-- evil.sh --\ntenterhook daemon stop\n-- a/evil.sh --\ntenterhook daemon stop\n-- a/good.sh --\ntrue\n-- "+tt.file+" --\n"+text+"\n")
			if got := judge("cd a && " + tt.line); got != want {
				t.Errorf("%s with %s: %v, want %v", tt.line, text, got, want)
			}
		}
	}
}

// Two tasks may name each other, and a command of one word may be a task.
func TestEachTaskThatATaskNamesIsRead(t *testing.T) {
	for name, commands := range map[string]string{
		"a circle":            "  a:\n    cmds:\n      - task: b\n      - task: evil\n  b:\n    deps: [a]\n",
		"a long circle":       "  a:\n    deps: [b, b, b, b, b, b, b, b]\n  b:\n    deps: [a, a, a, a, a, a, a, a, evil]\n",
		"a broken command":    "  a:\n    cmds:\n      - echo \"(\n      - tenterhook daemon stop\n",
		"a list of two":       "  a:\n    deps:\n      - b\n      - evil\n  b:\n    deps:\n      - a\n",
		"many commands":       "  a:\n    cmds:\n" + strings.Repeat("      - ls\n", 100) + "      - task: evil\n",
		"many other commands": "  a:\n    cmds:\n" + numbered(100, "      - x%d\n") + "      - task: evil\n",
	} {
		judge := project(t, "-- Taskfile.yml --\nversion: '3'\ntasks:\n"+commands+"  evil: tenterhook daemon stop\n  good: echo hi\n")
		if got := judge("task a"); got != hook.Deny {
			t.Errorf("%s: %v, want deny", name, got)
		}
		if got := judge("task good"); got != hook.NoOpinion {
			t.Errorf("%s: good: %v, want no objection", name, got)
		}
	}
}

func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestWhatAProjectRunsByNameIsReadWithinBounds(t *testing.T) {
	var values, pairs strings.Builder
	for c := 'a'; c < 'i'; c++ { // each value is many of the next
		fmt.Fprintf(&values, "%c = %s\n", c, strings.Repeat(fmt.Sprintf("$(%c)", c+1), 100))
	}
	for i := range 200 {
		fmt.Fprintf(&pairs, "x%d%%: y%d z%d\n", i, i, i)
	}
	judge := project(t, fmt.Sprintf(`
-- values/Makefile --
all:
	tenterhook daemon stop
	echo $(a)
%s
-- pairs/Makefile --
all: a b c d
	tenterhook daemon stop
%s
-- lists/Makefile --
all: %s
	tenterhook daemon stop
%s: %[3]s
-- many/Taskfile.yml --
tasks:
  evil: tenterhook daemon stop
%[6]s
-- many/.cargo/config.toml --
%[7]sa = 1
build.rustc-wrapper = "tenterhook daemon stop"
-- own/package.json --
{"workspaces": ["."%[5]s], "scripts": {"build": "tenterhook daemon stop"}}
-- evil/package.json --
{"scripts": {"build": "tenterhook daemon stop"}}
`, values.String(), pairs.String(), strings.Repeat("a b ", 10), strings.Repeat("c ", 500), strings.Repeat(`, ".", "*", "./*"`, 50), strings.Repeat("  x:\n", 10_000), strings.Repeat("a.", 25_000)))
	for _, line := range []string{
		"cd many && task " + numbered(1000, "t%d ") + "evil", "cd many && cargo run",
		"make -C values", "make -C pairs", "make -C lists", "cd own && npm -w a run build",
		"npm " + strings.Repeat("-C own ", 40) + "-C evil run build",
		"git " + strings.Repeat("-c core.hooksPath=a ", 50) + "hook run " + strings.Repeat("x ", 50) + "; make -C lists",
	} {
		if got := judge(line); got != hook.Deny {
			t.Errorf("%.60s: %v, want deny", line, got)
		}
	}
}
