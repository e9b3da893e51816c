package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/fleet/internal/archive"
	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/internal/fleetstate"
	"github.com/tenterhook/tenterhook/internal/recording"
	"github.com/tenterhook/tenterhook/journal"
)

func (a *app) statusCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how this machine, or every machine of the fleet, does",
		Long: "On a machine: whether its agent runs and reaches the hub, and how many records wait. With --dir of a\n" +
			"hub, or --connection of a publisher or an admin: the same of every machine, and what the archive has.",
		Example: "  tenterhook fleet status\n  tenterhook fleet status --dir /srv/hub --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir != "" || a.connection != "" {
				return a.fleetStatus(cmd.Context(), dir)
			}
			return a.machineStatus(cmd.Context())
		},
	}
	hubDir(cmd, &dir)
	return cmd
}

// machineReport is how this machine does.
type machineReport struct {
	Fleet    string               `json:"fleet"`
	Machine  string               `json:"machine"`
	URL      string               `json:"url"`
	Running  bool                 `json:"running"` // the agent
	Backlog  int64                `json:"backlog"`
	Agent    *fleetstate.State    `json:"agent,omitempty"` // as it said last
	Troubles []fleetstate.Trouble `json:"troubles"`
}

func (a *app) machineStatus(ctx context.Context) error {
	state, err := stateDir()
	if err != nil {
		return err
	}
	c, err := a.connected()
	if err != nil {
		return err
	}
	now := time.Now()
	r := machineReport{Fleet: c.Fleet, Machine: c.Name, URL: c.Place(), Troubles: append([]fleetstate.Trouble{}, fleetstate.Troubles(state, now)...)}
	if r.Agent, err = fleetstate.Read(state); err != nil {
		return err
	}
	if r.Running = r.Agent.Running(now); r.Running {
		r.Backlog = r.Agent.Audit.Backlog()
	} else if r.Backlog, err = backlog(ctx, state); err != nil {
		r.Troubles = append(r.Troubles, fleetstate.Trouble{Code: "journal", Message: err.Error(), Hint: "see 'tenterhook doctor'"})
	}
	if a.json {
		return a.printJSON(r)
	}
	fmt.Fprintf(a.out, "%s of the fleet %s, hub %s\n", r.Machine, r.Fleet, printable(r.URL))
	if r.Running {
		fmt.Fprintf(a.out, "the agent runs; last contact with the hub: %s\n", ago(r.Agent.Contact, now))
	}
	fmt.Fprintf(a.out, "%s to ship\n", plural(int(r.Backlog), "record"))
	if r.Agent != nil {
		for _, name := range sortedKeys(r.Agent.Parts) {
			fmt.Fprintf(a.out, "%s: %s\n", printable(name), printable(string(r.Agent.Parts[name])))
		}
	}
	for _, t := range r.Troubles {
		fmt.Fprintf(a.out, "! %s; %s\n", printable(t.Message), t.Hint)
	}
	return nil
}

// backlog counts the records that wait while no agent runs.
func backlog(ctx context.Context, state string) (n int64, err error) {
	if _, err := os.Stat(recording.Dir(state)); err != nil {
		return 0, nil // nothing was ever recorded
	}
	o, err := journalOptions(ctx, state)
	if err != nil {
		return 0, err
	}
	err = recording.Use(ctx, state, o, func(error) {}, func(j *journal.Journal) error {
		s, last, err := j.Shipped(ctx)
		n = last - s.Seq
		return err
	})
	return n, err
}

// machine is what is known of one on the hub.
type machine struct {
	Name    string            `json:"name"`
	Contact time.Time         `json:"contact,omitzero"` // when the hub heard of it last
	Revoked bool              `json:"revoked,omitempty"`
	Backlog int64             `json:"backlog"`
	State   *fleetstate.State `json:"state,omitempty"` // as it says itself
	Archive []archive.Source  `json:"archive"`
	Missing int64             `json:"missing"` // records that did not arrive, though later ones did
}

// fleetReport is how a fleet does.
type fleetReport struct {
	Fleet    string            `json:"fleet"`
	Machines []*machine        `json:"machines"`
	Waiting  uint64            `json:"waiting"` // records on the hub that are not archived yet
	Gaps     []archive.Gap     `json:"gaps"`
	Refused  []archive.Refusal `json:"refused"`
	Hub      string            `json:"hub,omitempty"`     // why it cannot be asked; "" = it was
	Archive  string            `json:"archive,omitempty"` // why it cannot be read
	byName   map[string]*machine
}

func (r *fleetReport) machine(name string) *machine {
	if r.byName[name] == nil {
		m := &machine{Name: name, Archive: []archive.Source{}}
		r.byName[name], r.Machines = m, append(r.Machines, m)
	}
	return r.byName[name]
}

