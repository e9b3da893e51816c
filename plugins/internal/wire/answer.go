package wire

import (
	"errors"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// Read reads what a plugin answered, as what a command left behind.
func Read(rd dialect.Reader, c *hook.Call, r *proto.HandleResponse) (*hook.Output, error) {
	stderr := Text(r.GetStderr())
	if r.GetPanicked() {
		c.Report.Stderr = stderr
		return nil, &hook.Error{Failure: hook.FailurePanic, Reason: "it panicked: " + FirstLine(r.GetStderr()),
			Hint: "the stack is in the plugin's log"}
	}
	if r.GetExitCode() != 0 || stderr != "" {
		c.Report.Stderr = stderr
	}
	out, err := rd.Read(c, dialect.Reply{Stdout: r.GetStdout(), Stderr: []byte(r.GetStderr()), ExitCode: int(r.GetExitCode())})
	if err == nil && out != nil && out.Handoff != nil {
		return nil, &hook.Error{Failure: hook.FailureOutput, Reason: "a plugin's answer cannot hand itself off",
			Hint: "declare the hook async"}
	}
	var failed *hook.Error
	if errors.As(err, &failed) {
		failed.Reason = phrase.First(failed.Reason, maxReason)
	}
	return out, err
}

// maxReason bounds the words for a failure, in bytes: the plugin's own are among
// them.
const maxReason = 1000

// maxReport is how much of a text goes into a report, in bytes.
const maxReport = 8 << 10

// Text is the end of what a plugin said, valid and bounded.
func Text(s string) string {
	s = strings.TrimRight(s, "\n")
	if len(s) > maxReport {
		s = "…" + s[len(s)-maxReport:]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// FirstLine is the first line of what a plugin said, short enough for an error
// and without characters that move a terminal.
func FirstLine(s string) string { return phrase.First(s, 200) }
