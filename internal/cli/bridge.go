package cli

import (
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/internal/daemon"
	"github.com/tenterhook/tenterhook/internal/daemon/client"
)

func (a *app) bridgeCommand() *cobra.Command {
	var where []string
	cmd := &cobra.Command{
		Use:   "bridge AGENT EVENT",
		Short: "Answer a hook call of an agent in this process, without a daemon",
		Long: "Reads the payload that an agent gives its hooks on stdin, asks the hooks, and answers\n" +
			"in the agent's words. It is for places where no process may stay: what a session needs\n" +
			"from call to call is in the state directory, and background hooks delay the\n" +
			"call by 5 seconds at most. 'tenterhook-bridge' asks the daemon instead.",
		Example: "  tenterhook bridge claude PreToolUse < payload.json",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			call := &client.Call{Agent: args[0], Event: args[1], Env: os.Environ(), Umask: client.Umask(), Began: time.Now(), Where: where}
			call.Dir, _ = os.Getwd()
			answer := client.Answer{}
			var err error
			if name := changed(cmd, "dir", "workspace", "approvals", "compat", "no-hooks"); name != "" {
				answer = daemon.Undecided(call, "--"+name+" has no effect on the hooks of an agent: take it out of the entry, and say it in the settings")
			} else if call.Stdin, err = io.ReadAll(io.LimitReader(a.In, client.MaxFrame/2+1)); err != nil || len(call.Stdin) > client.MaxFrame/2 {
				answer = daemon.Undecided(call, "its input cannot be read, or is larger than 32 MiB")
			} else {
				answer = daemon.Direct(cmd.Context(), call)
			}
			survivePipes()
			_, err = a.Out.Write(answer.Stdout)
			_, _ = a.Err.Write(answer.Stderr)
			out, _ := fileOf(a.Out)
			a.code = answer.Code(call.Agent, call.Event, out, err)
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&where, "env", nil, "where the operator's hooks are, as in HOME=/home/me, whatever the environment says")
	return cmd
}

// changed is the first of some flags that was given; "" = none was.
func changed(cmd *cobra.Command, names ...string) string {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}
