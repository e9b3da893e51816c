package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/pause"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

func (a *app) disableCommand() *cobra.Command {
	var length time.Duration
	var reason string
	cmd := &cobra.Command{
		Use:   "disable ID",
		Short: "Switch a hook off, for a time or until it is enabled",
		Long: "The hook is skipped in every agent of this user, and list, why and run say so. Hooks with\n" +
			"the same ID in other projects keep running. It is enabled again after --for, or by 'tenterhook enable'. A managed hook cannot be disabled.",
		Example: "  tenterhook disable user/guard --for 1h --reason 'moving the build folder'\n  tenterhook disable user/guard",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("for") && length <= 0 {
				return &located{code: "usage", message: fmt.Sprintf("--for: expected a time such as 30m or 2h, got %s", length)}
			}
			p, err := a.disable(cmd, args[0], length, reason)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"disabled": p})
			}
			fmt.Fprintf(a.Out, "%s is switched off %s\nswitch it on with: tenterhook enable %s\n", phrase.Printable(p.Hook), oneLine(p.String()), phrase.Printable(p.Hook))
			return nil
		},
	}
	cmd.Flags().DurationVar(&length, "for", 0, "for how long: 30m, 2h; without it until it is enabled")
	cmd.Flags().StringVar(&reason, "reason", "", "why, shown with the hook")
	return cmd
}

// disable switches a hook off; length 0 = until it is enabled.
func (a *app) disable(cmd *cobra.Command, id string, length time.Duration, reason string) (pause.Pause, error) {
	h, err := a.disableable(cmd, id)
	if err != nil {
		return pause.Pause{}, err
	}
	p := pause.Pause{Hook: id, Source: sourceOfPause(h), Since: time.Now().Truncate(time.Second), Reason: reason}
	if length > 0 {
		p.Until = time.Now().Add(length)
	}
	return p, pause.Open(a.stateDir()).Set(cmd.Context(), p)
}

// disableable fails for a hook that is not there, or that must not be disabled.
func (a *app) disableable(cmd *cobra.Command, id string) (*hook.Hook, error) {
	h, err := a.loaded(cmd, id)
	if err == nil && h.Authority() == hook.ScopeManaged {
		err = &located{code: "managed", message: id + " is managed, and cannot be disabled", hint: "ask the administrator of this machine"}
	}
	return h, err
}

// sourceOfPause is the file that declares a hook whose ID another project's hook,
// or one of another folder, may have too.
func sourceOfPause(h *hook.Hook) string {
	switch h.Scope {
	case hook.ScopeProject, hook.ScopeLocal, hook.ScopeDir:
		return h.Source.Path
	}
	return ""
}

// loaded is the hook of an ID. It fails for a hook that is not there.
func (a *app) loaded(cmd *cobra.Command, id string) (*hook.Hook, error) {
	reg, err := a.open(cmd.Context())
	if err != nil {
		return nil, err
	}
	defer reg.Close()
	var ids []string
	var overridden *hook.Hook
	for _, l := range reg.List() {
		switch {
		case l.Hook.ID == id && l.State == hook.StateShadowed:
			overridden = l.Hook
		case l.Hook.ID == id:
			return l.Hook, nil
		}
		ids = append(ids, l.Hook.ID)
	}
	if overridden != nil {
		return overridden, nil
	}
	e := &located{code: "unknown_hook", message: "there is no hook " + id, hint: "'tenterhook list' lists them"}
	if near := nearestID(id, ids); near != "" {
		e.hint = "did you mean " + near + "?"
	}
	return nil, e
}

func (a *app) enableCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "enable ID",
		Short: "Switch a disabled hook on again",
		Long: "Ends what 'tenterhook disable' began. A hook that its own file or the settings switch off stays off.\n" +
			"A project's hook is switched on in that project, and where no such hook is loaded in all of them.",
		Example: "  tenterhook enable user/guard",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			source := ""
			if h, err := a.loaded(cmd, args[0]); err == nil { // else of wherever it was
				source = h.Source.Path
			}
			was, err := pause.Open(a.stateDir()).Remove(cmd.Context(), args[0], source)
			if err != nil {
				return err
			}
			if !was {
				return &located{code: "not_disabled", message: args[0] + " was not disabled by 'tenterhook disable'", hint: "'tenterhook list' says what switches it off"}
			}
			if a.json {
				return a.printJSON(map[string]any{"enabled": args[0]})
			}
			fmt.Fprintln(a.Out, phrase.Printable(args[0])+" is on again")
			return nil
		},
	}
}
