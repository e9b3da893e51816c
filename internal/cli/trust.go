package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
	"github.com/tenterhook/tenterhook/trust"
)

type trustFlags struct {
	all, list, revoke, yes, unbound bool
	export                          string
}

// listedSubject is a definition that needs an approval, as --json shows it.
type listedSubject struct {
	ID       string         `json:"id"`
	Path     string         `json:"path"`
	Approved bool           `json:"approved"`
	Why      string         `json:"why"`
	Changes  []trust.Change `json:"changes"`
}

func (a *app) trustCommand() *cobra.Command {
	var f trustFlags
	cmd := &cobra.Command{
		Use:   "trust [ID…]",
		Short: "Approve hooks that come with a workspace or a package",
		Long: "Hooks of a workspace or a package run only after somebody approved them. An approval\n" +
			"binds the definition and every byte of the hook's folder: any change ends it.\n" +
			"Without an ID the hooks are listed. What is approved is shown first, and nothing is\n" +
			"approved unasked: --yes answers where there is no terminal to ask.",
		Example: "  tenterhook trust\n  tenterhook trust project/guard\n" +
			"  tenterhook trust --all --yes --export approvals.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			reg, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer reg.Close()
			switch {
			case f.list && (f.all || f.revoke || len(args) > 0):
				return &located{"bad_flags", "--list goes alone", "leave the rest out"}
			case f.unbound && (f.all || f.revoke || len(args) != 1):
				return &located{"bad_flags", "--unbound is for one hook at a time", "give its ID"}
			case f.revoke:
				return a.revoke(reg, args, f)
			case f.all || len(args) > 0:
				if err := a.approve(reg, args, f); err != nil {
					return err
				}
			case f.export == "":
				return a.listSubjects(reg)
			}
			return export(reg, f.export)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.all, "all", false, "every hook that needs an approval")
	flags.BoolVar(&f.list, "list", false, "list them, and whether they are approved")
	flags.BoolVar(&f.revoke, "revoke", false, "take approvals back")
	flags.BoolVar(&f.yes, "yes", false, "approve without asking")
	flags.BoolVar(&f.unbound, "unbound", false, "approve one hook whose command runs files that cannot all be located")
	flags.StringVar(&f.export, "export", "", "write the approvals to a file, for --approvals on another machine")
	_ = cmd.MarkFlagFilename("export", "json")
	return cmd
}

func (a *app) listSubjects(reg *registry.Registry) error {
	subjects := reg.Subjects()
	if a.json {
		list := make([]listedSubject, len(subjects))
		for i, s := range subjects {
			list[i] = listedSubject{s.Hooks[0].ID, s.Hooks[0].Source.Path, s.Verdict.Approved, s.Verdict.Why, orEmpty(s.Verdict.Changes)}
		}
		return a.printJSON(map[string]any{"subjects": list})
	}
	if len(subjects) == 0 {
		fmt.Fprintln(a.Out, "no hook here needs an approval")
		return nil
	}
	style := a.styleOf(a.Out)
	rows := make([][]string, len(subjects))
	for i, s := range subjects {
		state := style.yellow("untrusted")
		if s.Verdict.Approved {
			state = style.green("approved")
		}
		rows[i] = []string{state, oneLine(s.Hooks[0].ID), oneLine(s.Verdict.Why)}
	}
	table(a.Out, style, []string{"STATE", "HOOK", "WHY"}, rows)
	return nil
}

// chosen returns the subjects that are meant.
func chosen(reg *registry.Registry, ids []string, all bool) ([]registry.Subject, error) {
	subjects := reg.Subjects()
	if all {
		return subjects, nil
	}
	var list []registry.Subject
	for _, id := range ids {
		at := slices.IndexFunc(subjects, func(s registry.Subject) bool { return s.Hooks[0].ID == id })
		if at < 0 {
			e := &located{"unknown_hook", fmt.Sprintf("no hook %q needs an approval", id), "'tenterhook trust --list' lists them"}
			var known []string
			for _, s := range subjects {
				known = append(known, s.Hooks[0].ID)
			}
			if near := hook.Nearest(id, known); near != "" {
				e.hint = "did you mean " + near + "?"
			}
			return nil, e
		}
		list = append(list, subjects[at])
	}
	return list, nil
}

