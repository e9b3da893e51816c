package daemon

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// standard is where the directories of variables are, below the home directory.
var standard = map[string]string{"XDG_CONFIG_HOME": `AppData\Roaming`, "XDG_DATA_HOME": `AppData\Local`, "XDG_STATE_HOME": `AppData\Local`}

// standardDir is the directory of a variable that is not set. Windows may have moved those of a user's profile.
func standardDir(home, variable string) string {
	below := filepath.Join(home, standard[variable])
	if profile, err := windows.KnownFolderPath(windows.FOLDERID_Profile, windows.KF_FLAG_DEFAULT); err != nil || !strings.EqualFold(profile, home) {
		return below
	}
	folder := windows.FOLDERID_LocalAppData
	if variable == "XDG_CONFIG_HOME" {
		folder = windows.FOLDERID_RoamingAppData
	}
	if dir, err := windows.KnownFolderPath(folder, windows.KF_FLAG_DEFAULT); err == nil {
		return dir
	}
	return below
}
