package match

import (
	"slices"
	"strings"
)

// gitOptions are the options before git's subcommand that take a value.
var gitOptions = wordSet("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --exec-path --attr-source --list-cmds")

// gitProse are the options whose value is text or a pattern.
var gitProse = wordSet("-m --message --grep -S -G --author -am")

// gitRuns are the options whose value is a command.
var gitRuns = wordSet("--exec --extcmd --upload-pack --receive-pack --open-files-in-pager --upload-archive --sendmail-cmd --to-cmd --cc-cmd --header-cmd --httpd --smtp-server")

// runsOption reports whether the value of an option is a command. Git takes options cut short.
func runsOption(option string) bool {
	if gitRuns.has(option) {
		return true
	}
	for full := range gitRuns.all() {
		if len(option) > 4 && strings.HasPrefix(full, option) {
			return true
		}
	}
	return false
}

// gitPrograms are commands of git that are programs too, as git-push is in /usr/lib/git-core. git-lfs and others are no git.
var gitPrograms = wordSet(`am archimport backfill bisect branch checkout cherry-pick clean clone commit cvsimport daemon difftool fetch fetch-pack filter-branch
	for-each-repo gc http-fetch http-push imap-send instaweb ls-remote maintenance merge mergetool p4 prune pull push rebase reflog remote-ext remote-ftp remote-ftps
	remote-http remote-https reset restore revert rm send-email send-pack stash submodule subtree svn switch update-ref web--browse worktree`)

