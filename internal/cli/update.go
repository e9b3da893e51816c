package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/internal/source"
)

func (a *app) updateCommand() *cobra.Command {
	var yes, force bool
	var ref string
	cmd := &cobra.Command{
		Use:   "update [NAME…]",
		Short: "Replace hooks that were added by what their sources have now",
		Long: "Without a name, all hooks that 'tenterhook add' brought. A version is updated to the\n" +
			"newest one, and a branch to its last commit. A commit or a digest stays unless --ref names another.\n" +
			"The difference is shown first, and nothing is changed without asking. A hook that was edited is refused: --force\n" +
			"discards the edits. Files that you put beside a hook's own stay.",
		Example:           "  tenterhook outdated\n  tenterhook update guard\n  tenterhook update guard --ref v2.0.0 --yes",
		ValidArgsFunction: a.completeAdded,
		RunE: func(cmd *cobra.Command, args []string) error {
			if ref != "" && len(args) == 0 {
				return &located{"bad_flags", "--ref is for the hooks that are named", "name them"}
			}
			return a.update(cmd.Context(), args, ref, yes, force)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&yes, "yes", false, "update without asking")
	flags.BoolVar(&force, "force", false, "discard local edits")
	flags.StringVar(&ref, "ref", "", "the tag, branch, commit or digest to go to")
	return cmd
}

// updated is what became of a hook, as --json shows it.
type updated struct {
	Name   string `json:"name"`
	From   string `json:"from"` // what it was: a ref, or the beginning of a digest
	To     string `json:"to"`
	Status string `json:"status"` // updated, current, declined, failed
	Error  string `json:"error,omitempty"`
}

func (a *app) update(ctx context.Context, names []string, ref string, yes, force bool) error {
	dir, lock, err := a.added(names)
	if err != nil {
		return err
	}
	u := &update{app: a, dir: dir, lock: lock, ref: ref, yes: yes, force: force, answers: bufio.NewScanner(a.In), known: make(map[source.Spec]*source.Fetched)}
	var list []updated
	for _, name := range slices.Sorted(maps.Keys(lock)) {
		one := updated{Name: name, Status: "current"}
		if err := u.one(ctx, &one); err != nil {
			one.Status, one.Error, a.code = "failed", err.Error(), exitError
			fmt.Fprintf(a.Err, "tenterhook: %s\n", phrase.Printable(name+": "+err.Error()))
		}
		list = append(list, one)
	}
	if a.json {
		return a.printJSON(map[string]any{"hooks": orEmpty(list)})
	}
	for _, one := range list {
		switch one.Status {
		case "updated":
			fmt.Fprintf(a.Out, "updated %s: %s, now %s\n", one.Name, oneLine(one.From), oneLine(one.To))
		case "current":
			fmt.Fprintf(a.Out, "%s is as its source has it (%s)\n", one.Name, oneLine(one.From))
		case "declined":
			fmt.Fprintf(a.Out, "%s stays as it was\n", one.Name)
		}
	}
	return nil
}

// added returns the folder of hooks that is meant, and the hooks in it that
// 'add' brought: all, or the named ones.
func (a *app) added(names []string) (string, source.Lock, error) {
	dir, _, err := a.hooksDir("")
	if err != nil {
		return "", nil, err
	}
	lock, err := source.ReadLock(dir)
	if err != nil || len(names) == 0 {
		return dir, lock, err
	}
	some := make(source.Lock)
	for _, name := range names {
		was, ok := lock[name]
		if !ok {
			return dir, nil, notAdded(name, dir, lock)
		}
		some[name] = was
	}
	return dir, some, nil
}

func notAdded(name, dir string, lock source.Lock) error {
	e := &located{"unknown_hook", fmt.Sprintf("%q was not added to %s by 'tenterhook add'", name, dir), "'tenterhook outdated' lists what was; --dir names another folder"}
	if near := hook.Nearest(name, slices.Sorted(maps.Keys(lock))); near != "" {
		e.hint = "did you mean " + near + "?"
	}
	return e
}

// target is what a hook is to be updated to.
func (a *app) target(ctx context.Context, was source.Locked, ref string) (source.Spec, error) {
	spec := was.Spec
	if spec.Kind != source.KindGit && spec.Kind != source.KindPack {
		if ref != "" {
			return spec, &located{"bad_ref", fmt.Sprintf("%s has no tags and branches", spec), "leave --ref out"}
		}
		return spec, nil
	}
	var err error
	if ref == "" {
		spec.Ref, _, err = a.newest(ctx, spec)
		return spec, err
	}
	spec.Ref = ref
	return spec, spec.Check()
}

// newest returns the ref that an update of a git repository or a pack goes to, and the
// commit or the digest that it names.
func (a *app) newest(ctx context.Context, spec source.Spec) (ref, commit string, err error) {
	if spec.Kind == source.KindPack {
		return a.newestPack(ctx, spec)
	}
	return source.Newest(ctx, spec)
}

// update is one run of the command.
type update struct {
	app        *app
	dir        string
	lock       source.Lock // of the hooks that are meant
	ref        string
	yes, force bool
	answers    *bufio.Scanner
	known      map[source.Spec]*source.Fetched
}

// fetched reads a source once: its hooks that are meant.
func (u *update) fetched(ctx context.Context, spec source.Spec) (*source.Fetched, error) {
	if f := u.known[spec]; f != nil {
		return f, nil
	}
	f, err := u.app.get(ctx, spec, func(name string) bool { _, ok := u.lock[name]; return ok })
	if err == nil {
		u.known[spec] = f
	}
	return f, err
}

func (u *update) one(ctx context.Context, one *updated) error {
	was := u.lock[one.Name]
	one.From = was.Version()
	spec, err := u.app.target(ctx, was, u.ref)
	if err != nil {
		return err
	}
	f, err := u.fetched(ctx, spec)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(f.Hooks, func(h *source.Hook) bool { return h.Name == one.Name })
	if i < 0 {
		return &located{"gone", fmt.Sprintf("%s has no hook %s any more", spec, one.Name), "remove it with: tenterhook remove " + one.Name}
	}
	h := f.Hooks[i]
	one.To = f.Locked(h).Version()
	shown := (&source.Place{Dir: u.dir, Lock: u.lock}).State(one.Name)
	same := shown.Clean() && was.Digest == h.Digest()
	if same && spec == was.Spec && f.Commit == was.Commit {
		return nil
	}
	if !same { // else only the note of where it is from changes
		one.Status = "declined"
		if ok, err := u.agreed(f, h, shown); err != nil || !ok {
			return err
		}
	}
	err = source.Change(ctx, u.dir, u.app.stateDir(), func(p *source.Place) error { return p.Update(f, h, shown, u.force) })
	if err != nil {
		return editedRemedy(err)
	}
	one.Status = "updated"
	return nil
}

// agreed shows the difference, and asks.
func (u *update) agreed(f *source.Fetched, h *source.Hook, shown source.State) (bool, error) {
	if err := u.app.showUpdate(f, h, u.lock[h.Name], shown, u.dir, u.answers); err != nil {
		return false, err
	}
	if len(shown.Edited) > 0 && !u.force {
		return false, editedRemedy(&source.EditedError{Name: h.Name, Files: shown.Edited})
	}
	return u.app.agreed("update "+h.Name, u.yes, u.answers)
}

// editedRemedy says what can be done about edits.
func editedRemedy(err error) error {
	if edited := (*source.EditedError)(nil); errors.As(err, &edited) {
		return &located{"edited", edited.Error(), "keep your copy under another name, or give the edits up with --force"}
	}
	return err
}

func (a *app) removeCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "remove NAME…",
		Short: "Remove hooks that were added",
		Long: "Removes what 'tenterhook add' brought. Files that you put beside a hook's own stay, and are\n" +
			"named. A hook that was edited, or that was not added, is refused: --force removes the folder\n" +
			"with all that is in it.",
		Example:           "  tenterhook remove guard\n  tenterhook remove guard --dir ./hooks --force",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeAdded,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.remove(cmd.Context(), args, force) },
	}
	cmd.Flags().BoolVar(&force, "force", false, "also remove hooks that were edited or not added, with all files in their folders")
	return cmd
}

