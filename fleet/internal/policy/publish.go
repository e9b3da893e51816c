package policy

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/internal/fleetpolicy"
)

// Desk publishes documents at a hub. Close it.
type Desk struct {
	URL  string
	conn *nats.Conn
	kv   jetstream.KeyValue
}

// OpenDesk connects to a hub with a credential that may publish.
func OpenDesk(ctx context.Context, c *hub.Connection) (*Desk, error) {
	if c.Role != hub.Publisher && c.Role != hub.Admin && c.JWT != "" {
		return nil, problem.New("no_publisher", fmt.Sprintf("the credential of %s is a %s's, which publishes no policy", c.Name, c.Role),
			"name a publisher's with --connection FILE, which 'tenterhook fleet hub credential NAME --role publisher' writes; or use --here for this machine alone", nil)
	}
	nc, err := c.Connect()
	if err != nil {
		return nil, err
	}
	js, err := c.JetStream(nc)
	var kv jetstream.KeyValue
	if err == nil {
		kv, err = js.KeyValue(ctx, hub.PolicyBucket)
	}
	if err != nil {
		nc.Close()
		return nil, problem.New("hub_refused", "the hub has no policies: "+err.Error(), "is this credential a publisher's, and the hub one of tenterhook's?", err)
	}
	return &Desk{c.Place(), nc, kv}, nil
}

// Close ends the connection.
func (d *Desk) Close() { d.conn.Close() }

// Current is the document that the hub has of a channel, and its revision there;
// nil = none that counts.
func (d *Desk) Current(ctx context.Context, roots *fleetpolicy.Roots, channel string) (*fleetpolicy.Signed, uint64, error) {
	entry, err := d.kv.Get(ctx, channel)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, problem.New("hub_unreachable", "the hub does not say what the policy is: "+err.Error(), "try again", err)
	}
	signed, err := roots.Verify(entry.Value())
	if err != nil || signed.Channel != channel { // machines refuse it
		return nil, entry.Revision(), nil
	}
	return signed, entry.Revision(), nil
}

// ErrConflict says that another document came to the hub at the same time.
var ErrConflict = errors.New("another document came to the hub at the same time")

// Publish puts a document at the hub, if it is newer than the one there.
func (d *Desk) Publish(ctx context.Context, roots *fleetpolicy.Roots, raw []byte) (*fleetpolicy.Signed, error) {
	signed, err := roots.Verify(raw)
	if err != nil {
		return nil, err
	}
	now, revision, err := d.Current(ctx, roots, signed.Channel)
	if err != nil {
		return nil, err
	}
	if now != nil && now.Version >= signed.Version && now.Digest != signed.Digest {
		return nil, &fleetpolicy.Refusal{Code: fleetpolicy.CodeOlder, Hint: "sign it as a newer version",
			Message: fmt.Sprintf("it is version %d of the channel %s, and the hub has version %d", signed.Version, signed.Channel, now.Version)}
	}
	if revision == 0 {
		_, err = d.kv.Create(ctx, signed.Channel, raw)
	} else {
		_, err = d.kv.Update(ctx, signed.Channel, raw, revision)
	}
	if errors.Is(err, jetstream.ErrKeyExists) {
		return nil, ErrConflict
	}
	if err != nil {
		return nil, problem.New("hub_unreachable", "the hub did not take the policy: "+err.Error(), "try again", err)
	}
	return signed, nil
}
