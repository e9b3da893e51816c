package match

// A Decision says whether a rule or a condition matches a call, and why. The
// zero value does not match.
type Decision struct {
	// Run is Certainty > No. A hook that starts a program runs at any
	// certainty: it judges the call by itself.
	Run bool
	// Certainty is for hooks that decide by the match alone: refuse at Sure,
	// ask a person at Suspected, and take Observed for no match.
	Certainty Certainty
	// By is the part of the call that matches, as in "`git push` in
	// `npm test && git push`", or why the hook runs or does not. It is one
	// line, shortened, and safe to print.
	By string
}

// Certainty is how certain a match is. Higher is more certain.
type Certainty uint8

const (
	// No match.
	No Certainty = iota
	// Observed is a match for no other reason than that Claude Code runs every
	// hook for such a line, a here-document for one. All of the line can be
	// read, and nothing in it matches.
	Observed
	// Suspected is a match of what may be run or named: an unknown program's
	// arguments, text in another language, a variable's value, a part of the
	// line that cannot be read.
	Suspected
	// Sure is a match of what the line plainly does.
	Sure
)

func sure(by string) Decision      { return Decision{true, Sure, by} }
func suspected(by string) Decision { return Decision{true, Suspected, by} }
