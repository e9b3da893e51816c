package match

import (
	"slices"
	"strings"
)

// Runs is what the shell lines of a call run, or hand to a program that may run it.
type Runs struct {
	// Commands are words; what of them is not known is "". The first is the program's name, without its
	// directory and without what Windows completes it by.
	Commands [][]string
	// Scripts are absolute paths, as the system has them, of files that shells run or read
	// commands from, and of programs that are named by a path: each may be a script.
	Scripts []string
	// Dirs are the directories from which relative paths may count, as the system has them.
	Dirs []string
}

// Runs reads the call's shell lines. Text inside of text also counts: what bash -c,
// eval, xargs and their like run.
func (c *Call) Runs() (all Runs) {
	for _, l := range c.lines() {
		for _, dir := range l.dirs {
			if dir := native(dir); isPlain(dir) && !slices.Contains(all.Dirs, dir) {
				all.Dirs = append(all.Dirs, dir)
			}
		}
		l.runs(&all, c.home())
	}
	slices.Sort(all.Scripts)
	all.Scripts = slices.Compact(all.Scripts)
	return all
}

// looksAt reports whether a program opens the files that it names, and runs none of them.
func looksAt(name string) bool {
	return onlyRead.has(name) && name != "tar" && name != "ssh" || changes.has(name) || messages[name] != nil || viewers.has(name)
}

var viewers = wordSet("7z 7za ag ack code emacs hx kak micro patch scp subl unzip view zip")

func (l *line) runs(all *Runs, home string) {
	script := func(word string) {
		for _, place := range l.places(word, home) {
			if isPlain(place) {
				all.Scripts = append(all.Scripts, native(place))
			}
		}
	}
	for i := range l.started {
		s := &l.started[i]
		if s.how == mentioned || s.variant || s.suffix && (s.how != may || looksAt(kindOf(l.started[s.origin].program()))) {
			continue
		}
		if s.script || strings.ContainsAny(s.words[0], separators()) {
			script(s.words[0])
		}
		words := s.words
		if s.suffix { // of a program that may run it: tmux new sh x.sh
			words = words[:min(len(words), maxMentioned)]
			if at := slices.IndexFunc(words[1:], func(w string) bool { return !isOption(w) }); at >= 0 && (isShell(s.program()) || s.program() == "source") {
				script(words[1+at])
			}
		}
		words = slices.Clone(words)
		for j, w := range words {
			if !isPlain(w) {
				words[j] = ""
			}
		}
		if words[0] != "" {
			words[0] = programName(words[0])
		}
		all.Commands = append(all.Commands, words)
	}
	if !l.feeds {
		return
	}
	for _, f := range l.files {
		if !f.write {
			script(f.path)
		}
	}
	for _, words := range all.Commands { // cat file | sh
		for _, w := range words[1:] {
			if w != "" && !isOption(w) {
				script(w)
			}
		}
	}
}
