package cli

import (
	"fmt"
	"log/slog"
	"os"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/fleet/internal/problem"
)

const roleHelp = "machine: ships its audit, reads the policy. worker: takes jobs. publisher: writes the policy. admin: everything"

func (a *app) hubCommand() *cobra.Command {
	var dir string
	var o hub.Options
	var k keeping
	cmd := &cobra.Command{
		Use:   "hub",
		Short: "Run the hub of a fleet, until it is stopped",
		Long: "Runs a NATS server with JetStream in this process, with TLS and a credential for each machine. The\n" +
			"first run makes its folder and its keys: any reader of the folder can enroll machines, so keep it to\n" +
			"yourself. The signing keys of the policy do not belong there.\n\n" +
			"With --connection of an admin, an existing NATS cluster is the server: then it declares the streams\n" +
			"there as 'hub declare' does, keeps the queues of workers, and archives.",
		Example: "  tenterhook fleet hub --fleet acme --host hub.example.com --listen 0.0.0.0:4222 --enroll-listen 0.0.0.0:4223\n  tenterhook fleet hub token --name laptop-7\n" +
			"  tenterhook fleet hub --connection admin.json --dir /srv/hub",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if k.dir, err = hubPath(dir); err != nil {
				return err
			}
			o.Limits, o.Logger = k.limits, slog.New(slog.NewTextHandler(a.err, nil))
			k.log = o.Logger
			if a.connection != "" {
				return a.keepCluster(cmd, &k)
			}
			d, err := hub.Open(k.dir)
			if err != nil {
				return err
			}
			s, err := d.Start(cmd.Context(), o)
			if err != nil {
				return err
			}
			defer s.Stop()
			nc, err := s.InProcess()
			if err != nil {
				return err
			}
			defer nc.Close()
			js, err := jetstream.New(nc)
			if err != nil {
				return err
			}
			k.alone = true
			return k.keep(cmd.Context(), js, func() error {
				if a.json {
					return a.printJSON(s.Run)
				}
				_, err := fmt.Fprintf(a.out, "the hub of %s runs at %s; machines enroll at %s\nits folder is %s; 'tenterhook fleet hub token' lets a machine in\n", s.Run.Fleet, s.Run.URL, s.Run.Enroll, d.Path)
				return err
			})
		},
	}
	hubDir(cmd, &dir)
	cmd.Flags().StringVar(&o.Fleet, "fleet", "", "the fleet's `NAME` (default: that of the last run, or fleet)")
	cmd.Flags().StringVar(&o.Listen, "listen", "127.0.0.1:4222", "`HOST:PORT` for machines")
	cmd.Flags().StringVar(&o.Enroll, "enroll-listen", "127.0.0.1:4223", "`HOST:PORT` for machines that enroll")
	cmd.Flags().StringArrayVar(&o.Hosts, "host", nil, "`NAME` or address by which machines reach the hub; the first is in the URLs (default: those of the last run)")
	cmd.Flags().BoolVar(&k.archiving, "archive", true, "archive what machines ship, in this folder")
	k.flags(cmd)
	cmd.AddCommand(a.tokenCommand(&dir), a.issuedCommand(&dir), a.revokeCommand(&dir), a.credentialCommand(&dir), a.declareCommand(), a.unitCommand("hub", "The hub of a fleet"))
	return cmd
}

