package match

import (
	"strings"
	"testing"
	"time"
)

func TestShellRules(t *testing.T) {
	tests := []struct {
		rule, command string
		want          bool
		by            string // of the default, "" for whatever
	}{
		// The pattern.
		{"Bash(git *)", "git", true, "`git`"},
		{"Bash(git *)", "gitk", false, ""},
		{"Bash(git:*)", "git", true, ""},
		{"Bash(git*)", "gitk", true, ""},
		{"Bash(git * main)", "git push main", true, ""},
		{"Bash(git * *)", "git push", true, ""},
		{`Bash(echo \*)`, "echo '*'", true, ""},
		{`Bash(echo \*)`, "echo a", false, ""},
		{`Bash(echo \(a\))`, "echo '(a)'", true, ""},
		{"Bash(git p?sh)", "git push", false, ""},

		// What a shell runs.
		{"Bash(git push)", "git\tpush", true, ""},
		{"Bash(git push)", "'git' \"push\" 2>&1", true, ""},
		{"Bash(git push)", "cd x && A=1 B=\"2 3\" git push | tee log", true, "`git push` in `cd x && A=1 B=\"2 3\" git push | tee log`"},
		{"Bash(git push)", "for i in a b; do git push; done", true, ""},
		{"Bash(git push)", "until git push; do sleep 1; done", true, ""},
		{"Bash(git push)", "if a; then b; elif git push; then c; else d; fi", true, ""},
		{"Bash(git push)", "if a; then b; else git push; fi", true, ""},
		{"Bash(git push)", "[[ $(git push) ]]", true, ""},
		{"Bash(git push)", "export X=$(git push)", true, ""},
		{"Bash(git push)", "X=\"`git push`\" true", true, ""},
		{"Bash(git push)", "for i in $(git push); do :; done", true, ""},
		{"Bash(git push)", "time git push | cat", true, "`git push`, run by time, in `time git push | cat`"},
		{"Bash(git push)", "time -p git push", true, ""},
		{"Bash(git push)", "", false, ""},
		{"Bash(git push)", "echo git push", false, ""},
		{"Bash(git push)", "echo 'a; git push'", false, ""},
		{"Bash(git push)", "A=1", false, ""},
		{"Bash(* b)", "export A=a b", true, ""},
		{"Bash(export A=*)", "export A=a", true, ""},

		// What may become anything: only rules on more than a name.
		{"Bash(git push *)", "echo $X", true, "`$X` in `echo $X` may become anything, so it runs"},
		{"Bash(ls)", "echo \"a $1\"", true, ""},
		{"Bash(ls *)", "echo $X", false, ""},
		{"Bash(apt-get:*)", "echo $X", false, ""},
		{"Bash(ls)", "echo '$X'", false, ""},
		{"Bash(ls)", `echo \$X`, false, ""},
		{"Bash(ls)", "echo $HOME \"$HOME/x\"", false, ""},
		{"Bash(ls)", "X=$(date)", false, ""},
		{"Bash(ls)", "X=$Y", true, ""},
		{"Bash(ls)", "X=$(date) true", true, ""},

		// What is unknown: every rule.
		{"Bash(ls *)", "f() { git push; }; f", true, "`f() { git push; }; f` declares a function, so it runs"},
		{"Bash(ls *)", "case x in x) git push;; esac", true, ""},
		{"Bash(ls *)", "diff <(git push) x", true, ""},
		{"Bash(ls *)", "git \\\n push", true, ""},
		{"Bash(ls *)", `cat a\ b`, true, ""},
		{"Bash(ls *)", "cat <<'E'\nx\nE", true, ""},
		{"Bash(ls *)", "cat <<<x", true, ""},
		{"Bash(ls *)", "echo $((1+1))", true, ""},
		{"Bash(ls *)", "((i++))", true, ""},
		{"Bash(ls *)", "let i=1", true, ""},
		{"Bash(ls *)", "for ((;;)); do x; done", true, ""},
		{"Bash(ls *)", "select x in a; do x; done", true, ""},
		{"Bash(ls *)", "echo $'a'", true, ""},
		{"Bash(ls *)", `echo $"a"`, true, ""},
		{"Bash(ls *)", "{git,push}", true, ""},
		{"Bash(ls *)", `{"git",push}`, true, ""},
		{"Bash(ls *)", "echo a{1..3}", true, ""},
		{"Bash(ls *)", "echo {}", false, ""},
		{"Bash(ls *)", `echo \{a,b}`, false, ""},
		{"Bash(ls *)", "echo '{a,b}'", false, ""},
		{"Bash(ls *)", "a=(1 2)", true, ""},
		{"Bash(ls *)", "declare -a a=(1)", true, ""},
		{"Bash(ls *)", "echo x > $F", true, ""},
		{"Bash(ls *)", "echo x > f", false, ""},
		{"Bash(ls *)", "$X push", true, ""},
		{"Bash(ls *)", "`echo git` push", true, ""},
		{"Bash(ls *)", "=git push", true, ""},
		{"Bash(ls *)", "echo ${X}", true, ""},
		{"Bash(ls *)", "echo !(a)", true, ""},
		{"Bash(ls *)", "git\u00a0push", true, ""},
		{"Bash(ls *)", "git push\x1b", true, "`git push\\x1b` has a control character, so it runs"},
		{"Bash(ls *)", "git push\r\nls", true, ""},
		{"Bash(ls *)", "git push )", true, ""},
		{"Bash(ls *)", "time (git push)", true, ""},
	}
	for _, tt := range tests {
		for _, strict := range []bool{false, true} {
			rule, _ := ParseRule(tt.rule, RuleOptions{StrictCompat: strict})
			got := rule.Match(bash(t, tt.command))
			want := tt.want && !(strict && strings.HasPrefix(tt.by, "`git push`, run by"))
			if got.Run != want && !(strict && strings.HasPrefix(tt.command, "time ")) {
				t.Errorf("strict %v: %q on %q = %+v, want %v", strict, tt.rule, tt.command, got, want)
			}
			if !strict && tt.by != "" && got.By != tt.by {
				t.Errorf("%q on %q: by %q, want %q", tt.rule, tt.command, got.By, tt.by)
			}
		}
	}
}

