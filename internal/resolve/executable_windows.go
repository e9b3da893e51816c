package resolve

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
)

// executable reports whether path is a program, with one of PATHEXT's endings
// where it has none, and where it is.
func executable(path string, e *Environ) (string, bool) {
	if filepath.Ext(path) != "" {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, true
		}
	}
	for _, ext := range strings.Split(cmp.Or(e.Get("PATHEXT"), ".COM;.EXE;.BAT;.CMD"), ";") {
		if info, err := os.Stat(path + ext); err == nil && info.Mode().IsRegular() {
			return path + ext, true
		}
	}
	return "", false
}

// shell returns the program and the flags that run a command line. Windows has
// no sh of its own: one on PATH (Git for Windows, say) is used.
func (e *Environ) shell(name string) (argv []string, remedy string) {
	switch name {
	case "powershell", "pwsh":
		for _, program := range []string{"pwsh", "powershell"} {
			if path, ok := e.lookPath(program); ok {
				return []string{path, "-NoProfile", "-NonInteractive", "-Command"}, ""
			}
		}
		return nil, "install PowerShell"
	}
	for _, program := range []string{cmp.Or(name, "sh"), "bash"} {
		if path, ok := e.lookPath(program); ok {
			return []string{path, "-c"}, ""
		}
	}
	return nil, "install a POSIX shell such as the one of Git for Windows, or give the command as args"
}
