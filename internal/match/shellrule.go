package match

import "strings"

// shellRule is a rule on a shell command: Bash(git push *).
//
// A pattern is held against the words of each command in the text. A trailing
// " *" or ":*" ends at a word, and matches the command without arguments too;
// a * elsewhere stands for any text.
type shellRule struct {
	source string
	whole  glob // the pattern
	bare   glob // without its trailing " *", or nil
	raw    glob // caliban's glob over the text as it stands, or nil
	// nameOnly is a rule on a command's name alone, like git *, git:* or git*.
	// Only others match any call with a $(…): there the name is known, and the
	// arguments are not.
	nameOnly bool
	// program is the name of the program that the pattern begins with, in lower
	// case, or "" if it begins with a wildcard.
	program string
}

func newShellRule(content string, f form) *shellRule {
	r := &shellRule{source: content}
	pattern := content
	if f.anywhere {
		pattern = "*" + content + "*"
	}
	if f.raw {
		r.raw = compileGlob(pattern, true)
	}
	if base, ok := strings.CutSuffix(pattern, ":*"); ok && base != "" {
		pattern = base + " *"
	}
	if base, ok := strings.CutSuffix(pattern, " *"); ok && base != "" {
		r.bare = compileGlob(base, f.raw)
	}
	r.whole = compileGlob(pattern, f.raw)
	name, isPrefix := strings.CutSuffix(pattern, "*")
	r.nameOnly = isPrefix && isName(strings.TrimSuffix(name, " "))
	if first, _, _ := strings.Cut(pattern, " "); !strings.ContainsAny(first, `*?\`) {
		r.program = programName(first)
	}
	return r
}

func (r *shellRule) match(c *Call, strict bool) Decision {
	best := Decision{By: "no part of the command matches"}
	for _, cmd := range c.shellTexts() {
		var d Decision
		if strict {
			d = r.matchStrict(cmd)
		} else {
			d = r.matchCommand(cmd, nil)
		}
		if d.Certainty > best.Certainty {
			best = d
		}
	}
	return best
}

// matchStrict looks where Claude Code does.
func (r *shellRule) matchStrict(cmd *command) Decision {
	if d := r.matchSeen(cmd); d.Run {
		return d
	}
	return r.matchUnknown(cmd)
}

// matchCommand looks for the best reason first: a command that matches, one
// that may, then what cannot be read, then what Claude Code cannot read.
func (r *shellRule) matchCommand(cmd *command, unless *Rules) Decision {
	d := r.matchLine(cmd.line, unless)
	if unless == nil && d.Certainty < Sure && (r.raw != nil || cmd.seesMore()) {
		if d := r.matchSeen(cmd); d.Run {
			return d
		}
	}
	switch {
	case d.Run:
		return d
	case cmd.line.unread != "":
		return suspected(lineText(cmd.text) + " " + cmd.line.unread + ", so it runs")
	case unless == nil && cmd.seesMore():
		if d = r.matchUnknown(cmd); d.Run {
			d.Certainty = Observed
		}
	}
	return d
}

func lineText(text string) string {
	if text == "" {
		return "the command"
	}
	return excerpt(text)
}

func (r *shellRule) matchSeen(cmd *command) Decision {
	calls := cmd.see().calls
	for i := range calls {
		call := &calls[i]
		if r.takes(call.text) {
			return sure(by(call.text, call.via, cmd.text))
		}
	}
	if r.raw != nil && r.raw.match(cmd.text) {
		return sure(excerpt(cmd.text))
	}
	return Decision{}
}

func (r *shellRule) takes(text string) bool {
	return r.whole.match(text) || r.bare != nil && r.bare.match(text)
}

func (r *shellRule) mayTake(text string, dots bool) bool {
	return r.whole.meets(text, dots) || r.bare != nil && r.bare.meets(text, dots)
}

// clipped returns as much of a text as an excerpt may show.
func clipped(text string) string {
	const most = 400
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// by says which part of a line matches.
func by(part, via, whole string) string {
	whole, part = clipped(whole), shown(clipped(part))
	switch {
	case part == whole && via == "":
		return excerpt(part)
	case part == whole:
		return "`" + plain(part) + "`, " + via
	case via == "":
		return "`" + plain(part) + "` in `" + plain(whole) + "`"
	}
	return "`" + plain(part) + "`, " + via + ", in `" + plain(whole) + "`"
}

// maxTried bounds the bytes of commands that one rule is held against. A byte of
// a command with wild parts counts for several.
const (
	maxTried = 1 << 21
	wildCost = 16
)

// matchLine holds the pattern against each command that the line starts or may
// start.
func (r *shellRule) matchLine(l *line, unless *Rules) Decision {
	best, tried := Decision{}, 0
	try := func(s *started) bool {
		if s.how == mentioned {
			return false
		}
		if tried += len(s.text); !isPlain(s.text) {
			tried += wildCost * len(s.text)
		}
		if tried > maxTried {
			best = suspected(lineText(l.text) + " has too many commands to be judged, so it runs")
			return true
		}
		if certainty := r.matchStarted(l, s); certainty > best.Certainty && !(unless.lifts(s) || s.variant && unless.lifts(&l.started[s.origin])) {
			best = Decision{true, certainty, by(s.text, s.via, l.text)}
		}
		return best.Certainty == Sure
	}
	if r.program == "" || l.byName == nil {
		for i := range l.started {
			s := &l.started[i]
			if name := s.program(); r.program != "" && r.program != name && isPlain(name) {
				continue
			}
			if try(s) {
				break
			}
		}
		return best
	}
	for _, list := range [][]int32{l.byName[r.program], l.unnamed} {
		for _, i := range list {
			if try(&l.started[i]) {
				return best
			}
		}
	}
	return best
}

func (r *shellRule) matchStarted(l *line, s *started) Certainty {
	certainty := No
	for _, text := range []string{s.text, s.full, lowered(s)} {
		switch {
		case text == "":
		case r.takes(text):
			certainty = Sure
		case certainty == No && !isPlain(text) && r.mayTake(text, l.dots):
			certainty = Suspected
		}
	}
	if s.how == may {
		certainty = min(certainty, Suspected)
	}
	return certainty
}

// lowered returns the text with the program's name in lower case and without an ending such as .exe, "" if it is so:
// some file systems ignore the case.
func lowered(s *started) string {
	name := s.name()
	if low := s.program(); low != name {
		return low + s.text[len(name):]
	}
	return ""
}

// lifts reports whether one of the rules surely takes a command.
func (r *Rules) lifts(s *started) bool {
	if r == nil {
		return false
	}
	for _, rule := range r.rules {
		if shell, ok := rule.arg.(*shellRule); ok && isPlain(s.text) && shell.takes(s.text) {
			return true
		}
		if rule.kind == ruleEvery || rule.kind == ruleTool && rule.tool == "Bash" {
			return true
		}
	}
	return false
}

func (r *shellRule) matchUnknown(cmd *command) Decision {
	in := cmd.see()
	switch {
	case in.expansion != "" && !r.nameOnly:
		return suspected(excerpt(in.expansion) + " in " + excerpt(cmd.text) + " may become anything, so it runs")
	case in.blind == "":
		return Decision{}
	}
	return suspected(lineText(cmd.text) + " " + in.blind + ", so it runs")
}
