package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/internal/safefile"
	"github.com/tenterhook/tenterhook/registry"
	"github.com/tenterhook/tenterhook/trust"
)

type trustFlags struct {
	all, list, revoke, yes, unbound bool

	export string
}

// listedSubject is a definition that needs an approval, as --json shows it.
type listedSubject struct {
	ID       string         `json:"id"`
	Path     string         `json:"path"`
	Approved bool           `json:"approved"`
	Why      string         `json:"why"`
	Unbound  string         `json:"unbound"`
	Changes  []trust.Change `json:"changes"`
}

func (a *app) trustCommand() *cobra.Command {
	var f trustFlags
	cmd := &cobra.Command{
		Use:   "trust [ID…]",
		Short: "Approve hooks and plugins that come with a workspace or a package",
		Long: "Hooks of a workspace or a package run only after you approve them. An approval\n" +
			"binds the definition, every byte of the hook's folder and each file that the command\n" +
			"names: any change ends it. Without an ID the hooks are listed. What is approved is\n" +
			"shown first, and nothing is approved without asking: --yes answers where there is no terminal\n" +
			"to ask.\n\n" +
			"A plugin has one approval, plugin/PACKAGE/NAME, for its file, its hooks, its variables\n" +
			"and its sandbox. It is started once, in that sandbox, to ask which hooks it has.\n\n" +
			"A command whose files cannot all be located is unbound: what it runs may change without\n" +
			"a new approval. It is approved with --unbound alone, and listed as such.",
		Example: "  tenterhook trust\n  tenterhook trust project/guard\n  tenterhook trust plugin/guards/guard\n" +
			"  tenterhook trust --all --yes --export approvals.json\n  tenterhook trust --revoke project/guard",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.conflict(args); err != nil {
				return err
			}
			if gone := goneFolders(a.opts.Workspace); f.revoke && len(gone) > 0 {
				store, err := trust.Open(a.stateDir())
				if err != nil {
					return err
				}
				root := approvedRoot(store, gone)
				return a.revoke(approvals{store, root, func() []registry.Subject { return nil }, func(of string) bool { return of == root }}, args, f)
			}
			reg, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer reg.Close()
			switch {
			case f.revoke:
				return a.revoke(approvals{reg.Approvals(), reg.Workspace(), reg.Subjects, a.roots(reg)}, args, f)
			case f.all || len(args) > 0:
				if err := a.approve(cmd.Context(), reg, args, f); err != nil {
					return err
				}
			case f.export == "":
				return a.listSubjects(reg)
			}
			return a.export(reg, f.export)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.all, "all", false, "every hook that needs an approval")
	flags.BoolVar(&f.list, "list", false, "list them, and whether they are approved")
	flags.BoolVar(&f.revoke, "revoke", false, "take approvals back, also those of hooks that are gone")
	flags.BoolVar(&f.yes, "yes", false, "approve without asking")
	flags.BoolVar(&f.unbound, "unbound", false, "approve one hook although what its command runs may change later")
	flags.StringVar(&f.export, "export", "", "write the approvals to a file, for --approvals on another machine")
	_ = cmd.MarkFlagFilename("export", "json")
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return beginning(a.hookWords(needingApproval)(cmd.Context(), prefix), prefix, args), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

// conflict says which flags do not go together.
func (f *trustFlags) conflict(ids []string) error {
	switch {
	case f.list && (f.all || f.revoke || f.unbound || len(ids) > 0):
		return &located{"bad_flags", "--list goes alone", "leave the rest out"}
	case f.unbound && (f.all || f.revoke || len(ids) != 1):
		return &located{"bad_flags", "--unbound is for one hook at a time", "give its ID"}
	case f.revoke && f.export != "":
		return &located{"bad_flags", "--revoke and --export do not go together", "export in a command of its own"}
	case f.revoke && len(ids) == 0 && !f.all:
		return &located{"bad_flags", "which approvals? give IDs, or --all", "'tenterhook trust --list' lists them"}
	}
	return nil
}

func (a *app) listSubjects(reg *registry.Registry) error {
	subjects := reg.Subjects()
	if a.json {
		list := make([]listedSubject, len(subjects))
		for i, s := range subjects {
			list[i] = listedSubject{s.ID(), s.Path(), s.Verdict.Approved, s.Verdict.Why, s.Verdict.Unbound(), orEmpty(s.Verdict.Changes)}
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
		rows[i] = []string{state, oneLine(s.ID()), oneLine(cmp.Or(s.Verdict.Why, unboundNote(s.Verdict.Unbound())))}
	}
	table(a.Out, style, []string{"STATE", "HOOK", "WHY"}, rows)
	if i := slices.IndexFunc(subjects, func(s registry.Subject) bool { return !s.Verdict.Approved }); i >= 0 {
		fmt.Fprintln(a.Out, style.dim("look at one, then approve it: tenterhook trust "+oneLine(shellQuote(subjects[i].ID()))))
	}
	return nil
}

// unboundNote is the sentence on an approval that does not bind what runs.
func unboundNote(why string) string {
	if why == "" {
		return ""
	}
	return "unbound: what this command runs may change without a new approval (" + why + ")"
}

// chosen returns the subjects that are meant: all that bear one of the IDs, and
// the plugins that have a hook of that ID.
func chosen(subjects []registry.Subject, ids []string, all bool) ([]registry.Subject, error) {
	if all {
		return subjects, nil
	}
	var list []registry.Subject
	for _, id := range ids {
		before := len(list)
		approved := approvedAs(subjects, id)
		for _, s := range subjects {
			if s.ID() == approved {
				list = append(list, s)
			}
		}
		if len(list) == before {
			return nil, unknownSubject(subjects, id)
		}
	}
	return list, nil
}

// approvedAs is the ID that a hook is approved by: that of its plugin, if it is in
// one, else its own.
func approvedAs(subjects []registry.Subject, id string) string {
	within := id
	for _, s := range subjects {
		if s.ID() == id {
			return id
		}
		if s.Plugin && slices.ContainsFunc(s.Hooks, func(h *hook.Hook) bool { return h.ID == id }) {
			within = s.ID()
		}
	}
	return within
}

// unknownSubject suggests the ID that was most likely meant.
func unknownSubject(subjects []registry.Subject, id string) error {
	e := &located{"unknown_hook", fmt.Sprintf("no hook %q needs an approval", id), "'tenterhook trust --list' lists them"}
	var known, named []string
	for _, s := range subjects {
		known = append(known, s.ID())
		if !s.Plugin && s.Hooks[0].Name == id || strings.HasSuffix(s.ID(), "/"+id) || s.Plugin && strings.HasSuffix(filepath.Dir(s.ID()), "/"+id) {
			named = append(named, s.ID())
		}
	}
	if near := nearestID(id, known); near != "" && len(named) == 0 {
		named = []string{near}
	}
	if len(named) > 0 {
		e.hint = "did you mean " + strings.Join(slices.Compact(named), " or ") + "?"
	}
	return e
}

func (a *app) approve(ctx context.Context, reg *registry.Registry, ids []string, f trustFlags) error {
	subjects, err := chosen(reg.Subjects(), ids, f.all)
	if err != nil {
		return err
	}
	var approved, refused []string
	answers := bufio.NewScanner(a.In)
	host := a.pluginHost()
	defer host.Close()
	if subjects, err = a.learn(ctx, reg, host, subjects, f.yes, answers); err != nil {
		return err
	}
	for _, s := range subjects {
		if s.Verdict.Approved && s.Verdict.Unbound() == "" {
			continue
		}
		id := s.ID()
		seal, err := s.Seal()
		if err != nil { // of one hook: the others can be approved all the same
			a.failed("%s is not approved: %s", id, err.Error())
			continue
		}
		if s.Plugin && !host.Described(s.Path(), seal) {
			a.failed("%s is not approved: it changed while it was asked; try again", id)
			continue
		}
		if s.Verdict.Approved && seal.Unbound() != "" { // it is what was approved as such
			continue
		}
		a.show(reg, &s, seal, answers)
		if why := seal.Unbound(); why != "" && !f.unbound {
			refused = append(refused, id)
			fmt.Fprintf(a.Err, "%s is not approved: %s\n", factText(id), factText(unboundNote(why)))
			continue
		}
		if ok, err := a.agreed("approve "+id, f.yes, answers); err != nil {
			return err
		} else if !ok {
			fmt.Fprintln(a.Err, "not approved")
			a.code = exitError
			continue
		}
		if err := reg.Approvals().ApproveUnbound(seal); err != nil {
			a.failed("%s is not approved: %s", id, err.Error())
			continue
		}
		approved = append(approved, id)
	}
	if a.json {
		if err := a.printJSON(map[string]any{"approved": orEmpty(approved), "unbound": orEmpty(refused)}); err != nil {
			return err
		}
	} else {
		for _, id := range approved {
			fmt.Fprintf(a.Out, "approved %s\n", factText(id))
		}
		if len(approved) == 0 {
			fmt.Fprintln(a.Out, "nothing was approved")
		}
	}
	if len(refused) > 0 {
		a.code = exitError
		fmt.Fprintf(a.Err, "have the command name its script by its path, or approve it as it is: tenterhook trust --unbound %s\n", factText(shellQuote(refused[0])))
	}
	return nil
}

// agreed asks the person at the terminal, unless --yes answers.
func (a *app) agreed(question string, yes bool, answers *bufio.Scanner) (bool, error) {
	if yes {
		return true, nil
	}
	if !a.interactive() {
		return false, &located{"not_asked", "nothing was changed: there is no terminal to ask", "look at the above, then pass --yes"}
	}
	fmt.Fprintf(a.Err, "%s? [y/N] ", factText(question))
	return answers.Scan() && slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answers.Text()))), nil
}

