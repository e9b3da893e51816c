package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/internal/recording"
	"github.com/tenterhook/tenterhook/journal"
)

func (a *app) enrollCommand() *cobra.Command {
	var to cluster
	var role string
	cmd := &cobra.Command{
		Use:   "enroll URL [TOKEN]",
		Short: "Enroll this machine in a fleet",
		Long: "With a token of 'tenterhook fleet hub token', the machine makes a key, and the hub a credential for it.\n" +
			"The key never leaves the machine. Without a token, URL is that of an existing NATS cluster, such as\n" +
			"tls://nats.example.com:4222, and --creds the credentials file that its operator made. The cluster needs\n" +
			"the streams that 'tenterhook fleet hub declare' makes. With --connection the credential is for that file,\n" +
			"and --role says what it is of: a worker's, a publisher's or an admin's.",
		Example: "  tenterhook fleet enroll https://hub.example.com:4223 TOKEN\n" +
			"  tenterhook fleet enroll tls://nats.example.com:4222 --fleet acme --name laptop-7 --creds laptop-7.creds\n" +
			"  tenterhook fleet enroll tls://nats.example.com:4222 --fleet acme --role worker --creds w1.creds --connection w1.json",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := a.connectionFile()
			if err != nil {
				return err
			}
			if _, err := os.Lstat(path); err == nil && a.connection != "" {
				return problem.New("file_exists", path+" is there already", "name another --connection, or remove it", nil)
			} else if err == nil {
				return problem.New("enrolled", "this machine is enrolled already: "+path, "leave that fleet first: tenterhook fleet leave", nil)
			}
			var c *hub.Connection
			if len(args) == 2 {
				c, err = to.redeem(cmd, args[0], args[1])
			} else if c, err = to.connection(args[0], hub.Role(role), machineName()); err == nil {
				err = c.Try(cmd.Context())
			}
			if err == nil {
				err = c.Save(path)
			}
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"name": c.Name, "fleet": c.Fleet, "role": c.Role, "url": c.Place(), "file": path})
			}
			if a.connection != "" {
				return a.credentialIn(path, c)
			}
			fmt.Fprintf(a.out, "this machine is %s of the fleet %s, in the role %s; 'tenterhook fleet agent' ships and listens\n", c.Name, c.Fleet, c.Role)
			return nil
		},
	}
	cmd.Flags().StringVar(&to.name, "name", "", "what this machine is called (default: its host name; without a token, the name in the credential)")
	cmd.Flags().StringVar(&to.fleet, "fleet", "fleet", "the fleet's `NAME`, without a token")
	cmd.Flags().StringVar(&role, "role", string(hub.Machine), "`ROLE` of the credential, without a token: "+roleHelp)
	to.flags(cmd, ", without a token")
	return cmd
}

// cluster says how an existing NATS cluster is reached.
type cluster struct{ name, fleet, creds, ca string }

func (k *cluster) flags(cmd *cobra.Command, when string) {
	cmd.Flags().StringVar(&k.creds, "creds", "", "NATS credentials `FILE`"+when)
	cmd.Flags().StringVar(&k.ca, "ca", "", "`FILE` with the authority of the cluster's certificate, in PEM"+when+" (default: the system's authorities)")
}

// redeem enrolls with a token, which says everything else.
func (k *cluster) redeem(cmd *cobra.Command, url, token string) (*hub.Connection, error) {
	for _, flag := range []string{"fleet", "role", "creds", "ca"} {
		if cmd.Flags().Changed(flag) {
			return nil, problem.New("bad_flags", "--"+flag+" does not go with a token, which says it", "leave it out", nil)
		}
	}
	return hub.Enroll(cmd.Context(), url, token, cmp.Or(k.name, machineName()))
}

// connection is one to an existing cluster. fallback is its name where nothing says
// another.
func (k *cluster) connection(url string, role hub.Role, fallback string) (*hub.Connection, error) {
	if strings.HasPrefix(url, "https:") {
		return nil, problem.New("bad_token", "the token is missing", "copy the whole command from the output of 'tenterhook fleet hub token'", nil)
	}
	if err := hub.CheckRole(role); err != nil {
		return nil, err
	}
	c := &hub.Connection{URL: url, Fleet: k.fleet, Name: k.name, Role: role}
	if k.ca != "" {
		text, err := os.ReadFile(k.ca)
		if err != nil {
			return nil, problem.New("no_file", err.Error(), "name the authority of the cluster's certificate, in PEM", err)
		}
		c.CA = string(text)
	}
	if k.creds != "" {
		text, err := os.ReadFile(k.creds)
		if err == nil {
			err = c.UseCredentials(text)
		}
		if err != nil {
			return nil, problem.New("bad_credentials", k.creds+": "+err.Error(), "name a NATS credentials file, as 'nsc generate creds' writes it", err)
		}
	}
	c.Name = cmp.Or(c.Name, fallback)
	return c, hub.CheckName(c.Name)
}

func (a *app) leaveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "leave", Short: "Take this machine out of its fleet",
		Long:    "Removes its credential here. On the hub, 'tenterhook fleet hub revoke NAME' makes it worthless.",
		Example: "  tenterhook fleet leave",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connected()
			if err != nil {
				return err
			}
			path, err := a.connectionFile()
			if err == nil && a.connection == "" { // else the connection was not this machine's
				err = stopShipping(cmd.Context())
			}
			if err == nil {
				err = os.Remove(path)
			}
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"left": c.Fleet, "name": c.Name})
			}
			fmt.Fprintf(a.out, "this machine is no longer %s of the fleet %s\n", c.Name, c.Fleet)
			return nil
		},
	}
}

// stopShipping lets the journal delete its records by age again: they no longer wait for the hub.
func stopShipping(ctx context.Context) error {
	state, err := stateDir()
	if err != nil {
		return err
	}
	if _, err := os.Stat(recording.Dir(state)); err != nil {
		return nil // nothing was recorded
	}
	o, err := journalOptions(ctx, state)
	if err != nil {
		return err
	}
	j, err := journal.Open(ctx, recording.Dir(state), o)
	if err != nil {
		return err
	}
	return errors.Join(j.StopShipping(ctx), j.Close())
}
