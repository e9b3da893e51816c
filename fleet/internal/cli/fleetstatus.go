package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenterhook/tenterhook/fleet/internal/archive"
	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/internal/fleetstate"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// machine is what is known of one on the hub.
type machine struct {
	Name    string            `json:"name"`
	Contact time.Time         `json:"contact,omitzero"` // when the hub heard of it last
	Revoked bool              `json:"revoked,omitempty"`
	Backlog int64             `json:"backlog"`
	State   *fleetstate.State `json:"state,omitempty"` // as it says itself
	Archive []archive.Source  `json:"archive"`
	Missing int64             `json:"missing"` // records that did not arrive, though later ones did
	Silent  bool              `json:"silent"`  // it said nothing of late
	Behind  []string          `json:"behind"`  // channels of which another machine has a newer version
	Stale   []string          `json:"stale"`   // channels whose document has expired
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
	now, versions := time.Now(), newest(r.Machines)
	for _, m := range r.Machines {
		m.judge(versions, now)
	}
	if a.json {
		return a.printJSON(r)
	}
	return a.printFleet(r, now)
}

// ask reads what machines say of themselves.
func (r *fleetReport) ask(ctx context.Context, c *hub.Connection) error {
	nc, js, err := dial(c, false)
	if err != nil {
		return err
	}
	defer nc.Close()
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
	for _, subject := range slices.Sorted(maps.Keys(info.State.Subjects)) {
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

func (a *app) printFleet(r *fleetReport, now time.Time) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MACHINE\tCONTACT\tPOLICY\tBACKLOG\tARCHIVED\tMISSING\t")
	for _, m := range r.Machines {
		var archived int64
		for _, s := range m.Archive {
			archived += s.Records
		}
		policy := "-"
		if m.State != nil {
			policy = partText(m.State, policyName, now)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%s\n", cellOf(m.Name), ago(m.Contact, now), cellOf(policy), m.Backlog, archived, m.Missing, cellOf(strings.Join(m.notes(), "; ")))
	}
	if len(r.Machines) == 0 {
		fmt.Fprintln(w, "no machine said anything yet")
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if r.Waiting > 0 {
		fmt.Fprintf(a.out, "%d records on the hub are not archived yet\n", r.Waiting)
	}
	for _, g := range r.Gaps {
		fmt.Fprintf(a.out, "! %s\n", phrase.Printable(g.String()))
	}
	for _, f := range r.Refused {
		fmt.Fprintf(a.out, "! %d messages of %s were refused: %s\n", f.Count, phrase.Printable(f.Subject), f.Why)
	}
	for _, why := range []string{r.Hub, r.Archive} {
		if why != "" {
			fmt.Fprintf(a.out, "! %s\n", phrase.Printable(why))
		}
	}
	return nil
}
