//go:build !windows

package resolve

import (
	"os"
	"path/filepath"
)

// Copy stands for the copy of a folder that a hook runs from. As long as that is
// not known, it is what the hook's Source.Dir is resolved as.
const Copy = "/.tenterhook-copy"

// named is the path of a program that a command names.
func (l *locator) named(path string) string { return path }

// executable reports whether path is a program, and where it is.
func executable(path string, _ *Environ) (string, bool) {
	info, err := os.Stat(path)
	return path, err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// shell returns the program and the flags that run a command line.
func (e *Environ) shell(name string) (argv []string, remedy string) {
	switch name {
	case "", "sh":
		return []string{"/bin/sh", "-c"}, ""
	case "bash", "zsh":
		if path, ok := e.lookPath(name); ok {
			return []string{path, "-c"}, ""
		}
	case "powershell", "pwsh":
		if path, ok := e.lookPath("pwsh"); ok {
			return []string{path, "-NoProfile", "-NonInteractive", "-Command"}, ""
		}
		return nil, "install PowerShell (pwsh), or write the hook for sh"
	case "cmd":
		return nil, "cmd is on Windows alone; write the hook for sh, or say requires.os"
	default:
		if filepath.IsAbs(name) {
			return []string{name, "-c"}, ""
		}
	}
	return nil, "use sh, bash, zsh, powershell or the full path of a shell"
}
