package dialect

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// blockingExit reads an answer that came with the exit code that blocks. No
// object can turn it into consent, but for the protocols where objects come
// first; and there only an object that decides.
func (x *reading) blockingExit(r Reply, stdout []byte) {
	x.objectBeside(stdout)
	decides := x.err == nil && (x.out.Verdict != hook.NoOpinion || x.out.Stop)
	if x.wire.objectOverBlock && decides {
		return
	}
	if !x.canBlock || x.info.NoExit2 && !x.info.AnyExit {
		x.unblockableExit(r)
		return
	}
	if x.err != nil {
		x.warnOf(x.err)
		x.err = nil
	}
	if x.out.Verdict != hook.Deny || x.out.Reason == noReason {
		x.out.Reason = shortReason(cmp.Or(said(r.Stderr), x.plainReason(stdout), noReason))
	}
	x.out.Verdict = hook.Deny
	x.out.UpdatedInput, x.out.Permission = nil, nil
	if x.info.Fields.Has(hook.FieldElicitation) && (x.out.Elicitation == nil || x.out.Elicitation.Action == "accept") {
		x.out.Elicitation = &hook.ElicitationAnswer{Action: "decline"}
	}
}

// plainReason is a text on stdout that gives the reason, in protocols where it does.
func (x *reading) plainReason(stdout []byte) string {
	if !x.wire.textBlocks || len(stdout) > 0 && looksLikeObject(stdout) {
		return ""
	}
	return said(stdout)
}

// unblockableExit is the blocking exit code where nothing can be blocked: a
// failure, unless the object says no by itself.
func (x *reading) unblockableExit(r Reply) {
	if x.out.Verdict == hook.Deny {
		return
	}
	if x.info.Stderr == hook.ToUser && x.out.SystemMessage == "" {
		x.out.SystemMessage = x.limit("stderr", said(r.Stderr))
	}
	x.fail(exitError(r, x.howToBlock()))
}

// failingExit reads an answer that came with any other exit code but 0. An
// object that says something decides, but a hook that must not fail did fail:
// nothing short of a denial speaks for it.
func (x *reading) failingExit(r Reply, stdout []byte) {
	if x.wire.objectOverFailure {
		x.objectBeside(stdout)
	}
	mustNotFail := x.call.Hook.OnFailure == hook.FailureBlock && x.canBlock && !x.info.NoPolicy
	if !x.says || x.out.Verdict != hook.Deny && mustNotFail {
		x.fail(exitError(r, ""))
	}
}

// objectBeside applies an object that came with an exit code other than 0. One
// that cannot be read says nothing, and the exit code speaks.
func (x *reading) objectBeside(stdout []byte) {
	if len(stdout) == 0 || !looksLikeObject(stdout) {
		return
	}
	if err := x.object(stdout); err != nil {
		x.warnOf(err)
		x.err, x.says = nil, false
	}
}

// fail makes the exit code the hook's failure, and what its object decided
// void.
func (x *reading) fail(err *hook.Error) {
	if x.err != nil {
		x.warnOf(x.err)
	}
	x.err = err
	x.withdraw()
}

// exitError is the failure of a command that exited with a code that means
// one. Its reason ends with the first words of stderr, or with
// the last of a traceback.
func exitError(r Reply, hint string) *hook.Error {
	err := &hook.Error{Failure: hook.FailureExit, Reason: "exit code " + strconv.Itoa(r.ExitCode), Hint: hint}
	switch r.ExitCode {
	case 126:
		err.Reason += " (found, but it cannot be executed)"
		err.Hint = "make it executable, and check the interpreter in its first line"
	case 127:
		err.Reason += " (a command was not found)"
		err.Hint = "check the path, and that what it calls is installed"
	}
	line := firstLine(r.Stderr)
	if strings.HasPrefix(line, "Traceback (most recent call last)") { // of Python: the last line says what it is
		line = strings.ToValidUTF8(lastLine(r.Stderr), "\uFFFD")
	}
	if line != "" {
		err.Reason += ": " + phrase.Clip(line, 200)
	}
	return err
}
