package plugins

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/internal/environ"
)

// usual are the variables of the host that every plugin may see: what programs
// need to run at all, and nothing that could be a secret.
var usual = []string{"PATH", "HOME", "TMPDIR", "LANG", "LANGUAGE", "TZ"}

// usualOnWindows are the variables that programs need there.
var usualOnWindows = []string{"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "TEMP", "TMP", "USERPROFILE", "PATHEXT", "COMSPEC"}

// handedDown is what a plugin gets of the host's variables: the usual ones and
// the ones that were allowed by name. PATH is without relative elements, which
// would have a workspace bring its own programs.
func handedDown(host []string, allowed ...[]string) []string {
	names := slices.Concat(append(allowed, usual)...)
	if runtime.GOOS == "windows" {
		names = append(names, usualOnWindows...)
	}
	var env []string
	for _, variable := range host {
		name, value, _ := strings.Cut(variable, "=")
		if !slices.ContainsFunc(names, func(n string) bool { return environ.Same(n, name) }) && !strings.HasPrefix(name, "LC_") {
			continue
		}
		if environ.Same(name, "PATH") {
			elements := slices.DeleteFunc(filepath.SplitList(value), func(dir string) bool { return !filepath.IsAbs(dir) })
			if len(elements) == 0 {
				continue // an empty one would be the working directory
			}
			variable = name + "=" + strings.Join(elements, string(filepath.ListSeparator))
		}
		env = append(env, variable)
	}
	return env
}
