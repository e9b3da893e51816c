package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/fleet/internal/agent"
	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/fleet/internal/work"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/jobs"
	"github.com/tenterhook/tenterhook/internal/pack"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/internal/recording"
	"github.com/tenterhook/tenterhook/registry"
)

func (a *app) workerCommand() *cobra.Command {
	var queue string
	var parallel int
	cmd := &cobra.Command{
		Use:   "worker --queue NAME",
		Short: "Run hooks of other machines that wait in a queue",
		Long: "Takes jobs of a queue from the hub, one after the other, and runs the hook that each names. A job names\n" +
			"a hook by the digest of its pack: it runs if the settings or the policy of this machine name that digest\n" +
			"too. No job brings code. The pack is pulled if need be, and the hook is contained as that of any pack.\n" +
			"A job whose worker dies is given to another, five times. --connection names a credential of the role\n" +
			"worker.",
		Example: "  tenterhook fleet hub credential w1 --role worker --output w1.json\n  tenterhook fleet worker --queue reviews --connection w1.json --parallel 4",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !hook.ValidQueue(queue) {
				return badQueue(queue)
			}
			return a.work(cmd.Context(), queue, max(parallel, 1))
		},
	}
	cmd.Flags().StringVar(&queue, "queue", "", "the queue")
	cmd.Flags().IntVar(&parallel, "parallel", 1, "how many jobs to run side by side")
	return cmd
}

func badQueue(name string) error {
	return problem.New("bad_queue", fmt.Sprintf("%q cannot be the name of a queue", name), "use up to 63 of a-z, 0-9, '-' and '_', as in --queue reviews", nil)
}

