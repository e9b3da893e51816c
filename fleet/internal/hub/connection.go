package hub

import (
	"crypto/tls"
	"crypto/x509"
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

// FromCredentials makes the connection to an existing cluster. creds is the content
// of a NATS credentials file, empty = the URL has what the cluster asks for; ca is
// in PEM, "" = the system's authorities.
func FromCredentials(url, fleet, name string, role Role, creds []byte, ca string) (*Connection, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	c := &Connection{URL: url, Fleet: fleet, Name: name, Role: role, CA: ca}
	if len(creds) == 0 {
		return c, nil
	}
	var err error
	if c.JWT, err = jwt.ParseDecoratedJWT(creds); err != nil {
		return nil, err
	}
	pair, err := jwt.ParseDecoratedNKey(creds)
	if err != nil {
		return nil, err
	}
	seed, err := pair.Seed()
	c.Seed = string(seed)
	return c, err
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

func (c *Connection) explain(err error) error {
	url := c.URL
	if at := strings.LastIndexByte(url, '@'); at >= 0 { // no passwords in messages
		url = url[at+1:]
	}
	message := fmt.Sprintf("the hub %s: %v", url, err)
	if errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked) {
		return problem.New("hub_refused", message, "enroll again: tenterhook fleet enroll URL TOKEN", err)
	}
	return problem.New("hub_unreachable", message, "start it, or try again later; this machine decides without it", err)
}
