package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/examples/hooks"
	"github.com/tenterhook/tenterhook/hook"
)

// offered is a hook of the catalogue, as --json shows it.
type offered struct {
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Events      []hook.Event `json:"events"`
	Kind        hook.Kind    `json:"kind"`
	Requires    []string     `json:"requires"`
	Files       []string     `json:"files"`
}

func (a *app) catalogCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "catalog",
		Short:   "Show the ready-made hooks that come with tenterhook",
		Long:    "Lists the hooks that 'tenterhook add NAME' installs. Nothing of them runs before that.",
		Example: "  tenterhook catalog\n  tenterhook catalog show guard-destructive\n  tenterhook add guard-destructive",
		Args:    unknownCommand,
		RunE: func(*cobra.Command, []string) error {
			list := make([]offered, 0, len(hooks.Names()))
			for _, name := range hooks.Names() {
				one, err := offer(name)
				if err != nil {
					return err
				}
				list = append(list, one)
			}
			if a.json {
				return a.printJSON(map[string]any{"hooks": list})
			}
			rows := make([][]string, len(list))
			for i, one := range list {
				rows[i] = []string{one.Name, string(one.Kind), eventList(one.Events), oneLine(one.Description)}
			}
			table(a.Out, a.styleOf(a.Out), []string{"HOOK", "KIND", "EVENT", "WHAT IT DOES"}, rows)
			return nil
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use: "show NAME", Short: "Print a hook of the catalogue: its HOOK.md and its other files",
		Example:           "  tenterhook catalog show no-verify\n  tenterhook catalog show no-verify --json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.FixedCompletions(hooks.Names(), cobra.ShellCompDirectiveNoFileComp),
		RunE:              func(_ *cobra.Command, args []string) error { return a.showOffered(args[0]) },
	})
	return cmd
}

func eventList(events []hook.Event) string {
	words := make([]string, len(events))
	for i, e := range events {
		words[i] = string(e)
	}
	return strings.Join(words, ", ")
}

// offer describes a hook of the catalogue.
func offer(name string) (offered, error) {
	declared, err := hooks.Declared(name)
	if err != nil {
		return offered{}, unknownOffer(err)
	}
	files, err := hooks.Files(name)
	if err != nil {
		return offered{}, err
	}
	one := offered{Name: name, Description: declared[0].Description, Kind: declared[0].Kind, Requires: orEmpty(declared[0].Requires.Bins), Files: files}
	for _, h := range declared {
		one.Events = append(one.Events, h.Event)
	}
	return one, nil
}

func unknownOffer(err error) error {
	return &located{"unknown_hook", err.Error(), "'tenterhook catalog' lists them"}
}

func (a *app) showOffered(name string) error {
	one, err := offer(name)
	if err != nil {
		return err
	}
	folder, err := hooks.Folder(name)
	if err != nil {
		return err
	}
	texts := make(map[string]string, len(one.Files))
	for _, file := range one.Files {
		data, err := fs.ReadFile(folder, file)
		if err != nil {
			return err
		}
		texts[file] = string(data)
	}
	if a.json {
		return a.printJSON(struct {
			offered
			Texts map[string]string `json:"texts"`
		}{one, texts})
	}
	style := a.styleOf(a.Out)
	for _, file := range one.Files {
		fmt.Fprintf(a.Out, "%s\n%s\n", style.bold(name+"/"+file), strings.TrimRight(texts[file], "\n"))
	}
	return nil
}

func (a *app) addCommand() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "add NAME…",
		Short: "Install hooks of the catalogue",
		Long: "Copies hooks of the catalogue into the user's hooks, or into --to or --dir. Nothing that\n" +
			"exists is overwritten. The copies are yours: edit them as you like.",
		Example: "  tenterhook add guard-destructive protect-secrets\n  tenterhook add no-verify --to .tenterhook/hooks",
		Args:    cobra.MinimumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return hooks.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.add(args, to) },
	}
	cmd.Flags().StringVar(&to, "to", "", "the folder to install into, in place of the user's hooks")
	_ = cmd.MarkFlagDirname("to")
	return cmd
}

// addition is a hook that was installed.
type addition struct {
	Name  string   `json:"name"`
	Dir   string   `json:"dir"`
	Files []string `json:"files"`
}

func (a *app) add(names []string, to string) error {
	for _, name := range names { // all of them are known before any is written
		if _, err := offer(name); err != nil {
			return err
		}
	}
	var added []addition
	next := ""
	for _, name := range names {
		dir, flags, err := a.addDir(name, to)
		if err == nil {
			var files []string
			if files, err = copyOffered(name, dir); err == nil {
				added = append(added, addition{name, dir, files})
				next = flags
				continue
			}
		}
		if len(added) > 0 && !a.json {
			a.printAdded(added, next)
		}
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"added": added})
	}
	a.printAdded(added, next)
	return nil
}

func (a *app) printAdded(added []addition, flags string) {
	for _, one := range added {
		fmt.Fprintf(a.Out, "added %s: %s\n", one.Name, printable(one.Dir))
	}
	fmt.Fprintf(a.Out, "see it with:\n  tenterhook list%s\n", printable(flags))
}

// addDir is where a hook goes, and the flags that load it from there.
func (a *app) addDir(name, to string) (dir, flags string, err error) {
	if to == "" {
		return a.newDir(name)
	}
	if len(a.opts.Dirs) > 0 {
		return "", "", &located{"bad_dir", "--to and --dir both say where to install", "give one of them"}
	}
	dir, err = filepath.Abs(filepath.Join(to, name))
	return dir, " --dir " + shellQuote(to), err
}

// copyOffered writes a hook's files into a folder that does not exist yet. It
// makes the folder under another name first, so that nobody finds a part of it.
func copyOffered(name, dir string) ([]string, error) {
	files, err := hooks.Files(name)
	if err != nil {
		return nil, err
	}
	folder, err := hooks.Folder(name)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	exists := &located{"exists", dir + " exists", "remove it, or install into another folder with --to"}
	if _, err := os.Lstat(dir); err == nil {
		return nil, exists
	}
	made, err := os.MkdirTemp(filepath.Dir(dir), ".add-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(made)
	for _, file := range files {
		if err := copyFile(folder, file, filepath.Join(made, filepath.FromSlash(file))); err != nil {
			return nil, err
		}
	}
	if err := os.Chmod(made, 0o755); err != nil {
		return nil, err
	}
	if err := os.Rename(made, dir); errors.Is(err, fs.ErrExist) { // made by somebody else meanwhile
		return nil, exists
	} else if err != nil {
		return nil, err
	}
	return files, nil
}

// copyFile writes one file. A script may be executed.
func copyFile(from fs.FS, name, to string) error {
	data, err := fs.ReadFile(from, name)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if strings.HasPrefix(string(data[:min(2, len(data))]), "#!") {
		mode = 0o755
	}
	return cmp.Or(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, data, mode))
}
