package discovery

import (
	"os"
	"strings"

	"github.com/adrg/xdg"
	"golang.org/x/sys/windows"
)

// PlainPath is a path without the prefix behind which Windows reads every character as it stands, also a slash: \\?\C:\x is
// C:\x, and \\?\UNC\server\share is \\server\share.
func PlainPath(path string) string {
	rest, ok := strings.CutPrefix(path, `\\?\`)
	switch {
	case !ok:
		return path
	case len(rest) > 3 && strings.EqualFold(rest[:4], `UNC\`):
		return `\\` + rest[4:]
	case len(rest) > 1 && rest[1] == ':':
		return rest
	}
	return path
}

// configHome is what holds directories of settings. xdg has settings and state in one directory here, and what tenterhook
// keeps for itself would stand among the user's hooks.
func configHome() string {
	if os.Getenv("XDG_CONFIG_HOME") != "" {
		return xdg.ConfigHome
	}
	dir, err := windows.KnownFolderPath(windows.FOLDERID_RoamingAppData, windows.KF_FLAG_DEFAULT)
	if err != nil {
		return xdg.ConfigHome
	}
	return dir
}