// removal is a hook that was removed, as --json shows it.
type removal struct {
	Name  string   `json:"name"`
	Stays []string `json:"stays"` // files in its folder that 'add' did not write
}

func (a *app) remove(ctx context.Context, names []string, force bool) error {
	dir, _, err := a.added(nil)
	if err != nil {
		return err
	}
	var removed []removal
	err = source.Change(ctx, dir, a.stateDir(), func(p *source.Place) error {
		for _, name := range names { // all of them are known before any is removed
			if _, ok := p.Lock[name]; !ok && !(force && p.Holds(name)) {
				return notAdded(name, dir, p.Lock)
			}
		}
		for _, name := range names {
			stays, err := p.Remove(name, force)
			if err != nil {
				return editedRemedy(err)
			}
			removed = append(removed, removal{name, orEmpty(stays)})
		}
		return nil
	})
	if a.json && err == nil {
		return a.printJSON(map[string]any{"removed": removed})
	}
	if !a.json {
		for _, one := range removed {
			fmt.Fprintf(a.Out, "removed %s\n", one.Name)
			for _, file := range one.Stays {
				fmt.Fprintf(a.Out, "  stays: %s\n", phrase.Printable(filepath.Join(dir, one.Name, file)))
			}
		}
	}
	return err
}

// completeAdded completes the names of hooks that were added.
func (a *app) completeAdded(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	_, lock, err := a.added(nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(lock)) {
		if !slices.Contains(args, name) {
			words = append(words, name+"\t"+oneLine(lock[name].Spec.String()))
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) outdatedCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "outdated",
		Short: "List added hooks whose sources have something newer",
		Long: "Lists the hooks that 'tenterhook add' installed, their sources, and what these have now.\n" +
			"Nothing is changed.",
		Example: "  tenterhook outdated\n  tenterhook outdated --json --dir .tenterhook/hooks",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.outdated(cmd.Context()) },
	}
}

