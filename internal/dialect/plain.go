package dialect

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// plain reads stdout that is no object, from a command that exited with 0.
func (x *reading) plain(stdout []byte) *hook.Error {
	means := x.info.Plain
	if means == hook.PlainContext && x.wire.plainIgnored {
		means = hook.PlainIgnored
	}
	if isAttempt(stdout, means) {
		return unreadable("stdout is no JSON object, but seems to be meant as one: it begins with "+
			phrase.Quote(firstLine(stdout)), "print only the JSON object; send everything else to stderr")
	}
	if x.canBlock && isRefusingText(stdout, means) {
		return unreadable("stdout says no in words that do not count: it begins with "+phrase.Quote(firstLine(stdout)), x.howToBlock())
	}
	switch means {
	case hook.PlainContext:
		x.out.Context = x.limit("stdout", string(stdout))
	case hook.PlainResult:
		x.out.Text = x.limit("stdout", string(stdout))
	case hook.PlainPath:
		x.out.WorktreePath = lastLine(stdout)
	default:
		x.noteInfo("ignored_text", "plain text on stdout means nothing on "+string(x.event)+": "+
			phrase.Quote(firstLine(stdout)), "send it to stderr, or print a JSON object")
	}
	return nil
}

// answerWords are what an answer holds and plain text hardly does.
var answerWords = [][]byte{
	[]byte("hookSpecificOutput"), []byte("hook_specific_output"),
	[]byte("permissionDecision"), []byte("permission_decision"), []byte("hookEventName"),
	[]byte(`"decision"`), []byte(`'decision'`), []byte(`"behavior"`), []byte(`"continue"`), []byte(`"stopReason"`),
	[]byte(`"updatedInput"`), []byte(`"additionalContext"`), []byte(`"systemMessage"`), []byte(`"suppressOutput"`),
}

// isAttempt reports whether a plain text holds an answer that cannot be read:
// noise before it, text behind it, an object that never ends. Where text means
// something it may also speak of answers; where it means nothing, whatever
// looks like JSON was meant to be read.
func isAttempt(stdout []byte, means hook.PlainText) bool {
	hasWord := slices.ContainsFunc(answerWords, func(word []byte) bool { return bytes.Contains(stdout, word) })
	switch means {
	case hook.PlainResult:
		return false
	case hook.PlainIgnored:
		return hasWord || isJSONLike(stdout)
	}
	return hasWord && bytes.IndexByte(stdout, '{') >= 0
}

// isJSONLike reports whether a plain text has a line that begins as JSON does,
// or is a JSON text that holds an object. "[info] done" is neither.
func isJSONLike(stdout []byte) bool {
	if stdout[0] == '"' && isJSON(unwrap(stdout)) {
		return true
	}
	for line := range bytes.Lines(stdout) {
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
		case line[0] == '{':
			return true
		case line[0] == '[':
			if rest := bytes.TrimSpace(line[1:]); len(rest) == 0 || bytes.IndexByte([]byte(`{["]`), rest[0]) >= 0 {
				return true
			}
		}
	}
	return false
}

// colours are what a terminal takes for colours and the like.
var colours = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;:?]*[A-Za-z]") })

// isRefusingText reports whether a plain text says no. Where text is context it
// may speak of refusals: only a text that is nothing but one counts.
func isRefusingText(stdout []byte, means hook.PlainText) bool {
	if bytes.IndexByte(stdout, '\x1b') >= 0 {
		stdout = colours().ReplaceAll(stdout, nil)
	}
	text := unwrap(stdout)
	switch {
	case means == hook.PlainResult:
		return false
	case isJSON(text):
		return valueRefuses(text, 1)
	case means == hook.PlainContext:
		return isPairs(text) && pairSaysNo(text)
	}
	return textSaysNo(text) || embeddedRefusal(text)
}

// isPairs reports whether a text is nothing but lines "key: value".
func isPairs(text []byte) bool {
	lines := 0
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) == 0 || bytes.HasSuffix(line, []byte(":")) {
			continue
		}
		key, _, ok := pairOf(string(line[:min(len(line), 1000)]))
		if lines++; !ok || len(strings.Fields(key)) > 3 || lines > 10 {
			return false
		}
	}
	return true
}

// embeddedRefusal reports whether a line of a text has an object in it that says
// no: `result: {"allow": false}`.
func embeddedRefusal(text []byte) bool {
	n := 0
	for line := range bytes.Lines(text) {
		at := bytes.IndexByte(line, '{')
		if n++; n > maxPairs {
			return false
		}
		if at < 0 || len(line) > 10_000 {
			continue
		}
		if end := objectEnd(line[at:]); end > 0 && isJSON(line[at:at+end]) && valueRefuses(line[at:at+end], 1) {
			return true
		}
	}
	return false
}

var errBinary = unreadable("stdout is binary: it holds NUL bytes or is not UTF-8", "print UTF-8 text")

// isBinary reports whether an answer is no text at all.
func isBinary(b []byte) bool { return bytes.IndexByte(b, 0) >= 0 || !utf8.Valid(b) }

// said is what a command said on stderr, trimmed and made valid UTF-8.
func said(stderr []byte) string { return strings.ToValidUTF8(string(trim(stderr)), "\uFFFD") }