func (a *app) work(ctx context.Context, queue string, parallel int) error {
	c, err := a.connected()
	if err != nil {
		return err
	}
	if c.Role == hub.Machine {
		return problem.New("not_a_worker", "the credential of a machine takes no jobs", "on the hub's machine: tenterhook fleet hub credential NAME --role worker --output FILE; then --connection FILE", nil)
	}
	reg, err := registry.Open(ctx, registry.Options{Without: []hook.Scope{hook.ScopeProject, hook.ScopeLocal}, NonInteractive: true})
	if err != nil {
		return err
	}
	defer reg.Close()
	nc, js, err := dial(c, true)
	if err != nil {
		return err
	}
	defer nc.Close()
	log := slog.New(slog.NewTextHandler(a.err, nil))
	packs := &packRunner{app: a, reg: reg}
	if err := packs.pull(ctx); err != nil {
		log.Warn("a pack cannot be pulled", "err", err)
	}
	fmt.Fprintf(a.err, "tenterhook: worker %s takes jobs of the queue %s\n", c.Name, queue)
	var all sync.WaitGroup
	errs := make([]error, parallel)
	for i := range parallel {
		all.Go(func() {
			w := &work.Worker{Name: c.Name, Queue: queue, JS: js, Run: packs.run, Logger: log}
			errs[i] = w.Work(ctx)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// packRunner runs hooks of the packs that the settings of this machine name.
type packRunner struct {
	app *app
	reg *registry.Registry
	mu  sync.Mutex // one pulls at a time
}

// run runs the hook of a job. Where the pack is not there it is pulled, and the settings
// are read again.
func (p *packRunner) run(ctx context.Context, j *jobs.Job, in hook.Input) (hook.Result, error) {
	result, err := p.reg.RunPacked(ctx, j.Digest, j.File, in)
	if !errors.Is(err, registry.ErrNotInForce) {
		return result, err
	}
	if err := p.pull(ctx); err != nil {
		return result, err
	}
	return p.reg.RunPacked(ctx, j.Digest, j.File, in)
}

// pull brings the packs that the settings name and the store has not.
func (p *packRunner) pull(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.reg.Reload(ctx); err != nil {
		return err
	}
	state, err := stateDir()
	if err != nil {
		return err
	}
	var errs []error
	pulled := false
	for _, text := range p.reg.Packs() {
		ref, err := pack.Pinned(text)
		if err != nil {
			continue // list and doctor say so
		}
		if there, err := pack.Open(state, ref.Digest); err == nil && there.Changed() == "" {
			continue
		}
		_, _, err = p.app.pull(ctx, ref, state)
		errs, pulled = append(errs, err), pulled || err == nil
	}
	if pulled {
		_, err := p.reg.Reload(ctx)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (a *app) jobsCommand() *cobra.Command {
	var dead, carry bool
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "List the hooks of this machine that wait for workers",
		Long: "A hook with the key queue is put on disk here, and the agent carries it to the hub. Where there is no\n" +
			"agent, or no hub, it waits. With --dead, and a credential of the role admin, it lists the jobs that no\n" +
			"worker survived. With --carry it carries jobs, and nothing else, until it is stopped.",
		Example: "  tenterhook fleet jobs --json\n  tenterhook fleet jobs --dead --connection admin.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case dead:
				return a.deadJobs(cmd.Context())
			case carry:
				return a.carry(cmd.Context())
			}
			return a.localJobs()
		},
	}
	cmd.Flags().BoolVar(&dead, "dead", false, "list the jobs that no worker survived")
	cmd.Flags().BoolVar(&carry, "carry", false, "carry jobs to the hub and results back, until it is stopped")
	cmd.MarkFlagsMutuallyExclusive("dead", "carry")
	return cmd
}

// listedJob is a job of this machine.
type listedJob struct {
	ID    string    `json:"id"`
	State string    `json:"state"` // waiting, or sent to the hub
	Queue string    `json:"queue"`
	Hook  string    `json:"hook"`
	Since time.Time `json:"since"`
}

func (a *app) localJobs() error {
	state, err := stateDir()
	if err != nil {
		return err
	}
	spool := jobs.In(state)
	waiting, bad := spool.New()
	sent, worse := spool.Sent()
	list := []listedJob{}
	for state, some := range map[string][]jobs.Waiting{"waiting": waiting, "sent": sent} {
		for _, w := range some {
			list = append(list, listedJob{w.Job.ID, state, w.Job.Queue, w.Local.Hook, w.Local.Time})
		}
	}
	if a.json {
		err = a.printJSON(map[string]any{"jobs": list})
	} else {
		table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
		for _, j := range list {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", j.ID[:12], j.State, phrase.Printable(j.Queue), phrase.Printable(j.Hook), time.Since(j.Since).Round(time.Second))
		}
		err = table.Flush()
		if len(list) == 0 {
			fmt.Fprintln(a.out, "no hook of this machine waits for a worker")
		}
	}
	return errors.Join(err, bad, worse)
}

func (a *app) deadJobs(ctx context.Context) error {
	c, err := a.connected()
	if err != nil {
		return err
	}
	nc, js, err := dial(c, false)
	if err != nil {
		return err
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	letters, err := work.Letters(ctx, js, 1000)
	if err != nil {
		return problem.New("no_letters", "the dead jobs cannot be read: "+err.Error(), "use a credential of the role admin, with --connection", err)
	}
	if a.json {
		return a.printJSON(map[string]any{"dead": append([]work.Letter{}, letters...)})
	}
	for _, l := range letters {
		fmt.Fprintf(a.out, "%s  %s  %s of %s  %s, tried %d times\n", l.Time.Format(time.RFC3339), l.Job.ID[:12], phrase.Printable(l.Job.File), l.Job.Digest[:min(19, len(l.Job.Digest))], phrase.Printable(l.Machine), l.Tries)
	}
	if len(letters) == 0 {
		fmt.Fprintln(a.out, "no job is dead")
	}
	return nil
}

// carry carries the jobs of this machine until ctx ends.
func (a *app) carry(ctx context.Context) error {
	c, err := a.connected()
	if err != nil {
		return err
	}
	nc, err := c.ConnectLater()
	if err != nil {
		return err
	}
	defer nc.Close()
	return a.courier(ctx, c, nc, slog.New(slog.NewTextHandler(a.err, nil)))
}

// courier carries jobs over a connection until ctx ends.
func (a *app) courier(ctx context.Context, c *hub.Connection, nc *nats.Conn, log *slog.Logger) error {
	state, err := stateDir()
	if err != nil {
		return err
	}
	journal := recording.New(state, os.Environ(), log)
	defer journal.Close()
	reg, err := registry.Open(ctx, registry.Options{Recorder: journal}) // which hands over the settings of the journal
	if err != nil {
		return err
	}
	defer reg.Close()
	courier := &work.Courier{Connection: c, Spool: jobs.In(state), Journal: journal, Logger: log}
	return courier.Run(ctx, nc)
}

// jobsPart carries jobs as a part of the agent.
type jobsPart struct {
	app   *app
	spool jobs.Spool
}

func (*jobsPart) Name() string { return jobsName }

func (p *jobsPart) Run(ctx context.Context, l *agent.Link) {
	if err := p.app.courier(ctx, l.Connection, l.Conn, l.Log); err != nil {
		l.Log.Error("jobs are not carried", "err", err)
	}
}

// State counts the jobs that wait here, and the jobs at the hub.
func (p *jobsPart) State() any {
	waiting, sent := p.spool.Count()
	return jobsState{waiting, sent}
}
