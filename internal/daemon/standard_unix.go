//go:build unix

package daemon

import "path/filepath"

// standard is where the directories of variables are, below the home directory.
var standard = map[string]string{"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share", "XDG_STATE_HOME": ".local/state"}

// standardDir is the directory of a variable that is not set.
func standardDir(home, variable string) string { return filepath.Join(home, standard[variable]) }