func (a *app) approve(reg *registry.Registry, ids []string, f trustFlags) error {
	subjects, err := chosen(reg, ids, f.all)
	if err != nil {
		return err
	}
	var approved []string
	answers := bufio.NewScanner(a.In)
	for _, s := range subjects {
		if s.Verdict.Approved {
			continue
		}
		seal, err := s.Seal()
		if err != nil {
			return err
		}
		a.show(reg, &s, seal)
		if !f.yes {
			if in, ok := a.In.(*os.File); !ok || !term.IsTerminal(int(in.Fd())) {
				return &located{"not_asked", "nothing was approved: there is no terminal to ask", "look at the above, then pass --yes"}
			}
			fmt.Fprintf(a.Err, "approve %s? [y/N] ", printable(s.Hooks[0].ID))
			if !answers.Scan() || !slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answers.Text()))) {
				fmt.Fprintln(a.Err, "not approved")
				continue
			}
		}
		record := reg.Approvals().Approve
		if f.unbound {
			record = reg.Approvals().ApproveUnbound
		}
		if err := record(seal); err != nil {
			return err
		}
		approved = append(approved, s.Hooks[0].ID)
	}
	if a.json {
		return a.printJSON(map[string]any{"approved": orEmpty(approved)})
	}
	for _, id := range approved {
		fmt.Fprintf(a.Out, "approved %s\n", printable(id))
	}
	if len(approved) == 0 {
		fmt.Fprintln(a.Out, "nothing was approved")
	}
	return nil
}

// show prints what would be approved: what runs, when, with what, and which
// files are bound.
func (a *app) show(reg *registry.Registry, s *registry.Subject, seal *trust.Seal) {
	style := a.styleOf(a.Err)
	h := s.Hooks[0]
	fmt.Fprintf(a.Err, "%s  %s\n", style.bold(printable(h.ID)), style.dim(printable(h.Source.Path)))
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(a.Err, "  %-11s %s\n", name, printable(value))
		}
	}
	var events []string
	for _, each := range s.Hooks {
		events = append(events, string(each.Event))
	}
	line("event", strings.Join(events, ", "))
	line("matcher", h.Matcher)
	line("if", h.If.String())
	line("kind", string(h.Kind))
	if h.Command != nil {
		line("command", strings.Join(append([]string{h.Command.Line}, h.Command.Args...), " "))
	}
	for _, key := range slices.Sorted(maps.Keys(h.Params)) {
		line(key, string(h.Params[key]))
	}
	line("variables", strings.Join(slices.Sorted(maps.Keys(h.Env)), ", "))
	line("on failure", string(cmp.Or(h.OnFailure, hook.FailureContinue)))
	approval := seal.Approval()
	for _, file := range slices.Concat(approval.Folder, approval.Files) {
		line("file", fmt.Sprintf("%s (%d bytes)", file.Name, file.Size))
	}
	if s.Verdict.Seal == nil {
		return // nobody ever approved it: everything is new
	}
	for _, change := range s.Verdict.Changes {
		fmt.Fprintf(a.Err, "  %s\n", style.yellow(printable(change.String())))
		for _, text := range strings.Split(strings.TrimRight(reg.Approvals().Diff(seal, change), "\n"), "\n") {
			if text != "" {
				fmt.Fprintf(a.Err, "    %s\n", printable(text))
			}
		}
	}
}

func (a *app) revoke(reg *registry.Registry, ids []string, f trustFlags) error {
	if len(ids) == 0 && !f.all {
		return &located{"bad_flags", "which approvals? give IDs, or --all", "'tenterhook trust --list' lists them"}
	}
	subjects, err := chosen(reg, ids, f.all)
	if err != nil {
		return err
	}
	var keys []trust.Key
	for _, s := range subjects {
		key, err := s.Key()
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}
	n, err := reg.Approvals().Revoke(keys...)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"revoked": n})
	}
	fmt.Fprintf(a.Out, "revoked %s\n", plural(n, "approval"))
	return nil
}

// export writes the approvals of what is loaded here to a file.
func export(reg *registry.Registry, path string) error {
	if path == "" {
		return nil
	}
	var here []trust.Approval
	for _, s := range reg.Subjects() {
		if s.Verdict.Approved {
			if seal, err := s.Seal(); err == nil {
				here = append(here, seal.Approval())
			}
		}
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".approvals-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	if err := trust.Export(file, here); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