func (a *app) fleetStatus(ctx context.Context, dir string) error {
	c, err := a.operator(dir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	r := &fleetReport{Fleet: c.Fleet, Machines: []*machine{}, Gaps: []archive.Gap{}, Refused: []archive.Refusal{}, byName: map[string]*machine{}}
	if err := r.ask(ctx, c); err != nil {
		r.Hub = err.Error()
	}
	if a.connection == "" {
		if err := r.readLedger(dir); err != nil {
			return err
		}
	}
	if a.connection == "" || dir != "" {
		if err := opened(ctx, dir, func(from *archive.Archive) error { return r.readArchive(ctx, from) }); err != nil {
			r.Archive = err.Error()
		}
	}
	slices.SortFunc(r.Machines, func(a, b *machine) int { return strings.Compare(a.Name, b.Name) })
	if a.json {
		return a.printJSON(r)
	}
	return a.printFleet(r)
}

// ask reads what machines say of themselves.
func (r *fleetReport) ask(ctx context.Context, c *hub.Connection) error {
	nc, err := c.Connect()
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := c.JetStream(nc)
	if err != nil {
		return err
	}
	kv, err := js.KeyValue(ctx, hub.MachinesBucket)
	if err != nil {
		return err
	}
	stream, err := js.Stream(ctx, "KV_"+hub.MachinesBucket)
	if err != nil {
		return err
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter("$KV."+hub.MachinesBucket+".>")) // a publisher may list keys only so
	if err != nil {
		return err
	}
	for _, subject := range sortedKeys(info.State.Subjects) {
		name := strings.TrimPrefix(subject, "$KV."+hub.MachinesBucket+".")
		entry, err := kv.Get(ctx, name)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue // its operator removed it
		}
		if err != nil {
			return err
		}
		m := r.machine(name)
		m.Contact, m.State = entry.Created().UTC(), &fleetstate.State{}
		if json.Unmarshal(entry.Value(), m.State) != nil {
			m.State = nil // it says nothing that can be read
			continue
		}
		m.Backlog = m.State.Audit.Backlog()
	}
	if c.Role != hub.Admin {
		return nil
	}
	audit, err := js.Stream(ctx, hub.AuditStream)
	if err != nil {
		return err
	}
	r.Waiting = audit.CachedInfo().State.Msgs
	return nil
}

// readLedger adds the machines that never said anything.
func (r *fleetReport) readLedger(dir string) error {
	d, err := openHub(dir)
	if err != nil {
		return err
	}
	issued, err := d.Issued()
	for _, i := range issued {
		if i.Role == hub.Machine {
			r.machine(i.Name).Revoked = !i.Revoked.IsZero()
		}
	}
	return err
}

func (r *fleetReport) readArchive(ctx context.Context, from *archive.Archive) error {
	sources, err := from.Sources(ctx)
	if err != nil {
		return err
	}
	for _, s := range sources {
		m := r.machine(s.Machine)
		m.Archive = append(m.Archive, s)
		m.Missing += s.Missing
		if s.Received.After(m.Contact) {
			m.Contact = s.Received
		}
	}
	gaps, err := from.Gaps(ctx, maxGaps)
	if err != nil {
		return err
	}
	refused, err := from.Refused(ctx)
	r.Gaps, r.Refused = append(r.Gaps, gaps...), append(r.Refused, refused...)
	return err
}

func (a *app) printFleet(r *fleetReport) error {
	now := time.Now()
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MACHINE\tCONTACT\tBACKLOG\tARCHIVED\tMISSING\t")
	for _, m := range r.Machines {
		var archived, twice int64
		for _, s := range m.Archive {
			archived, twice = archived+s.Records, twice+s.Twice
		}
		var notes []string
		if m.Revoked {
			notes = append(notes, "revoked")
		}
		if m.State != nil && m.State.Stopped {
			notes = append(notes, "its agent was stopped")
		}
		if m.State != nil && m.State.Audit.Error != "" {
			notes = append(notes, m.State.Audit.Error)
		}
		if twice > 0 {
			notes = append(notes, fmt.Sprintf("%d numbers were used twice: it was restored from a copy", twice))
		}
		if m.State != nil {
			for _, name := range sortedKeys(m.State.Parts) {
				notes = append(notes, name+" "+string(m.State.Parts[name]))
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\n", cellOf(m.Name), ago(m.Contact, now), m.Backlog, archived, m.Missing, cellOf(strings.Join(notes, "; ")))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if r.Waiting > 0 {
		fmt.Fprintf(a.out, "%d records on the hub are not archived yet\n", r.Waiting)
	}
	for _, g := range r.Gaps {
		fmt.Fprintf(a.out, "! %s\n", printable(g.String()))
	}
	for _, f := range r.Refused {
		fmt.Fprintf(a.out, "! %d messages of %s were refused: %s\n", f.Count, printable(f.Subject), f.Why)
	}
	for _, why := range []string{r.Hub, r.Archive} {
		if why != "" {
			fmt.Fprintf(a.out, "! %s\n", printable(why))
		}
	}
	return nil
}

// ago is how long ago a time was, for people.
func ago(at, now time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return now.Sub(at).Round(time.Second).String() + " ago"
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, cmp.Compare)
	return keys
}

// cellOf is a text in one line, without what would drive a terminal.
func cellOf(s string) string {
	return strings.Join(strings.Fields(printable(s)), " ")
}
