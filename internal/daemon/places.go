package daemon

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/daemon/client"
	"github.com/tenterhook/tenterhook/internal/protect"
)

// places are the directories that a caller's environment means, as the command
// would find them there.
type places struct {
	home, config, data, state string // "" = the environment names none
}

// placesOf reads an environment, "key=value".
func placesOf(env []string) places {
	p := places{home: lookup(env, "HOME")}
	if !filepath.IsAbs(p.home) {
		p.home, _ = os.UserHomeDir()
	}
	under := func(variable string, standard ...string) string {
		if dir := lookup(env, variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, "tenterhook")
		}
		if p.home == "" {
			return ""
		}
		return filepath.Join(append(append([]string{p.home}, standard...), "tenterhook")...)
	}
	p.config = under("XDG_CONFIG_HOME", ".config")
	p.data = under("XDG_DATA_HOME", ".local", "share")
	p.state = under("XDG_STATE_HOME", ".local", "state")
	return p
}

func lookup(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(env[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// protection is what an environment's agents must not change.
func protection(env []string) *protect.Protection {
	p := placesOf(env)
	dirs := protect.Dirs{Home: p.home, Config: p.config, Data: p.data, State: p.state}
	if place, err := Place(env); err == nil {
		dirs.Run = place.Dir
	}
	return protect.New(dirs)
}

// Guards are the hooks that protect what is installed, for a registry of an
// environment; none if nothing is.
func Guards(env []string) []*hook.Hook {
	if p := protection(env); p.Active() {
		return []*hook.Hook{p.Guard()}
	}
	return nil
}

// Place is where the daemon of an environment is found.
func Place(env []string) (client.Place, error) {
	return client.Find(func(name string) string { return lookup(env, name) })
}
