package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/internal/daemon"
	"github.com/tenterhook/tenterhook/internal/protect"
)

// harmless are flags with which a command that changes something only shows it.
var harmless = []string{"list", "dry-run"}

// refuseAgents keeps an agent from changing its guards by our own commands,
// whatever flags it gives.
func (a *app) refuseAgents(cmd *cobra.Command, _ []string) error {
	path := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	changes := slices.ContainsFunc(protect.Changing, func(c string) bool {
		c, flag, _ := strings.Cut(c, " --")
		return (path == c || strings.HasPrefix(path, c+" ")) && (flag == "" || cmd.Flags().Changed(flag))
	})
	for _, name := range harmless {
		if f := cmd.Flags().Lookup(name); f != nil && f.Value.String() == "true" {
			changes = false
		}
	}
	if !changes {
		return nil
	}
	return a.agentsMayNot(cmd, path)
}

// agentsMayNot fails if an agent started this process.
func (a *app) agentsMayNot(cmd *cobra.Command, path string) error {
	agent := daemon.StartedBy(cmd.Context(), os.Environ())
	if agent == "" {
		return nil
	}
	return &located{code: "refused", message: fmt.Sprintf("%s is refused: an agent (%s) started it, and agents must not change their own guards", path, agent),
		hint: "run it in a terminal of your own"}
}
