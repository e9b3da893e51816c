package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// completeHooks completes the IDs of loaded hooks, with what the registry says
// about each. Those that the line has are left out.
func (a *app) completeHooks(describe func(*registry.Registry) map[string]string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		reg, err := a.open(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		defer reg.Close()
		var words []string
		for id, about := range describe(reg) {
			if strings.HasPrefix(id, prefix) && !slices.Contains(args, id) {
				words = append(words, oneLine(id)+"\t"+oneLine(about))
			}
		}
		slices.Sort(words)
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// needingApproval describes the hooks that trust takes.
func needingApproval(reg *registry.Registry) map[string]string {
	ids := make(map[string]string)
	for _, s := range reg.Subjects() {
		ids[s.Hooks[0].ID] = string(s.Hooks[0].Event) + ", approved"
		if !s.Verdict.Approved {
			ids[s.Hooks[0].ID] = string(s.Hooks[0].Event) + ", " + s.Verdict.Why
		}
	}
	return ids
}

// everyHook describes all loaded hooks.
func everyHook(reg *registry.Registry) map[string]string {
	ids := make(map[string]string)
	for _, l := range reg.List() {
		ids[l.Hook.ID] = string(l.Hook.Event) + ", " + string(l.State)
	}
	return ids
}

// completePackages completes the names of installed plugin packages.
func (a *app) completePackages(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	list, _ := a.plugins()
	var words []string
	for _, p := range list {
		if strings.HasPrefix(p.Package, prefix) && !slices.Contains(args, p.Package) {
			words = append(words, p.Package)
		}
	}
	slices.Sort(words)
	return slices.Compact(words), cobra.ShellCompDirectiveNoFileComp
}

// nearestID is the ID that a word most likely meant: the hook of that name in
// some scope, or a misspelt ID or name.
func nearestID(word string, ids []string) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id[strings.LastIndexByte(id, '/')+1:]
	}
	if i := slices.Index(names, word); i >= 0 {
		return ids[i]
	}
	if near := hook.Nearest(word, ids); near != "" {
		return near
	}
	if i := slices.Index(names, hook.Nearest(word, names)); i >= 0 {
		return ids[i]
	}
	return ""
}
