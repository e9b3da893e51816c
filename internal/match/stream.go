package match

import (
	"encoding/base64"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
)

// processFile is what <(…) becomes.
const processFile = "/dev/fd/\x03"

// stream is what a command writes, or reads.
type stream struct {
	present bool     // there is one
	known   bool     // text is all of it
	text    string   // what is known of it
	below   []string // it names these, which may have wild parts: the output of find
}

// values returns what a substitution becomes.
func (s stream) values(quoted bool) []value {
	switch {
	case s.known:
		return []value{{fields: []string{strings.TrimRight(s.text, "\n")}}}
	case len(s.below) > 0:
		var vals []value
		for _, dir := range s.below {
			vals = append(vals, value{fields: []string{dir}})
		}
		return vals
	}
	return unknown(quoted)
}

// items returns the words that xargs makes of it.
func (s stream) items() []string {
	switch {
	case s.known:
		if items := strings.Fields(s.text); len(items) <= maxFields {
			return items
		}
	case len(s.below) > 0:
		return s.below
	}
	return []string{wildWordsText}
}

// writes returns what a command writes, as far as that can be computed.
func (r *lineReader) writes(words []string, in stream) stream {
	for range maxNested { // the programs that run the rest as it stands
		name := programName(words[0])
		if name != "sudo" && name != "env" && name != "builtin" || len(words) < 2 || isOption(words[1]) || strings.Contains(words[1], "=") {
			break
		}
		words = words[1:]
	}
	args := words[1:]
	switch name := kindOf(programName(words[0])); name {
	case "cp", "mv", "ln", "install", "dd", "sponge":
		r.copies(args, in)
	case "echo":
		return echoed(args)
	case "printf":
		if len(args) > 0 && len(args) <= maxFields && args[0] != "-v" && !slices.ContainsFunc(args, func(w string) bool { return !isPlain(w) }) {
			return formatted(args)
		}
	case "cat", "tee":
		if name == "tee" {
			for _, w := range args {
				r.writeTo(w, in.text)
			}
			return in
		}
		if len(args) == 0 || args[0] == "-" {
			return in
		}
	case "which", "realpath", "readlink":
		if len(args) > 0 {
			return stream{present: true, known: true, text: args[len(args)-1]}
		}
	case "command", "type":
		if len(args) > 1 && isOption(args[0]) && strings.ContainsAny(args[0], "vVpP") {
			return stream{present: true, known: true, text: args[len(args)-1]}
		}
	case "mktemp":
		return stream{present: true, below: []string{"/tmp/tmp.XXXXXXXXXX"}}
	case "pwd":
		return stream{present: true, known: true, text: r.cwd}
	case "base64":
		if in.known && len(args) > 0 && slices.Contains([]string{"-d", "-D", "--decode", "-di"}, args[0]) {
			return decoded(in.text)
		}
	case "ls", "git":
		if slices.Equal(args, []string{"rev-parse", "--show-toplevel"}) { // the directory, in all likelihood
			return stream{present: true, known: true, text: r.cwd}
		}
		if names := listed(name, args); len(names) > 0 {
			return stream{present: true, below: names}
		}
	case "find":
		starts, filtered := findStarts(args)
		if !filtered {
			for i, start := range starts {
				starts[i] = start + "/" + wildWordText
			}
			return stream{present: true, below: starts}
		}
		return stream{present: true, below: findFound(args)}
	case "sort", "uniq", "head", "tail", "grep":
		return stream{present: true, below: in.below}
	}
	return stream{present: true}
}

// copies takes down what is copied into a file, of a file that the line wrote or of what is read.
func (r *lineReader) copies(args []string, in stream) {
	if len(args) == 0 {
		return
	}
	text := in.text
	for _, w := range args[:len(args)-1] {
		if from, ok := r.writtenTo(w); ok {
			text = from
		}
	}
	for _, w := range args {
		to, ok := strings.CutPrefix(w, "of=")
		if ok || w == args[len(args)-1] {
			r.writeTo(to, text)
		}
	}
}

// listed returns what ls and git ls-files have to list.
func listed(name string, args []string) []string {
	if name == "git" {
		if len(args) == 0 || args[0] != "ls-files" {
			return nil
		}
		args = args[1:]
	}
	var names []string
	for _, a := range args {
		switch {
		case isOption(a):
		case name == "git":
			names = append(names, wildWordText+"/"+shellPattern(a), shellPattern(a))
		case strings.HasSuffix(a, "/") || isPlain(a) && path.Ext(a) == "": // perhaps a directory
			return nil
		default:
			names = append(names, a)
		}
	}
	return names
}

var withoutGlobs = strings.NewReplacer("\x01", "", "\x02", "")

func echoed(args []string) stream {
	escapes := false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		escapes = escapes || strings.Contains(args[0], "e")
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if !isPlain(withoutGlobs.Replace(text)) {
		return stream{present: true}
	}
	text = shown(text)
	if escapes || strings.Contains(text, `\`) { // some shells' echo reads them always
		if read := ansiC(text); isPlain(read) {
			text = read
		}
	}
	return stream{present: true, known: true, text: text + "\n"}
}

func formatted(args []string) stream {
	if args[0] == "--" && len(args) > 1 {
		args = args[1:]
	}
	var b strings.Builder
	rest := args[1:]
	for range maxFields {
		text, n, err := expand.Format(nil, args[0], rest)
		if err != nil || strings.ContainsAny(text, "\x00"+wilds) {
			return stream{present: true}
		}
		b.WriteString(text)
		if n == 0 || n >= len(rest) {
			return stream{present: true, known: true, text: b.String()}
		}
		rest = rest[n:]
	}
	return stream{present: true}
}

func decoded(text string) stream {
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		raw, err = base64.RawStdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	}
	if err != nil || strings.ContainsAny(string(raw), "\x00"+wilds) {
		return stream{present: true}
	}
	return stream{present: true, known: true, text: string(raw)}
}
