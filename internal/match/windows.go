package match

import (
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// onWindows says that paths are read as Windows reads them.
var onWindows = runtime.GOOS == "windows"

// slashed makes a path one with slashes, as patterns and the rest of this package have them. On Windows C:\x and
// \\?\C:\x become /C/x, as in the shell of Git for Windows, \\server\share becomes /server/share, and what Windows drops
// of a name is dropped: dots and spaces at its end, and the stream behind a colon.
func slashed(name string) string {
	if !onWindows || name == "" {
		return name
	}
	name = strings.ReplaceAll(name, `\`, "/")
	for _, prefix := range []string{"//?/", "//./", "/??/"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			name = rest
			if unc, ok := cutFold(name, "unc/"); ok {
				name = "//" + unc
			} else if !hasDrive(name) {
				name = "/" + name // a device
			}
		}
	}
	switch {
	case hasDrive(name):
		name = "/" + name[:1] + "/" + strings.TrimLeft(name[2:], "/")
	case localShare().MatchString(name):
		name = localShare().ReplaceAllString(name, "/$1/")
	default:
		if rest, ok := cutFold(name, "/cygdrive/"); ok {
			name = "/" + rest
		}
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if part == "." || part == ".." {
			continue
		}
		part, _, _ = strings.Cut(part, ":")
		parts[i] = strings.TrimRight(part, ". ")
	}
	return strings.Join(parts, "/")
}

// localShare matches the shares that Windows makes of its own drives: \\localhost\C$\x is C:\x.
var localShare = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^//(?:localhost|127\.0\.0\.1|\[?::1\]?|--1\.ipv6-literal\.net|\.)/([a-z])\$(?:/|$)`)
})

func hasDrive(name string) bool {
	return len(name) > 1 && name[1] == ':' && (name[0]|0x20) >= 'a' && (name[0]|0x20) <= 'z'
}

func cutFold(s, prefix string) (rest string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// driveOf is the beginning of a slashed path that stands for a drive, as /c; "" = it has none.
func driveOf(name string) string {
	if onWindows && len(name) > 1 && name[0] == '/' && (name[1]|0x20) >= 'a' && (name[1]|0x20) <= 'z' && (len(name) == 2 || name[2] == '/') {
		return name[:2]
	}
	return ""
}

// native is the path of a slashed one for the system: /c/x is C:\x.
func native(name string) string {
	if drive := driveOf(name); drive != "" {
		return filepath.FromSlash(drive[1:] + ":/" + strings.TrimPrefix(name[2:], "/"))
	}
	if onWindows && strings.HasPrefix(name, "/") { // a share
		name = "/" + name
	}
	return filepath.FromSlash(name)
}

// slashedPath makes a path absolute and slashed. A relative one is taken from cwd, and on Windows one without a drive
// from that of cwd.
func slashedPath(name, cwd string) (string, bool) {
	cwd = slashed(cwd)
	rooted := onWindows && len(name) > 1 && isSeparator(name[0]) && !isSeparator(name[1])
	relative := onWindows && hasDrive(name) && (len(name) == 2 || !isSeparator(name[2])) // to a directory of its own
	name = slashed(name)
	switch {
	case rooted && driveOf(name) == "":
		return driveOf(cwd) + name, true
	case relative && strings.EqualFold(driveOf(name), driveOf(cwd)):
		name = strings.TrimLeft(name[2:], "/")
	}
	if strings.HasPrefix(name, "/") {
		return name, true
	}
	if !strings.HasPrefix(cwd, "/") {
		return "", false
	}
	return cwd + "/" + name, true
}

// drivePlace judges the loss of all that a path on a drive names.
func drivePlace(parts []string) place {
	n := len(parts)
	if n > 0 && everything(parts[n-1]) { // all in a directory is that directory
		n--
	}
	switch {
	case n == 0:
		return place{harm: fatal, kind: ofSystem, what: "a whole drive"}
	case parts[0] == "users" && n == 1:
		return place{harm: fatal, kind: ofSystem, what: "all home directories"}
	case parts[0] == "users":
		return homePlace(parts[2:])
	case slices.Contains(driveDirs, parts[0]) && (n == 1 || n == 2 && parts[0] == "windows" && strings.HasPrefix(parts[1], "sys")): // System32, SysWOW64
		return place{harm: fatal, kind: ofSystem, what: "a directory of the system"}
	case slices.Contains(driveDirs, parts[0]) && n == 2:
		return place{harm: doubtful, kind: ofSystem, what: "a part of the system"}
	case n == 1:
		return place{harm: doubtful, kind: ofSystem, what: "a directory directly under a drive"}
	}
	return place{}
}

// windowsDisk matches a disk, and a drive as the device that it is: \\.\PhysicalDrive0, \\.\C:.
var windowsDisk = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^[\\/]{2}[.?][\\/](globalroot[\\/].*|physicaldrive.*|harddisk.*|[a-z]:)$`)
})

// driveDirs are the directories of a drive without which Windows is lost.
var driveDirs = []string{"windows", "program files", "program files (x86)", "progra~1", "progra~2", "programdata", "boot"}

// separators are what stands between the parts of a path.
func separators() string {
	if onWindows {
		return `/\`
	}
	return "/"
}

// withoutEnding is a program's name in lower case without what Windows completes it by. WSL also runs .exe.
func withoutEnding(name string) string {
	name = strings.TrimSuffix(name, ".exe")
	if onWindows {
		for _, ending := range []string{".com", ".bat", ".cmd"} {
			name = strings.TrimSuffix(name, ending)
		}
	}
	return name
}

func isSeparator(b byte) bool { return b == '/' || b == '\\' }

// cwd, workspace and home are the call's directories as this package has paths.
func (c *Call) cwd() string       { return slashed(c.Cwd) }
func (c *Call) workspace() string { return slashed(c.Workspace) }
func (c *Call) home() string      { return slashed(c.Home) }

// onDrive is a pattern that begins with a drive, for the file system's root: C:\x and /c/x are /c/x there.
func onDrive(pattern string) (string, bool) {
	if !onWindows || driveOf(slashed(pattern)) == "" && !strings.HasPrefix(pattern, `\`) {
		return "", false
	}
	return strings.TrimLeft(path.Clean(slashed(pattern)), "/"), true
}