// behindGitOptions returns git's subcommand and what stands behind it.
func behindGitOptions(args []string) []string {
	for len(args) > 0 && isOption(args[0]) {
		if gitOptions.has(args[0]) && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	return args
}

// git reads what git runs by itself: a subcommand behind its options, an alias,
// a command of the configuration, and the commands that some subcommands take.
func (r *lineReader) git(words []string, at int) {
	i := 1
	for i < len(words) && isOption(words[i]) {
		option := words[i]
		i++
		if strings.HasPrefix(option, "--config-env") && strings.Contains(strings.Join(words[i-1:min(i+1, len(words))], " "), "alias.") {
			r.cannotRead("takes an alias of git from a variable")
		}
		switch {
		case option == "-c" && i < len(words):
			r.gitConfig(words[i])
			i++
		case strings.HasPrefix(option, "-c") && len(option) > 2:
			r.gitConfig(option[2:])
		case gitOptions.has(option):
			if option == "--exec-path" || option == "--config-env" {
				r.line.setting = option
			}
			i++
		case strings.HasPrefix(option, "--exec-path=") || strings.HasPrefix(option, "--config-env="):
			r.line.setting = option
		}
	}
	if i >= len(words) {
		return
	}
	rest := words[i:]
	if i > 1 {
		s := newStarted(append([]string{words[0]}, rest...), r.how, r.via)
		s.variant, s.origin = true, at
		r.line.add(s)
	}
	for j, w := range rest {
		switch {
		case rest[0] == "clone" && (w == "-c" || w == "--config") && j+1 < len(rest):
			r.gitConfig(rest[j+1])
		case rest[0] == "clone" && (strings.HasPrefix(w, "--config=") || strings.HasPrefix(w, "-c") && len(w) > 2):
			r.gitConfig(strings.TrimPrefix(strings.TrimPrefix(w, "--config="), "-c"))
		case rest[0] == "remote-ext" && j == 2:
			r.text(w, does, runBy("git "+rest[0]))
		case rest[0] == "for-each-repo" && j > 0 && !isOption(w):
			r.carried(append([]string{words[0]}, rest[j:]...), stream{}, may, runBy("git "+rest[0]))
		case rest[0] == "submodule" && w == "foreach", rest[0] == "bisect" && w == "run":
			r.text(strings.Join(rest[j+1:], " "), does, runBy("git "+rest[0])) // one word is text for a shell
			r.carried(rest[j+1:], stream{}, does, runBy("git "+rest[0]))
		case rest[0] == "clone" && w == "-u" || w == "-x" || rest[0] == "instaweb" && w == "-d" || strings.HasSuffix(w, "-filter") || w == "--command" || runsOption(w):
			if j+1 < len(rest) && !(rest[0] == "clean" || rest[0] == "cherry-pick") {
				r.text(rest[j+1], does, runBy("git "+rest[0]))
			}
		case isOption(w):
			if option, val, ok := strings.Cut(w, "="); ok && runsOption(option) {
				r.text(val, does, runBy("git "+rest[0]))
			} else if ok && !gitProse.has(option) {
				r.text(val, may, runBy("git "+rest[0]))
			} else if strings.HasPrefix(w, "-O") && rest[0] == "grep" {
				r.text(w[2:], does, runBy("git "+rest[0]))
			} else if strings.HasPrefix(w, "-O") || strings.HasPrefix(w, "-x") {
				r.text(w[2:], may, runBy("git "+rest[0]))
			}
		case rest[0] == "config" && j+1 < len(rest):
			r.gitConfig(w + "=" + rest[j+1])
		case strings.HasPrefix(w, "ext::"):
			r.carried(extWords(w[len("ext::"):]), stream{}, does, runBy("git "+rest[0]))
		}
	}
	r.saying(true).texts(rest[1:], mentioned, "in the words of git")
}

// extWords splits the command of ext::, where "% " is a space within a word, see git-remote-ext(1).
func extWords(text string) []string {
	words := strings.Fields(strings.ReplaceAll(text, "% ", "\x00"))
	for i, w := range words {
		words[i] = strings.ReplaceAll(w, "\x00", " ")
	}
	return words
}

// gitVariable reads a variable that holds settings of git, or the value of one whose name another variable holds.
func (r *lineReader) gitVariable(name, text string) {
	switch {
	case name == "GIT_CONFIG_PARAMETERS":
		r.line.setting = name
		for setting := range strings.FieldsSeq(strings.ReplaceAll(text, "'", "")) {
			r.gitConfig(setting)
		}
	case strings.HasPrefix(name, "GIT_CONFIG_VALUE_") && text != "*": // * is for safe.directory
		r.line.setting = name
		r.text(strings.TrimPrefix(text, "!"), may, "in "+plain(name))
		r.text("git "+text, may, "in "+plain(name))
	}
}

// gitConfig reads key=value of a setting that git runs.
func (r *lineReader) gitConfig(setting string) {
	key, val, _ := strings.Cut(setting, "=")
	key = strings.ToLower(key)
	if text, ok := strings.CutPrefix(val, "!"); ok {
		r.line.setting = key
		r.text(text, does, "through a git alias")
		return
	}
	for _, text := range []string{key, val} {
		if _, run, ok := strings.Cut(text, "ext::"); ok {
			run = strings.TrimSuffix(strings.TrimSuffix(run, ".insteadof"), ".pushinsteadof")
			r.carried(extWords(run), stream{}, may, "through the git setting "+plain(key))
		}
	}
	if key == "help.autocorrect" && !slices.Contains([]string{"0", "false", "never", "no", "off", "prompt", "show"}, val) {
		r.cannotRead("has git guess which subcommand is meant")
	}
	if strings.HasPrefix(key, "include") || strings.HasPrefix(key, "url.") {
		r.line.setting = key
	}
	if strings.HasPrefix(key, "alias.") {
		r.line.setting = key
		r.text("git "+val, does, "through a git alias")
		return
	}
	ends := []string{"command", "editor", "pager", "helper", "textconv", "program", "driver", "clean", "smudge", "process", "cmd", "external", "difffilter", "hook", ".path", "browser", "vcs", "fsmonitor", "proxy", "askpass", "hookspath", "uploadpack", "receivepack", "httpd", "smtpserver"}
	if strings.HasPrefix(key, "pager.") || slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(key, end) }) {
		r.line.setting = key
		r.text(val, may, "through the git setting "+plain(key))
	}
}
