package protect

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tenterhook/tenterhook/internal/match"
)

// judgePowerShell says what a line of PowerShell would change. Its language is not
// read: the line is judged as what it comes to in a POSIX shell, and a line that names
// a protected file is denied unless it surely reads.
func (r *rules) judgePowerShell(c *match.Call) string {
	line := lineOf(c)
	if powerShellReading().MatchString(line) {
		return ""
	}
	one := asLine(c, posixLine(line))
	if why := r.changes(one); why != "" {
		return why
	}
	if why := r.judgeShell(one); why != "" {
		return why
	}
	if text := squeezed(line); strings.Contains(text, "tenterhook") && acting().MatchString(text) {
		return "this may change what tenterhook does, or end it"
	}
	return r.named(c, "")
}

// powerShellReading matches one command that only reads, with plain words. A program's
// name is no such word.
var powerShellReading = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^[ \t]*(get-content|gc|cat|type|get-childitem|gci|ls|dir|test-path|select-string|sls|get-item|gi|write-output|echo|` +
		`git[ \t]+(commit|status)|tenterhook(\.exe)?[ \t]+(list|check|show|why|log|stats|doctor|run))([ \t][\w~ \t.,/\\:$*'"=-]*)?$`)
})

// posixLine is a line of PowerShell or cmd.exe with the words of a POSIX shell: slashes, ~ for what names the user's
// directories, no case, and no backticks, which quote there.
func posixLine(line string) string {
	line = userDirectories().ReplaceAllStringFunc(line, func(name string) string {
		switch name = strings.ToLower(name); {
		case strings.Contains(name, "localappdata"):
			return "~/appdata/local"
		case strings.Contains(name, "appdata"):
			return "~/appdata/roaming"
		}
		return "~"
	})
	line = strings.ToLower(strings.NewReplacer("`", "", `\`, "/").Replace(line))
	return cmdlets().ReplaceAllStringFunc(line, func(name string) string { return posixNames[name] })
}

// posixNames are the programs of a POSIX shell that do what commands of PowerShell do.
var posixNames = map[string]string{
	"remove-item": "rm", "ri": "rm", "move-item": "mv", "mi": "mv", "rename-item": "mv", "rni": "mv", "copy-item": "cp", "cpi": "cp", "set-content": "tee", "add-content": "tee",
	"clear-content": "tee", "out-file": "tee", "tee-object": "tee", "new-item": "tee", "ni": "tee", "get-content": "cat", "get-childitem": "ls", "set-location": "cd", "sl": "cd",
}

var cmdlets = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(` + strings.Join(slices.Collect(maps.Keys(posixNames)), "|") + `)\b`)
})

// userDirectories matches the variables that name directories of the user.
var userDirectories = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\$\{?(?:env:)?(?:userprofile|home|localappdata|appdata)\b\}?|%(?:userprofile|localappdata|appdata)%`)
})

// startsWindowsShell matches the start of cmd.exe or PowerShell in a POSIX shell line.
var startsWindowsShell = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:cmd|powershell|pwsh)(?:\.exe)?\s+(?:\S+\s+)*?(?://?[ckr]|-c(?:ommand)?)\s+`)
})
