package cli

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/fleet/internal/archive"
	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/fleet/internal/work"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// keeping is what a hub does beside serving: it keeps the queues of workers, and
// archives.
type keeping struct {
	dir       string // of the hub
	limits    hub.Limits
	silence   time.Duration // of a worker
	archiving bool
	alone     bool // no other archive can run
	log       *slog.Logger
}

func (k *keeping) flags(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&k.silence, "job-wait", work.DefaultSilence, "how long a worker may be silent before its job is given to another")
	cmd.Flags().Int64Var(&k.limits.AuditBytes, "audit-bytes", 8<<30, "how many `BYTES` of audit wait for the archive before machines keep theirs")
	cmd.Flags().IntVar(&k.limits.Replicas, "replicas", 0, "how many servers of a cluster have a copy of each stream (default: as it is, or 1)")
}

// keep keeps over the connection of an admin until ctx ends. begun is called once.
func (k *keeping) keep(ctx context.Context, js jetstream.JetStream, begun func() error) (err error) {
	if k.archiving && k.alone {
		if err := archive.Release(ctx, js); err != nil {
			return err
		}
	}
	if err := begun(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var queues sync.WaitGroup
	queues.Go(func() {
		keeper := &work.Keeper{JS: js, Silence: k.silence, Logger: k.log}
		keeper.Keep(ctx)
	})
	if k.archiving {
		_, err = archiveInto(ctx, js, k.dir, false, k.log)
	} else {
		<-ctx.Done()
	}
	cancel()
	queues.Wait()
	return err
}

// keepCluster is a hub whose server is an existing cluster.
func (a *app) keepCluster(cmd *cobra.Command, k *keeping) error {
	for _, flag := range []string{"fleet", "listen", "enroll-listen", "host"} {
		if cmd.Flags().Changed(flag) {
			return problem.New("bad_flags", "--"+flag+" does not go with --connection: the cluster is the server", "leave one of them out", nil)
		}
	}
	c, err := a.admin()
	if err != nil {
		return err
	}
	nc, js, err := dial(c, false)
	if err != nil {
		return err
	}
	defer nc.Close()
	if _, err := k.declare(cmd.Context(), js, nil, false); err != nil {
		return err
	}
	return k.keep(cmd.Context(), js, func() error {
		if a.json {
			return a.printJSON(map[string]any{"fleet": c.Fleet, "url": c.Place(), "dir": k.dir})
		}
		_, err := fmt.Fprintf(a.out, "keeps the fleet %s at %s; its folder is %s\n", c.Fleet, phrase.Printable(c.Place()), k.dir)
		return err
	})
}

// admin is the connection that --connection names, which has to be an admin's.
func (a *app) admin() (*hub.Connection, error) {
	c, err := a.connected()
	if err == nil && c.Role != hub.Admin {
		err = problem.New("no_admin", fmt.Sprintf("the credential of %s is a %s's", c.Name, c.Role), "name one of an admin: tenterhook fleet enroll URL --role admin --creds FILE --connection admin.json", nil)
	}
	return c, err
}

// declare declares what a fleet needs, and the consumers of queues.
func (k *keeping) declare(ctx context.Context, js jetstream.JetStream, queues []string, dry bool) ([]hub.Declared, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	asked, stop := context.WithTimeout(ctx, 5*time.Second) // who may not ask gets no answer
	_, err := js.AccountInfo(asked)
	stop()
	var list []hub.Declared
	if err == nil {
		list, err = hub.Declare(ctx, js, k.limits, dry)
	}
	for _, name := range queues {
		if err != nil {
			break
		}
		var d hub.Declared
		if d, err = work.Queue(ctx, js, name, k.silence, dry); err == nil {
			list = append(list, d)
		}
	}
	if err != nil {
		return nil, problem.New("not_declared", "the cluster does not take it: "+err.Error(), "the account needs JetStream with room for the streams, see --audit-bytes, and the credential all of $JS.API", err)
	}
	return list, nil
}

func (a *app) declareCommand() *cobra.Command {
	var k keeping
	var to cluster
	var queues []string
	var dry bool
	cmd := &cobra.Command{
		Use:   "declare [URL]",
		Short: "Make the streams and buckets of a fleet in an existing NATS cluster",
		Long: "Makes what is missing in the account of the credential, brings up to date what differs, and says which\n" +
			"permissions each role needs there. What it does not need stays as an operator made it. It may run again.\n" +
			"'tenterhook fleet hub --connection' does the same when it begins, and makes the consumers of queues.",
		Example: "  tenterhook fleet hub declare tls://nats.example.com:4222 --creds admin.creds --dry-run\n" +
			"  tenterhook fleet hub declare --connection admin.json --replicas 3 --queue reviews --json",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range queues {
				if !hook.ValidQueue(name) {
					return badQueue(name)
				}
			}
			c, err := a.clusterOf(&to, args)
			if err != nil {
				return err
			}
			nc, js, err := dial(c, false)
			if err != nil {
				return err
			}
			defer nc.Close()
			list, err := k.declare(cmd.Context(), js, queues, dry)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"declared": list, "dry_run": dry, "permissions": hub.Permissions()})
			}
			return a.printDeclared(list)
		},
	}
	to.flags(cmd, "")
	k.flags(cmd)
	cmd.Flags().StringArrayVar(&queues, "queue", nil, "also make the consumer of this `QUEUE` (repeatable)")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would change, and change nothing")
	return cmd
}

// clusterOf is the connection that arguments and flags of declare name.
func (a *app) clusterOf(to *cluster, args []string) (*hub.Connection, error) {
	switch {
	case len(args) == 1 && a.connection != "":
		return nil, problem.New("bad_flags", "URL and --connection both say where the cluster is", "leave one of them out", nil)
	case len(args) == 1:
		return to.connection(args[0], hub.Admin, "operator")
	case a.connection == "":
		return nil, problem.New("no_cluster", "nothing says where the cluster is", "name it: tenterhook fleet hub declare tls://HOST:4222 --creds FILE", nil)
	case to.creds != "" || to.ca != "":
		return nil, problem.New("bad_flags", "--creds and --ca go with URL: --connection has its own", "leave them out", nil)
	}
	return a.admin()
}

func (a *app) printDeclared(list []hub.Declared) error {
	for _, d := range list {
		fmt.Fprintf(a.out, "%s %s: %s\n", d.Kind, d.Name, d.State)
		for _, change := range d.Changes {
			fmt.Fprintf(a.out, "  %s\n", phrase.Printable(change))
		}
	}
	fmt.Fprintln(a.out, "\nwhat the credential of a role may do; {{name()}} is the name of who has it:")
	for _, p := range hub.Permissions() {
		fmt.Fprintf(a.out, "%s\n  publish    %s\n  subscribe  %s\n", p.Role, strings.Join(p.Publish, " "), strings.Join(p.Subscribe, " "))
		if len(p.Services) > 0 {
			fmt.Fprintf(a.out, "  in an account of its own, which imports the services %s\n  and the streams %s\n", strings.Join(p.Services, " "), strings.Join(p.Streams, " "))
		}
	}
	return nil
}
