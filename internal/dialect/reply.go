package dialect

import (
	"bytes"
	"unicode"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// Reply is what a command left behind when it ended.
type Reply struct {
	Stdout   []byte // whole: an overflow is the handler's failure to report
	Stderr   []byte // may be cut at the front
	ExitCode int
}

// Reader reads what hooks answer. The zero Reader works. Its methods may be
// called from many goroutines, each with a Call of its own; they add warnings
// to the Call's report.
//
// Each method returns what a [hook.Handler] returns: an Output, a
// [*hook.Error] if the hook did not do its work, or both where a part of the
// answer counts although its decision does not. An error never comes with a
// verdict.
type Reader struct {
	// Spill keeps a text that is too long for a model or a person and returns
	// the path of the file it is in; name is the field it comes from. nil:
	// only the beginning of such a text is kept.
	Spill func(name, text string) (path string, err error)
}

// Read reads a command's answer as the hook's protocol has it.
func (rd Reader) Read(c *hook.Call, r Reply) (*hook.Output, error) {
	x := newReading(rd, c)
	return x.result(x.command(r))
}

// ReadBody reads an answer that comes without an exit code: the body of an
// HTTP response, the text of a tool's result. An empty one is a success; one
// that is no JSON object is a failure.
func (rd Reader) ReadBody(c *hook.Call, body []byte) (*hook.Output, error) {
	x := newReading(rd, c)
	return x.result(x.body(body))
}

// reading is the reading of one answer.
type reading struct {
	Reader
	call  *hook.Call
	event hook.Event
	info  *hook.EventInfo
	wire  *wire

	canBlock bool // a hook can block this input
	answer
	forEvent   hook.Member          // the fields for the event, whole
	forRequest hook.Member          // the decision in them
	camel      [fieldCount]bool     // the value came under the camelCase key
	says       bool                 // the answer has a field that means something by itself
	unknowns   int                  // keys that no field has
	own        []func() *hook.Error // apply what the protocol's own words say
	unsound    bool                 // the answer can be read in more than one way

	out hook.Output
	err *hook.Error // why the decision does not count; the rest does
}

func newReading(rd Reader, c *hook.Call) *reading {
	x := &reading{Reader: rd, call: c, event: c.Input.Event(), wire: wireOf(c.Hook.Protocol)}
	x.info = hook.Info(x.event)
	x.canBlock = x.info.CanBlock(c.Input) && !(x.wire.observesStop && x.info.Block == hook.BlockStop)
	return x
}

// command reads stdout, then lets the exit code speak. The error that it
// returns voids the whole answer.
func (x *reading) command(r Reply) *hook.Error {
	stdout := trim(r.Stdout)
	if handoff, _, ok := splitHandoff(stdout); ok {
		x.out.Handoff = handoff
		return nil
	}
	switch {
	case r.ExitCode == 0:
		return x.stdout(stdout)
	case x.info.AnyExit, r.ExitCode == x.wire.blockCode,
		x.wire.textBlocks && r.ExitCode > x.wire.blockCode && len(trim(r.Stderr))+len(stdout) > 0:
		x.blockingExit(r, stdout)
	default:
		x.failingExit(r, stdout)
	}
	return nil
}

// stdout reads the stdout of a command that exited with 0.
func (x *reading) stdout(stdout []byte) *hook.Error {
	switch {
	case len(stdout) == 0:
		return nil
	case looksLikeObject(stdout) && x.info.Plain != hook.PlainResult:
		return x.object(stdout)
	case isBinary(stdout):
		return errBinary
	}
	return x.plain(stdout)
}

func (x *reading) body(body []byte) *hook.Error {
	body = trim(body)
	switch {
	case len(body) == 0:
		return nil
	case looksLikeObject(body):
		return x.object(body)
	}
	return unreadable("the answer is no JSON object: it begins with "+phrase.Quote(firstLine(body)),
		"answer with an empty body or one JSON object")
}

// object applies an answer that is a JSON object, in the protocol's shape.
func (x *reading) object(data []byte) *hook.Error {
	if x.wire.own != nil {
		return x.wire.own(x, data)
	}
	if err := x.collect(atTop, data); err != nil {
		return err
	}
	if x.flag(fAsync) {
		x.refuse("async counts only at the very start of a command's stdout, in an object of its own",
			`print {"async":true} alone on the first line`)
	}
	x.checkEventName()
	for _, apply := range x.own {
		if err := apply(); err != nil {
			return err
		}
	}
	x.applyFields()
	x.applyDecisions()
	return nil
}

// result is the last step: a failed hook has no verdict and rewrites nothing,
// and what must produce a path and did not is blocked.
func (x *reading) result(void *hook.Error) (*hook.Output, error) {
	if void != nil {
		x.out, x.err = hook.Output{}, void
	}
	if x.info.Plain == hook.PlainPath && x.out.Verdict != hook.Deny && (x.err != nil || x.out.WorktreePath == "") {
		reason := "the hook answered without a path"
		if x.err != nil {
			reason += ": " + x.err.Reason
		}
		return hook.Denied(reason), nil
	}
	if x.unsound {
		x.out.UpdatedInput, x.out.UpdatedToolOutput, x.out.Permission = nil, nil, nil
	}
	if x.err != nil && x.out.Verdict > hook.Allow {
		x.warnOf(x.err) // a refusal stands; what failed could not have lifted it
		x.err = nil
	}
	if void != nil {
		return nil, x.err
	}
	if x.err != nil {
		x.withdraw()
	}
	out := x.out // a copy: the reading itself holds on to all of stdout
	if x.err == nil {
		return &out, nil
	}
	return &out, x.err
}

// withdraw takes back what the answer decides and rewrites. A stop stays: it
// is the stricter end.
func (x *reading) withdraw() {
	o := &x.out
	o.Verdict, o.Reason, o.Retry, o.WorktreePath = hook.NoOpinion, "", false, ""
	o.UpdatedInput, o.UpdatedToolOutput, o.Permission, o.Elicitation = nil, nil, nil, nil
}

// refuse notes that what the answer decides cannot count. The first such note
// is the hook's failure.
func (x *reading) refuse(reason, hint string) {
	err := unreadable(reason, hint)
	if x.err != nil {
		x.warnOf(err)
		return
	}
	x.err = err
}

// maxWarnings bounds what a hostile answer can make the report grow to.
const maxWarnings = 50

func (x *reading) warnOf(err *hook.Error) {
	if len(x.call.Report.Warnings) < maxWarnings {
		x.call.Warn("unreadable_answer", err.Reason, err.Hint)
	}
}

func (x *reading) noteInfo(code, message, hint string) {
	x.call.Warn(code, message, hint)
	x.call.Report.Warnings[len(x.call.Report.Warnings)-1].Severity = hook.SeverityInfo
}

// unreadable is a failure of the answer.
func unreadable(reason, hint string) *hook.Error {
	return &hook.Error{Failure: hook.FailureOutput, Reason: reason, Hint: hint}
}

// trim cuts white space and a byte order mark from both ends, as JavaScript's
// trim does.
func trim(b []byte) []byte {
	return bytes.TrimFunc(b, func(r rune) bool { return r == '\uFEFF' || unicode.IsSpace(r) && r != '\u0085' })
}

// looksLikeObject reports whether a trimmed answer is meant to be an object.
func looksLikeObject(b []byte) bool { return b[0] == '{' && b[len(b)-1] == '}' }
