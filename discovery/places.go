package discovery

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/adrg/xdg"
)

// DefaultManagedDir is where an administrator puts hooks for everybody. It does
// not depend on the environment, which is anybody's to set.
func DefaultManagedDir() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/tenterhook"
	case "windows":
		return `C:\Program Files\tenterhook`
	}
	return "/etc/tenterhook"
}

// DefaultUserDir is $XDG_CONFIG_HOME/tenterhook, by the environment as it is at
// the time of the call, or "" if there is no home directory to start from. On
// Windows it is tenterhook in the user's roaming AppData where that variable is
// not set: the state is in the local one.
func DefaultUserDir() string {
	return homely(configHome)
}

// DefaultPluginsDir is $XDG_DATA_HOME/tenterhook/plugins, by the environment as
// it is at the time of the call, or "" if there is no home directory.
func DefaultPluginsDir() string {
	dir := homely(func() string { return xdg.DataHome })
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "plugins")
}

// DefaultStateDir is $XDG_STATE_HOME/tenterhook, where approvals are kept, by
// the environment as it is at the time of the call, or "" if there is no home
// directory.
func DefaultStateDir() string {
	return homely(func() string { return xdg.StateHome })
}

// homely returns the tenterhook folder in one of xdg's directories. A relative
// one is none: it would hand the user's scope to whatever folder one stands in.
func homely(of func() string) string {
	environment.Lock()
	defer environment.Unlock()
	if now := readEnvironment(); now != environment.seen {
		xdg.Reload()
		environment.seen = now
	}
	dir := of()
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "tenterhook")
}

// environment is what xdg made its variables of when it was loaded, or last
// reloaded. They are global, so they are left alone until something changed.
var environment = struct {
	sync.Mutex
	seen variables
}{seen: readEnvironment()}

type variables [6]string

func readEnvironment() (v variables) {
	for i, name := range [...]string{"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "USERPROFILE", "LOCALAPPDATA"} {
		v[i] = os.Getenv(name)
	}
	return v
}
