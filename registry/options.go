package registry

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/afero"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/load"
)

// Options configure a registry. The zero value loads the standard scopes of
// the current directory. Open copies it.
type Options struct {
	// Workspace is a directory of the project; "" = the current directory. The
	// project's root is looked for there and above, see
	// [discovery.ProjectRoot] and [Registry.Workspace].
	Workspace string
	// Dirs are folders of <name>/HOOK.md that the operator named; trusted.
	Dirs []string
	// DirSandbox is the sandbox of hooks of Dirs that declare none, and its Optional counts for all of them: for a
	// host that runs hooks of another scope from there, as a test does. nil = what the settings say.
	DirSandbox *hook.Sandbox
	// ManagedDir, UserDir and PluginsDir replace the standard directories of
	// the managed, the user and the plugin scope; "" = the standard one.
	ManagedDir, UserDir, PluginsDir string
	// GuardDirs are more directories like UserDir. Of their hooks those count that
	// can prevent something, as far as they refuse or ask. Their settings switch
	// nothing off and allow nothing.
	GuardDirs []string
	// Homes are more directories that ~ may mean, besides HOME of Env: a rule that
	// refuses or asks holds if it holds for any of them, a rule that allows if it
	// holds for all.
	Homes []string
	// Without leaves scopes out.
	Without []hook.Scope
	// StateDir is where approvals are kept; "" = $XDG_STATE_HOME/tenterhook.
	StateDir string
	// Approvals are files of approvals that the operator hands in, made by
	// `tenterhook trust --export`, for machines without a person.
	Approvals []string
	// FS is where definitions are read from; nil = the machine's file system.
	FS afero.Fs

	// Compat names products whose config files are read too, in their own
	// places: "claude", "caliban", "codex", …, or "all".
	Compat []string

	// NoHooks skips every hook from a file, and says so. Managed hooks run on,
	// unless the managed settings have allow_no_hooks.
	NoHooks bool
	// Serial runs hooks one after the other, each on the input that the last
	// one left, in place of side by side.
	Serial bool
	// StrictCompat turns off what `if` rules add to the Claude Code protocol:
	// seeing through sudo, timeout, bash -c and the like.
	StrictCompat bool
	// NonInteractive is for hosts without a person: prompt, agent and function
	// hooks then fail as unsupported.
	NonInteractive bool

	// Env is what hooks inherit and requirements are checked against, as
	// "key=value"; nil = this process's environment.
	Env []string
	// Handlers run kinds of hooks, in the place of or beside the built-in
	// ones. A kind without a handler is unsupported. A handler that is a [Configurer]
	// gets the settings, and an io.Closer is closed with the
	// registry, once. A handler that panics or hangs is a failure of its hook.
	Handlers map[hook.Kind]hook.Handler

	// ToolSchema returns the JSON Schema of a tool's input, nil = none. An
	// input that hooks rewrote must satisfy it, or the call is denied; so is
	// one whose schema cannot be had, since this function panics or takes
	// longer than 5 s.
	ToolSchema func(tool string) json.RawMessage

	// Guards are in-process hooks in the place of managed ones, for a host that
	// protects itself: no settings switch them off but self_protection = false of
	// the managed, the user and the named scopes.
	Guards []*hook.Hook

	// MaxParallel bounds the hooks that run side by side, over all
	// dispatches; 0 = 32 or four for each processor, whichever is more.
	MaxParallel int
	// MaxAsync bounds the hooks that run in the background; 0 = what the
	// settings say when the registry is opened, or 16. As many as 64 times that
	// wait in a queue; what is over is dropped and counted.
	MaxAsync int
	// DrainTimeout is how long Close waits for background hooks; 0 = 5 s.
	DrainTimeout time.Duration
	// StopLimit is how often in a row Stop and SubagentStop hooks may keep an
	// agent of a session working before they are overridden; nil = 8, 0 = off.
	StopLimit *int

	// OnAsync takes the result of each background hook. It is called from
	// many goroutines and must return within 5 s. A panic is a diagnostic.
	OnAsync func(AsyncResult)
	// Recorder keeps what dispatches and background hooks came to; nil = nothing
	// is kept. A journal.Recorder is one.
	Recorder hook.Recorder
	// Logger gets failures and results; nil = silence. It never sees
	// a payload or an environment value.
	Logger *slog.Logger
}

const (
	defaultMaxAsync     = 16
	defaultDrainTimeout = 5 * time.Second
	defaultStopLimit    = 8
)

func (o Options) withDefaults() Options {
	o.Dirs, o.GuardDirs, o.Homes = slices.Clone(o.Dirs), slices.Clone(o.GuardDirs), slices.Clone(o.Homes)
	o.Without = slices.Clone(o.Without)
	o.Env = slices.Clone(o.Env)
	o.Approvals = slices.Clone(o.Approvals)
	o.Handlers = maps.Clone(o.Handlers)
	o.MaxParallel = cmp.Or(max(o.MaxParallel, 0), max(32, 4*runtime.GOMAXPROCS(0)))
	o.MaxAsync = max(o.MaxAsync, 0)
	o.DrainTimeout = cmp.Or(o.DrainTimeout, defaultDrainTimeout)
	if o.StopLimit == nil {
		limit := defaultStopLimit
		o.StopLimit = &limit
	}
	return o
}

func (o *Options) maxAsync(p *load.Settings) int {
	return cmp.Or(o.MaxAsync, p.MaxAsync, defaultMaxAsync)
}

// stateDir is where approvals are kept.
func (o *Options) stateDir() string { return cmp.Or(o.StateDir, discovery.DefaultStateDir()) }
