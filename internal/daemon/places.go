package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/account"
	"github.com/tenterhook/tenterhook/internal/daemon/client"
	"github.com/tenterhook/tenterhook/internal/environ"
	"github.com/tenterhook/tenterhook/internal/protect"
)

// places are the directories that an environment means, as the command would
// find them there.
type places struct {
	home, config, data, state string // "" = the environment names none
}

// placesOf reads an environment, "key=value".
func placesOf(env []string) places {
	p := places{home: environ.Home(func(name string) string { return environ.Get(env, name) })}
	if !filepath.IsAbs(p.home) {
		p.home = account.Home()
	}
	under := func(variable string) string {
		if dir := environ.Get(env, variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, "tenterhook")
		}
		if p.home == "" {
			return ""
		}
		return filepath.Join(standardDir(p.home, variable), "tenterhook")
	}
	p.config, p.data, p.state = under("XDG_CONFIG_HOME"), under("XDG_DATA_HOME"), under("XDG_STATE_HOME")
	return p
}

// accountPlaces are the standard directories of this user's account, zero if it
// has no home directory.
var accountPlaces = sync.OnceValue(func() places {
	if account.Home() == "" {
		return places{}
	}
	return placesOf([]string{"HOME=" + account.Home()})
})

// inUse reports whether an operator keeps anything there that decides: hooks,
// entries, approvals, or hooks that are switched off.
func (p places) inUse() bool {
	return p.home != "" && slices.ContainsFunc([]string{p.config, filepath.Join(p.state, "agents"),
		filepath.Join(p.state, "approvals.json"), filepath.Join(p.state, "disabled.json")}, exists)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// variables are the environment in which the command finds these places.
func (p places) variables() []string {
	env := []string{"HOME=" + p.home}
	for _, v := range []struct{ name, dir string }{{"XDG_CONFIG_HOME", p.config}, {"XDG_DATA_HOME", p.data}, {"XDG_STATE_HOME", p.state}} {
		if dir := filepath.Dir(v.dir); dir != standardDir(p.home, v.name) {
			env = append(env, v.name+"="+dir)
		}
	}
	return env
}

// Where is what an entry must say of an environment for its calls to find the
// operator's hooks wherever the agent's environment points; nil = nothing, they
// are where the account's are.
func Where(env []string) []string {
	p := placesOf(env)
	if p == accountPlaces() || p.home == "" {
		return nil
	}
	return p.variables()
}

// user is whose hooks judge a call. The environment of an agent may be another's
// work, a project's for one: what the operator's entry says counts, and else the
// account's own directories wherever they are in use. What the environment says
// beside that adds guards and takes nothing away.
type user struct {
	places           // settings, approvals and the journal
	others [2]places // whose guards count too; zero = none
	caller string    // the home directory that the call's environment names
	kept   string    // the state directory for what sessions leave behind
}

// userOf finds the user of a call with an environment, by an entry that says
// where the operator's directories are.
func userOf(env, where []string) user {
	caller, own := placesOf(env), accountPlaces()
	if len(where) == 0 && caller == own {
		return user{places: caller, caller: caller.home, kept: caller.state}
	}
	var all []places // the first is the one to obey
	if len(where) > 0 {
		all = append(all, placesOf(where))
	}
	used := own.inUse()
	if used {
		all = append(all, own)
	}
	all = append(all, caller)
	u := user{places: all[0], caller: caller.home, kept: all[0].state}
	if len(where) == 0 && (used || caller.home == own.home) {
		u.kept = own.state
	}
	others := u.others[:0]
	for _, p := range all[1:] {
		if p != u.places && !slices.Contains(others, p) && exists(p.config) {
			others = append(others, p)
		}
	}
	return u
}

// environ is the environment of a call's hooks. HOME and the XDG_ variables are
// those of the user's own directories, since hooks look there for theirs.
func (u user) environ(env []string) []string {
	hooks := make([]string, 0, len(env)+4)
	same := placesOf(env) == u.places && environ.Get(env, "HOME") == u.home
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if disarms(name) || !same && (name == "HOME" || standard[name] != "") {
			continue
		}
		hooks = append(hooks, kv)
	}
	if !same && u.home != "" {
		hooks = append(hooks, u.variables()...)
	}
	return hooks
}

// disarms tells whether a variable switches hooks off, or has programs load code before their own. An agent's project can
// set its environment, so the hooks of a bridged call do not get such a variable. Their manifest can set it.
func disarms(name string) bool {
	return slices.ContainsFunc(disarming, func(s string) bool {
		if prefix, ok := strings.CutSuffix(s, "*"); ok {
			return len(name) > len(prefix) && environ.Same(prefix, name[:len(prefix)])
		}
		return environ.Same(s, name)
	})
}

// A star stands for any end of a name. docs/daemon.md lists all of these.
var disarming = []string{
	"TENTERHOOK_NO_HOOKS", "CALIBAN_NO_HOOKS",
	"CLAUDE_CODE_SHELL_PREFIX", // with "true" every command succeeds
	// Of the loader and of the C library: ld.so(8), dyld(1).
	"LD_*", "DYLD_*", "GCONV_PATH", "OPENSSL_CONF",
	// Of shells: a file that runs first, options such as noexec, functions.
	"BASH_ENV", "BASH_FUNC_*", "ENV", "ZDOTDIR", "SHELLOPTS", "BASHOPTS", "PSModulePath",
	// Of interpreters: options, and where modules are looked for.
	"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONINSPECT", "NODE_OPTIONS", "NODE_PATH", "BUN_OPTIONS",
	"PERL5OPT", "PERL5LIB", "PERLLIB", "PERL5DB", "RUBYOPT", "RUBYLIB", "GEM_HOME", "GEM_PATH", "BUNDLE_GEMFILE", "LUA_*",
	"PHPRC", "PHP_INI_SCAN_DIR", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH",
	"DOTNET_STARTUP_HOOKS", "CORECLR_*", "COR_*", "R_PROFILE_USER", "R_PROFILE",
}

// homes are the directories that ~ may mean, besides the user's own.
func (u user) homes() []string {
	var list []string
	for _, home := range []string{u.others[0].home, u.others[1].home, u.caller} {
		if home != "" && home != u.home && !slices.Contains(list, home) {
			list = append(list, home)
		}
	}
	return list
}

// protection is what the user's agents must not change. run are the directories
// of daemons.
func (u user) protection(run ...string) *protect.Protection {
	var dirs []protect.Dirs
	for _, p := range append([]places{u.places}, u.others[:]...) {
		if p.home != "" {
			dirs = append(dirs, protect.Dirs{Home: p.home, Config: p.config, Data: p.data, State: p.state})
		}
	}
	return protect.New(append(run, u.kept), u.homes(), dirs...)
}

// Guards are the hooks that protect what is installed, for a registry of an
// environment; none if nothing is.
func Guards(env []string) []*hook.Hook {
	if p := userOf(env, nil).protection(Place(env).Dir); p.Active() {
		return []*hook.Hook{p.Guard()}
	}
	return nil
}

// Place is where the daemon of an environment is found.
func Place(env []string) client.Place {
	return client.Find(func(name string) string { return environ.Get(env, name) })
}
