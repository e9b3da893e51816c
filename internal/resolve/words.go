package resolve

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	lru "github.com/hashicorp/golang-lru/v2"
	"mvdan.cc/sh/v3/syntax"
)

// maxLine is the longest shell line that is looked into, in bytes.
const maxLine = 16 << 10

// words splits a command line into a program and its arguments, if it provably
// means the same without a shell: one simple command of plain words, whose
// program is no builtin. The variables are those of the hook's environment. ok
// is false where a shell is needed.
func words(line string, lookup func(string) string) (argv []string, ok bool) {
	if len(line) > maxLine || strings.ContainsAny(line, "\n\r\x00") {
		return nil, false
	}
	argv, ok = plainWords(line)
	if !ok {
		argv, ok = parsedWords(line, lookup)
	}
	return argv, ok && argv[0] != "" && !slices.Contains(builtins, argv[0])
}

// parsedWords splits a line that is one simple command.
func parsedWords(line string, lookup func(string) string) (argv []string, ok bool) {
	command, known := commands().Get(line)
	if !known {
		command = simpleCommand(line)
		commands().Add(line, command)
	}
	for _, w := range command {
		word, ok := PlainWord(w, lookup)
		if !ok {
			return nil, false
		}
		argv = append(argv, word)
	}
	return argv, len(argv) > 0
}

// commands remembers the last lines that were parsed: a hook runs its own again and again.
var commands = sync.OnceValue(func() *lru.Cache[string, []*syntax.Word] {
	c, _ := lru.New[string, []*syntax.Word](256) // fails on a size below 1
	return c
})

// simpleCommand returns the words of a line that is one simple command, and none of any other. They are read alone.
func simpleCommand(line string) []*syntax.Word {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) != 1 || len(file.Last) > 0 {
		return nil
	}
	stmt := file.Stmts[0]
	call, simple := stmt.Cmd.(*syntax.CallExpr)
	if !simple || stmt.Negated || stmt.Background || stmt.Coprocess || stmt.Disown || len(stmt.Redirs) > 0 ||
		len(stmt.Comments) > 0 || len(call.Assigns) > 0 {
		return nil
	}
	return call.Args
}

// plainWords splits a line that needs no parser: words that mean themselves, with
// spaces between them.
func plainWords(line string) (argv []string, ok bool) {
	argv = strings.Split(line, " ")
	for _, word := range argv {
		if word == "" || word[0] == '=' || !plain(word) {
			return nil, false
		}
	}
	return argv, !strings.Contains(argv[0], "=") // which would be an assignment
}

// PlainWord returns what every shell makes of a word, if that is certain: a word
// of literals, quotes and variables that lookup knows. A variable that is not
// quoted must hold something that no shell splits or expands again.
func PlainWord(w *syntax.Word, lookup func(string) string) (string, bool) {
	var b strings.Builder
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text := part.Value
			if rest, home := strings.CutPrefix(text, "~/"); home && i == 0 && plain(lookup("HOME")) && filepath.IsAbs(lookup("HOME")) {
				b.WriteString(lookup("HOME"))
				text = "/" + rest
			}
			if !plain(text) || i == 0 && strings.HasPrefix(text, "=") {
				return "", false
			}
			b.WriteString(text)
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", false
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			if part.Dollar || !plainQuoted(part, &b, lookup) {
				return "", false
			}
		case *syntax.ParamExp:
			if !simpleVariable(part) {
				return "", false
			}
			value := lookup(part.Param.Value)
			if value == "" || !plain(value) {
				return "", false
			}
			b.WriteString(value)
		default:
			return "", false
		}
	}
	return b.String(), true
}

// plain reports whether a text that is not quoted means itself in every shell.
func plain(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !(r >= '0' && r <= '9') && !strings.ContainsRune("_./:,@%+=-", r)
	}) < 0
}

// plainQuoted appends a double-quoted part of literals and simple variables,
// which a shell neither splits nor globs.
func plainQuoted(q *syntax.DblQuoted, b *strings.Builder, lookup func(string) string) bool {
	for _, part := range q.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(part.Value, "\\`") {
				return false
			}
			b.WriteString(part.Value)
		case *syntax.ParamExp:
			if !simpleVariable(part) {
				return false
			}
			b.WriteString(lookup(part.Param.Value))
		default:
			return false
		}
	}
	return true
}

// simpleVariable reports whether an expansion is $NAME or ${NAME} of the
// environment, and nothing a shell makes up itself.
func simpleVariable(p *syntax.ParamExp) bool {
	if p.Param == nil || !syntax.ValidName(p.Param.Value) {
		return false
	}
	// Whatever else it does takes more characters than the name.
	if width := p.End().Offset() - p.Pos().Offset() - uint(len(p.Param.Value)); width != 1 && width != 3 || p.Length || p.Excl {
		return false
	}
	return !slices.Contains(shellVariables, p.Param.Value)
}

// shellVariables are set by shells themselves, whatever the environment says.
var shellVariables = strings.Fields(`IFS PWD OLDPWD PPID OPTIND OPTARG OPTERR LINENO PS1 PS2 PS3 PS4 RANDOM SRANDOM SECONDS
	HOSTNAME HOSTTYPE MACHTYPE OSTYPE SHLVL UID EUID GID EGID USERNAME GROUPS DIRSTACK FUNCNAME PIPESTATUS REPLY BASH BASHPID
	BASHOPTS SHELLOPTS COLUMNS LINES HISTCMD EPOCHSECONDS EPOCHREALTIME ARGC argv status path fpath cdpath pipestatus signals
	options commands functions aliases parameters history words mailpath manpath module_path fignore prompt psvar watch
	zsh_eval_context TTY TTYIDLE LOGNAME HOST CPUTYPE VENDOR ZSH_NAME ZSH_VERSION ZSH_PATCHLEVEL ZSH_SUBSHELL ZSH_ARGZERO
	BASH_VERSION BASH_SUBSHELL BASH_COMMAND BASH_SOURCE BASH_LINENO BASH_ARGV BASH_ARGV0 BASH_ARGC BASH_VERSINFO
	BASH_REMATCH BASH_EXECUTION_STRING KSH_VERSION _`)

// builtins are commands that a shell runs itself, in POSIX, dash, bash, ksh or
// zsh, and words that begin compound commands. With a program of the same name
// the differences are unknown.
var builtins = strings.Fields(`. : [ [[ alias autoload bg bind break builtin bye caller case cd chdir command compgen
	complete compopt continue coproc declare dirs disown do done echo elif else enable end esac eval exec exit
	export false fc fg fi float for foreach function functions getopts hash help hist history if in integer
	jobs kill let limit local log logout mapfile newgrp noglob popd print printf pushd pushln pwd read
	readarray readonly rehash repeat return sched select set setopt shift shopt sleep source stat suspend
	test then time times trap true type typeset ulimit umask unalias unfunction unset unsetopt until
	wait whence where which while zmodload ! { }`)
