package match

import (
	"cmp"
	"slices"
	"strings"
)

// handed reads the words of a program that may run any of them.
func (r *lineReader) handed(words []string, at int, in stream) {
	via := "perhaps run by " + plain(shown(baseName(words[0])))
	r.suffixes(words, at, may, via)
	r.texts(words[1:], may, via)
	for i, w := range words {
		option, program, joined := strings.Cut(w, "=")
		if (joined || isOption(w)) && namesProgram(option) {
			rest := words[i+1:]
			if !joined && len(rest) > 0 {
				program, rest = rest[0], rest[1:]
			}
			r.named(program, rest, via)
		}
		if i > 0 && strings.Contains(w, ",") && (isOption(w) || isOption(words[i-1])) && !strings.ContainsAny(w, "$`\"' \t\n;|&<>") && isPlain(w) { // --args=git,push
			r.text(strings.ReplaceAll(w[strings.LastIndexByte(w, '=')+1:], ",", " "), may, via)
		}
		if kind, run, ok := strings.Cut(w, ":"); ok && addressRuns.has(strings.ToLower(kind)) { // socat - EXEC:'git push',pty
			run, _, _ = strings.Cut(run, ",")
			r.text(run, may, via)
		}
	}
	switch kindOf(programName(words[0])) {
	case "sed":
		for _, w := range words[1:] { // s/a/command/e runs what it makes
			r.texts(strings.FieldsFunc(w, func(c rune) bool { return strings.ContainsRune("/|,#:;@~", c) }), may, via)
		}
	case "tmux":
		r.text(typedWords(words[1:]), may, via)
	}
	r.handedInput(words, at, in, via)
}

// handedInput reads what a program that may run it gets from a pipe, a document or a <(…).
func (r *lineReader) handedInput(words []string, at int, in stream, via string) {
	if in.text != "" {
		if strings.Contains(in.text, "!") { // an editor's
			r.text(strings.ReplaceAll(in.text, "!", " "), may, via)
		}
		r.text(in.text, may, via)
	}
	var items []string
	if in.known { // else the list of what it may be costs, and is not used
		items = in.items()
	}
	if len(items) > 0 && len(items) <= maxChoices { // as xargs does
		r.carried(append(slices.Clone(words[1:]), items...), stream{}, may, via)
		if text := strings.Join(words[1:], " "); strings.Contains(text, "{}") {
			r.text(strings.ReplaceAll(text, "{}", strings.Join(items, " ")), may, via)
		}
	}
	for _, s := range r.substituted {
		if s.text != "" {
			r.text(s.text, may, via)
			r.text(configured(s.text), may, via)
			if one := &r.line.started[at]; databases.has(one.program()) { // psql -f <(echo …)
				one.stdin += "\n" + s.text
			}
		}
	}
}

// configured returns what stands behind the names of a file of settings, and behind the ! of an editor:
// command=git push.
func configured(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if at := strings.IndexAny(line, "=:!"); at >= 0 {
			b.WriteString(strings.TrimLeft(line[at+1:], "=:! ") + "\n")
		}
	}
	return b.String()
}

// addressRuns are addresses of socat that are a command.
var addressRuns = wordSet("exec system shell")

// runEnds end the names of options and variables whose value is a program:
// --script-shell, RUSTC_WRAPPER, build.rustc-wrapper.
var runEnds = []string{"askpass", "chooser", "command", "cmd", "editor", "entrypoint", "exec", "executable", "interpreter", "launcher", "linker", "opener", "pager",
	"program", "rsh", "runner", "shell", "speller", "startas", "visual", "wrapper"}

// namesProgram reports whether an option has a program as its value, which may get the
// words behind it.
func namesProgram(option string) bool {
	option = strings.ToLower(option)
	return strings.HasSuffix(option, "image") || strings.HasSuffix(option, "run_under") || endsRun(option) || compilers.has(option)
}

func endsRun(name string) bool {
	return slices.ContainsFunc(runEnds, func(end string) bool { return strings.HasSuffix(name, end) })
}

// compilers are variables of make that name a program.
var compilers = wordSet("ar as cc cpp cxx ld lex yacc")

// named reads a program that an option names. Its arguments begin at one of the words, or
// are the values of further options: --shell=git --shell-arg=push.
func (r *lineReader) named(program string, words []string, via string) {
	if program == "" || !r.charge(words) {
		return
	}
	program = cmp.Or(referred(program), program)
	values := slices.Clone(words)
	for i, w := range words {
		if _, val, ok := strings.Cut(w, "="); ok {
			values[i] = val
		}
	}
	if !slices.Equal(values, words) {
		r.carried(append([]string{program}, values...), stream{}, may, via)
	}
	for i := range words {
		if !r.charge(words[i:]) {
			return
		}
		if words[i] != "--" {
			r.carried(append([]string{program}, words[i:]...), stream{}, may, via)
		}
	}
	if len(words) == 0 {
		r.carried([]string{program}, stream{}, may, via)
	}
}

