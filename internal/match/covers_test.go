package match

import (
	"strings"
	"testing"
)

// By these options programs that show or check things run a command or write a file,
// as their manuals have it. A rule that does not name the option does not cover them.
func TestARuleCoversNoOptionThatRunsOrWrites(t *testing.T) {
	for program, options := range map[string]string{
		"cargo":   "--config",
		"date":    "-s --set",
		"file":    "-C --compile",
		"find":    "-delete -fprint -fprint0 -fprintf -fls",
		"git log": "--output --output-directory --ext-diff --open-files-in-pager --upload-pack --receive-pack --exec --extcmd --template --unsafe-paths --sendmail-cmd --to-cmd --cc-cmd --header-cmd --httpd",
		"gofmt":   "-w -cpuprofile",
		"helm":    "--post-renderer --kubeconfig",
		"kubectl": "--kubeconfig",
		"less":    "-o -O -k --log-file --LOG-FILE --lesskey-file --lesskey-src --lesskey-content",
		"man":     "-P --pager -H --html",
		"npm":     "--script-shell --prefix -C --node-options",
		"rg":      "--pre --hostname-bin",
		"rsync":   "-e --rsh --rsync-path",
		"sed":     "-i --in-place -f --file",
		"sort":    "-o --output --compress-program",
		"ssh":     "-o -F",
		"tar":     "-I -F --use-compress-program --to-command --checkpoint-action --rsh-command --info-script --new-volume-script",
		"tree":    "-o",
		"yq":      "-i --inplace",

		"git archive": "-o", "git checkout-index": "--prefix", "git clone": "-c --config -u", "git diff": "-O", "git difftool": "-x", "git format-patch": "-o", "git grep": "-O",
		"git hook": "run", "git rebase": "-x", "git shell": "-c",
	} {
		name, _, _ := strings.Cut(program, " ")
		rules, _ := ParseRules([]string{"Bash(" + name + " *)"}, RuleOptions{})
		for option := range strings.FieldsSeq(options) {
			for _, words := range []string{option + " x", "a " + option + " x"} {
				if program == "git hook" && words[0] == 'a' {
					continue
				}
				if d := rules.Covers(inWork(t, program+" "+words)); d.Run {
					t.Errorf("%s %s: %+v", program, words, d)
				}
			}
			if !strings.HasPrefix(option, "--") {
				continue
			}
			if d := rules.Covers(inWork(t, program+" "+option+"=x")); d.Run {
				t.Errorf("%s %s=x: %+v", program, option, d)
			}
		}
	}
	for _, command := range []string{
		"rsync --delete a b", "rsync -av a b", "ssh --foo h", "sort --unique x", "tree --noreport", "less --force x", "gofmt -l x", "helm list -n x", "kubectl get pods -o yaml", "yq .a x", "npm ls --depth=0", "file x", "date +%s",
	} {
		name, _, _ := strings.Cut(command, " ")
		rules, _ := ParseRules([]string{"Bash(" + name + " *)"}, RuleOptions{})
		if d := rules.Covers(inWork(t, command)); !d.Run {
			t.Errorf("%s: %+v", command, d)
		}
	}
}

func TestADecisionSaysWhyALineIsNotCovered(t *testing.T) {
	rules, _ := ParseRules([]string{"Bash(ls *)", "Bash(git *)", "Bash(test *)"}, RuleOptions{})
	for command, want := range map[string]string{
		"test -v 'a[$(ls)]'":          "`test -v 'a[$(ls)]'` has a subscript that may run a command",
		"ls 'a":                       "`ls 'a` cannot be parsed",
		"A=1 ls":                      "`A=1 ls` sets a variable",
		"ls > x":                      "`ls > x` writes a file",
		"git -c core.pager=x log":     "`git -c core.pager=x log` has `core.pager`, which names what git runs",
		"ls\rx":                       "`ls\\rx` has a carriage return",
		"f() { ls; }; f":              "`f() { ls; }; f` declares a function or an alias",
		"alias l=ls; ls":              "`alias l=ls; ls` declares a function or an alias",
		"ls | wc":                     "no rule covers `wc` in `ls | wc`",
		"# nothing":                   "no command is started",
		"powershell x.ps1 -Command y": "`powershell x.ps1 -Command y` runs what x.ps1 makes powershell run",
		"cmd dir /c x":                "`cmd dir /c x` runs what dir makes cmd run",
		"cmd /s /d":                   "`cmd /s /d` runs a shell that reads its commands from elsewhere",
		"cmd":                         "`cmd` runs a shell that reads its commands from elsewhere",
		"cmd /c 'a & b'":              "`cmd /c 'a & b'` runs text for another shell",
		"cmd -c ls":                   "`cmd -c ls` runs what -c makes cmd run",
		"powershell /k ls":            "`powershell /k ls` runs what /k makes powershell run",
		"powershell - ls":             "`powershell - ls` runs what - makes powershell run",
	} {
		if d := rules.Covers(inWork(t, command)); d.Run || d.By != want {
			t.Errorf("%s: %+v, want %q", command, d, want)
		}
	}
}

// A word decides by where it stands: go list x@latest fetches, git show x@y does not.
func TestASubcommandSpeaksToTheNetworkForItsOwnProgram(t *testing.T) {
	for command, want := range map[string]Certainty{
		"go mod download": Sure, "go mod tidy": Sure, "go mod vendor": Sure, "go mod edit": No, "go mod": No, "git mod download": No,
		"go run x@latest": Sure, "go run .": No, "git run x@latest": No, "go vet x@latest": No,
		"go list -u": Sure, "go list -m x@latest": Sure, "go list ./...": No, "git list -u": No, "go vet -u": No,
		"git archive --remote=x HEAD": Sure, "git archive HEAD": No, "git show --remote=x": No,
		"git subtree pull": Sure, "git subtree push": Sure, "git subtree add": Sure, "git subtree split": No, "git show push": No,
		"git remote update": Sure, "git remote show origin": Sure, "git remote prune x": Sure, "git remote set-head x": Sure, "git remote add -f x y": Sure, "git remote -v": No, "git show update": No,
		"git submodule update": Sure, "git submodule add x": Sure, "git submodule status": No,
		"docker compose up": Sure, "docker compose pull": Sure, "docker compose build": Sure, "docker compose push": Sure, "docker compose ps": No,
		"docker -H x ps": Suspected, "docker --host x ps": Suspected, "docker ps": No,
		"yarn": Sure, "bundle": Sure, "yarn --version": No, "yarn -v": No, "bundle --help": No, "go": No,
	} {
		if d := Network(inWork(t, command)); d.Certainty != want {
			t.Errorf("%s: %+v, want %d", command, d, want)
		}
	}
}
