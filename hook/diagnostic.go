package hook

import (
	"fmt"
	"strings"
)

// Severity says how much a Diagnostic matters.
type Severity string

const (
	// SeverityError: something that was declared cannot work.
	SeverityError Severity = "error"
	// SeverityWarning: it works, but perhaps not as meant.
	SeverityWarning Severity = "warning"
	// SeverityInfo: worth knowing, nothing to do.
	SeverityInfo Severity = "info"
)

// Diagnostic is something that the author or the operator of a hook must know. Bad
// input becomes a Diagnostic, never silence and never a failed load.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`             // stable, snake_case: "unknown_key"
	Hook     string   `json:"hook,omitempty"`   // the hook's ID, where it has one
	Path     string   `json:"path,omitempty"`   // the file
	Line     int      `json:"line,omitempty"`   // in the file, from 1; 0 = the file as a whole
	Column   int      `json:"column,omitempty"` // in the line, in characters from 1; 0 = the line as a whole
	Message  string   `json:"message"`          // lower case, what is wrong
	Hint     string   `json:"hint,omitempty"`   // what to do about it
	Key      string   `json:"key,omitempty"`    // the key that it is about; "" = none, or the message names it
}

// mistake is an error about a key of a definition.
func mistake(code, key, message, hint string) Diagnostic {
	return Diagnostic{Severity: SeverityError, Code: code, Key: key, Message: message, Hint: hint}
}

// String is "path:line:column: message (hint)", the form a terminal makes clickable.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.Path != "" && (d.Line > 0 || !strings.HasPrefix(d.Message, d.Path+" ")) { // else the message begins with it
		b.WriteString(d.Path)
		if d.Line > 0 {
			fmt.Fprintf(&b, ":%d", d.Line)
			if d.Column > 0 {
				fmt.Fprintf(&b, ":%d", d.Column)
			}
		}
		b.WriteString(": ")
	}
	b.WriteString(d.Message)
	if d.Hint != "" {
		fmt.Fprintf(&b, " (%s)", d.Hint)
	}
	return b.String()
}

// HasErrors reports whether one of ds has SeverityError.
func HasErrors(ds []Diagnostic) bool {
	for _, d := range ds {
		if d.Severity == SeverityError {
			return true
		}
	}
	return false
}
