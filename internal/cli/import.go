package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/agents"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/environ"
	"github.com/tenterhook/tenterhook/internal/importer"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

func (a *app) importCommand() *cobra.Command {
	var to string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "import AGENT [FILE…]",
		Short: "Convert an agent's own hooks to hook folders",
		Long: "Reads the agent's settings files, those of the user and of the project, or the files that\n" +
			"are named, and writes a HOOK.md folder for each hook: the user's into the user's hooks, the\n" +
			"project's into .tenterhook/hooks, or all of them into --to. The folders make the same decisions.\n" +
			"What cannot be carried over is reported and left out. Nothing is overwritten, and the\n" +
			"agent's files stay as they are: the report says how to switch the originals off.",
		Example: "  tenterhook import claude --dry-run\n  tenterhook import claude\n  tenterhook import codex --to ./hooks --json\n" +
			"  tenterhook import claude plugin/hooks/hooks.json --to ./hooks",
		Args: cobra.MinimumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return importable(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.importHooks(cmd, args[0], args[1:], to, dryRun)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the folder to write all hooks into; it must be empty")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "report what would be written, and write nothing")
	_ = cmd.MarkFlagDirname("to")
	return cmd
}

// importable are the products whose hooks can be imported.
func importable() []string {
	return slices.DeleteFunc(dialect.Products(), func(p string) bool { return p == "tenterhook" })
}

// imported is what --json says of a folder.
type imported struct {
	Name    string           `json:"name"`
	Dir     string           `json:"dir"`
	Written bool             `json:"written"` // false: it was there, or --dry-run
	Event   hook.Event       `json:"event"`
	Matcher string           `json:"matcher"`
	Kind    hook.Kind        `json:"kind"`
	From    []importer.Place `json:"from"`
	Notes   []string         `json:"notes"`
}

// original is an agent's file whose hooks now have folders.
type original struct {
	Path  string `json:"path"`
	Lines []int  `json:"lines"` // of the entries that were imported
}

// importReport is what import found and did.
type importReport struct {
	Agent     string           `json:"agent"`
	DryRun    bool             `json:"dry_run"`
	Folders   []imported       `json:"folders"`
	Left      []importer.Left  `json:"left"`
	Own       []importer.Place `json:"own_entries"`
	Notes     []string         `json:"notes"`
	SwitchOff []original       `json:"switch_off"`
}

func (a *app) importHooks(cmd *cobra.Command, agent string, named []string, to string, dryRun bool) error {
	if !slices.Contains(importable(), agent) {
		e := &located{"unknown_agent", fmt.Sprintf("no hooks of %q are known here", agent), "known are " + strings.Join(importable(), ", ")}
		if near := hook.Nearest(agent, importable()); near != "" {
			e.hint = "did you mean " + near + "?"
		}
		return e
	}
	at, err := a.bases(agent)
	if err != nil {
		return err
	}
	files, err := importer.Find(cmd.Context(), agent, at)
	if len(named) > 0 {
		if files, err = nil, nil; err == nil {
			files, err = readNamed(named, at)
		}
	}
	if err != nil {
		return err
	}
	made := importer.Make(importer.Options{Agent: agent, Files: files, At: at, Together: to != "", Own: agents.IsEntry})
	report := importReport{Agent: agent, DryRun: dryRun, Left: orEmpty(made.Left), Own: orEmpty(made.Own), Notes: orEmpty(made.Notes)}
	if len(made.Folders)+len(made.Left) == 0 {
		return &located{"nothing_to_import", "no hooks of " + agent + " were found in " + at.Home + " and " + at.Workspace, "name the file: tenterhook import " + agent + " FILE"}
	}
	if err := a.writeFolders(&report, made.Folders, at, to); err != nil {
		return err
	}
	if len(report.Folders) == 0 {
		a.code = exitError
	}
	if a.json {
		return a.printJSON(report)
	}
	a.printImport(&report, at, to)
	return nil
}

// bases are where the agent's files are looked for.
func (a *app) bases(agent string) (importer.Bases, error) {
	workspace, err := filepath.Abs(a.opts.Workspace)
	if err != nil {
		return importer.Bases{}, err
	}
	var marks []string
	for _, p := range dialect.ConfigPlaces(agent) {
		if p.Base == dialect.BaseWorkspace {
			marks = append(marks, p.Names...)
		}
	}
	home := environ.Home(os.Getenv)
	at := importer.Bases{Workspace: discovery.ProjectRoot(workspace, home, marks), Home: home}
	if user := discovery.DefaultUserDir(); user != "" {
		at.ConfigHome = filepath.Dir(user)
	}
	return at, nil
}

func readNamed(paths []string, at importer.Bases) (files []importer.File, err error) {
	for _, path := range paths {
		f, err := importer.ReadFile(path, at)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	slices.SortStableFunc(files, func(a, b importer.File) int { return cmp.Compare(a.Scope, b.Scope) })
	return files, nil
}

// writeFolders writes the folders of each scope into its directory, and fills in
// the report.
func (a *app) writeFolders(report *importReport, folders []importer.Folder, at importer.Bases, to string) error {
	report.Folders = []imported{}
	byDir := make(map[string][]importer.Folder)
	var dirs []string
	for _, f := range folders {
		dir, err := importTarget(f.Scope, at, to)
		if err != nil {
			return err
		}
		if byDir[dir] == nil {
			dirs = append(dirs, dir)
		}
		byDir[dir] = append(byDir[dir], f)
	}
	for _, dir := range dirs { // all of them before any is written
		if err := importer.Check(dir, report.Agent, byDir[dir], to != ""); err != nil {
			return inTheWay(err)
		}
	}
	for _, dir := range dirs {
		var written []string
		if !report.DryRun {
			var err error
			if written, err = importer.Write(dir, report.Agent, byDir[dir], to != ""); err != nil {
				return inTheWay(err)
			}
		}
		for _, f := range byDir[dir] {
			report.Folders = append(report.Folders, imported{Name: f.Name, Dir: filepath.Join(dir, f.Name), Written: slices.Contains(written, f.Name),
				Event: f.Hook.Event, Matcher: f.Hook.Matcher, Kind: f.Hook.Kind, From: f.From, Notes: orEmpty(f.Notes)})
			for _, from := range f.From {
				report.switchOff(from)
			}
		}
	}
	return nil
}

func inTheWay(err error) error {
	if conflict := (*importer.Conflict)(nil); errors.As(err, &conflict) {
		return &located{"exists", conflict.Error(), "remove it, or import into an empty folder with --to"}
	}
	return err
}

func (r *importReport) switchOff(from importer.Place) {
	i := slices.IndexFunc(r.SwitchOff, func(o original) bool { return o.Path == from.Path })
	if i < 0 {
		i = len(r.SwitchOff)
		r.SwitchOff = append(r.SwitchOff, original{Path: from.Path})
	}
	r.SwitchOff[i].Lines = append(r.SwitchOff[i].Lines, from.Line)
	slices.Sort(r.SwitchOff[i].Lines)
	r.SwitchOff[i].Lines = slices.Compact(r.SwitchOff[i].Lines)
}

// importTarget is where hooks of a scope go.
func importTarget(s hook.Scope, at importer.Bases, to string) (string, error) {
	switch {
	case to != "":
		return filepath.Abs(to)
	case s == hook.ScopeProject:
		return filepath.Join(at.Workspace, ".tenterhook", "hooks"), nil
	case s == hook.ScopeLocal:
		return filepath.Join(at.Workspace, ".tenterhook", "local", "hooks"), nil
	}
	user := discovery.DefaultUserDir()
	if user == "" {
		return "", &located{"no_home", "no home directory is known", "set HOME, or say where with --to"}
	}
	return filepath.Join(user, "hooks"), nil
}

// printImport tells a person what was written, what was not, and what to do now.
func (a *app) printImport(r *importReport, at importer.Bases, to string) {
	style := a.styleOf(a.Out)
	var rows [][]string
	for _, f := range r.Folders {
		state := style.green("written")
		switch {
		case r.DryRun:
			state = "would be written"
		case !f.Written:
			state = "there already"
		}
		var from []string
		for _, p := range f.From {
			from = append(from, importer.Place{Path: at.Shown(p.Path), Line: p.Line}.String())
		}
		rows = append(rows, []string{state, f.Name, string(f.Event), oneLine(cmp.Or(f.Matcher, "*")), oneLine(strings.Join(from, ", "))})
	}
	if len(rows) > 0 {
		table(a.Out, style, []string{"STATE", "HOOK", "EVENT", "MATCHES", "FROM"}, rows)
	}
	var dirs []string
	for _, f := range r.Folders {
		if dir := filepath.Dir(f.Dir); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
			fmt.Fprintln(a.Out, style.dim("in "+phrase.Printable(dir)))
		}
	}
	for _, l := range r.Left {
		fmt.Fprintf(a.Out, "%s %s: %s\n", style.yellow("left out:"), phrase.Printable(importer.Place{Path: at.Shown(l.From.Path), Line: l.From.Line}.String()), oneLine(cmp.Or(string(l.Event), l.Name)+": "+l.Why))
	}
	for _, f := range r.Folders {
		for _, n := range f.Notes {
			fmt.Fprintf(a.Out, "%s %s: %s\n", style.yellow("note:"), f.Name, oneLine(n))
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(a.Out, "%s %s\n", style.yellow("note:"), oneLine(n))
	}
	if len(r.Own) > 0 {
		fmt.Fprintf(a.Out, "passed over: tenterhook's own entries (%d)\n", len(r.Own))
	}
	if len(rows) > 0 {
		a.printAfterImport(r, to)
	}
}

// printAfterImport says what is left to do.
func (a *app) printAfterImport(r *importReport, to string) {
	fmt.Fprintln(a.Out, `As in the agent, a hook that fails lets the call proceed, unless its HOOK.md has on_failure = "block".`)
	if r.DryRun {
		return
	}
	fmt.Fprintln(a.Out, "\nUntil you switch the originals off, the agent runs them too. Remove these entries:")
	for _, o := range r.SwitchOff {
		lines := make([]string, len(o.Lines))
		for i, n := range o.Lines {
			lines[i] = fmt.Sprint(n)
		}
		noun := "line"
		if len(lines) > 1 {
			noun = "lines"
		}
		fmt.Fprintf(a.Out, "  %s: %s %s\n", phrase.Printable(o.Path), noun, strings.Join(lines, ", "))
	}
	fmt.Fprintf(a.Out, "and leave --compat %s out where you gave it. Then:\n", r.Agent)
	flags := ""
	if to != "" {
		flags = " --dir " + shellQuote(to)
	} else if slices.ContainsFunc(r.Folders, func(f imported) bool { return strings.Contains(filepath.ToSlash(f.Dir), "/.tenterhook/") }) {
		fmt.Fprintln(a.Out, "  tenterhook trust        # hooks of a project run after an approval")
	}
	fmt.Fprintf(a.Out, "  tenterhook list%s\n", phrase.Printable(flags))
	if _, ok := bridge.Lookup(r.Agent); ok {
		fmt.Fprintf(a.Out, "  tenterhook install %s   # if the agent does not ask tenterhook yet\n", r.Agent)
	}
}
