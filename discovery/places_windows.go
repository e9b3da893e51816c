package discovery

import (
	"os"

	"github.com/adrg/xdg"
	"golang.org/x/sys/windows"
)

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