// None of these hides the command, and in strict mode each of them does.
func TestWrappersHideNothing(t *testing.T) {
	commands := []string{
		"timeout 5 git push", "timeout -s KILL 5 git push", "timeout --signal=KILL -k 1 5 git push",
		"sudo git push", "sudo -u root -E A=1 git push", "sudo -- git push", "doas -u x git push",
		"env A=1 git push", "env -i -u HOME A=1 git push", "env -S 'git push'", "env -iS'git push'", "env --split-string='git push'",
		"nice -n 5 git push", "nice -5 git push", "nohup git push &", "stdbuf -o0 git push", "setsid -w git push",
		"ionice -c 2 -n 0 git push", "chroot /x git push", "taskset 1 git push", "flock f git push", "flock f -c 'git push'",
		"time git push", "command git push", "command -p git push", "exec -a x git push", "noglob git push",
		"builtin command git push", "coproc git push", "busybox git push", "runuser -u x git push", "unshare -r git push",
		"eval git push", "eval 'git push'", `eval "git push $X"`, "builtin eval git push", "trap 'git push' EXIT", "trap -- 'git push' EXIT",
		"bash -c 'git push'", `sh -c "cd x && git push"`, "zsh -lc 'git push'", "bash -o pipefail -c 'git push'",
		"bash -c -o pipefail 'git push'", "bash -c -- 'git push'", "/bin/sh -ec 'git push'", "su x -c 'git push'", "su --command='git push'",
		"xargs -n1 git push", "xargs -I{} -P 4 git push", "xargs -I{} sh -c 'git push {}'",
		`find . -exec git push {} \;`, "find . -name x -execdir sh -c 'git push' +",
		"/usr/bin/git push", "~/bin/git push", "../git push",
		"sudo timeout 5 nice env A=1 /usr/bin/git push", `bash -c "bash -c 'sudo git push'"`, `sudo bash -c 'eval "git push"'`,
		"sudo $X", `eval "$X"`, `bash -c "$X"`, "/usr/bin/g?t push", "ls && sudo -n git push", "(sudo git push)", "echo $(sudo git push)",
	}
	rule, _ := ParseRule("Bash(git *)", RuleOptions{})
	exact, _ := ParseRule("Bash(git push*)", RuleOptions{})
	strict, _ := ParseRule("Bash(git *)", RuleOptions{StrictCompat: true})
	for _, command := range commands {
		if d := rule.Match(bash(t, command)); !d.Run {
			t.Errorf("%q is not seen in %q", rule, command)
		}
		if d := exact.Match(bash(t, command)); !d.Run {
			t.Errorf("%q is not seen in %q", exact, command)
		}
		if d := strict.Match(bash(t, command)); d.Run {
			t.Errorf("strict: %q runs for %q: %s", strict, command, d.By)
		}
	}
}

func TestWrappersMakeNothingUp(t *testing.T) {
	for _, command := range []string{
		"sudo ls git", "timeout 5 echo git push", "command -v git", "command -V git", "env", "env A=1", "sudo", "nice -n 5",
		"bash git.sh", "bash -c 'echo git push'", "bash -c 'echo' git push", "trap - EXIT", "trap git", "trap", "builtin git push",
		"find . -name git", "find . -exec", `find . -exec echo git \;`, "eval", "xargs", "/usr/bin/ls git", "/", "echo sudo git push",
		"alias g='git push'", "su git", "exec", "time", "coproc ls",
	} {
		rule, _ := ParseRule("Bash(git *)", RuleOptions{})
		if d := rule.Match(bash(t, command)); d.Run {
			t.Errorf("%q runs for %q: %s", rule, command, d.By)
		}
	}
}

// Text that would cost a parser its stack, or a reader exponential time, is
// not judged: every rule matches it.
func TestShellBombsAreBoundedAndRun(t *testing.T) {
	tests := map[string]string{
		"parentheses":   strings.Repeat("(", 1<<20),
		"substitutions": strings.Repeat("$(", 4000),
		"arithmetic":    strings.Repeat("$((", 3000),
		"negations":     "$((" + strings.Repeat("!", 9000),
		"conditions":    strings.Repeat("if ", 3000),
		"groups":        strings.Repeat("{ ", 900),
		"nested closed": strings.Repeat("(", 900) + "ls" + strings.Repeat(")", 900) + " (",
		"length":        "ls " + strings.Repeat("a ", maxCommand),
		"find in find":  strings.Repeat("find -exec ", 800) + "x",
		"sudo in sudo":  strings.Repeat("sudo -a ", 1000) + "x",
		"text in text":  strings.Repeat("eval ", maxNested+1) + "ls",
	}
	for name, command := range tests {
		t.Run(name, func(t *testing.T) {
			rule, _ := ParseRule("Bash(git *)", RuleOptions{})
			start := time.Now()
			d := rule.Match(bash(t, command))
			if took := time.Since(start); took > time.Minute {
				t.Errorf("took %v", took)
			}
			if !d.Run {
				t.Errorf("does not run: %s", d.By)
			}
			if len(d.By) > 1000 {
				t.Errorf("By has %d bytes", len(d.By))
			}
		})
	}
}