// referred returns the name of the program that a reference to an image, a package or a
// module stands for, "" for any other word: git of alpine/git:2 and nixpkgs#git, npm of
// npm:npm@9, deploy of x/cmd/deploy@latest.
func referred(w string) string {
	if name, _, ok := strings.Cut(w, "=="); ok { // of Python
		return baseName(name)
	}
	if !strings.ContainsAny(w, "#@:") || strings.Contains(w, "://") {
		return ""
	}
	name := strings.TrimPrefix(strings.TrimPrefix(w, "npm:"), "jsr:")
	if _, after, ok := strings.Cut(name, "#"); ok {
		name = after
	}
	name = baseName(name)
	if before, version, ok := strings.Cut(name, "@"); ok && isVersion(version) {
		name = before
	}
	if before, tag, ok := strings.Cut(name, ":"); ok && (strings.Contains(w, "/") || isVersion(tag)) {
		name = before
	}
	if name == baseName(w) {
		return ""
	}
	return name
}

// isVersion recognises versions and tags: 9, v1.2, ^4, latest, sha256:….
func isVersion(text string) bool {
	text = strings.TrimLeft(text, "v^~=<>")
	return text != "" && text[0] >= '0' && text[0] <= '9' || strings.HasPrefix(text, "sha256:") || tags.has(text)
}

var tags = wordSet("alpha alpine beta canary dev edge head HEAD latest lts main master next nightly rc slim stable")

// typedKeys are what stands for the end of a line in text that is typed into a terminal:
// screen -X stuff 'git push\n'.
var typedKeys = strings.NewReplacer(`\n`, "\n", `\r`, "\n", `\012`, "\n", `\015`, "\n", "^M", "\n", "^J", "\n")

// typedWords is what words of tmux send-keys type.
func typedWords(words []string) string {
	at := slices.IndexFunc(words, func(w string) bool { return w == "send-keys" || w == "send" })
	if at < 0 {
		return ""
	}
	var b strings.Builder
	words = words[at+1:]
	for i, w := range words {
		if i > 0 && words[i-1] == "-t" { // where they are typed
			continue
		}
		switch w {
		case "Space":
			w = " "
		case "Enter", "KPEnter", "C-m", "C-j":
			w = "\n"
		case ";":
			w = ""
		}
		if !isOption(w) {
			b.WriteString(w)
		}
	}
	return b.String()
}

// maxMentioned bounds how far the words of a program that runs none of them are
// looked through.
const maxMentioned = 64

// suffixes takes down each rest of the words as a command.
func (r *lineReader) suffixes(words []string, at int, h how, via string) {
	r.variants(words, at)
	whole := r.line.started[at].full
	if whole == "" {
		whole = r.line.started[at].text
	}
	offset := 0
	for i, w := range words {
		if h == mentioned && i > maxMentioned {
			return
		}
		if i > 0 && w != "" && !isOption(w) && !(r.guess && isUnknown(w)) {
			if r.budget.rests--; r.budget.rests < 0 {
				if h > mentioned && r.how > mentioned {
					r.line.cannotRead("has too many words to be read")
				}
				return
			}
			s := started{words: words[i:], text: whole[offset:], how: min(r.how, h), via: via, suffix: true, origin: at, said: r.said}
			if base := baseName(w); len(base) < len(w) {
				s.full = s.text
				s.text = s.text[len(w)-len(base):]
			}
			r.line.add(s)
			if programName(w) == "git" {
				r.sub(h, via).variants(words[i:], at)
			}
			if h > mentioned {
				r.referred(words[i:], at, via)
			}
		}
		offset += len(w) + 1
	}
}

// referred takes down what words come to where the first is a reference to a program, or
// a -- stands behind it.
func (r *lineReader) referred(words []string, at int, via string) {
	name, rest := referred(words[0]), words[1:]
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	} else if name == "" {
		return
	}
	if !r.charge(words) {
		return
	}
	words = append([]string{cmp.Or(name, words[0])}, rest...)
	s := newStarted(words, min(r.how, may), via)
	s.suffix, s.origin, s.said = true, at, r.said
	r.line.add(s)
	r.sub(may, via).variants(words, at)
}
