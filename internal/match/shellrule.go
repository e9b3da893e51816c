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
	return r
}

func (r *shellRule) match(c *Call, strict bool) Decision {
	for _, cmd := range c.shellTexts() {
		if d := r.matchCommand(cmd, strict); d.Run {
			return d
		}
	}
	return Decision{By: "no part of the command matches"}
}

// matchCommand looks for the best reason first: a command that matches, then
// what may become one, then what cannot be told.
func (r *shellRule) matchCommand(cmd *command, strict bool) Decision {
	if d := r.matchCalls(cmd, &cmd.seen); d.Run {
		return d
	}
	if r.raw != nil && r.raw.match(cmd.text) {
		return sure(excerpt(cmd.text))
	}
	if !strict {
		if d := r.matchCalls(cmd, &cmd.run); d.Run {
			return d
		}
	}
	if d := r.matchUnknown(cmd, &cmd.seen); d.Run || strict {
		return d
	}
	return r.matchUnknown(cmd, &cmd.run)
}

func (r *shellRule) matchCalls(cmd *command, in *reading) Decision {
	for i := range in.calls {
		call := &in.calls[i]
		if !r.whole.match(call.text) && (r.bare == nil || !r.bare.match(call.text)) {
			continue
		}
		by := excerpt(call.text)
		if call.via != "" {
			by += ", " + call.via
			if call.text != cmd.text {
				by += ","
			}
		}
		if call.text != cmd.text {
			by += " in " + excerpt(cmd.text)
		}
		return sure(by)
	}
	return Decision{}
}

func (r *shellRule) matchUnknown(cmd *command, in *reading) Decision {
	switch {
	case in.expansion != "" && !r.nameOnly:
		return suspected(excerpt(in.expansion) + " in " + excerpt(cmd.text) + " may become anything, so it runs")
	case in.blind == "":
		return Decision{}
	case cmd.text == "":
		return suspected("the command " + in.blind + ", so it runs")
	}
	return suspected(excerpt(cmd.text) + " " + in.blind + ", so it runs")
}
