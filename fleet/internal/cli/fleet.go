package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/internal/fleetstate"
)

func (a *app) fleetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Give many machines one audit, one policy and one switch",
		Long: "Machines enroll at a hub, ship what their hooks did, and get the policy. They decide by themselves,\n" +
			"also while the hub cannot be reached.",
		Example: "  tenterhook fleet hub --host hub.example.com --listen 0.0.0.0:4222 --enroll-listen 0.0.0.0:4223\n" +
			"  tenterhook fleet hub token\n  tenterhook fleet enroll https://hub.example.com:4223 TOKEN",
		Args: cobra.ArbitraryArgs, RunE: needCommand,
	}
	cmd.PersistentFlags().StringVar(&a.connection, "connection", "", "connect with the credential in this `FILE`, as 'hub credential' writes it (default: this machine's)")
	cmd.AddCommand(a.hubCommand(), a.enrollCommand(), a.leaveCommand(), a.agentCommand(), a.statusCommand(), a.archiveCommand(), a.logCommand(), a.statsCommand(),
		a.otelCommand(), a.policyCommand(), a.guardCommand(), a.workerCommand(), a.jobsCommand())
	return cmd
}

// connected is the connection that --connection names, or this machine's.
func (a *app) connected() (*hub.Connection, error) {
	path, err := a.connectionFile()
	if err != nil {
		return nil, err
	}
	return hub.LoadConnection(path)
}

// dial connects to a hub; later = in the background, for as long as it takes. Close the
// connection.
func dial(c *hub.Connection, later bool) (*nats.Conn, jetstream.JetStream, error) {
	connect := c.Connect
	if later {
		connect = c.ConnectLater
	}
	nc, err := connect()
	if err != nil {
		return nil, nil, err
	}
	js, err := c.JetStream(nc)
	if err != nil {
		nc.Close()
		return nil, nil, err
	}
	return nc, js, nil
}

func (a *app) connectionFile() (string, error) {
	if a.connection != "" {
		return a.connection, nil
	}
	state, err := stateDir()
	return fleetstate.ConnectionFile(state), err
}

// stateDir is where this machine keeps what it knows of its fleet.
func stateDir() (string, error) {
	if dir := discovery.DefaultStateDir(); dir != "" {
		return dir, nil
	}
	return "", problem.New("no_home", "no home directory is known, so nothing can be kept", "set HOME to an absolute path", nil)
}

var unnamable = regexp.MustCompile(`[^a-z0-9_-]+`)

// machineName is what this machine is called, as far as a name may be.
func machineName() string {
	host, _ := os.Hostname() // "" is no name
	host, _, _ = strings.Cut(host, ".")
	return strings.Trim(unnamable.ReplaceAllString(strings.ToLower(host), "-"), "-_")
}

// hubDir adds the flag of a hub's folder.
func hubDir(cmd *cobra.Command, to *string) {
	cmd.PersistentFlags().StringVar(to, "dir", "", "the hub's `FOLDER`: its keys, streams and archive (default: hub, in the state directory)")
}

// openHub opens the folder of a hub that is there.
func openHub(dir string) (*hub.Dir, error) {
	path, err := hubPath(dir)
	if err != nil {
		return nil, err
	}
	if !hub.Exists(path) {
		return nil, problem.New("no_hub", "there is no hub in "+path, "start one: tenterhook fleet hub --dir "+path+"; or name its folder with --dir", nil)
	}
	return hub.Open(path)
}

func hubPath(dir string) (string, error) {
	if dir != "" {
		return filepath.Abs(dir)
	}
	state, err := stateDir()
	return filepath.Join(cmp.Or(state, "."), "hub"), err
}
