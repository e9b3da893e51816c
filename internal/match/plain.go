package match

import "strings"

// maxPlain is the longest text that is tried without the parser. It has fewer
// brackets and keywords than [unreadable] minds.
const maxPlain = 500

// keywords begin what is more than a simple command.
var keywords = wordSet(`! [[ ]] { } case coproc declare do done elif else esac export fi for foreach function if in let local nameref
	readonly select then time typeset until while`)

// plainCommand is a command of words without expansions.
type plainCommand struct {
	words []string
	text  string // the words with a space between
	piped bool   // it reads what the one before writes
}

// plainLine reads a text of plain commands in pipes and lists, as most lines
// are, and spares it the parser. ok is false for any other, and for any that
// the parser might take for more.
func plainLine(text, home string) (commands []plainCommand, ok bool) {
	words, parts := plainSize(text)
	if words == 0 {
		return nil, false
	}
	all := make([]string, 0, words)
	commands = make([]plainCommand, 0, parts)
	var first, last int
	var piped, loose bool
	from := -1 // of the command
	end := func() bool {
		one := plainCommand{words: all[first:len(all):len(all)], piped: piped}
		name := one.words[0]
		if keywords.has(name) || strings.HasPrefix(name, "=") || strings.Contains(name, " ") { // zsh runs =name
			return false
		}
		if one.text = text[from:last]; loose {
			one.text = strings.Join(one.words, " ")
		}
		commands = append(commands, one)
		first, from, loose = len(all), -1, false
		return true
	}
	for at := 0; ; {
		t := plainNext(text, at)
		switch t.kind {
		case plainWordToken:
			if from < 0 {
				from = t.from
			} else {
				loose = loose || t.from != last+1
			}
			word := text[t.from:t.to]
			if t.home {
				word, loose = home+word[1:], true
			}
			if t.quoted {
				word, loose = unquotePlain(word), true
			}
			all, last = append(all, word), t.to
		case plainJoint:
			if !end() {
				return nil, false
			}
			piped = text[t.from:t.to] == "|"
		case plainEnd:
			return commands, end()
		}
		at = t.to
	}
}

// plainSize counts the words and the commands, and returns 0 if there is
// anything else in the text.
func plainSize(text string) (words, commands int) {
	if len(text) > maxPlain {
		return
	}
	count, parts, first := 0, 1, true
	for at := 0; ; {
		t := plainNext(text, at)
		switch t.kind {
		case plainWordToken:
			if t.option && first {
				return
			}
			count++
			first = false
		case plainJoint, plainEnd:
			if first {
				return
			}
			if t.kind == plainEnd {
				return count, parts
			}
			parts++
			first = true
		case plainNothing:
			if first {
				return
			}
		case notPlain:
			return
		}
		at = t.to
	}
}

// plainToken is the next piece of a text.
type plainToken struct {
	kind     plainKind
	from, to int
	quoted   bool // it has quotes
	option   bool // it is --option=value
	home     bool // it is ~ or begins with ~/
}

type plainKind uint8

const (
	notPlain plainKind = iota
	plainEnd
	plainWordToken
	plainJoint   // && || | ;
	plainNothing // 2>&1
)

// isPlainByte reports whether a byte stands for itself outside of quotes.
func isPlainByte(c byte) bool { return isWordByte(c) || strings.IndexByte("-./:,@%+", c) >= 0 }

func plainNext(text string, at int) plainToken {
	for at < len(text) && text[at] == ' ' {
		at++
	}
	rest := text[at:]
	switch {
	case rest == "":
		return plainToken{kind: plainEnd}
	case strings.HasPrefix(rest, "&&"), strings.HasPrefix(rest, "||"):
		return plainToken{kind: plainJoint, from: at, to: at + 2}
	case strings.HasPrefix(rest, "|&"):
		return plainToken{}
	case rest[0] == ';' || rest[0] == '|':
		return plainToken{kind: plainJoint, from: at, to: at + 1}
	case strings.HasPrefix(rest, "2>&1") && (len(rest) == 4 || strings.IndexByte(" ;|", rest[4]) >= 0):
		return plainToken{kind: plainNothing, to: at + 4}
	}
	t := plainToken{kind: plainWordToken, from: at, to: at}
	for ; t.to < len(text); t.to++ {
		switch c := text[t.to]; {
		case isPlainByte(c):
		case c == '~' && t.to == at && (t.to+1 == len(text) || strings.IndexByte("/ ;|", text[t.to+1]) >= 0):
			t.home = true
		case c == '=' && rest[0] == '-':
			t.option = true
		case c == '"' || c == '\'':
			n := plainQuoted(text[t.to:])
			if n == 0 || t.home {
				return plainToken{}
			}
			t.quoted = true
			t.to += n - 1
		case c == ' ' || c == ';' || c == '|' || strings.HasPrefix(text[t.to:], "&&"):
			return t
		default:
			return plainToken{}
		}
	}
	return t
}

// plainQuoted returns the length of a text between quotes that text begins
// with, 0 if there is an expansion in it, a backslash, or a byte that only some
// shells take as it is.
func plainQuoted(text string) int {
	quote := text[0]
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			return i + 1
		case c < ' ' || c > '~' || c == '\\' || quote == '"' && (c == '$' || c == '`'):
			return 0
		}
	}
	return 0
}

// unquotePlain removes the quotes of a word.
func unquotePlain(word string) string {
	if (word[0] == '"' || word[0] == '\'') && plainQuoted(word) == len(word) {
		return word[1 : len(word)-1]
	}
	var b strings.Builder
	for i := 0; i < len(word); i++ {
		if word[i] != '"' && word[i] != '\'' {
			b.WriteByte(word[i])
			continue
		}
		n := plainQuoted(word[i:])
		b.WriteString(word[i+1 : i+n-1])
		i += n - 1
	}
	return b.String()
}
