package match

import (
	"slices"
	"strings"
)

// command takes down a command, and what it starts in turn. It returns what the
// command writes.
func (r *lineReader) command(words []string, in stream) stream {
	if !r.charge(words) {
		return stream{present: true}
	}
	return r.commandAs(words, strings.Join(words, " "), in)
}

// commandAs is command with the words as one text, and their cost paid.
func (r *lineReader) commandAs(words []string, text string, in stream) stream {
	s := startedAs(words, text, r.how, r.via)
	s.said = r.said
	s.piped, s.stdin, s.hasStdin = in.present, in.text, in.known
	at := r.line.add(s)
	if in.present && readsNames(words) && len(in.below) > 0 {
		r.line.add(newStarted(append(words[:len(words):len(words)], in.below...), r.how, "with the names that it reads"))
	}
	r.subscript(words...)
	r.goes(words)
	r.starts(words, at, in)
	return r.writes(words, in)
}

// readsNames reports whether a program takes the files that it is to read from its
// input: cpio -o, tar -T -, zip -@, sort --files0-from=-.
func readsNames(words []string) bool {
	name, args := kindOf(programName(words[0])), words[1:]
	if name == "cpio" || name == "pax" || name == "afio" {
		return true
	}
	for i, w := range args {
		letters := isOption(w) && w[1] != '-' || i == 0 && !isOption(w) // T may stand among others, and at first without a dash
		if name == "tar" && letters && strings.Contains(w, "T") || w == "-@" || strings.HasPrefix(w, "--files") && strings.Contains(w, "from") {
			return true
		}
	}
	return false
}

// starts reads what a command starts.
func (r *lineReader) starts(words []string, at int, in stream) {
	name, args := kindOf(programName(words[0])), words[1:]
	if body, ok := r.aliases[words[0]]; ok && r.depth < maxNested {
		r.text(strings.Join(append([]string{body}, args...), " "), may, "through the alias "+plain(words[0]))
	}
	if r.functions[words[0]] {
		r.positional(args)
	}
	if text, ok := r.writtenTo(words[0]); ok {
		r.writtenScript(text, args, runBy(words[0]))
	}
	if r.special(name, words, at, in) {
		return
	}
	carrier, carries := carriers()[name]
	switch {
	case carries:
		r.carry(carrier, args, in, runBy(name))
	case isShell(name):
		r.shell(args, in, runBy(name))
	case builders.has(name):
		r.build(name, words, at)
	case isInert(name, args):
		if len(args) > 0 {
			r, via := r.saying(sayers.has(name) || patterns.has(name)), "in the words of "+plain(name)
			r.suffixes(words, at, mentioned, via)
			r.texts(args, mentioned, via)
		}
		if in.text != "" && r.depth < maxNested {
			r.saying(onlyRead.has(name)).text(in.text, mentioned, "in what "+plain(name)+" reads")
		}
	case stdinCode.has(strings.TrimRight(name, "0123456789.")) && r.readsCode(args, in):
	case messages[name] != nil:
		r.tells(messages[name], words, at, in)
	default:
		for _, w := range args {
			if text, ok := r.writtenTo(w); ok {
				r.text(text, may, runBy(words[0]))
			}
		}
		r.handed(words, at, in)
	}
}

func runBy(name string) string { return "run by " + plain(shown(name)) }

// variants takes the command down without the options between its name and the
// next word, so that docker --context x push is seen as docker push.
func (r *lineReader) variants(words []string, at int) {
	for i := 1; i < len(words); i++ {
		if isOption(words[i]) {
			continue
		}
		if i > 1 && r.charge(words[i:]) {
			s := newStarted(append([]string{words[0]}, words[i:]...), min(r.how, may), r.via)
			s.variant, s.origin = true, at
			r.line.add(s)
		}
		if i == 1 || !isOption(words[i-1]) || strings.Contains(words[i-1], "=") {
			return
		}
	}
}

// texts tries each word as shell text: the word, the value of an option or of
// NAME=value, and what stands behind a ! of an editor.
func (r *lineReader) texts(words []string, h how, via string) {
	for _, w := range words {
		if isOption(w) && w[1] != '-' {
			w = w[2:]
		}
		if _, run, ok := strings.Cut(strings.Replace(w, " :!", " !", 1), " !"); ok && !r.said { // :r !ls
			r.text(run, min(h, may), via)
		}
		if h > mentioned && strings.ContainsAny(w, `\^`) {
			if typed := typedKeys.Replace(w); typed != w {
				r.text(typed, min(h, may), via)
			}
		}
		for range maxChoices {
			bang := strings.HasPrefix(w, "!") || strings.HasPrefix(w, ":!") // of an editor
			w = strings.TrimLeft(w, "!+:@|")
			if bang || strings.ContainsAny(w, " \t\n;|&$`(\"'") {
				r.text(w, h, via)
			}
			var ok bool
			if _, w, ok = strings.Cut(w, "="); !ok {
				break
			}
		}
	}
}

