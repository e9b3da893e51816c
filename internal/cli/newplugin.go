package cli

import (
	"bufio"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/tenterhook/tenterhook/internal/pack"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

const (
	module = "github.com/tenterhook/tenterhook"

	// moduleGo is the go line of this module's go.mod, below which no module that
	// requires this one may go.
	moduleGo = "1.26.0"
)

// pluginName is what a new plugin may be called: a folder's name, and the end
// of a module's path.
var pluginName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$`) })

// newPlugin is what the templates of a plugin are filled with.
type newPlugin struct {
	Name, Hook, Module, Go string
	Trust, Try             string // commands
	dependency
}

// dependency is how a new plugin comes to this module: a published version, or
// the checkout that this program was built from. Both may be unknown.
type dependency struct{ Version, Checkout string }

func (a *app) makePlugin(name string) error {
	if !pluginName().MatchString(name) {
		return &located{"bad_name", fmt.Sprintf("%q cannot be a plugin's name", name),
			"use letters, digits, '.', '_' and '-', with a letter or digit at both ends"}
	}
	if err := pack.CheckPart(name, name); err != nil {
		return &located{"bad_name", err.Error(), "take another name"}
	}
	if a.pluginsDir() == "" {
		return &located{"no_home", "no home directory is known, where plugins are installed", "set HOME"}
	}
	dir, err := a.newPluginDir(name)
	if err != nil {
		return err
	}
	const hookName = "no-secrets"
	p := newPlugin{Name: name, Hook: hookName, Module: module, Go: moduleGo, dependency: ownDependency(),
		Trust: "tenterhook trust plugin/" + name + "/" + name,
		Try:   `tenterhook run PreToolUse --tool Write --input '{"file_path":".env"}'`,
	}
	files, err := writeTemplates(dir, []string{"templates/plugin/*.tmpl"}, p)
	if err != nil {
		return err
	}
	next := a.nextCommands(dir, p)
	if a.json {
		return a.printJSON(map[string]any{"dir": dir, "files": files, "next": next, "try": p.Try})
	}
	a.printMade(dir, files)
	fmt.Fprintln(a.Out, "build it and approve it:")
	for _, command := range next {
		fmt.Fprintf(a.Out, "  %s\n", phrase.Printable(command))
	}
	fmt.Fprintf(a.Out, "try it:\n  %s\n", phrase.Printable(p.Try))
	return nil
}

// newPluginDir is where a plugin's source goes: where the user is, or said. What
// is built from it goes where plugins are looked for.
func (a *app) newPluginDir(name string) (string, error) {
	switch len(a.opts.Dirs) {
	case 0:
		return filepath.Abs(name)
	case 1:
		return filepath.Abs(filepath.Join(a.opts.Dirs[0], name))
	}
	return "", &located{"bad_dir", "a new plugin goes into one folder", "give --dir once"}
}

// nextCommands lead from the source to a plugin that runs.
func (a *app) nextCommands(dir string, p newPlugin) []string {
	next := []string{"cd " + shellQuote(dir)}
	if p.Version == "" {
		next = append(next, fmt.Sprintf("go get %s@latest   # or, of its source: go mod edit -replace %s=FOLDER", module, module))
	}
	next = append(next, "go mod tidy && go test ./...")
	if runtime.GOOS == "windows" {
		to := filepath.Join(a.pluginsDir(), p.Name)
		return append(next, "mkdir "+cmdQuote(to), "copy plugin.toml "+cmdQuote(to), "go build -o "+cmdQuote(filepath.Join(to, "tenterhook-plugin-"+p.Name+".exe"))+" .", p.Trust)
	}
	return append(next,
		"dir="+shellQuote(filepath.Join(a.pluginsDir(), p.Name)),
		`(umask 022; mkdir -p "$dir" && cp plugin.toml "$dir" && go build -o "$dir/" .)`,
		p.Trust)
}

// ownDependency is what this program was built from.
func ownDependency() dependency {
	info, _ := debug.ReadBuildInfo()
	_, file, _, _ := runtime.Caller(0)
	return dependencyOf(info, filepath.Join(file, "..", "..", ".."))
}

// dependencyOf takes the version where the module was fetched as one: only then
// is there a checksum. Otherwise it takes the folder, if the module is there.
func dependencyOf(info *debug.BuildInfo, folder string) dependency {
	if info != nil && info.Main.Path == module && info.Main.Sum != "" {
		return dependency{Version: info.Main.Version}
	}
	if filepath.IsAbs(folder) && moduleIn(folder) == module {
		return dependency{Version: "v0.0.0", Checkout: folder}
	}
	return dependency{}
}

// moduleIn is the module whose go.mod is in a folder, "" if none does.
func moduleIn(folder string) string {
	f, err := safefile.Open(filepath.Join(folder, "go.mod"))
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "module "); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// modPath writes a folder as go.mod has it.
func modPath(folder string) string {
	if regexp.MustCompile(`^[\w@%+=:./\\~-]+$`).MatchString(folder) {
		return folder
	}
	return strconv.Quote(folder)
}
