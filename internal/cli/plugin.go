package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins"
	"github.com/tenterhook/tenterhook/registry"
	"github.com/tenterhook/tenterhook/trust"
)

func (a *app) pluginCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "plugin",
		Short:   "List and check the plugins of installed packages",
		Example: "  tenterhook plugin list\n  tenterhook plugin check",
	}
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "Show packages, their plugins, digests and states; starts nothing", Args: cobra.NoArgs,
		Example: "  tenterhook plugin list --json",
		RunE:    func(*cobra.Command, []string) error { return a.listPlugins(false) },
	}, &cobra.Command{
		Use: "check", Short: "List plugins, and fail if one is not in order", Args: cobra.NoArgs,
		Example: "  tenterhook plugin check",
		RunE:    func(*cobra.Command, []string) error { return a.listPlugins(true) },
	})
	return cmd
}

func (a *app) pluginHost() *plugins.Host {
	return plugins.New(plugins.Options{StateDir: a.opts.StateDir, Approvals: a.opts.Approvals, Environ: a.opts.Env})
}

func (a *app) pluginsDir() string {
	return cmp.Or(a.opts.PluginsDir, discovery.DefaultPluginsDir())
}

type listedPlugin struct {
	Package  string        `json:"package"`
	Version  string        `json:"version"`
	Name     string        `json:"name"`
	Path     string        `json:"path"`
	Digest   string        `json:"digest"`
	Approved string        `json:"approved"`
	Hooks    int           `json:"hooks"`
	PID      int           `json:"pid"` // of the first process
	State    plugins.State `json:"state"`
	Why      string        `json:"why"`

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
		list[i] = listedPlugin{Package: p.Name, Version: p.Version, Name: one.Name, Path: one.Path, Digest: one.Digest, Approved: one.Approved,
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

// learn asks plugins that are to be approved for their hooks, the plugins that were not
// asked yet, once a person agrees to start them. It returns what can be approved.
func (a *app) learn(ctx context.Context, reg *registry.Registry, host *plugins.Host, subjects []registry.Subject, yes bool, answers *bufio.Scanner) ([]registry.Subject, error) {
	var rest []registry.Subject
	asked := false
	for _, s := range subjects {
		seal, err := s.Seal()
		if !s.Plugin || s.Verdict.Approved || err != nil || host.Described(s.Path(), seal) { // what is wrong is reported later
			rest = append(rest, s)
			continue
		}
		a.showAsking(&s, seal, host.Asking(s.Path()), answers)
		if ok, err := a.agreed("start "+s.ID()+" once, to ask which hooks it has", yes, answers); err != nil {
			return nil, err
		} else if !ok {
			fmt.Fprintln(a.Err, "not approved")
			continue
		}
		if err := host.Learn(ctx, s.Path()); err != nil {
			a.failed("%s is not approved: %s", s.ID(), err.Error())
			continue
		}
		asked, rest = true, append(rest, s)
	}
	if !asked {
		return rest, nil
	}
	if _, err := reg.Reload(ctx); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(reg.Subjects(), func(now registry.Subject) bool {
		return !slices.ContainsFunc(rest, func(s registry.Subject) bool { return s.ID() == now.ID() && s.Path() == now.Path() })
	}), nil
}

// showAsking prints what would be started to ask a plugin for its hooks.
func (a *app) showAsking(s *registry.Subject, seal *trust.Seal, box *hook.Sandbox, answers *bufio.Scanner) {
	p := a.newPage(answers)
	p.line(p.style.bold(factText(s.ID())) + " was not asked yet which hooks it has")
	p.fact("source", s.Path())
	for _, f := range seal.Folder() {
		p.fact("sha256", f.SHA256)
	}
	p.fact("asked in", cmp.Or(sandboxNote(box), "sandbox: none, it runs with all your rights"))
	p.end()
}
