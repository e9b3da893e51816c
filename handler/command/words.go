package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// words splits a command line into a program and its arguments, if it provably
// means the same without a shell: one simple command of plain, quoted or
// "$VARIABLE" words, whose program is no builtin. The variables are those of
// the hook's environment. ok is false where a shell is needed.
func words(line string, lookup func(string) string) (argv []string, ok bool) {
	if len(line) > 4096 || strings.ContainsAny(line, "\n\r\x00") {
		return nil, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) != 1 || len(file.Last) > 0 {
		return nil, false
	}
	stmt := file.Stmts[0]
	call, simple := stmt.Cmd.(*syntax.CallExpr)
	if !simple || stmt.Negated || stmt.Background || stmt.Coprocess || stmt.Disown || len(stmt.Redirs) > 0 ||
		len(stmt.Comments) > 0 || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return nil, false
	}
	for _, w := range call.Args {
		word, ok := plainWord(w, lookup)
		if !ok {
			return nil, false
		}
		argv = append(argv, word)
	}
	if argv[0] == "" || slices.Contains(builtins, argv[0]) {
		return nil, false
	}
	return argv, true
}

// plainWord returns what a shell would make of a word, if that is certain.
func plainWord(w *syntax.Word, lookup func(string) string) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(part.Value, "*?[]{}~\\!^") {
				return "", false
			}
			b.WriteString(part.Value)
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", false
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			if part.Dollar || !plainQuoted(part, &b, lookup) {
				return "", false
			}
		default:
			return "", false
		}
	}
	return b.String(), true
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
var shellVariables = []string{"IFS", "PWD", "OLDPWD", "PPID", "OPTIND", "OPTARG", "LINENO", "PS1", "PS2", "PS4",
	"RANDOM", "SECONDS", "HOSTNAME", "SHLVL", "UID", "EUID", "_"}

// builtins are commands that a shell runs itself, in POSIX, dash, bash, ksh or
// zsh, and words that begin compound commands. With a program of the same name
// nobody knows what differs.
var builtins = strings.Fields(`. : [ [[ alias autoload bg bind break builtin bye caller case cd chdir command compgen
	complete compopt continue coproc declare dirs disown do done echo elif else enable end esac eval exec exit
	export false fc fg fi float for foreach function functions getopts hash help hist history if in integer
	jobs kill let limit local log logout mapfile newgrp noglob popd print printf pushd pushln pwd read
	readarray readonly rehash repeat return sched select set setopt shift shopt sleep source stat suspend
	test then time times trap true type typeset ulimit umask unalias unfunction unset unsetopt until
	wait whence where which while zmodload ! { }`)
