package match

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// findRuns reads find … -exec git push {} \; and its like.
func (r *lineReader) findRuns(args []string, via string) {
	found := findFound(args)
	for i, a := range args {
		switch a {
		case "-fprint", "-fprint0", "-fprintf", "-fls":
			if i+1 < len(args) {
				r.line.files = append(r.line.files, file{args[i+1], true, r.how})
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			rest := args[i+1:]
			if end := slices.IndexFunc(rest, func(w string) bool { return w == ";" || w == "+" }); end >= 0 {
				rest = rest[:end]
			}
			if len(found) > maxChoices && r.how > mentioned {
				r.line.cannotRead("runs a command in too many places")
			}
			for _, one := range found[:min(len(found), maxChoices)] {
				if !r.charge(rest) {
					return
				}
				words := slices.Clone(rest)
				for k := range words {
					words[k] = strings.ReplaceAll(words[k], "{}", one)
				}
				r.carried(words, stream{}, does, via)
			}
		}
	}
}

// fdPlace is where fd puts what it finds: {}, or a part of it as in {/.}.
var fdPlace = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{/{0,2}\.?\}`) })

// fdRuns reads fd PATTERN PATH… -x COMMAND, which adds what it finds, or puts it where
// the command has a place for it.
func (r *lineReader) fdRuns(args []string, via string) {
	for i, a := range args {
		name, first, joined := strings.Cut(a, "=")
		switch name {
		case "-x", "-X", "--exec", "--exec-batch":
		default:
			continue
		}
		rest := args[i+1:]
		if joined {
			rest = append([]string{first}, rest...)
		}
		found := []string{wildWordText}
		for _, start := range args[:i] {
			if !isOption(start) {
				found = append(found, start+"/"+wildWordText)
			}
		}
		if !slices.ContainsFunc(rest, fdPlace().MatchString) {
			r.carried(append(slices.Clip(rest), found...), stream{}, does, via)
			return
		}
		if len(found) > maxChoices && r.how > mentioned {
			r.line.cannotRead("runs a command in too many places")
		}
		for _, one := range found[:min(len(found), maxChoices)] {
			if !r.charge(rest) {
				return
			}
			words := slices.Clone(rest)
			for j, w := range words {
				words[j] = fdPlace().ReplaceAllLiteralString(w, one)
			}
			r.carried(words, stream{}, does, via)
		}
		return
	}
}

// findStarts returns where find begins, and whether it takes only a part of
// what is there.
func findStarts(args []string) (starts []string, filtered bool) {
	expression := false
	for i, a := range args {
		switch {
		case a == "-H", a == "-L", a == "-P", a == "-D", strings.HasPrefix(a, "-O"):
		case strings.HasPrefix(a, "-") || a == "(" || a == "!":
			expression = true
			for _, test := range []string{"name", "path", "regex", "time", "min", "newer", "size", "empty", "user", "group", "perm", "wholename"} {
				if strings.Contains(a, test) && a != "-mindepth" && (i == 0 || args[i-1] != "!" && args[i-1] != "-not") && i+1 < len(args) && args[i+1] != "*" && args[i+1] != "\x01" {
					filtered = true
				}
			}
		case !expression:
			starts = append(starts, a)
		}
	}
	if len(starts) == 0 {
		starts = []string{"."}
	}
	return starts, filtered
}

// findFound returns the paths that find may find: its starts, or what it tests
// for below them.
func findFound(args []string) []string {
	starts, filtered := findStarts(args)
	if !filtered {
		return starts
	}
	anywhere := "/" + wildWordText
	var belows []string
	one := []string{anywhere} // what the alternative that is read finds
	for i, a := range args {
		switch {
		case a == "-o" || a == "-or" || a == ",":
			belows = append(belows, one...)
			one = []string{anywhere}
		case (a == "-name" || a == "-iname") && i+1 < len(args) && args[max(i-1, 0)] != "!" && args[max(i-1, 0)] != "-not":
			name := shellPattern(args[i+1])
			one = []string{anywhere + "/" + name, "/" + name}
		}
	}
	belows = append(belows, one...)
	var found []string
	for _, start := range starts {
		for _, below := range belows {
			found = append(found, start+below)
		}
	}
	return found
}
