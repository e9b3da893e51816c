package match

import "strings"

// shell reads what sh, bash and their like run: the text behind -c, which may
// be one of several letters, what they read, or a file.
func (r *lineReader) shell(args []string, in stream, via string) {
	stdin := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--rcfile" || a == "--init-file":
			if i++; i < len(args) {
				r.script(args[i:i+1], stream{}, via)
			}
		case a == "--command" || a == "--init-command" || a == "-C": // of fish
			if i+1 < len(args) {
				r.text(args[i+1], may, via)
			}
		case strings.HasPrefix(a, "--"):
			if _, text, ok := strings.Cut(a, "command="); ok {
				r.text(text, does, via)
			}
		case (isOption(a) || strings.HasPrefix(a, "+")) && !strings.Contains(a, "c"):
			i += strings.Count(strings.ToLower(a), "o") // each takes the next word
			stdin = stdin || isOption(a) && strings.Contains(a, "s")
		case isOption(a) || strings.HasPrefix(a, "+"):
			r.shellText(args[i+1:], in, via)
			return
		case stdin: // -s: the words are $1 and its successors
			r.positional(args[i:])
			r.readsScript(in, via)
			return
		default:
			r.script(args[i:], in, via)
			return
		}
	}
	r.readsScript(in, via)
}

// shellText reads what stands behind -c: further options, the text, and $0 and
// its successors.
func (r *lineReader) shellText(args []string, in stream, via string) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-o" || a == "+o" || a == "-O" || a == "+O":
			i++
		case isOption(a) || strings.HasPrefix(a, "+"):
		default:
			if len(args) > i+2 {
				r.positional(args[i+2:])
			}
			r.text(a, does, via)
			return
		}
	}
	r.readsScript(in, via)
}

// script reads a file that a shell runs, if it is what another command writes.
func (r *lineReader) script(args []string, in stream, via string) {
	switch file := args[0]; {
	case file == processFile && len(r.substituted) > 0:
		for _, s := range r.substituted {
			r.readsScript(s, via)
		}
	case file == "-" || strings.HasPrefix(file, "/dev/stdin") || file == "/dev/fd/0" || file == "/proc/self/fd/0":
		r.readsScript(in, via)
	case strings.HasPrefix(file, "/dev/fd/"), strings.HasPrefix(file, "/proc/self/fd/"):
		r.text(in.text, does, via) // if it is that
		r.line.feeds = true
		r.cannotRead("runs a script whose name is not known")
	case isUnknown(file):
		r.cannotRead("runs a script whose name is not known")
	default:
		if text, ok := r.writtenTo(file); ok {
			r.writtenScript(text, args[1:], via)
		}
		r.sub(may, "perhaps run by "+plain(shown(file))).handedRest(args)
	}
}

func (r *lineReader) handedRest(args []string) {
	file := newStarted(args, r.how, r.via)
	file.script = true
	at := r.line.add(file)
	r.suffixes(args, at, may, r.via)
	r.texts(args[1:], may, r.via)
}

// readsScript reads the text that a shell gets from a pipe or a document.
func (r *lineReader) readsScript(in stream, via string) {
	switch {
	case in.known:
		r.text(in.text, does, via)
	case in.present:
		if r.how > mentioned {
			r.line.feeds = true
			r.line.cannotRead("runs text that it reads from elsewhere")
		}
	}
}

// writeTo takes down what the line writes into a file, as far as it is known, and writtenTo
// returns it.
func (r *lineReader) writeTo(file, text string) {
	if text == "" || isUnknown(file) || strings.HasPrefix(file, "/dev/") {
		return
	}
	if r.written == nil {
		r.written = map[string]string{}
	}
	for _, place := range r.line.places(file, r.home) {
		if len(r.written) < maxChoices && len(r.written[place])+len(text) <= maxLine {
			r.written[place] += text
		}
	}
}

func (r *lineReader) writtenTo(file string) (text string, ok bool) {
	if len(r.written) == 0 || file == "" {
		return "", false
	}
	for _, place := range r.line.places(file, r.home) {
		if text, ok = r.written[place]; ok {
			return text, true
		}
	}
	return "", false
}

// writtenScript reads a file that is run after the line wrote it.
func (r *lineReader) writtenScript(text string, args []string, via string) {
	h := does
	if first, _, _ := strings.Cut(text, "\n"); strings.HasPrefix(first, "#!") && !strings.Contains(first, "sh") {
		h = may // in another language
	}
	if len(args) > 0 {
		r.positional(args)
	}
	r.text(text, h, via)
}

// stdinCode are interpreters that run what they read if they are given no file.
var stdinCode = wordSet("python perl ruby node php lua tclsh osascript pwsh powershell rscript julia guile deno bun")

// readsCode reports whether an interpreter runs code that only the shell knows:
// curl … | python3 -, python3 <(curl …).
func (r *lineReader) readsCode(args []string, in stream) bool {
	for _, a := range args {
		switch {
		case a == processFile:
			in = r.substituted[len(r.substituted)-1]
		case a != "-" && a != "run" && (!isOption(a) || !strings.HasPrefix(a, "-u") && !strings.HasPrefix(a, "--allow")):
			return false
		}
	}
	if !in.present || in.known || r.how == mentioned {
		return false
	}
	r.line.cannotRead("runs code that it reads from elsewhere")
	return true
}
