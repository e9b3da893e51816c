package hub

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenterhook/tenterhook/fleet/internal/problem"
)

// Connection is where a hub is and who connects to it, as a machine keeps it.
type Connection struct {
	URL   string `json:"url"` // tls://HOST:PORT; several are separated by commas
	Fleet string `json:"fleet"`
	Name  string `json:"name"`
	Role  Role   `json:"role"`
	// JWT and Seed are the credential; both "" = the cluster asks for none, or the
	// URL has it.
	JWT  string `json:"jwt,omitempty"`
	Seed string `json:"seed,omitempty"`
	CA   string `json:"ca,omitempty"` // PEM; "" = the system's authorities
	// API stands for $JS.API in what this connection may publish; "" = it has that name.
	API string `json:"api,omitempty"`
}

// LoadConnection reads a connection. errors.Is(err, fs.ErrNotExist) = the machine is
// not enrolled.
func LoadConnection(path string) (*Connection, error) {
	c := &Connection{}
	err := readJSON(path, c)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, problem.New("not_enrolled", "this machine is in no fleet: "+path+" is not there", "enroll it: tenterhook fleet enroll URL TOKEN", err)
	}
	if err == nil && (c.URL == "" || CheckName(c.Name) != nil) {
		err = problem.New("bad_file", path+" does not say where the hub is, or who this machine is", "enroll again: tenterhook fleet enroll URL TOKEN", nil)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Save writes a connection, for its owner alone.
func (c *Connection) Save(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return WriteJSON(path, c)
}

// UseCredentials takes what a NATS credentials file holds. A connection without a
// name gets that of the credential, if it can be one.
func (c *Connection) UseCredentials(creds []byte) error {
	var err error
	if c.JWT, err = jwt.ParseDecoratedJWT(creds); err != nil {
		return err
	}
	pair, err := jwt.ParseDecoratedNKey(creds)
	if err != nil {
		return err
	}
	seed, err := pair.Seed()
	if err != nil {
		return err
	}
	c.Seed = string(seed)
	user, err := jwt.DecodeUserClaims(c.JWT)
	if err == nil && c.Name == "" && CheckName(user.Name) == nil {
		c.Name = user.Name
	}
	return err
}

// Try connects once, and fails where the cluster refuses the credential, or has no
// streams of a fleet as far as the role of the connection can tell. An admin may come
// before the streams.
func (c *Connection) Try(ctx context.Context) error {
	refused := make(chan error, 1)
	nc, err := c.Connect(nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		select {
		case refused <- err:
		default:
		}
	}))
	if err != nil {
		return err
	}
	defer nc.Close()
	subject := "$JS.API.DIRECT.GET.KV_" + PolicyBucket + ".$KV." + PolicyBucket + ".guard" // of a machine and a publisher
	switch c.Role {
	case Worker:
		subject = cmp.Or(c.API, "$JS.API") + ".STREAM.INFO." + JobStream
	case Admin:
		subject = "$JS.API.INFO"
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	answered := make(chan error, 1)
	go func() {
		m, err := nc.RequestWithContext(ctx, subject, nil)
		var said struct{ Error *struct{} }
		if err == nil && c.Role == Worker && json.Unmarshal(m.Data, &said) == nil && said.Error != nil {
			err = nats.ErrNoResponders
		}
		answered <- err
	}()
	select {
	case err = <-refused:
	case err = <-answered:
	}
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return problem.New("not_declared", "the cluster has no streams of a fleet that "+c.Name+" reaches", "declare them in this account: tenterhook fleet hub declare URL --creds FILE", err)
	case err != nil:
		return problem.New("hub_refused", fmt.Sprintf("the cluster lets %s not do what the role %s does: %v", c.Name, c.Role, err), "give it the permissions that 'tenterhook fleet hub declare' prints, for the name "+c.Name, err)
	}
	return nil
}

// options are those of every connection. What cannot be sent at once is an error:
// the journal keeps it, and not the memory.
func (c *Connection) options() ([]nats.Option, error) {
	o := []nats.Option{
		nats.Name("tenterhook " + string(c.Role) + " " + c.Name), nats.CustomInboxPrefix("_INBOX." + c.Name), nats.ReconnectBufSize(-1),
		nats.MaxReconnects(-1), nats.CustomReconnectDelay(delay),
		nats.PingInterval(15 * time.Second), nats.MaxPingsOutstanding(3), nats.Timeout(10 * time.Second),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // instead of standard error; who asked gets the error
	}
	if c.JWT != "" {
		o = append(o, nats.UserJWTAndSeed(c.JWT, c.Seed))
	}
	if c.CA != "" {
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM([]byte(c.CA)) {
			return nil, problem.New("bad_file", "the hub's certificate in the connection cannot be read", "enroll again: tenterhook fleet enroll URL TOKEN", nil)
		}
		o = append(o, nats.Secure(&tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}))
	}
	return o, nil
}

// delay is how long a machine waits before it tries the hub again: soon after a
// restart of the hub, and rarely after minutes without one.
func delay(attempt int) time.Duration {
	switch {
	case attempt < 200:
		return 100*time.Millisecond + rand.N(400*time.Millisecond)
	case attempt < 500:
		return 2*time.Second + rand.N(2*time.Second)
	}
	return 10*time.Second + rand.N(10*time.Second)
}

// Connect connects to the hub, and fails where it cannot be reached within ten
// seconds. Later it reconnects for ever, with jitter. more options come last.
func (c *Connection) Connect(more ...nats.Option) (*nats.Conn, error) {
	o, err := c.options()
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect(c.URL, append(o, more...)...)
	if err != nil {
		return nil, c.explain(err)
	}
	return nc, nil
}

// ConnectLater connects in the background, for as long as it takes: it fails for a
// connection alone that cannot be used at all.
func (c *Connection) ConnectLater(more ...nats.Option) (*nats.Conn, error) {
	return c.Connect(append([]nats.Option{nats.RetryOnFailedConnect(true), nats.IgnoreAuthErrorAbort()}, more...)...)
}

// JetStream is that of the hub, as this connection reaches it.
func (c *Connection) JetStream(nc *nats.Conn, o ...jetstream.JetStreamOpt) (jetstream.JetStream, error) {
	if c.API != "" {
		return jetstream.NewWithAPIPrefix(nc, c.API, o...)
	}
	return jetstream.New(nc, o...)
}

// Place is the URL without a password, for messages.
func (c *Connection) Place() string {
	if at := strings.LastIndexByte(c.URL, '@'); at >= 0 {
		return c.URL[at+1:]
	}
	return c.URL
}

func (c *Connection) explain(err error) error {
	message := fmt.Sprintf("the hub %s: %v", c.Place(), err)
	if errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked) {
		return problem.New("hub_refused", message, "enroll again: tenterhook fleet enroll URL TOKEN", err)
	}
	return problem.New("hub_unreachable", message, "start it, or try again later; this machine decides without it", err)
}
