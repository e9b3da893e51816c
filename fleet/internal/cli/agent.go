package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/fleet/internal/agent"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/jobs"
	"github.com/tenterhook/tenterhook/internal/recording"
	"github.com/tenterhook/tenterhook/journal"
	"github.com/tenterhook/tenterhook/registry"
)

func (a *app) agentCommand() *cobra.Command {
	var endpoint string
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Ship this machine's journal to the hub, and carry its jobs, until it is stopped",
		Long: "Runs beside the hooks of this machine, as a service. No decision waits for it: while it does not run,\n" +
			"or the hub cannot be reached, records wait in the journal.",
		Example: "  tenterhook fleet agent\n  tenterhook fleet agent unit > ~/.config/systemd/user/tenterhook-fleet-agent.service",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			state, err := stateDir()
			if err != nil {
				return err
			}
			c, err := a.connected()
			if err != nil {
				return err
			}
			o, err := journalOptions(cmd.Context(), state)
			if err != nil {
				return err
			}
			parts, err := a.parts(cmd.Context(), state, endpoint)
			if err != nil {
				return err
			}
			return agent.Run(cmd.Context(), agent.Options{StateDir: state, JournalDir: recording.Dir(state), Connection: c, Journal: o, Parts: parts,
				Logger: slog.New(slog.NewTextHandler(a.err, nil))})
		},
	}
	cmd.Flags().StringVar(&endpoint, "otel", "", "also send spans and metrics to the collector at this `URL`, see 'tenterhook fleet otel'")
	cmd.AddCommand(a.unitCommand("agent", "The agent of this machine in its fleet"))
	return cmd
}

// parts are what an agent does beside shipping. endpoint is a collector; "" = none.
func (a *app) parts(ctx context.Context, state, endpoint string) ([]agent.Part, error) {
	list := []agent.Part{&jobsPart{a, jobs.In(state)}, &policyPart{app: a, state: state}}
	if endpoint == "" {
		return list, nil
	}
	sender, err := newSender(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	return append(list, &otelPart{app: a, sender: sender, endpoint: endpoint}), nil
}

// journalOptions are the options that the settings of this machine describe.
func journalOptions(ctx context.Context, state string) (journal.Options, error) {
	settings := recording.New(state, nil, nil)
	defer func() { _ = settings.Close() }() // it has nothing to write
	reg, err := registry.Open(ctx, registry.Options{Recorder: settings, Without: []hook.Scope{hook.ScopeProject, hook.ScopeLocal}})
	if err != nil {
		return journal.Options{}, err
	}
	return settings.Options(), reg.Close()
}

// unitCommand prints a service of systemd that runs a command of ours.
func (a *app) unitCommand(name, description string) *cobra.Command {
	return &cobra.Command{
		Use: "unit [-- FLAG...]", Short: "Print a systemd service that runs it, with these flags",
		Example: "  tenterhook fleet " + name + " unit > ~/.config/systemd/user/tenterhook-fleet-" + name + ".service\n" +
			"  systemctl --user daemon-reload && systemctl --user enable --now tenterhook-fleet-" + name,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			program, err := os.Executable()
			if err == nil {
				program, err = filepath.EvalSymlinks(program)
			}
			if err != nil {
				return err
			}
			words := append([]string{program, "fleet", name}, args...)
			for i, w := range words {
				words[i] = unitWord(w)
			}
			_, err = fmt.Fprintf(a.out, unitText, description, strings.Join(words, " "))
			return err
		},
	}
}

const unitText = `[Unit]
Description=%s
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=%s
Restart=always
RestartSec=5

[Install]
WantedBy=default.target
`

// unitWord quotes a word of ExecStart.
func unitWord(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, `$`, `$$`, "\n", `\n`).Replace(s) + `"`
}
