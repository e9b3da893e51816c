package eligibility

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenterhook/tenterhook/hook"
)

const (
	maxShown = 4  // items of a list that are spelled out
	maxName  = 80 // bytes of a name that are
)

// unmet is a requirement that is not met.
func unmet(why, hint string) hook.Diagnostic {
	return hook.Diagnostic{Severity: hook.SeverityError, Code: "ineligible", Message: why, Hint: hint}
}

// explain makes a verdict of what is missing.
func explain(problems []hook.Diagnostic) Verdict {
	if len(problems) == 0 {
		return Verdict{Eligible: true}
	}
	var whys, hints []string
	for _, p := range problems {
		whys = append(whys, p.Message)
		hints = append(hints, p.Hint)
	}
	return Verdict{Why: join(whys, "; "), Hint: join(distinct(hints), "; ")}
}

// missingProgram explains that none of the alternatives can be used. There is
// at least one.
func missingProgram(misses []miss) hook.Diagnostic {
	if len(misses) == 1 {
		m := misses[0]
		return unmet("needs "+m.subject()+": "+m.why(), m.hint())
	}
	var names, whys []string
	hints := []string{"install one of them"}
	onPath := ""
	for _, m := range misses {
		names = append(names, show(m.name))
		if isBare(m.name) {
			onPath = " on PATH"
		}
		if m.trouble != notFound {
			whys = append(whys, show(m.name)+": "+m.why())
			hints = append(hints, m.hint())
		}
	}
	why := "needs one of " + join(names, ", ") + onPath
	if len(whys) > 0 {
		why += " (" + join(whys, "; ") + ")"
	}
	return unmet(why, join(distinct(hints), ", or "))
}

// missingEnv explains that a variable is not set, without its value. A name
// with "=" has a value written into it, which is not shown either.
func missingEnv(name string, p presence) hook.Diagnostic {
	if before, _, ok := strings.Cut(name, "="); ok {
		return unmet("needs "+show(before)+"=… set: this is not a variable's name", "list names without values in requires.envs")
	}
	why := "needs " + show(name) + " set"
	if p == empty {
		why += ": it is empty"
	}
	return unmet(why, "set "+show(name)+" in the environment of the agent")
}

func (m miss) subject() string {
	if isBare(m.name) && m.trouble != noName {
		return show(m.name) + " on PATH"
	}
	return show(m.name)
}

func (m miss) why() string {
	switch m.trouble {
	case notExecutable:
		return show(m.where) + " is not executable"
	case noPermission:
		return "no permission to look at it"
	case isDirectory:
		return "it is a directory"
	case isSpecial:
		return "it is not a regular file"
	case emptyPath:
		return "PATH is empty"
	case relativeElement:
		return "found only in " + quote(m.where) + ", and relative elements of PATH are not used"
	case relativeName:
		return "a relative path depends on the current directory and is not used"
	case noName:
		return "this is not a program's name"
	default:
		return "not found"
	}
}

func (m miss) hint() string {
	switch m.trouble {
	case notExecutable:
		return "make " + show(m.where) + " executable"
	case noPermission:
		return "let the agent's user into its folder"
	case isDirectory, isSpecial:
		return "name the file of a program"
	case emptyPath:
		return "set PATH"
	case relativeElement:
		return "install " + show(m.name) + " in an absolute element of PATH"
	case relativeName, noName:
		return "name a program on PATH, or an absolute path"
	}
	if isBare(m.name) {
		return "install " + show(m.name) + ", or add its folder to PATH"
	}
	return "install it there, or name a program on PATH"
}

// show returns a name for a line of text: as it is if that is plain, else quoted.
func show(name string) string {
	quoted := quote(name)
	if name != "" && quoted == `"`+name+`"` && !strings.ContainsAny(strings.TrimPrefix(name, filepath.VolumeName(name)), " ,;:()") {
		return name
	}
	return quoted
}

// quote returns a name in quotes, cut to a sane length, and with what a terminal
// would act on escaped.
func quote(name string) string {
	cut := ""
	if len(name) > maxName {
		n := maxName
		for n > 0 && !utf8.RuneStart(name[n]) {
			n--
		}
		name, cut = name[:n], "…"
	}
	quoted := strconv.Quote(name)
	if onWindows {
		quoted = strings.ReplaceAll(quoted, `\\`, `\`) // a separator, which needs no escape
	}
	return quoted + cut
}

// join is strings.Join that spells out the first few items and counts the rest.
func join(items []string, separator string) string {
	if more := len(items) - maxShown; more > 0 {
		return strings.Join(items[:maxShown], separator) + separator + fmt.Sprintf("and %d more", more)
	}
	return strings.Join(items, separator)
}
