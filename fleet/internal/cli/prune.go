package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/fleet/internal/oci"
	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/pack"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/registry"
)

func (a *app) pruneCommand() *cobra.Command {
	var yes bool
	var dirs []string
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove packs that no settings name from the store",
		Long: "Lists the packs in the store of this machine that neither the user's nor the managed settings name,\n" +
			"nor those of a folder of --dir, and with --yes removes them. 'tenterhook pack pull' brings one back.\n" +
			"Settings that cannot be read are an error: they may name any of them.",
		Example: "  tenterhook pack prune\n  tenterhook pack prune --dir ./hooks --yes",
		Args:    cobra.NoArgs,
		RunE: a.action(func(ctx context.Context, _ []string) error {
			keep, err := packsInForce(ctx, dirs)
			if err != nil {
				return err
			}
			gone, err := oci.Prune(ctx, discovery.DefaultStateDir(), keep, !yes)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"packs": append([]string{}, gone...), "removed": yes})
			}
			for _, digest := range gone {
				fmt.Fprintln(a.out, digest)
			}
			switch {
			case len(gone) == 0:
				fmt.Fprintln(a.out, "the settings name every pack in the store")
			case yes:
				fmt.Fprintf(a.out, "removed %s\n", phrase.Count(len(gone), "pack"))
			default:
				fmt.Fprintf(a.out, "no settings name %s; --yes removes them\n", phrase.Count(len(gone), "pack"))
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "remove them")
	cmd.Flags().StringArrayVar(&dirs, "dir", nil, "a folder of hooks whose settings name packs, too (repeatable)")
	return cmd
}

// packsInForce are the digests of the packs that the settings of this machine name.
func packsInForce(ctx context.Context, dirs []string) (map[string]bool, error) {
	reg, err := registry.Open(ctx, registry.Options{Dirs: dirs, Without: []hook.Scope{hook.ScopeProject, hook.ScopeLocal}})
	if err != nil {
		return nil, err
	}
	defer reg.Close()
	for _, d := range reg.Diagnostics() {
		if d.Severity == hook.SeverityError && filepath.Base(d.Path) != "HOOK.md" && d.Code != "pack_missing" && d.Code != "pack_changed" {
			return nil, &problem.Error{Code: d.Code, Message: fmt.Sprintf("%s:%d: %s", d.Path, d.Line, d.Message), Hint: "nothing was removed; correct the settings first"}
		}
	}
	digests := make(map[string]bool)
	for _, text := range reg.Packs() {
		if ref, err := pack.Pinned(text); err == nil {
			digests[ref.Digest] = true
		}
	}
	return digests, nil
}
