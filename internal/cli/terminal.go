package cli

import (
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// oneLine is printable text for a table's cell.
func oneLine(s string) string {
	return phrase.Printable(strings.Join(strings.Fields(s), " "))
}

// style colours words on a terminal that wants it.
type style struct{ on bool }

func (a *app) styleOf(w io.Writer) style {
	f, ok := fileOf(w)
	_, no := os.LookupEnv("NO_COLOR")
	return style{ok && !no && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))}
}

// widthOf is how many columns a terminal has; 0 = it is none, or does not say.
func widthOf(w io.Writer) int {
	f, ok := fileOf(w)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	width, _ := strconv.Atoi(os.Getenv("COLUMNS"))
	return max(width, 0)
}

func (s style) paint(code, text string) string {
	if !s.on {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) red(t string) string    { return s.paint("31", t) }
func (s style) green(t string) string  { return s.paint("32", t) }
func (s style) yellow(t string) string { return s.paint("33", t) }
func (s style) dim(t string) string    { return s.paint("2", t) }
func (s style) bold(t string) string   { return s.paint("1", t) }

func (s style) severity(v hook.Severity) string {
	switch v {
	case hook.SeverityError:
		return s.red(string(v) + ":")
	case hook.SeverityWarning:
		return s.yellow(string(v) + ":")
	}
	return s.dim(string(v) + ":")
}

func (s style) state(v hook.State) string {
	switch v {
	case hook.StateReady:
		return s.green(string(v))
	case hook.StateInvalid:
		return s.red(string(v))
	case hook.StateDisabled, hook.StateShadowed:
		return s.dim(string(v))
	}
	return s.yellow(string(v))
}

func (s style) verdict(v hook.Verdict) string {
	switch v {
	case hook.Deny:
		return s.red(v.String())
	case hook.Allow:
		return s.green(v.String())
	case hook.NoOpinion:
		return v.String()
	}
	return s.yellow(v.String())
}

func (s style) status(v hook.Status) string {
	switch v {
	case hook.StatusSuccess:
		return s.green(string(v))
	case hook.StatusBlocked, hook.StatusFailed:
		return s.red(string(v))
	}
	return s.yellow(oneLine(string(v)))
}

// failed is a status with how it failed.
func (s style) failed(v hook.Status, f hook.Failure) string {
	if f == "" {
		return s.status(v)
	}
	return s.status(v) + " (" + oneLine(string(f)) + ")"
}