// text reads text that is run, or may be.
func (r *lineReader) text(text string, h how, via string) {
	s := r.sub(h, via)
	s.depth++
	switch {
	case strings.TrimSpace(text) == "":
		return
	case s.depth > maxNested:
		r.line.cannotRead("runs too much text inside other text")
		return
	case !isPlain(text) && s.how == does:
		r.line.feeds = true
		r.line.cannotRead("runs text that is not all known")
	}
	s.read(text, stream{})
	if s.how == may && strings.ContainsAny(text, "\"'`,([{") {
		s.rough(text) // it may be code that happens to be shell text too
	}
}

// goes follows cd and its like.
func (r *lineReader) goes(words []string) {
	args := words[1:]
	switch programName(words[0]) {
	case "cd", "pushd", "chdir":
		for len(args) > 0 && isOption(args[0]) {
			args = args[1:]
		}
		if len(args) == 0 {
			args = []string{r.home}
		}
		r.enter(args[0])
	case "env", "git", "make", "tar", "ninja", "sudo", "rsync", "cmake", "gmake", "pnpm", "yarn", "npm", "go":
		for i, a := range args {
			if i+1 < len(args) && slices.Contains([]string{"-C", "--chdir", "--directory", "-D", "--cwd", "--prefix"}, a) {
				r.enter(args[i+1])
			}
			for _, option := range []string{"-C", "--chdir=", "--directory=", "--git-dir=", "--work-tree="} {
				if dir, ok := strings.CutPrefix(a, option); ok {
					r.enter(dir)
				}
			}
		}
	}
}

// enter adds a directory from which relative paths may count.
func (r *lineReader) enter(dir string) {
	if dir == "-" {
		return
	}
	for _, place := range r.line.places(dir, r.home) {
		if !slices.Contains(r.line.dirs, place) && len(r.line.dirs) < maxChoices {
			r.line.dirs = append(r.line.dirs, place)
		}
	}
}

// positional gives $1, $2 and $@ values.
func (r *lineReader) positional(args []string) {
	r.give("@", value{fields: args, array: true})
	for i, a := range args {
		if i < 9 {
			r.give(string(rune('1'+i)), value{fields: []string{a}})
		}
	}
}

// carried reads a command that another one runs.
func (r *lineReader) carried(words []string, in stream, h how, via string) {
	if len(words) == 0 || !r.charge(words) {
		return
	}
	if r.budget.carried--; r.budget.carried < 0 {
		r.line.cannotRead("runs too many commands inside others")
		return
	}
	r.sub(h, via).command(words, in)
}

// carry reads what a carrier runs.
func (r *lineReader) carry(c carrier, args []string, in stream, via string) {
	starts := commandStarts(c, args)
	if len(starts) == 0 && c.shell {
		r.readsScript(in, via)
	}
	if c.text != "" {
		r.optionText(args, c.text, via)
	}
	for i, a := range args {
		if isOption(a) || i > 0 && isOption(args[i-1]) {
			r.texts(args[i:i+1], may, via)
			if option, program, ok := strings.Cut(a, "="); ok && namesProgram(option) { // ssh -o ProxyCommand=x
				r.named(program, nil, via)
			}
		}
	}
	for _, i := range starts {
		if !r.charge(args[i:]) {
			return
		}
		if c.joins {
			r.text(strings.Join(args[i:], " "), does, via)
		}
		if c.assigns {
			r.assigned(args[:i])
		}
		r.guessed(args, starts[0], i).carried(args[i:], in, does, via)
	}
}

// guessed returns a reader for a command that begins at one of several places.
// Behind a command that is known already, as in sudo -n git push $X, what is unknown
// is an argument of it.
func (r *lineReader) guessed(args []string, first, at int) *lineReader {
	if at == first || !isKnown(programName(args[first])) {
		return r
	}
	s := *r
	s.guess = true
	return &s
}

// assigned reads the NAME=value words of env and sudo.
func (r *lineReader) assigned(words []string) {
	for _, w := range words {
		if name, val, ok := strings.Cut(w, "="); ok && !isOption(w) {
			r.line.sets = true
			r.environment(name, val, true)
		}
	}
}

// optionText reads the text behind -c of su, flock, script and their like.
func (r *lineReader) optionText(args []string, option, via string) {
	letter := option[1:]
	for i, a := range args {
		if text, ok := strings.CutPrefix(a, "--command="); ok {
			r.text(text, does, via)
			continue
		}
		if a == "--" {
			return
		}
		_, rest, given := strings.Cut(a, letter) // among others perhaps
		switch {
		case a == "--command":
			rest = ""
		case !given || !isOption(a) || a[1] == '-':
			continue
		}
		r.text(rest, may, via)
		if i+1 < len(args) {
			r.text(args[i+1], does, via)
		}
	}
}
