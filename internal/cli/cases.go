package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

const (
	manifestName = "HOOK.md"
	casesName    = "cases" // the folder beside it
	caseSuffix   = ".txtar"
)

// testFlags say what test does beside running cases.
type testFlags struct {
	update        bool
	junit, record string
}

func (a *app) testCommand() *cobra.Command {
	var f testFlags
	cmd := &cobra.Command{
		Use:   "test [HOOK|DIR]…",
		Short: "Run the cases beside hooks, and report which fail",
		Long: "A case is an event and the outcome that a hook is expected to give: cases/NAME.txtar in the\n" +
			"hook's folder. Each runs on the real dispatcher, with this hook alone, in a folder and a home\n" +
			"directory of its own. HOOK is an ID from 'tenterhook list'. DIR is a hook's folder, or a folder\n" +
			"of these. Without either, all loaded hooks are tested.\n\n" +
			"Hooks run for real. A hook that waits for an approval does not run, and counts as failed; a\n" +
			"folder that you name runs as with --dir. Each runs in the sandbox that it has where it is\n" +
			"loaded. The exit code is 1 if a case does not hold, or if\n" +
			"there is no case at all.\n\n" +
			"--record makes a case of a run that 'tenterhook log' shows.",
		Example: "  tenterhook test\n  tenterhook test user/guard --update\n  tenterhook test ./examples/hooks --junit report.xml\n" +
			"  tenterhook test --record dn3ga4f0 user/guard",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.record != "" {
				return a.recordCase(cmd.Context(), f, args)
			}
			return a.test(cmd.Context(), f, args)
		},
	}
	cmd.Flags().BoolVar(&f.update, "update", false, "write the actual outcome into each case that expects another")
	cmd.Flags().StringVar(&f.junit, "junit", "", "also write the results to a file as JUnit XML")
	cmd.Flags().StringVar(&f.record, "record", "", "make a case of this recorded run, for the hook given or its only one")
	cmd.MarkFlagsMutuallyExclusive("record", "update")
	cmd.MarkFlagsMutuallyExclusive("record", "junit")
	_ = cmd.MarkFlagFilename("junit", "xml")
	return cmd
}

// testedHook is a hook whose cases are run.
type testedHook struct {
	id    string // as in list, or the folder as it was named
	name  string // as it is declared
	scope hook.Scope
	box   *hook.Sandbox // that it runs in where it is loaded; nil = none
	dir   string        // its folder
	runs  string        // what runs: dir, or the copy of what was approved
	why   string        // why it may not run; "" = it may
	hint  string
	cases []string // the names of their files
}

// needsApproval reports whether a change of the folder ends an approval.
func (h *testedHook) needsApproval() bool {
	return slices.Contains([]hook.Scope{hook.ScopeProject, hook.ScopeLocal, hook.ScopePlugin}, h.scope)
}

// testedHooks are the hooks that arguments name; without any all that have a
// folder.
func (a *app) testedHooks(ctx context.Context, args []string) ([]*testedHook, error) {
	reg, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	defer reg.Close()
	loaded := loadedHooks(reg)
	if len(args) == 0 {
		return loaded, nil
	}
	var hooks []*testedHook
	for _, arg := range args {
		found := slices.DeleteFunc(slices.Clone(loaded), func(h *testedHook) bool { return h.id != arg })
		if len(found) == 0 {
			if found, err = hooksIn(arg, loaded); err != nil {
				return nil, err
			}
		}
		hooks = append(hooks, found...)
	}
	return hooks, nil
}

// loadedHooks are those of a registry that have a folder, each folder once.
func loadedHooks(reg *registry.Registry) []*testedHook {
	var hooks []*testedHook
	for _, l := range reg.List() {
		h := &testedHook{id: l.Hook.ID, name: l.Hook.Name, scope: l.Hook.Scope, box: l.Hook.Sandbox, dir: l.Hook.Source.Dir}
		var err error
		h.runs, err = reg.Folder(l.Hook)
		switch known := slices.ContainsFunc(hooks, func(other *testedHook) bool { return other.dir == h.dir }); {
		case h.dir == "" || known || err == nil && h.runs == "":
			continue
		case err != nil:
			h.why = err.Error()
			if refused := (*hook.Error)(nil); errors.As(err, &refused) {
				h.why, h.hint = refused.Reason, cmp.Or(refused.Hint, "tenterhook trust "+l.Hook.ID)
			}
			h.runs = h.dir // its cases are counted
		}
		hooks = append(hooks, h)
	}
	for _, h := range hooks {
		h.cases = caseFiles(h.runs)
	}
	return hooks
}

// hooksIn are the hooks of a folder that was named: it is one, or holds some. One
// that is loaded too, and waits for an approval, does not get it by its path.
func hooksIn(path string, loaded []*testedHook) ([]*testedHook, error) {
	unknown := &located{"unknown_hook", fmt.Sprintf("there is no hook %s, and no folder with a %s", path, manifestName), "'tenterhook list' lists the hooks"}
	if filepath.Base(path) == manifestName {
		path = filepath.Dir(path)
	}
	dirs := []string{path}
	if !isHook(path) {
		dirs = nil
		entries, _ := os.ReadDir(path)
		for _, e := range entries {
			if dir := filepath.Join(path, e.Name()); isHook(dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	if len(dirs) == 0 {
		return nil, unknown
	}
	hooks := make([]*testedHook, len(dirs))
	for i, dir := range dirs {
		full, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		hooks[i] = &testedHook{id: dir, scope: hook.ScopeDir, dir: full, runs: full, cases: caseFiles(full)}
		for _, other := range loaded {
			if sameFolder(full, other.dir) {
				hooks[i] = other
			}
		}
	}
	return hooks, nil
}

func isHook(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, manifestName))
	return err == nil && info.Mode().IsRegular()
}

func sameFolder(a, b string) bool {
	one, err1 := os.Stat(a)
	other, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(one, other)
}

// caseFiles lists the cases of a hook's folder.
func caseFiles(dir string) []string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	paths, _ := fs.Glob(root.FS(), casesName+"/*"+caseSuffix)
	return paths
}
