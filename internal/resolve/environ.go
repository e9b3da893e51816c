package resolve

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/environ"
)

// prefixVariable holds what the host puts before each shell line.
const prefixVariable = "CLAUDE_CODE_SHELL_PREFIX"

// Environ is a hook's environment: what the host hands down, what the protocol
// promises, and what the hook itself sets, the later ones first.
type Environ struct {
	list   []string // "key=value", a later one replaces an earlier
	prefix string   // of shell lines
}

// NewEnviron returns the environment of a hook. The prefix of shell lines is the
// host's to set, so what the hook says of it is left out.
func NewEnviron(h *hook.Hook, inherited []string, projectDir string) Environ {
	e := Environ{list: make([]string, len(inherited), len(inherited)+8+len(h.Env))}
	copy(e.list, inherited)
	e.prefix = e.Get(prefixVariable)
	e.Set("TENTERHOOK_PROJECT_DIR", projectDir)
	e.Set("CLAUDE_PROJECT_DIR", projectDir)
	if h.Source.Dir != "" {
		e.Set("HOOK_DIR", h.Source.Dir)
	}
	if h.Scope == hook.ScopePlugin {
		e.Set("CLAUDE_PLUGIN_ROOT", h.Source.Root)
		e.Set("CLAUDE_PLUGIN_DATA", h.Source.Data)
	}
	for _, key := range slices.Sorted(maps.Keys(h.Env)) {
		if key != prefixVariable {
			e.Set(key, h.Env[key])
		}
	}
	return e
}

// EnvironOf returns the environment of a program that is no hook.
func EnvironOf(list []string) Environ { return Environ{list: slices.Clone(list)} }

// Set sets a variable.
func (e *Environ) Set(key, value string) { e.list = append(e.list, key+"="+value) }

// List returns the environment as a process takes it.
func (e *Environ) List() []string { return e.list }

// Get returns a variable's value, "" if it is not set.
func (e *Environ) Get(key string) string {
	return environ.Get(e.list, key)
}

// Home is the home directory that the environment names, "" if it names none.
func (e *Environ) Home() string { return environ.Home(e.Get) }

var placeholderNames = []string{"CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA", "TENTERHOOK_PROJECT_DIR", "HOOK_DIR"}

// placeholders replaces the ${…} that the protocol promises in arguments. A
// shell line needs none of it: there they are variables, which cannot become
// shell text.
func (e *Environ) placeholders(s string) string {
	if !strings.Contains(s, "${") {
		return s
	}
	for _, key := range placeholderNames {
		s = strings.ReplaceAll(s, "${"+key+"}", e.Get(key))
	}
	return s
}

// lookPath finds a program on the environment's PATH. An element that is not
// absolute is passed over: it would let a workspace bring its own git.
func (e *Environ) lookPath(name string) (string, bool) {
	for _, dir := range filepath.SplitList(e.Get("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, ok := executable(filepath.Join(dir, name), e); ok {
			return path, true
		}
	}
	return "", false
}

// relativePath reports whether PATH has an element that depends on the working
// directory. A shell looks there too.
func (e *Environ) relativePath() bool {
	return slices.ContainsFunc(strings.Split(e.Get("PATH"), string(filepath.ListSeparator)), func(dir string) bool { return !filepath.IsAbs(dir) })
}

// moves reports whether a variable can change which files a program loads,
// whatever its arguments.
func moves(name string) bool {
	return slices.Contains(movers, name) || slices.ContainsFunc(moverPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// movers are variables that shells, interpreters and loaders find files by.
var movers = strings.Fields(`PATH PATHEXT COMSPEC IFS ENV CDPATH FPATH fpath PS4 SHELL SHELLOPTS BASHOPTS GLOBIGNORE
	NULLCMD READNULLCMD ZDOTDIR HOME TMPDIR TMP TEMP PWD OLDPWD HOOK_DIR GCONV_PATH LOCPATH NLSPATH GLIBC_TUNABLES HOSTALIASES
	PROMPT_COMMAND EDITOR VISUAL PAGER BROWSER MANPAGER LESSOPEN LESSCLOSE TERMINFO TERMINFO_DIRS AWKPATH AWKLIBPATH MAKEFLAGS
	CLASSPATH VIRTUAL_ENV GOFLAGS GOROOT GOPATH GOENV GOWORK RUSTC_WRAPPER RUSTFLAGS MODULEPATH TCLLIBPATH SSLKEYLOGFILE`)

var moverPrefixes = strings.Fields(`CLAUDE_ TENTERHOOK_ BASH_ LD_ DYLD_ PYTHON NODE_ NPM_ npm_ YARN_ PNPM_ BUN_ DENO_ PERL RUBY GEM_ BUNDLE_
	PHP LUA_ JAVA_ JDK_ _JAVA_ JQ_ GIT_ SSH_ XDG_ CARGO_ OPENSSL_ DOTNET_ COMPlus_ CORECLR_ POWERSHELL PSModule SYSTEMD_`)

// HasShell reports whether command lines can be run in an environment, "key=value".
func HasShell(env []string) bool {
	argv, _ := (&Environ{list: env}).shell("")
	return argv != nil
}
