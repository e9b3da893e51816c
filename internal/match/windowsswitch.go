package match

import (
	"slices"
	"strings"
	"sync"
)

// windowsSwitches are the switches of programs of Windows that change the modes or owners of files. The first takes all
// that is below.
var windowsSwitches = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"icacls":  strings.Fields("t c l q ? grant deny remove reset inheritance inheritancelevel setowner setintegritylevel findsid verify save restore substitute"),
		"cacls":   strings.Fields("t e c g r p d m s l ?"),
		"takeown": strings.Fields("r f a d s u p skipsl ?"),
		"attrib":  strings.Fields("s d l ?"),
	}
})

// windowsSwitch returns the switch that one of the arguments is, in lower case without its slashes, "" for none: t of
// /T and //t, grant of /grant:r. Git's shell needs two slashes, and has drives that look alike: the word behind
// takeown /f and the first of icacls are paths.
func windowsSwitch(program string, args []string, i int) string {
	name := spelledSwitch(args[i])
	switch {
	case !slices.Contains(windowsSwitches()[program], name),
		program == "takeown" && i > 0 && spelledSwitch(args[i-1]) == "f" && (i < 2 || spelledSwitch(args[i-2]) != "f"),
		strings.HasSuffix(program, "cacls") && i == 0 && len(name) == 1 && name != "?":
		return ""
	}
	return name
}

// spelledSwitch returns what a word says as a switch, "" if it is none.
func spelledSwitch(w string) string {
	name, ok := strings.CutPrefix(strings.ToLower(shown(w)), "/")
	if !ok {
		return ""
	}
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "/"), ":")
	return name
}

// isTreeSwitch recognises the switch by which a program of Windows takes all that is below: icacls /t, takeown /r,
// attrib /s.
func isTreeSwitch(program string, args []string, i int) bool {
	name := windowsSwitch(program, args, i)
	return name != "" && name == windowsSwitches()[program][0]
}

// changesModes reports whether a program of Windows changes the modes or owners of what it names. Without a switch
// it shows them.
func changesModes(program string, args []string) bool {
	for i, w := range args {
		if windowsSwitch(program, args, i) != "" || strings.HasPrefix(w, "+") || strings.HasPrefix(w, "-") {
			return true
		}
	}
	return false
}
