package match

import (
	"net/url"
	"slices"
	"strings"
	"sync"
)

// touchSearch looks for words that name a path of the patterns.
type touchSearch struct {
	call     *Call
	mode     TouchMode
	patterns []placedPattern
	best     Decision
	line     *line
	wild     int // how many paths with wild parts were held against the patterns
	entries  int // how many names in directories were looked at
	over     bool
	listed   map[string][]string // names in directories
	seen     map[string]how      // how certain it is that a word is a file
}

// maxWild bounds how many paths with wild parts are held against the patterns.
// Those without are bounded by [maxResolved].
const maxWild = 256

func (s *touchSearch) found(d Decision) {
	if d.Certainty > s.best.Certainty {
		s.best = d
	}
}

// giveUp ends the search.
func (s *touchSearch) giveUp(why string) {
	s.over = true
	s.found(suspected(lineText(s.line.text) + " " + why))
}

func (s *touchSearch) done() bool { return s.over || s.best.Certainty == Sure }

// shell looks at what a shell line names.
func (s *touchSearch) shell(l *line) {
	s.line, s.seen = l, map[string]how{}
	if l.unread != "" {
		s.found(suspected(lineText(l.text) + " " + l.unread))
	}
	for _, f := range l.files {
		if f.how == mentioned || s.mode == Read && f.write || s.mode == Write && !f.write {
			continue
		}
		s.word(f.path, f.how, "redirected", true)
	}
	for i := range l.started {
		one := &l.started[i]
		if one.how == mentioned || one.suffix || one.variant || s.done() {
			continue
		}
		s.command(one)
	}
}

// command looks at the words of one command.
func (s *touchSearch) command(one *started) {
	name := one.program()
	use := usesOf(name, one.args())
	if s.mode != Write && name != "" {
		s.word(one.words[0], one.how, "", false)
	}
	if s.mode != Write {
		for _, w := range impliedFiles(kindOf(name), one.args()) {
			s.word(w, may, name, false)
		}
	}
	for i, w := range one.args() {
		role := use.role(i, len(one.args()))
		switch {
		case role&asProse != 0:
			continue
		case s.mode == Read && role&asRead == 0, s.mode == Write && role&asWrite == 0:
			continue
		}
		h := one.how
		if s.mode == Write && role&asGuess != 0 {
			if runsValue(name, w) {
				continue
			}
			h = may
		}
		s.word(w, h, name, use.opens)
		if use.recursive && !isOption(w) {
			s.above(w, h, name, role&asPlace != 0)
		}
	}
	if use.recursive && use.here && s.mode != Write {
		s.above(".", one.how, name, false)
	}
}

// runsValue reports whether a word gives make a program that it runs: make SHELL=/bin/bash.
func runsValue(name, w string) bool {
	variable, _, joined := strings.Cut(strings.ToLower(w), "=")
	return joined && (name == "make" || name == "gmake") && (variable == "shell" || compilers.has(variable))
}

// word holds the parts of a word that may be paths against the patterns. opens
// says that a word of which nothing is known counts.
func (s *touchSearch) word(w string, h how, by string, opens bool) {
	if s.seen[w] >= h || s.done() || w == processFile && (by == "redirected" || isKnown(kindOf(by)) || databases.has(by)) { // its writer is judged by itself
		return
	}
	s.seen[w] = h
	if isUnknown(w) {
		if opens {
			s.found(suspected(excerpt(shown(w)) + " may be any path, in " + excerpt(s.line.text)))
		}
		return
	}
	for part := range pathParts(w) {
		if isUnknown(part) {
			continue
		}
		for _, place := range s.line.places(part, homeOf(s.call)) {
			s.place(place, w, h)
		}
		for _, name := range s.line.behindLinks(part, homeOf(s.call)) {
			if isPlain(name) {
				s.follow(name, w, h)
			} else {
				s.followPattern(name, w, h)
			}
		}
	}
}

// pathParts yields the parts of a word that may be a path: the word, the value
// of an option, what stands behind = : @ or between quotes.
func pathParts(w string) func(func(string) bool) {
	return func(yield func(string) bool) {
		if len(w) > 4096 || !yield(w) {
			return
		}
		if isOption(w) && w[1] != '-' && len(w) > 2 && !yield(w[2:]) {
			return
		}
		const between = "=:,@ \t\n\"'`()[]{}<>|&;"
		if !strings.ContainsAny(w, between) {
			return
		}
		if i := strings.IndexAny(w, "=:@"); i >= 0 && i+1 < len(w) && !yield(w[i+1:]) {
			return
		}
		if onWindows {
			w = quotedBrackets().Replace(w)
		}
		for part := range strings.FieldsFuncSeq(w, func(c rune) bool { return strings.ContainsRune(between, c) }) {
			if strings.HasPrefix(part, "//") {
				if plain, err := url.PathUnescape(part); err == nil {
					part = plain
				}
			}
			if !yield(part) {
				return
			}
		}
	}
}

// quotedBrackets takes away the backslashes that quote brackets in expressions. Alone each would be the root of the drive.
var quotedBrackets = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer(`\(`, "(", `\)`, ")", `\[`, "[", `\]`, "]", `\{`, "{", `\}`, "}", `\|`, "|")
})

// place holds one absolute path against the patterns, as it is and through
// links.
func (s *touchSearch) place(name, word string, h how) {
	given := name
	name = strings.ToLower(throughProc(name, s.call.cwd()))
	plain := isPlain(name)
	if !plain {
		if s.wild++; s.wild > maxWild {
			s.giveUp("has too many words that are not known")
			return
		}
	}
	switch {
	case s.hold(name, given, word, h, plain):
	case plain:
		s.follow(given, word, h)
	default:
		s.followPattern(given, word, h)
	}
}

