package wire

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/tenterhook/tenterhook/dialect"
	"github.com/tenterhook/tenterhook/hook"
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
		failed.Reason = line(failed.Reason, maxReason)
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
func FirstLine(s string) string { return line(s, 200) }

func line(s string, most int) string {
	s = strings.TrimSpace(s)
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > most {
		for s = s[:most]; !utf8.ValidString(s) && len(s) > most-utf8.UTFMax; s = s[:len(s)-1] {
		}
		s += "…"
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.Map(func(r rune) rune {
		if unprintable(r) && r != utf8.RuneError {
			return ' '
		}
		return r
	}, strings.TrimSpace(s))
}
