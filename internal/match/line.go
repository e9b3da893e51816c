package match

import (
	"path"
	"slices"
	"strings"
)

const (
	maxLine    = 1 << 17 // bytes of shell text that are read, nested text included
	maxStarted = 1 << 13 // commands that one text starts or may start
	maxNested  = 10      // text inside text: bash -c "bash -c …"
	maxChoices = 16      // values that a word may have, and commands that follow
	maxFields  = 256     // words that one word may become
)

// line is what a shell text does: the commands that it starts or may start, the
// files that it redirects to, and what of it cannot be read. It is made once
// for all rules and conditions, and immutable.
type line struct {
	text    string
	started []started
	files   []file
	dirs    []string // where relative paths may start, the session's cwd first
	dots    bool     // a * takes names with a leading dot, too
	// unread says what cannot be read, and so may start anything: "" if there
	// is nothing. sets and defines say that the line sets a variable, and
	// declares a function or an alias, which keeps it from being covered.
	unread        string
	sets, defines bool
	evaluates     bool   // it has a subscript that may run a command
	substitutes   bool   // it has a <(…), whose text another program reads
	feeds         bool   // a shell reads commands that are not known, from a file or a pipe
	setting       string // a setting that names what git runs; "" = it sets none
	// byName has the places in started by the name of the program, and unnamed
	// those whose name has wild parts. Both are nil in a short line.
	byName  map[string][]int32
	unnamed []int32
}

// started is one command. Its words may hold wild parts.
type started struct {
	words []string
	// text is the words with spaces between, beginning at the last part of the
	// program's path, if the name is one.
	text string
	full string // with the whole path, if that differs
	how  how
	via  string // what starts it, as in "run by sudo"; "" for the shell itself
	// suffix says that it is the rest of another command's words, and variant
	// that it is another with its options left out: neither says anything new
	// about files.
	suffix, variant bool
	script          bool // it is a file that a shell reads commands from
	// said says that it stands in a message or a pattern: unless the line writes
	// a file, it goes nowhere else.
	said     bool
	piped    bool   // it reads what another command writes
	stdin    string // what that is, if it is known
	hasStdin bool
	origin   int // the command whose words it was read off
}

func newStarted(words []string, h how, via string) started {
	return startedAs(words, strings.Join(words, " "), h, via)
}

// startedAs is newStarted with the words as one text.
func startedAs(words []string, text string, h how, via string) started {
	s := started{words: words, how: h, via: via, text: text}
	if base := baseName(words[0]); len(base) < len(words[0]) {
		s.full = s.text
		s.text = s.text[len(words[0])-len(base):]
	}
	return s
}

// how says how certain it is that a command is started.
type how uint8

const (
	mentioned how = iota // it stands in text that its program does not run
	may                  // it is handed to a program that may run it
	does                 // the line starts it
)

// file is the target of a redirection.
type file struct {
	path  string
	write bool
	how   how
}

// name returns the last part of the program's path, as written.
func (s *started) name() string { return baseName(s.words[0]) }

func baseName(word string) string {
	if i := strings.LastIndexAny(word, separators()); i >= 0 && i+1 < len(word) {
		return word[i+1:]
	}
	return word
}

// program returns the name in lower case: file systems may ignore it.
func (s *started) program() string { return programName(s.words[0]) }

func programName(word string) string {
	name := baseName(word)
	if len(name) > 1 && name[0] == '=' { // =git of zsh is where git lies
		name = name[1:]
	}
	return withoutEnding(strings.ToLower(name))
}

// args returns the words behind the name.
func (s *started) args() []string { return s.words[1:] }

// add takes a command down.
func (l *line) add(s started) int {
	if len(l.started) >= maxStarted {
		l.cannotRead("starts too many commands")
		return len(l.started) - 1
	}
	at := len(l.started)
	if !s.suffix && !s.variant {
		s.origin = at
	}
	l.started = append(l.started, s)
	return at
}

// minIndexed is how many commands a line has at least that is worth an index.
const minIndexed = 64

// index is called when the line was read.
func (l *line) index() {
	if len(l.started) < minIndexed {
		return
	}
	l.byName = map[string][]int32{}
	for i := range l.started {
		if name := l.started[i].program(); isPlain(name) {
			l.byName[name] = append(l.byName[name], int32(i))
		} else {
			l.unnamed = append(l.unnamed, int32(i))
		}
	}
}

// keeps reports whether the line writes a file, with what it says perhaps.
func (l *line) keeps() bool {
	return slices.ContainsFunc(l.files, func(f file) bool {
		return f.write && f.path != "/dev/null" && f.path != "/dev/stderr" && f.path != "/dev/stdout"
	})
}

func (l *line) cannotRead(why string) {
	l.unread = why
}

// places returns the absolute paths that a word may name. A relative one counts
// from every directory that the line goes to.
func (l *line) places(word, home string) []string {
	if onWindows && strings.HasPrefix(word, `\`) && !strings.HasPrefix(word, `\\`) {
		return []string{cleanWild(driveOf(l.dirs[0]) + slashed(word))}
	}
	word = slashed(word)
	switch {
	case strings.HasPrefix(word, "/"):
		return []string{cleanWild(word)}
	case word == "~" || strings.HasPrefix(word, "~/"):
		return []string{cleanWild(home + word[1:])}
	case strings.HasPrefix(word, wildWordText) || strings.HasPrefix(word, wildWordsText):
		// The part may be a whole path, or empty.
		found := make([]string, 0, len(l.dirs)+1)
		found = append(found, cleanWild(word))
		for _, dir := range l.dirs {
			found = append(found, cleanWild(dir+"/"+word))
		}
		return found
	}
	found := make([]string, len(l.dirs))
	for i, dir := range l.dirs {
		found[i] = cleanWild(dir + "/" + word)
	}
	return found
}

// behindLinks returns the paths of places as the system walks them: a .. behind a
// link leads to where the link's target is. There are some only for a word with
// a .. behind a name.
func (l *line) behindLinks(word, home string) []string {
	word = slashed(word)
	if below := strings.TrimLeft(word, "./"); !strings.Contains(below, "/..") || strings.ContainsAny(word, "\x03\x04") {
		return nil
	}
	switch {
	case strings.HasPrefix(word, "/"):
		return []string{word}
	case strings.HasPrefix(word, "~/"):
		return []string{home + word[1:]}
	}
	var found []string
	for _, dir := range l.dirs {
		if isPlain(dir) {
			found = append(found, dir+"/"+word)
		}
	}
	return found
}

const (
	wildWordText  = "\x03"
	wildWordsText = "\x04"
)

// cleanWild is path.Clean for a path whose parts may be wild. A .. behind a
// part that may hold slashes leaves it where it is unknown.
func cleanWild(p string) string {
	if strings.Contains(p, "..") && strings.ContainsAny(p, "\x03\x04") {
		before, rest, _ := strings.Cut(p, "/..")
		if strings.ContainsAny(before, "\x03\x04") {
			return wildWordsText + rest
		}
	}
	return path.Clean(p)
}
