package plugins

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/BurntSushi/toml"

	"github.com/tenterhook/tenterhook/hook"
)

// Package is one installed package: a folder with plugins in it.
type Package struct {
	Name        string
	Dir         string
	Version     string // of plugin.toml, or what the only plugin calls itself
	Description string
	Env         []string      // variables that plugin.toml asks for; a lock file grants them
	Sandbox     *hook.Sandbox // what plugin.toml asks for; nil = nothing; a lock file grants it
	Plugins     []Plugin      // in order of their names
}

// Plugin is one executable of a package.
type Plugin struct {
	Name   string // without tenterhook-plugin-
	Path   string
	Digest string // the sha256 of the file as it is now, in hex; "" = it cannot be read
	Locked string // the digest that the lock file approves; "" = none
	Hooks  int    // how many it described; -1 = nobody asked it yet
	State  State
	Why    string // of a state that is not in order

	Processes []Process // of this user's hosts, those where it runs first
}

// State is how a plugin stands, in the `plugin list` command's words.
type State string

// The states.
const (
	StateStopped  State = "stopped"  // ready to be started
	StateStarting State = "starting" // being started
	StateRunning  State = "running"
	StateFailing  State = "failing"  // it failed of late and is not started for a while
	StateUnlocked State = "unlocked" // it is not approved
	StateChanged  State = "changed"  // it is not what was approved
	StateInvalid  State = "invalid"  // it cannot be run
)

// manifestName is the file that says more about a package. It is not needed.
const (
	manifestName = "plugin.toml"
	maxManifest  = 4 << 10 // bytes
)

type packageFile struct {
	Version     string   `toml:"version"`
	Description string   `toml:"description"`
	Env         []string `toml:"env"`
	Sandbox     any      `toml:"sandbox"`

	box *hook.Sandbox // what Sandbox comes to
}

// Packages lists the packages in a folder of packages, in the order of their
// names. It starts nothing. A folder that does not exist has none.
func (h *Host) Packages(dir string) ([]Package, []hook.Diagnostic) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, []hook.Diagnostic{about(CodeMissing, dir, err, "make the folder readable").Diagnostic()}
	}
	var list []Package
	var notes []hook.Diagnostic
	standing := h.standing()
	for _, e := range entries {
		folder := filepath.Join(dir, e.Name())
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			continue
		}
		one, more := h.inspect(folder, standing)
		if len(one.Plugins) > 0 || len(more) > 0 {
			list = append(list, one)
			notes = append(notes, more...)
		}
	}
	return list, notes
}

// Package reads one package's folder. It starts nothing. The diagnostics say
// what keeps its plugins from running.
func (h *Host) Package(dir string) (Package, []hook.Diagnostic) {
	return h.inspect(dir, h.standing())
}

func (h *Host) inspect(dir string, standing map[string][]Process) (Package, []hook.Diagnostic) {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	pkg := Package{Name: filepath.Base(dir), Dir: dir}
	file, notes := readPackageFile(filepath.Join(dir, manifestName))
	pkg.Version, pkg.Description, pkg.Env, pkg.Sandbox = file.Version, file.Description, file.Env, file.box
	found, err := binaries(dir)
	if err != nil {
		return pkg, append(notes, about(CodeMissing, dir, err, "make the folder readable").Diagnostic())
	}
	for _, one := range found {
		plugin, said, p := h.plugin(one, standing[one.path])
		if p != nil {
			notes = append(notes, p.Diagnostic())
		}
		if pkg.Version == "" && len(found) == 1 {
			pkg.Version = said
		}
		pkg.Plugins = append(pkg.Plugins, plugin)
	}
	return pkg, notes
}

// plugin is how one plugin stands, the version that it gives itself, and what
// keeps it from running.
func (h *Host) plugin(one binary, processes []Process) (Plugin, string, *Problem) {
	row := Plugin{Name: one.name, Path: one.path, Hooks: -1, State: StateStopped, Processes: processes}
	row.Digest, _ = h.digests.of(one.path)
	if lock, p := h.pins.now(); p == nil {
		pin, _ := lock.Pin(one.path)
		row.Locked = pin.SHA256
	}
	var version string
	d, unknown := h.recall(one.path, row.Digest)
	if unknown == nil {
		row.Hooks, version = len(d.GetHooks()), d.GetVersion()
	}
	if _, p := h.approval(one.path); p != nil {
		row.Why = p.Reason
		switch p.Code {
		case CodeUnlocked:
			row.State = StateUnlocked
		case CodeChanged:
			row.State = StateChanged
		default:
			row.State = StateInvalid
		}
		return row, version, p
	}
	if len(processes) > 0 {
		row.State, row.Why = processes[0].State, processes[0].Why
	}
	return row, version, unknown
}

// Lock learns what hooks the plugins of a package have, and approves them: it
// writes their digests, and the variables and the sandbox that plugin.toml asks
// for, to the lock file. It returns the package as it is then. Plugins that failed are not
// approved, and are in the error.
func (h *Host) Lock(ctx context.Context, dir string) (Package, error) {
	pkg, notes := h.Package(dir)
	_, err := binaries(dir)
	for _, d := range notes {
		if err == nil && d.Code == CodeManifest { // what it asks for is what would be approved
			return pkg, &Problem{Code: d.Code, Path: d.Path, Reason: d.Message, Hint: d.Hint}
		}
	}
	all, failed := h.learn(ctx, dir)
	if len(all) == 0 {
		return pkg, failed
	}
	locking.Lock()
	defer locking.Unlock()
	lock, err := ReadLock(h.options.LockFile)
	if err != nil {
		return pkg, errors.Join(failed, err)
	}
	for _, one := range all {
		lock.Set(one.path, Pin{SHA256: one.digest, Version: one.description.GetVersion(), Env: pkg.Env, Sandbox: pkg.Sandbox})
	}
	if err := lock.Write(); err != nil {
		return pkg, errors.Join(failed, err)
	}
	pkg, _ = h.Package(dir)
	return pkg, failed
}

// locking keeps the changes of this process to lock files apart.
var locking sync.Mutex

func readPackageFile(path string) (packageFile, []hook.Diagnostic) {
	var file packageFile
	wrong := func(reason string) (packageFile, []hook.Diagnostic) {
		return packageFile{}, []hook.Diagnostic{(&Problem{Code: CodeManifest, Path: path, Reason: reason, Hint: "see docs/plugins.md"}).Diagnostic()}
	}
	data, err := readFile(path, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return file, nil
	}
	if err != nil {
		return wrong(bare(err))
	}
	meta, err := toml.Decode(string(data), &file)
	if err != nil {
		return wrong(err.Error())
	}
	var notes []hook.Diagnostic
	for _, key := range meta.Undecoded() {
		hint := ""
		if near := hook.Nearest(key.String(), []string{"version", "description", "env", "sandbox"}); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		notes = append(notes, hook.Diagnostic{Severity: hook.SeverityWarning, Code: "unknown_key", Path: path,
			Message: fmt.Sprintf("%s: no such key; it has no effect", key), Hint: hint})
	}
	if file.box, err = declaredBox(file.Sandbox); err != nil {
		return wrong(err.Error())
	}
	slices.Sort(file.Env)
	file.Env = slices.Compact(file.Env)
	return file, notes
}
