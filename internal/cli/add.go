package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/examples/hooks"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/internal/source"
)

type addFlags struct {
	to, path string
	only     []string
	yes      bool
}

func (a *app) addCommand() *cobra.Command {
	var f addFlags
	cmd := &cobra.Command{
		Use:   "add SOURCE…",
		Short: "Install hooks of the catalogue, a folder, an archive, a git repository or a pack",
		Long: "A source is a name of the catalogue, a folder, an archive (.tar.gz, .zip) by its path or\n" +
			"https URL, a git repository as URL@REF, where REF is a tag, a branch or a commit, or a pack, as\n" +
			"HOST/REPOSITORY:TAG, oci:PATH:TAG or with @sha256:… (by tenterhook-fleet). Its hook folders are copied into the user's hooks, or into --to or --dir. What they bring is shown first, and nothing is\n" +
			"added without asking: --yes answers where there is no terminal to ask. Nothing of a source runs\n" +
			"meanwhile, and nothing that exists is overwritten. " + source.LockName + " beside the hooks notes\n" +
			"where they came from, and the digest of each.",
		Example: "  tenterhook add guard-destructive protect-secrets\n  tenterhook add no-verify --to .tenterhook/hooks\n" +
			"  tenterhook add https://example.com/team/hooks.git@v1.2.0\n  tenterhook add ./hooks.tar.gz --only guard --yes",
		Args: cobra.MinimumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return hooks.Names(), cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.add(cmd.Context(), args, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.to, "to", "", "the folder to install into, in place of the user's hooks")
	flags.StringVar(&f.path, "path", "", "the folder in the source that holds the hooks")
	flags.StringArrayVar(&f.only, "only", nil, "a hook of the source, in place of all of them (repeatable)")
	flags.BoolVar(&f.yes, "yes", false, "add without asking")
	_ = cmd.MarkFlagDirname("to")
	return cmd
}

// addition is a hook that was installed.
type addition struct {
	Name    string   `json:"name"`
	Dir     string   `json:"dir"`
	Files   []string `json:"files"`
	Source  string   `json:"source"`
	Commit  string   `json:"commit,omitempty"` // of git; of a pack its digest
	Digest  string   `json:"digest"`
	Written bool     `json:"written"` // false: it was there already, as it is in the source
}

func (a *app) add(ctx context.Context, args []string, f addFlags) error {
	place, flags, err := a.hooksDir(f.to)
	if err != nil {
		return err
	}
	specs := make([]source.Spec, len(args))
	for i, arg := range args { // all of them are understood before any is fetched
		if specs[i], err = sourceOf(arg, f.path); err != nil {
			return err
		}
	}
	answers := bufio.NewScanner(a.In)
	var added []addition
	for _, spec := range specs {
		var some []addition
		if some, err = a.addFrom(ctx, spec, place, f, answers); err != nil {
			break
		}
		added = append(added, some...)
	}
	switch {
	case a.json && err == nil:
		return a.printJSON(map[string]any{"added": orEmpty(added)})
	case len(added) > 0 && !a.json:
		a.printAdded(added, place, flags)
	}
	return err
}

// hooksDir is the folder of hooks that is meant, and the flags that load it.
func (a *app) hooksDir(to string) (dir, flags string, err error) {
	if to != "" && len(a.opts.Dirs) > 0 {
		return "", "", &located{"bad_dir", "--to and --dir both say where to install", "give one of them"}
	}
	if to == "" {
		dir, flags, err = a.newDir("x")
		return filepath.Dir(dir), flags, err
	}
	dir, err = filepath.Abs(to)
	if a.inProject(dir) {
		return dir, "", err
	}
	return dir, " --dir " + shellQuote(to), err
}

// inProject reports whether a folder is that of a project's hooks.
func (a *app) inProject(dir string) bool {
	return strings.HasSuffix(filepath.ToSlash(dir), "/.tenterhook/hooks") || strings.HasSuffix(filepath.ToSlash(dir), "/.tenterhook/local/hooks")
}

// sourceOf reads an argument. A name of the catalogue goes before a file of that
// name.
func sourceOf(arg, within string) (source.Spec, error) {
	if slices.Contains(hooks.Names(), arg) && within == "" {
		return source.Spec{Kind: source.KindCatalogue, At: arg}, nil
	}
	spec, err := source.Parse(arg, within)
	if errors.Is(err, os.ErrNotExist) && hookName().MatchString(arg) {
		_, err := hooks.Folder(arg)
		return spec, unknownOffer(err)
	}
	if err != nil {
		return spec, &located{"bad_source", err.Error(), "give a name of the catalogue, a folder, an archive, URL@REF of a git repository, or HOST/REPOSITORY:TAG of a pack"}
	}
	return spec, nil
}

// get reads the hooks of a source that want takes.
func (a *app) get(ctx context.Context, spec source.Spec, want func(string) bool) (*source.Fetched, error) {
	switch spec.Kind {
	case source.KindCatalogue:
	case source.KindPack:
		return a.getPack(ctx, spec, want)
	default:
		return source.Get(ctx, spec, want, os.TempDir())
	}
	files, err := hooks.Files(spec.At)
	if err != nil {
		return nil, unknownOffer(err)
	}
	folder, err := hooks.Folder(spec.At)
	if err != nil {
		return nil, err
	}
	h, err := source.FromFS(spec.At, folder, files)
	return &source.Fetched{Spec: spec, Hooks: []*source.Hook{h}, All: []string{h.Name}}, err
}

// addFrom shows what a source brings, asks, and writes it.
func (a *app) addFrom(ctx context.Context, spec source.Spec, dir string, f addFlags, answers *bufio.Scanner) ([]addition, error) {
	var want func(string) bool
	if len(f.only) > 0 {
		want = func(name string) bool { return slices.Contains(f.only, name) }
	}
	fetched, err := a.get(ctx, spec, want)
	if err != nil {
		return nil, err
	}
	for _, name := range f.only {
		if !slices.Contains(fetched.All, name) {
			return nil, &located{"unknown_hook", fmt.Sprintf("%s has no hook %q", spec, name), "it has " + strings.Join(fetched.All, ", ")}
		}
	}
	for _, h := range fetched.Hooks {
		if err := a.showBrought(fetched, h, dir, answers, spec.Kind == source.KindCatalogue); err != nil {
			return nil, err
		}
	}
	question := fmt.Sprintf("add %s to %s", phrase.Count(len(fetched.Hooks), "hook"), dir)
	if ok, err := a.agreed(question, f.yes || spec.Kind == source.KindCatalogue, answers); err != nil || !ok {
		if err == nil {
			fmt.Fprintln(a.Err, "nothing was added")
		}
		return nil, err
	}
	var made []string
	err = source.Change(ctx, dir, a.stateDir(), func(p *source.Place) (err error) {
		made, err = p.Add(fetched)
		return err
	})
	if exists := (*source.ExistsError)(nil); errors.As(err, &exists) {
		return nil, &located{"exists", exists.Error(), "remove it, or install into another folder with --to"}
	}
	if err != nil {
		return nil, err
	}
	var added []addition
	for _, h := range fetched.Hooks {
		added = append(added, addition{Name: h.Name, Dir: filepath.Join(dir, h.Name), Files: h.Names(), Source: spec.String(), Commit: fetched.Commit,
			Digest: h.Digest(), Written: slices.Contains(made, h.Name)})
	}
	return added, nil
}

func (a *app) printAdded(added []addition, dir, flags string) {
	for _, one := range added {
		word := "added"
		if !one.Written {
			word = "there already:"
		}
		fmt.Fprintf(a.Out, "%s %s: %s\n", word, one.Name, phrase.Printable(one.Dir))
	}
	if a.inProject(dir) {
		fmt.Fprintln(a.Out, "hooks of a project run after an approval:\n  tenterhook trust")
	}
	fmt.Fprintf(a.Out, "see it with:\n  tenterhook list%s\n", phrase.Printable(flags))
}
