package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/internal/version"
)

// printVersion answers --version and the command.
func (a *app) printVersion() error {
	if a.json {
		return a.printJSON(version.This())
	}
	_, err := fmt.Fprintln(a.Out, version.This().Line("tenterhook"))
	return err
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version, the commit and the version of Go", Args: cobra.NoArgs,
		Example: "  tenterhook version --json",
		RunE:    func(*cobra.Command, []string) error { return a.printVersion() },
	}
}
