package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/journal"
	"github.com/tenterhook/tenterhook/registry"
)

// A completer returns the words that begin with a prefix, each with a description
// behind a tab. It need not leave out the words that the line has.
type completer func(ctx context.Context, prefix string) []string

// completers know the words that stand in the usage lines of commands.
func (a *app) completers() map[string]completer {
	return map[string]completer{
		"AGENT": func(context.Context, string) []string { return agentNames() },
		"EVENT": func(context.Context, string) []string { return eventNames() },
		"HOOK":  a.hookWords(everyHook),
		"ID":    a.hookWords(everyHook),
		"RUN":   a.runWords,
	}
}

// flagWords says what the flags of these names take, on every command.
var flagWords = map[string]string{"hook": "HOOK", "event": "EVENT", "agent": "AGENT", "record": "RUN"}

// addCompletions completes the arguments of each command by its usage line, and
// its flags by their names, unless the command has completions of its own.
func (a *app) addCompletions(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		a.addCompletions(c)
	}
	if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 && strings.Contains(cmd.Use, " ") {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return a.completeWord(cmd.Context(), wordAt(cmd.Use, len(args)), args, prefix)
		}
	}
	for flag, word := range flagWords {
		if cmd.Flags().Lookup(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
				return a.completeWord(cmd.Context(), word, nil, prefix)
			})
		}
	}
}

// wordAt is what a usage line has as its nth argument: "ID" of "trust [ID…]",
// "HOOK|DIR" of "test [HOOK|DIR]…", "" behind the last one.
func wordAt(use string, n int) string {
	words := strings.Fields(use)[1:]
	if n >= len(words) && strings.Contains(words[len(words)-1], "…") {
		n = len(words) - 1
	}
	if n >= len(words) {
		return ""
	}
	return strings.Trim(words[n], "[]…")
}

// completeWord completes a word of a usage line: alternatives stand between bars,
// and a word that no completer knows is a file.
func (a *app) completeWord(ctx context.Context, word string, args []string, prefix string) (words []string, directive cobra.ShellCompDirective) {
	directive = cobra.ShellCompDirectiveNoFileComp
	if word == "" {
		return nil, directive
	}
	known := a.completers()
	for one := range strings.SplitSeq(word, "|") {
		if complete := known[one]; complete != nil {
			words = append(words, beginning(complete(ctx, prefix), prefix, args)...)
		} else {
			directive = cobra.ShellCompDirectiveDefault
		}
	}
	return words, directive
}

// beginning are the words that begin with a prefix and that args lacks, in order.
func beginning(words []string, prefix string, args []string) []string {
	words = slices.DeleteFunc(words, func(word string) bool {
		name, _, _ := strings.Cut(word, "\t")
		return !strings.HasPrefix(name, prefix) || slices.Contains(args, name)
	})
	slices.Sort(words)
	return slices.Compact(words)
}

func agentNames() []string {
	var names []string
	for _, agent := range bridge.Agents() {
		names = append(names, agent.Name)
	}
	return names
}

func eventNames() []string {
	var names []string
	for _, info := range hook.Events() {
		names = append(names, string(info.Event)+"\t"+info.Doc)
	}
	return names
}

// runWords are the newest runs of the journal.
func (a *app) runWords(ctx context.Context, prefix string) (words []string) {
	if strings.Contains(prefix, "/") { // the ID of a hook
		return nil
	}
	_ = a.useJournal(ctx, func(error) {}, func(j *journal.Journal) error {
		lines, err := j.Log(ctx, journal.Filter{})
		for _, l := range lines {
			words = append(words, l.Run+"\t"+oneLine(string(l.Event)+", "+l.Time.Format(time.DateTime)))
		}
		return err
	})
	return words
}

// hookWords are the IDs of loaded hooks, with what the registry says about each.
func (a *app) hookWords(describe func(*registry.Registry) map[string]string) completer {
	return func(ctx context.Context, _ string) []string {
		reg, err := a.open(ctx)
		if err != nil {
			return nil
		}
		defer reg.Close()
		var words []string
		for id, about := range describe(reg) {
			words = append(words, oneLine(id)+"\t"+oneLine(about))
		}
		return words
	}
}

// needingApproval describes the hooks that trust takes.
func needingApproval(reg *registry.Registry) map[string]string {
	ids := make(map[string]string)
	for _, s := range reg.Subjects() {
		what := "plugin"
		if !s.Plugin {
			what = string(s.Hooks[0].Event)
		}
		ids[s.ID()] = what + ", approved"
		if !s.Verdict.Approved {
			ids[s.ID()] = what + ", " + s.Verdict.Why
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
