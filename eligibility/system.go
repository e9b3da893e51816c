package eligibility

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// systemNames are the names of systems other than Go's: what people call them,
// and what Node.js does, whose manifests say win32 and sunos.
var systemNames = map[string]string{
	"macos": "darwin",
	"osx":   "darwin",
	"mac":   "darwin",
	"win32": "windows",
	"win":   "windows",
	"sunos": "solaris",
}

// foreignSystem says whether systems leave out goos, and how to say that. An
// empty list leaves out none.
func foreignSystem(systems []string, goos string) (hook.Diagnostic, bool) {
	if len(systems) == 0 {
		return hook.Diagnostic{}, false
	}
	var wanted []string
	for _, name := range systems {
		system := goosOf(name)
		if system == goos {
			return hook.Diagnostic{}, false
		}
		if name := show(displayName(system)); !slices.Contains(wanted, name) {
			wanted = append(wanted, name)
		}
	}
	this := displayName(goos)
	return unmet(fmt.Sprintf("runs on %s only, this is %s", join(wanted, ", "), this),
		fmt.Sprintf("if the hook works here, add %q to requires.os", this)), true
}

// goosOf returns the GOOS that a name means; an unknown name means itself.
func goosOf(name string) string {
	name = strings.ToLower(name)
	if goos, ok := systemNames[name]; ok {
		return goos
	}
	return name
}

// displayName returns the name of a system in our manifests.
func displayName(goos string) string {
	if goos == "darwin" {
		return "macos"
	}
	return goos
}