// follow holds the path that one leads to through links against the patterns.
func (s *touchSearch) follow(name, word string, h how) {
	to, ok := s.call.resolved(name)
	if !ok {
		s.giveUp("names too many paths to be looked at")
	}
	if to != "" {
		s.hold(strings.ToLower(to), to, word+" -> "+to, h, true)
	}
}

// followPattern is follow for a path with patterns of the shell.
func (s *touchSearch) followPattern(name, word string, h how) {
	for _, to := range s.linksAmong(name) {
		s.hold(strings.ToLower(to), to, word+" -> "+to, h, isPlain(to))
	}
}

// hold holds a path in lower case against the patterns; given has its letters
// as they are.
func (s *touchSearch) hold(name, given, word string, h how, plain bool) bool {
	dots := s.line.dots
	for i := range s.patterns {
		p := &s.patterns[i]
		if p.not || !p.takes(name, plain, dots) || s.excluded(name, plain) {
			continue
		}
		named := plain || p.named(name)
		if !named && (!isPlain(name[:len(name)-len(lastPart(name))]) || !s.exists(given, p)) {
			continue
		}
		certain := h == does && (plain || named && tellsEnough(name))
		if !plain && !certain && strings.Trim(lastPart(name), "\x01\x02") == "" && !s.exists(given, p) {
			continue
		}
		by := excerpt(shown(word)) + " matches " + excerpt(p.source) + " in " + excerpt(s.line.text)
		if certain {
			s.found(sure(by))
		} else {
			s.found(suspected(by))
		}
		return true
	}
	return false
}

// excluded reports whether a pattern behind ! takes all that a path may be.
func (s *touchSearch) excluded(name string, plain bool) bool {
	if !plain {
		var ok bool
		if name, ok = anyBeside(name); !ok {
			return false
		}
	}
	for i := range s.patterns {
		if p := &s.patterns[i]; p.not && p.takes(name, true, false) {
			return true
		}
	}
	return false
}

// anyBeside returns a path that only a pattern for all that is beside it takes, where
// the wild parts of a name are the shell's own, which have no slash.
func anyBeside(name string) (string, bool) {
	first := strings.IndexAny(name, wilds)
	rest := name[first:]
	dir := strings.LastIndexByte(name[:first], '/')
	if dir < 0 || strings.ContainsAny(rest, "\x03\x04") || strings.Contains(rest, "..") {
		return "", false
	}
	return name[:dir+1] + "\x7f", true
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// tellsEnough reports whether a path whose wild parts are the shell's patterns
// says enough of the name that it means: .env*, id_*, cred*.
func tellsEnough(name string) bool {
	last := lastPart(name)
	known := strings.Trim(withoutGlobs.Replace(last), "/")
	return !strings.ContainsAny(name, "\x03\x04") && len(known) >= 2
}

// above holds a directory that a program reads with all below it against the
// patterns that have a place: ~ has ~/.ssh in it. A pattern for a name anywhere
// does not count, or each search of a project would. With into the program only puts
// a file into the directory.
func (s *touchSearch) above(w string, h how, by string, into bool) {
	key := by + "\x00" + w
	if s.seen[key] >= h {
		return
	}
	s.seen[key] = h
	for part := range pathParts(w) {
		for _, place := range s.line.places(part, homeOf(s.call)) {
			place = strings.ToLower(throughProc(place, s.call.cwd()))
			if !isPlain(place) || s.done() {
				continue
			}
			for i := range s.patterns {
				p := &s.patterns[i]
				if !p.not && p.dir != "" && (p.dir == place || !into && (place == "/" || strings.HasPrefix(p.dir, place+"/"))) {
					s.aboveFound(h, w, p, by)
				}
			}
		}
	}
}

func (s *touchSearch) aboveFound(h how, w string, p *placedPattern, by string) {
	text := excerpt(by+" "+shown(w)) + " takes the files below, and so " + excerpt(p.source)
	if h == does {
		s.found(sure(text))
	} else {
		s.found(suspected(text))
	}
}

// input looks at the strings of another tool's input.
func (s *touchSearch) input() {
	reads := slices.Contains([]string{"Read", "NotebookRead", "Grep", "Glob", "LS"}, s.call.ToolName)
	if reads && s.mode == Write {
		return
	}
	if s.call.ToolName == "Write" && s.mode == Read {
		return
	}
	cwd := s.call.cwd()
	s.line, s.seen = &line{text: s.call.ToolName, dirs: []string{cwd}}, map[string]how{}
	texts, ok := s.call.inputTexts()
	if !ok {
		s.found(suspected("the input is no JSON object"))
	}
	for _, text := range texts {
		if text.key == "pattern" && s.call.ToolName != "Glob" {
			continue
		}
		if s.call.ToolName == "Glob" || s.call.ToolName == "Grep" || text.key == "glob" {
			text.value = shellPattern(text.value)
		}
		s.word(text.value, does, "", false)
		if other := expanded(text.value, s.call); other != text.value {
			s.word(other, does, "", false)
		}
		if text.key == "glob" || text.key == "pattern" { // they count from the path
			dirs, _ := s.call.texts("path")
			for _, dir := range dirs {
				s.word(expanded(dir, s.call)+"/"+text.value, does, "", false)
			}
		}
		if s.call.ToolName == "Grep" && text.key != "pattern" {
			s.above(text.value, does, "grep", false)
		}
	}
}
