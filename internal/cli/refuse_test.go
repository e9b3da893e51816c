package cli_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/internal/cli"
	"github.com/tenterhook/tenterhook/internal/protect"
)

// changesNothing are the commands that an agent may run: they show or try something, or
// answer the calls of hook entries. new writes a template of a hook, and overwrites nothing.
var changesNothing = []string{
	"agents", "agents verify", "breaker", "breaker list", "bridge", "catalog", "catalog show", "check", "completion", "completion bash", "completion fish", "completion powershell",
	"completion zsh", "daemon run", "daemon status", "doctor", "events", "list", "log", "new", "outdated", "plugin check", "plugin list", "replay", "run",
	"schema", "show", "stats", "test", "top", "version", "watch", "why",
}

func TestEachCommandIsKnownToChangeGuardsOrNot(t *testing.T) {
	root := cli.Command()
	var all []string
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			path := strings.TrimPrefix(sub.CommandPath(), root.Name()+" ")
			all = append(all, path)
			changes := slices.ContainsFunc(protect.Changing, func(p string) bool { return path == p || strings.HasPrefix(path, p+" ") })
			holds := slices.Contains([]string{"daemon", "plugin"}, path) // commands, and does nothing itself
			if known := slices.Contains(changesNothing, path); known == changes && !holds {
				t.Errorf("%s: protect.Changing has it: %v, changesNothing has it: %v; want one of them", path, changes, known)
			}
			walk(sub)
		}
	}
	walk(root)
	for _, entry := range protect.Changing {
		path, flag, _ := strings.Cut(entry, " --")
		cmd, rest, err := root.Find(strings.Fields(path))
		if err != nil || len(rest) > 0 || !slices.Contains(all, path) || flag != "" && cmd.Flags().Lookup(flag) == nil {
			t.Errorf("protect.Changing has %q, which is no command", entry)
		}
	}
	for _, path := range changesNothing {
		if !slices.Contains(all, path) {
			t.Errorf("%q is no command", path)
		}
	}
}