// standing is how a hook compares with its source.
type standing struct {
	Name     string   `json:"name"`
	Source   string   `json:"source"`
	Have     string   `json:"have"`
	Latest   string   `json:"latest"`
	Outdated bool     `json:"outdated"`
	Moved    bool     `json:"moved"` // the tag of a version, or a pack's, names something else now
	Edited   []string `json:"edited"`
	Error    string   `json:"error,omitempty"` // why the source could not be asked
}

func (a *app) outdated(ctx context.Context) error {
	dir, lock, err := a.added(nil)
	if err != nil {
		return err
	}
	list := make([]standing, 0, len(lock))
	fetched := make(map[source.Spec]*source.Fetched)
	for _, name := range slices.Sorted(maps.Keys(lock)) {
		was := lock[name]
		state := (&source.Place{Dir: dir, Lock: lock}).State(name)
		one := standing{Name: name, Source: was.Spec.String(), Have: was.Version(), Edited: orEmpty(state.Edited)}
		if state.Gone {
			one.Edited = []string{"the folder is gone"}
		}
		if err := a.latest(ctx, &one, was, lock, fetched); err != nil {
			one.Error, a.code = err.Error(), exitError
		}
		list = append(list, one)
	}
	if a.json {
		return a.printJSON(map[string]any{"dir": dir, "hooks": list})
	}
	a.printOutdated(list, dir)
	return nil
}

// latest asks the source of a hook. A git repository and the place of a pack are asked for what their refs name alone.
func (a *app) latest(ctx context.Context, one *standing, was source.Locked, lock source.Lock, known map[source.Spec]*source.Fetched) error {
	if was.Kind == source.KindGit || was.Kind == source.KindPack {
		ref, commit, err := a.newest(ctx, was.Spec)
		if err != nil {
			return err
		}
		latest := was
		latest.Ref, latest.Commit = ref, cmp.Or(commit, was.Commit)
		one.Latest, one.Outdated = latest.Version(), latest.Commit != was.Commit
		one.Moved = one.Outdated && ref == was.Ref && fixed(was.Spec)
		return nil
	}
	f := known[was.Spec]
	if f == nil {
		var err error
		want := func(name string) bool { _, ok := lock[name]; return ok }
		if f, err = a.get(ctx, was.Spec, want); err != nil {
			return err
		}
		known[was.Spec] = f
	}
	i := slices.IndexFunc(f.Hooks, func(h *source.Hook) bool { return h.Name == one.Name })
	if i < 0 {
		return fmt.Errorf("%s has no hook %s any more", was.Spec, one.Name)
	}
	one.Latest, one.Outdated = f.Locked(f.Hooks[i]).Version(), f.Hooks[i].Digest() != was.Digest
	return nil
}

func (a *app) printOutdated(list []standing, dir string) {
	if len(list) == 0 {
		fmt.Fprintf(a.Out, "no hook of %s was added by 'tenterhook add'\n", phrase.Printable(dir))
		return
	}
	style := a.styleOf(a.Out)
	rows := make([][]string, len(list))
	for i, one := range list {
		state := style.green("current")
		switch {
		case one.Error != "":
			state = style.red("unknown: ") + oneLine(one.Error)
		case one.Outdated:
			state = style.yellow("outdated")
		}
		if one.Moved {
			state += style.red(", its tag was moved")
		}
		if len(one.Edited) > 0 {
			state += style.yellow(", edited")
		}
		rows[i] = []string{one.Name, one.Have, one.Latest, state, oneLine(one.Source)}
	}
	table(a.Out, style, []string{"HOOK", "HAVE", "LATEST", "STATE", "SOURCE"}, rows)
}
