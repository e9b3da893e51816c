package match

import (
	"errors"
	"regexp"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// lineReader reads what shell text does. Readers of text inside text share all
// that is known of the line.
type lineReader struct {
	*known
	how         how      // for the commands of this text
	via         string   // what runs this text
	depth       int      // texts inside texts
	substituted []stream // what <(…) of the current command writes
	guess       bool     // the command of this text may be no more than arguments of a known one
	said        bool     // this text is a message, a pattern, or what is shown
}

// known is what is known of a line while it is read.
type known struct {
	line      *line
	budget    budget
	home, cwd string
	vars      variables
	asked     map[string]bool // variables that were read before they had a value
	functions map[string]bool
	aliases   map[string]string
	written   map[string]string // the texts of files that the line writes, by their places
}

// budget bounds the work for one line.
type budget struct {
	bytes   int // of text that may still be parsed
	carried int // commands that may still be carried by others
	rests   int // rests of commands that may still be taken down
	work    int // bytes of words that may still be joined
	texts   int // texts inside the line that may still be parsed
	joints  int // pipes, && and || that may still be followed
}

// What is only mentioned leaves a part of the budget for what is run.
const (
	workForRuns  = 2 * maxLine
	textsForRuns = 256
)

// charge takes the cost of reading words once off the budget, and reports
// whether there was enough left.
func (r *lineReader) charge(words []string) bool {
	if r.how == mentioned && r.budget.work < workForRuns {
		return false
	}
	for _, w := range words {
		r.budget.work -= len(w) + 8
	}
	if r.budget.work < 0 && r.how > mentioned {
		r.line.cannotRead("runs too many commands inside others")
	}
	return r.budget.work >= 0
}

// readLine reads the line from what ParseShell returned.
func (r *lineReader) readLine(file *syntax.File, err error) *line {
	text := r.line.text
	r.whole(func() { r.top(text, file, err) })
	if !r.givesLate() {
		return r.line
	}
	again := newLineReader(text, r.cwd, r.home)
	again.vars, again.functions, again.aliases = r.vars, r.functions, r.aliases
	again.whole(func() { again.top(text, file, err) })
	return again.line
}

// givesLate reports whether the line must be read again: it may use a value before it
// gives it, in a loop or a function.
func (r *lineReader) givesLate() bool {
	if len(r.aliases) > 0 || len(r.functions) > 0 {
		return true
	}
	for name := range r.asked {
		if r.vars[name] != nil {
			return true
		}
	}
	return false
}

// whole reads a line from beginning to end.
func (r *lineReader) whole(read func()) {
	defer func() {
		if recover() != nil { // a form of the syntax tree that nothing here expects
			r.line.cannotRead("cannot be read")
		}
		r.line.index()
	}()
	read()
}

func newLineReader(text, cwd, home string) *lineReader {
	if cwd == "" {
		cwd = wildWordsText
	}
	if home == "" {
		home = unknownHome
	}
	all := &struct {
		lineReader
		known
		line
		dirs  [1]string
		start [4]started // enough for most lines
	}{dirs: [1]string{cwd}}
	all.line.text, all.line.dirs, all.line.started = text, all.dirs[:], all.start[:0]
	all.known.line, all.known.home, all.known.cwd = &all.line, home, cwd
	all.known.budget = budget{bytes: maxLine, carried: 256, rests: 2048, work: 4 * maxLine, texts: 512, joints: 4096}
	all.lineReader.known, all.lineReader.how = &all.known, does
	return &all.lineReader
}

// unknownHome stands for a home directory that the call does not say.
const unknownHome = "/~"

// dotGlobs finds what makes a * take names with a leading dot, in bash and in zsh.
var dotGlobs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)dotglob|glob_?dots|GLOBIGNORE`) })

// top reads the text that the call hands to the shell. A shell runs what stands
// before a mistake, and may not see the mistake that the parser sees.
func (r *lineReader) top(text string, file *syntax.File, err error) {
	r.line.dots = dotGlobs().MatchString(text)
	if errors.Is(err, errUnreadable) || strings.IndexByte(text, '\r') >= 0 {
		r.read(text, stream{})
		return
	}
	r.budget.bytes -= len(text)
	if file != nil {
		r.stmts(file.Stmts, stream{})
	}
	if err != nil {
		r.line.cannotRead("cannot be parsed")
		r.rough(text)
	}
}

// plain reads text of plain commands, and reports whether it is.
func (r *lineReader) plain(text string) bool {
	commands, ok := plainLine(text, r.home)
	if !ok || len(commands) > r.budget.joints {
		return false
	}
	r.budget.bytes -= len(text)
	r.budget.joints -= len(commands) - 1
	var out stream
	for _, one := range commands {
		if !one.piped {
			out = stream{}
		}
		r.substituted = nil
		if r.charge(one.words) {
			out = r.commandAs(one.words, one.text, out)
		}
	}
	return true
}

// read parses text and walks over it.
func (r *lineReader) read(text string, in stream) {
	if why := unreadable(text, r.budget.bytes); why != "" {
		if r.how > mentioned {
			r.line.cannotRead(why)
		}
		return
	}
	if r.how == mentioned && r.budget.texts < textsForRuns {
		return
	}
	if r.budget.texts--; r.budget.texts < 0 {
		if r.how > mentioned {
			r.line.cannotRead("runs too many texts inside others")
		}
		return
	}
	if r.plain(text) {
		return
	}
	r.budget.bytes -= len(text)
	text = strings.ReplaceAll(text, "\r", "")
	file, err := ParseShell(text)
	if err != nil {
		if r.how == does {
			r.line.cannotRead("cannot be parsed")
		}
		r.rough(text)
		if r.how != does || file == nil { // code in another language, in all likelihood
			return
		}
	}
	r.stmts(file.Stmts, in)
}

// unreadable says what keeps a text from being parsed, or "".
func unreadable(text string, most int) string {
	if len(text) > most {
		return "is too long to be read"
	}
	if strings.Count(text, "if")+strings.Count(text, "while")+strings.Count(text, "until") > 2*maxBrackets {
		return "is nested too deeply to be read" // parsing them is recursive too
	}
	depth, brackets := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '(' || c == '{' || c == '[':
			brackets++
			if depth++; depth > maxBrackets/2 || brackets > 8*maxBrackets {
				return "is nested too deeply to be read"
			}
		case c == ')' || c == '}' || c == ']':
			depth = max(depth-1, 0)
		case c < ' ' && c > wildWords && c != '\n' && c != '\t' && c != '\r', c == 0, c == 0x7f:
			return "has a control character"
		}
	}
	return ""
}

// sub returns a reader of what a command of this text runs.
func (r *lineReader) sub(h how, via string) *lineReader {
	s := *r
	s.how = min(r.how, h)
	s.via = via
	s.substituted = nil
	return &s
}
