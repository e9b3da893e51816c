package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins"
)

func (a *app) pluginCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "plugin",
		Short:   "See, check and approve the plugins of installed packages",
		Example: "  tenterhook plugin list\n  tenterhook plugin lock guards",
	}
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "Show packages, their plugins, digests and states; starts nothing", Args: cobra.NoArgs,
		Example: "  tenterhook plugin list --json",
		RunE:    func(*cobra.Command, []string) error { return a.listPlugins(false) },
	}, &cobra.Command{
		Use: "check", Short: "As list, and fail if a plugin is not in order", Args: cobra.NoArgs,
		Example: "  tenterhook plugin check",
		RunE:    func(*cobra.Command, []string) error { return a.listPlugins(true) },
	}, &cobra.Command{
		Use: "lock PACKAGE…", Short: "Approve the bytes of a package's plugins, and learn their hooks", Args: cobra.MinimumNArgs(1),
		Long: "Starts each plugin of the package once, asks it which hooks it has, and writes\n" +
			"the sha256 of its file into the lock file. Other bytes do not run from then on.",
		Example: "  tenterhook plugin lock guards",
		RunE:    a.lockPlugins,
	})
	return cmd
}

func (a *app) pluginHost() *plugins.Host {
	return plugins.New(plugins.Options{StateDir: a.opts.StateDir, Environ: a.opts.Env})
}

func (a *app) pluginsDir() string {
	return cmp.Or(a.opts.PluginsDir, discovery.DefaultPluginsDir())
}

type listedPlugin struct {
	Package string        `json:"package"`
	Version string        `json:"version"`
	Name    string        `json:"name"`
	Path    string        `json:"path"`
	Digest  string        `json:"digest"`
	Locked  string        `json:"locked"`
	Hooks   int           `json:"hooks"`
	PID     int           `json:"pid"` // of the first process
	State   plugins.State `json:"state"`
	Why     string        `json:"why"`

	Processes []plugins.Process `json:"processes"`
}

// plugins lists the plugins of the installed packages, and what keeps them from
// running. It starts nothing.
func (a *app) plugins() ([]listedPlugin, []hook.Diagnostic) {
	host := a.pluginHost()
	defer host.Close()
	packages, notes := host.Packages(a.pluginsDir())
	list := []listedPlugin{}
	for _, p := range packages {
		list = append(list, listedOf(p)...)
	}
	return list, notes
}

func listedOf(p plugins.Package) []listedPlugin {
	list := make([]listedPlugin, len(p.Plugins))
	for i, one := range p.Plugins {
		list[i] = listedPlugin{Package: p.Name, Version: p.Version, Name: one.Name, Path: one.Path, Digest: one.Digest, Locked: one.Locked,
			Hooks: one.Hooks, State: one.State, Why: one.Why, Processes: orEmpty(one.Processes)}
		if len(one.Processes) > 0 {
			list[i].PID = one.Processes[0].PID
		}
	}
	return list
}

func (a *app) printPlugins(list []listedPlugin) {
	rows := make([][]string, len(list))
	for i, p := range list {
		rows[i] = []string{string(p.State), oneLine(p.Package), oneLine(p.Name), oneLine(p.Version), fmt.Sprintf("%.12s", p.Digest), pids(p.Processes), oneLine(p.Why)}
	}
	table(a.Out, a.styleOf(a.Out), []string{"STATE", "PACKAGE", "PLUGIN", "VERSION", "SHA256", "PID", "WHY"}, rows)
}

// pids names the processes of a plugin: each host has one of its own.
func pids(all []plugins.Process) string {
	var words []string
	for _, p := range all {
		if p.PID != 0 {
			words = append(words, strconv.Itoa(p.PID))
		}
	}
	return cmp.Or(strings.Join(words, " "), "-")
}

func (a *app) listPlugins(strict bool) error {
	list, notes := a.plugins()
	for _, one := range list {
		if strict && one.Why != "" {
			a.code = exitError
		}
	}
	if strict && hook.HasErrors(notes) {
		a.code = exitError
	}
	if a.json {
		return a.printJSON(map[string]any{"plugins": list, "diagnostics": orEmpty(notes)})
	}
	if len(list) == 0 {
		fmt.Fprintf(a.Out, "no plugins in %s; a package is a folder with a tenterhook-plugin-NAME in it\n", a.pluginsDir())
	} else {
		a.printPlugins(list)
	}
	a.printDiagnostics(notes)
	return nil
}

// lockedBox says which sandbox a lock grants; "" = that of packages.
func lockedBox(box *hook.Sandbox) string {
	switch {
	case box == nil:
		return ""
	case !box.Contains():
		return ", without a sandbox"
	}
	return ", " + sandboxNote(box)
}

func (a *app) lockPlugins(cmd *cobra.Command, names []string) error {
	host := a.pluginHost()
	defer host.Close()
	locked := []listedPlugin{}
	for _, name := range names {
		dir := name
		if !filepath.IsAbs(name) {
			dir = filepath.Join(a.pluginsDir(), name)
		}
		p, err := host.Lock(cmd.Context(), dir)
		if err != nil {
			return err
		}
		rows := listedOf(p)
		for _, one := range rows {
			if !a.json {
				fmt.Fprintf(a.Out, "locked %s/%s sha256:%s with %s%s\n", oneLine(one.Package), oneLine(one.Name), one.Digest, plural(max(one.Hooks, 0), "hook"), lockedBox(p.Sandbox))
			}
		}
		locked = append(locked, rows...)
	}
	if a.json {
		return a.printJSON(map[string]any{"locked": locked})
	}
	return nil
}
