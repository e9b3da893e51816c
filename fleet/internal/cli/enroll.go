package cli

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/fleet/internal/problem"
)

func (a *app) enrollCommand() *cobra.Command {
	var name, fleet, creds, ca string
	cmd := &cobra.Command{
		Use:   "enroll URL [TOKEN]",
		Short: "Make this machine one of a fleet",
		Long: "With a token of 'tenterhook fleet hub token', the machine makes a key, and the hub a credential for it.\n" +
			"The key never leaves the machine. Without a token, URL is that of an existing NATS cluster, such as\n" +
			"tls://nats.example.com:4222, and --creds the credentials file that its operator made.",
		Example: "  tenterhook fleet enroll https://hub.example.com:4223 TOKEN\n" +
			"  tenterhook fleet enroll tls://nats.example.com:4222 --fleet acme --name laptop-7 --creds laptop-7.creds",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := a.connectionFile()
			if err != nil {
				return err
			}
			if _, err := os.Lstat(path); err == nil {
				return problem.New("enrolled", "this machine is enrolled already: "+path, "leave that fleet first: tenterhook fleet leave", nil)
			}
			name := cmp.Or(name, machineName())
			var c *hub.Connection
			if len(args) == 2 {
				c, err = hub.Enroll(cmd.Context(), args[0], args[1], name)
			} else {
				c, err = clusterConnection(args[0], fleet, name, creds, ca)
			}
			if err == nil {
				err = c.Save(path)
			}
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"name": c.Name, "fleet": c.Fleet, "role": c.Role, "url": c.URL, "file": path})
			}
			fmt.Fprintf(a.out, "this machine is %s of the fleet %s, in the role %s; 'tenterhook fleet agent' ships and listens\n", c.Name, c.Fleet, c.Role)
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what this machine is called (default: its host name)")
	cmd.Flags().StringVar(&fleet, "fleet", "fleet", "the fleet's `NAME`, without a token")
	cmd.Flags().StringVar(&creds, "creds", "", "NATS credentials `FILE`, without a token")
	cmd.Flags().StringVar(&ca, "ca", "", "`FILE` with the authority of the cluster's certificate, in PEM, without a token (default: the system's authorities)")
	return cmd
}

// clusterConnection is one to an existing cluster, tried once.
func clusterConnection(url, fleet, name, creds, ca string) (*hub.Connection, error) {
	if strings.HasPrefix(url, "https:") {
		return nil, problem.New("bad_token", "the token is missing", "copy the whole command from the output of 'tenterhook fleet hub token'", nil)
	}
	var texts [2]string
	for i, path := range []string{creds, ca} {
		if path == "" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		texts[i] = string(text)
	}
	c, err := hub.FromCredentials(url, fleet, name, hub.Machine, []byte(texts[0]), texts[1])
	if err != nil {
		return nil, err
	}
	nc, err := c.Connect()
	if err != nil {
		return nil, err
	}
	nc.Close()
	return c, nil
}

func (a *app) leaveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "leave", Short: "Take this machine out of its fleet",
		Long:    "Removes its credential here. On the hub, 'tenterhook fleet hub revoke NAME' makes it worthless.",
		Example: "  tenterhook fleet leave",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := a.connected()
			if err != nil {
				return err
			}
			path, err := a.connectionFile()
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
