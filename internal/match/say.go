package match

import (
	"slices"
	"strings"
)

// sayers are programs that show or look up their words.
var sayers = wordSet("echo printf man which whatis apropos whereis type")

// saying returns a reader of text that is a message, a pattern, or what is shown.
func (r *lineReader) saying(said bool) *lineReader {
	if r.said == said {
		return r
	}
	s := *r
	s.said = said || r.said
	return &s
}

// messages are the options of a program whose values are text for people.
var messages = map[string]*wordList{
	"gh":   wordSet("-t --title -b --body -n --notes --subject"),
	"glab": wordSet("-t --title -d --description -m --message"),
}

// messengers are the commands of these programs that take messages.
var messengers = wordSet("pr issue release mr")

// tells reads a program whose options hold messages: the others of its words it
// may run.
func (r *lineReader) tells(options *wordList, words []string, at int, in stream) {
	if len(words) < 2 || !messengers.has(words[1]) {
		r.handed(words, at, in)
		return
	}
	rest := make([]string, 0, len(words))
	for i, w := range words {
		name, _, valued := strings.Cut(w, "=")
		switch {
		case i > 0 && options.has(words[i-1]):
			r.saying(true).texts([]string{w}, mentioned, "in a message")
		case valued && isOption(w) && options.has(name):
			r.saying(true).texts([]string{w}, mentioned, "in a message")
		default:
			rest = append(rest, w)
		}
	}
	if len(rest) < len(words) {
		s := newStarted(rest, r.how, r.via)
		s.variant, s.origin = true, at
		at = r.line.add(s)
	}
	r.handed(rest, at, in)
}

var awks = wordSet("awk mawk nawk")

// awkIsInert reports whether an awk program runs nothing: it has no system, no
// getline, no call through a name, and prints into no pipe.
func awkIsInert(args []string) bool {
	program := false
	for i, a := range args {
		switch {
		case program:
		case isOption(a):
			if !isPlain(a) || !strings.HasPrefix(a, "-F") && !strings.HasPrefix(a, "-v") {
				return false
			}
		case i > 0 && (args[i-1] == "-F" || args[i-1] == "-v"):
		case !isPlain(a):
			return false
		default:
			program = true
		}
		if strings.Contains(a, "system") || strings.Contains(a, "getline") || strings.Contains(a, "@") {
			return false
		}
		a = strings.ReplaceAll(a, "||", "")
		if first := strings.Index(a, "print"); first >= 0 && strings.Contains(a[first:], "|") {
			return false
		}
	}
	return program
}

// goQuiet are commands of go that run none of their words.
var goQuiet = wordSet("build clean doc env fix fmt get help install list mod test version vet work")

func goIsInert(args []string) bool {
	return len(args) > 0 && goQuiet.has(args[0]) && !slices.ContainsFunc(args, func(w string) bool {
		if w == "-w" && args[0] == "env" || strings.Contains(w, "extld") {
			return true
		}
		w = strings.TrimLeft(w, "-")
		return strings.HasPrefix(w, "exec") || strings.HasPrefix(w, "toolexec") || strings.HasPrefix(w, "vettool")
	})
}
