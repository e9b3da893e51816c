package plugins

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/tenterhook/tenterhook/hook"
)

// Package is one installed package: a folder with plugins in it.
type Package struct {
	Name        string
	Dir         string
	Version     string // of plugin.toml, or what the only plugin calls itself
	Description string
	Env         []string      // variables that plugin.toml asks for; an approval grants them
	Sandbox     *hook.Sandbox // what plugin.toml asks for; nil = nothing; an approval grants it
	Plugins     []Plugin      // in order of their names
}

// Plugin is one executable of a package.
type Plugin struct {
	Name     string // without tenterhook-plugin-
	Path     string
	Digest   string // the sha256 of the file as it is now, in hex; "" = it cannot be read
	Approved string // the digest that is approved; "" = none
	Hooks    int    // how many it described; -1 = it was not asked yet
	State    State
	Why      string // of a state that is not in order

	Processes []Process // of this user's hosts, those where it runs first
}

// State is how a plugin stands, in the `plugin list` command's words.
type State string

// The states.
const (
	StateStopped   State = "stopped"  // ready to be started
	StateStarting  State = "starting" // being started
	StateRunning   State = "running"
	StateFailing   State = "failing"   // it failed of late and is not started for a while
	StateUntrusted State = "untrusted" // it is not approved
	StateChanged   State = "changed"   // it is not what was approved
	StateInvalid   State = "invalid"   // it cannot be run
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
		plugin, said, p := h.plugin(one, file, standing[one.path])
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
func (h *Host) plugin(one binary, file packageFile, processes []Process) (Plugin, string, *Problem) {
	row := Plugin{Name: one.name, Path: one.path, Hooks: -1, State: StateStopped, Processes: processes}
	if seal, p := h.seal(one.path); p == nil {
		row.Digest = digestOf(seal.Folder())
	}
	if found, _ := h.approvals(one.path); len(found) > 0 {
		row.Approved = digestOf(h.likely(one.path, found).Folder)
	}
	var version string
	d, unknown := h.recall(one.path, row.Digest)
	if unknown == nil {
		row.Hooks, version = len(d.GetHooks()), d.GetVersion()
	}
	a, p := h.approval(one.path)
	if p == nil {
		row.Approved = a.digest
		p = a.differ(one.path, file)
	}
	if p != nil {
		row.Why = p.Reason
		switch p.Code {
		case CodeUntrusted:
			row.State = StateUntrusted
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
		if key[0] == "sandbox" { // it has keys of its own
			continue
		}
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
