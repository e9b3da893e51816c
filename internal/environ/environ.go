// Package environ reads lists of variables as os.Environ has them, by the rules of the system: on
// Windows the case of a name does not matter, and PATH is mostly spelt "Path".
//
// Stage: wherever a child or a caller has an environment of its own. It imports the standard
// library alone.
package environ

import (
	"runtime"
	"strings"
)

// Same reports whether two names mean the same variable.
func Same(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

// Lookup returns the value of a variable in a list of "name=value", and whether it is set. The
// last one of a name counts.
func Lookup(list []string, name string) (value string, set bool) {
	for i := len(list) - 1; i >= 0; i-- {
		// The names of Windows' own variables, such as "=C:", begin with a "=".
		if n := len(name); len(list[i]) > n && list[i][n] == '=' && Same(list[i][:n], name) {
			return list[i][n+1:], true
		}
	}
	return "", false
}

// Get is Lookup for a variable that is empty where it is not set.
func Get(list []string, name string) string {
	value, _ := Lookup(list, name)
	return value
}

// Home returns the home directory that an environment names, "" if it names none: HOME, which shells set on Windows
// too, or there USERPROFILE. Whatever in this module asks for the home of a user, and does not want the account's
// (internal/account), asks here: os.UserHomeDir passes over HOME on Windows.
func Home(get func(name string) string) string {
	home := get("HOME")
	if home == "" && runtime.GOOS == "windows" {
		home = get("USERPROFILE")
	}
	return home
}

// OtherHomes returns what ~ may mean besides Home: on Windows USERPROFILE, where HOME names another directory. Shells
// take ~ for the one, and most programs for the other.
func OtherHomes(get func(name string) string) []string {
	if runtime.GOOS != "windows" {
		return nil
	}
	if other := get("USERPROFILE"); other != "" && other != Home(get) {
		return []string{other}
	}
	return nil
}
