package agents

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/bridge/closed"
	"github.com/tenterhook/tenterhook/hook"
)

// shell is what an agent runs the line of an entry with.
type shell uint8

const (
	posix      shell = iota // sh
	powershell              // Windows PowerShell 5.1 or later
	cmdExe                  // cmd.exe
	noShell                 // the agent starts the program with its arguments, and blocks if that fails
	unknown                 // nothing is known: there is no entry
)

// caller is how the entries of an agent start the bridge.
type caller struct {
	program string
	where   []string // as Env.Where
	shell   shell
}

// caller is how an agent's entries start the bridge here.
func (e Env) caller(agent string) caller {
	c := caller{program: e.Program, where: e.Where}
	if e.Windows {
		c.shell = places[agent].windows
	}
	return c
}

// check fails where no entry can be written.
func (c caller) check(a *bridge.Agent) error {
	if c.shell == unknown {
		return fmt.Errorf("it is not known what %s runs its hooks with on Windows; use it inside WSL, and install there", a.Title)
	}
	for _, word := range append([]string{c.program}, c.where...) {
		if at := strings.IndexAny(word, misread[c.shell]); at >= 0 {
			return fmt.Errorf("%s runs its hooks with a shell that would misread the %q in %s; install tenterhook in another folder, or set the variable to one",
				a.Title, word[at], word)
		}
	}
	return nil
}

// misread are the characters that quotes do not keep: cmd.exe reads %NAME%, Windows PowerShell passes no double quote
// on to a program, and a line may end at a line break, before its gate closes.
var misread = map[shell]string{cmdExe: "%\"\r\n", powershell: "\"\r\n"}

// args are the arguments of the bridge before agent and event.
func (c caller) args() []string {
	args := []string{}
	for _, variable := range c.where {
		args = append(args, "--env", variable)
	}
	return args
}

// quote writes a word for the shell.
func (c caller) quote(word string) string {
	switch c.shell {
	case powershell:
		return "'" + powershellQuotes.Replace(word) + "'"
	case cmdExe:
		trimmed := strings.TrimRight(word, `\`) // before a quote each counts twice
		return `"` + word + word[len(trimmed):] + `"`
	}
	return shellQuote(word)
}

// PowerShell takes each of these for a single quote, and two of them for a meant one.
var powershellQuotes = strings.NewReplacer("'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛")

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// call is how the line of an entry begins.
func (c caller) call(a *bridge.Agent, event string) string {
	call := "B=" + c.quote(c.program) + `; "$B"`
	switch c.shell {
	case powershell:
		call = "& " + c.quote(c.program)
	case cmdExe: // which takes the quotes away where a line begins with one
		call = "@" + c.quote(c.program)
	}
	for _, variable := range c.where {
		call += " --env " + c.quote(variable)
	}
	return call + " " + a.Name + " " + event
}

// line is the shell line of an entry: it runs the bridge, and still blocks at a
// gate when the program is gone, cannot be started, or was killed. At other
// events it ends with 0.
func (c caller) line(a *bridge.Agent, event string) string {
	call := c.call(a, event)
	if a.IsGate(event) {
		gone := closed.Undecided(a.Name, event, "the program of its hook entry is gone or failed; see tenterhook agents verify")
		gone.Stdout, gone.Stderr = strings.TrimSpace(gone.Stdout), strings.TrimSpace(gone.Stderr)
		return c.gate(call, gone)
	}
	ev, _ := a.Event(event)
	keeps := ev == hook.EventTaskCompleted || ev == hook.EventTeammateIdle // the exit code 2 keeps them working
	switch {
	case c.shell == powershell && keeps:
		return "try { " + call + " } catch { }; if ($LASTEXITCODE -eq 2) { exit 2 }; exit 0"
	case c.shell == powershell:
		return "try { " + call + " } catch { }; exit 0"
	case c.shell == cmdExe:
		return call + " & exit 0"
	case keeps:
		return call + `; [ $? = 2 ] && exit 2; exit 0`
	}
	return call + "; exit 0"
}

// gate is the line of a gate. gone is what it answers for a program that does not.
func (c caller) gate(call string, gone closed.Answer) string {
	code := string(rune('0' + gone.ExitCode))
	switch c.shell {
	case powershell:
		codes := "0"
		if gone.ExitCode == 2 {
			codes = "0, 2"
		}
		line := "$r = 1; try { " + call + "; $r = $LASTEXITCODE } catch { }; if (" + codes + " -contains $r) { exit $r }; "
		if gone.Stdout != "" { // without a double quote, which no two callers of PowerShell pass on alike
			line += c.quote(strings.ReplaceAll(gone.Stdout, `"`, "~")) + " -replace '~', [char]34; "
		}
		return line + "[Console]::Error.WriteLine(" + c.quote(gone.Stderr) + "); exit " + code
	case cmdExe:
		// "errorlevel N" means N or more, and a crash ends below 0.
		return call + " & (if errorlevel 0 if not errorlevel 1 exit 0) & (if errorlevel 2 if not errorlevel 3 exit 2) & echo " + gone.Stderr + " 1>&2 & exit 2"
	}
	codes := "0"
	if gone.ExitCode == 2 {
		codes = "0|2"
	}
	line := call + "; r=$?; case $r in " + codes + ") exit $r;; esac; "
	if gone.Stdout != "" {
		line += `printf '%s\n' ` + c.quote(gone.Stdout) + "; "
	}
	return line + "echo " + c.quote(gone.Stderr) + " >&2; exit " + code
}

// bridgeName is how the path of the bridge ends.
const bridgeName = `[/\\]tenterhook-bridge(?:\.exe)?`

var bridgePath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(bridgeName + `$`) })

// ourLines recognize an entry of ours by its command, whichever program it
// names, in each shell. The group is the agent.
var ourLines = sync.OnceValue(func() []*regexp.Regexp {
	const names = ` ([a-z]+) [A-Za-z_.]+`
	const sh, ps, cmd = `(?:[^']|'\\'')*`, `(?:[^'‘’‚‛]|''|‘‘|’’|‚‚|‛‛)*`, `[^"]*`
	return []*regexp.Regexp{
		posix:      regexp.MustCompile(`^B='` + sh + bridgeName + `'; "\$B"(?: --env '` + sh + `')*` + names + `(?:;|$)`),
		powershell: regexp.MustCompile(`^(?:\$r = 1; )?try \{ & '` + ps + bridgeName + `'(?: --env '` + ps + `')*` + names + `(?:;| \})`),
		cmdExe:     regexp.MustCompile(`^@"` + cmd + bridgeName + `"(?: --env "` + cmd + `")*` + names + ` &`),
	}
})

// lineAgent returns the agent of a line of ours, "" if the line is another's.
func lineAgent(line string) string {
	for _, re := range ourLines() {
		if m := re.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	return ""
}

// IsEntry reports whether a command is an entry of ours, for any agent.
func IsEntry(c *hook.Command) bool { return handler{Command: c.Line, Args: c.Args}.agent() != "" }