func (a *app) interactive() bool {
	in, ok := a.In.(*os.File)
	return ok && term.IsTerminal(int(in.Fd()))
}

// failed prints what a command could not do, for an exit code of 1.
func (a *app) failed(format string, args ...string) {
	a.code = exitError
	shown := make([]any, len(args))
	for i, arg := range args {
		shown[i] = factText(arg)
	}
	fmt.Fprintf(a.Err, "tenterhook: "+format+"\n", shown...)
}

// export writes the approvals of what is loaded here to a file: those by which
// it was found approved, nothing is read again. It says which hooks are not among
// them.
func (a *app) export(reg *registry.Registry, path string) error {
	if path == "" {
		return nil
	}
	var here []trust.Approval
	var without []string
	for _, s := range reg.Subjects() {
		if s.Verdict.Approved {
			here = append(here, *s.Verdict.Approval)
		} else {
			without = append(without, s.ID())
			for _, h := range s.Hooks {
				if !slices.Contains(without, h.ID) {
					without = append(without, h.ID)
				}
			}
		}
	}
	var text bytes.Buffer
	if err := trust.Export(&text, here); err != nil {
		return err
	}
	if err := safefile.Write(path, text.Bytes(), 0o600); err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "%s has %s\n", path, phrase.Count(len(here), "approval"))
	if len(without) > 0 {
		fmt.Fprintf(a.Err, "%s not approved, and not in it: %s\n", phrase.Count(len(without), "hook"), strings.Join(without, ", "))
	}
	return nil
}