func (a *app) tokenCommand(dir *string) *cobra.Command {
	var o hub.TokenOptions
	var role string
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make a token with which one machine enrolls once",
		Long: "Run it on the hub's machine. The token says which hub it is of, so that no other can take its place.\n" +
			"A token with --name takes the place of the machine of that name: its old credential is revoked.",
		Example: "  tenterhook fleet hub token\n  tenterhook fleet hub token --name ci-runner-3 --valid 12h",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			d, err := openHub(*dir)
			if err != nil {
				return err
			}
			run, err := d.Run()
			if err != nil {
				return err
			}
			o.Role = hub.Role(role)
			token, err := d.NewToken(o)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"url": run.Enroll, "token": token, "expires": time.Now().Add(o.Expires).UTC()})
			}
			name := ""
			if o.Name != "" {
				name = " --name " + o.Name
			}
			fmt.Fprintf(a.out, "within %v, once, on the machine:\n  tenterhook fleet enroll %s %s%s\n", o.Expires, run.Enroll, token, name)
			return nil
		},
	}
	cmd.Flags().StringVar(&o.Name, "name", "", "the `MACHINE` that it is for (default: any whose name is free)")
	cmd.Flags().StringVar(&role, "role", string(hub.Machine), "`ROLE`: "+roleHelp)
	cmd.Flags().DurationVar(&o.Expires, "expires", time.Hour, "how long the token can be used")
	cmd.Flags().DurationVar(&o.Valid, "valid", 0, "how long the credential is valid (default: until it is revoked)")
	return cmd
}

func (a *app) issuedCommand(dir *string) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the credentials that were given out",
		Example: "  tenterhook fleet hub list --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			d, err := openHub(*dir)
			if err != nil {
				return err
			}
			issued, err := d.Issued()
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"credentials": append([]hub.Issued{}, issued...)})
			}
			w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
			for _, i := range issued {
				state := "valid"
				if !i.Revoked.IsZero() {
					state = "revoked " + i.Revoked.Format(time.RFC3339)
				}
				fmt.Fprintf(w, "%s\t%s\tsince %s\t%s\n", i.Name, i.Role, i.At.Format(time.RFC3339), state)
			}
			if len(issued) == 0 {
				fmt.Fprintln(w, "none; 'tenterhook fleet hub token' lets a machine in")
			}
			return w.Flush()
		},
	}
}

func (a *app) revokeCommand(dir *string) *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "Take a credential back",
		Long:    "A hub that runs ends the connections of that name within two seconds.",
		Example: "  tenterhook fleet hub revoke laptop-7",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := openHub(*dir)
			if err != nil {
				return err
			}
			if err := d.Revoke(args[0]); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"revoked": args[0]})
			}
			fmt.Fprintf(a.out, "the credential of %s is revoked\n", args[0])
			return nil
		},
	}
}

func (a *app) credentialCommand(dir *string) *cobra.Command {
	var role, to string
	var valid time.Duration
	cmd := &cobra.Command{
		Use: "credential NAME", Short: "Write a credential for a worker, a publisher or an admin to a file",
		Long:    "Other commands take the file with --connection.",
		Example: "  tenterhook fleet hub credential worker-1 --role worker --output worker-1.json\n  tenterhook fleet worker --queue scan --connection worker-1.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := openHub(*dir)
			if err != nil {
				return err
			}
			if _, err := os.Lstat(to); err == nil {
				return problem.New("file_exists", to+" is there already", "name another --output, or remove it", nil)
			}
			c, err := d.Credential(hub.Role(role), args[0], valid)
			if err == nil {
				err = c.Save(to)
			}
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"name": c.Name, "role": c.Role, "file": to})
			}
			return a.credentialIn(to, c)
		},
	}
	cmd.Flags().StringVar(&role, "role", "", "`ROLE`: "+roleHelp)
	cmd.Flags().StringVar(&to, "output", "", "the `FILE` to write")
	cmd.Flags().DurationVar(&valid, "valid", 0, "how long it is valid (default: until it is revoked)")
	_ = cmd.MarkFlagRequired("role")   // it is there
	_ = cmd.MarkFlagRequired("output") // it is there
	return cmd
}

// credentialIn says where a credential is.
func (a *app) credentialIn(path string, c *hub.Connection) error {
	_, err := fmt.Fprintf(a.out, "%s has the credential of %s, in the role %s; keep it to yourself\n", path, c.Name, c.Role)
	return err
}
