package cli

import (
	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/manifest"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "schema hook|settings",
		Short:     "Print the JSON Schema of HOOK.md's frontmatter, or of settings, for an editor",
		Example:   "  tenterhook schema settings > settings.schema.json",
		ValidArgs: []string{"hook", "settings"},
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(_ *cobra.Command, args []string) error {
			schema := manifest.Schema()
			if args[0] == "settings" {
				schema = dialect.SettingsSchema()
			}
			_, err := a.Out.Write(schema)
			return err
		},
	}
}
