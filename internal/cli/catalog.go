package cli

import (
	"fmt"
	"io/fs"
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
		Long:    "Lists the hooks that 'tenterhook add NAME' installs. They do not run before that.",
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
