package hub

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

// The files of a hub's folder.
const (
	keysName   = "keys.json"
	issuedName = "issued.json"
	runName    = "hub.json"
	lockName   = "lock"
	streamName = "jetstream" // a folder
)

// Dir is the folder of a hub: its keys, what it gave out, and its streams. It is
// safe for concurrent use, also by several processes.
type Dir struct {
	Path string
	keys *keys
	ca   *authority
}

// Open opens a hub's folder, or makes one with keys of its own if there is none.
func Open(path string) (*Dir, error) {
	d := &Dir{Path: path}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	err := d.locked(func() error {
		var kept struct {
			Keys      *keys
			Authority *authority
		}
		err := readJSON(filepath.Join(path, keysName), &kept)
		if errors.Is(err, fs.ErrNotExist) {
			if kept.Keys, err = newKeys(); err == nil {
				kept.Authority, err = newAuthority()
			}
			if err == nil {
				err = WriteJSON(filepath.Join(path, keysName), &kept)
			}
		}
		if err == nil && (kept.Keys == nil || kept.Authority == nil) {
			err = problem.New("hub_keys", filepath.Join(path, keysName)+" does not hold the keys of a hub", "restore it, or name another folder with --dir", nil)
		}
		d.keys, d.ca = kept.Keys, kept.Authority
		return err
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Exists reports whether a folder has the keys of a hub.
func Exists(path string) bool {
	_, err := os.Stat(filepath.Join(path, keysName))
	return err == nil
}

// locked calls do while no other process changes the folder.
func (d *Dir) locked(do func() error) (err error) {
	lock := safefile.Lock(filepath.Join(d.Path, lockName))
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	if _, err := lock.TryLockContext(ctx, 5*time.Millisecond); err != nil {
		return fmt.Errorf("another process has held %s for long: %w", lock.Path(), err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	return do()
}

// Issued is a credential that was given out.
type Issued struct {
	Name    string    `json:"name"`
	Role    Role      `json:"role"`
	Key     string    `json:"key"` // public
	At      time.Time `json:"at"`
	Revoked time.Time `json:"revoked,omitzero"`
}

// token is a permission to enroll once. The token itself is not kept.
type token struct {
	Hash    string        `json:"hash"`
	Name    string        `json:"name,omitempty"` // "" = any that is free
	Role    Role          `json:"role"`
	Expires time.Time     `json:"expires"`
	Valid   time.Duration `json:"valid,omitempty"`
}

// ledger is what the hub gave out.
type ledger struct {
	Issued []Issued `json:"issued"`
	Tokens []token  `json:"tokens"`
}

func (l *ledger) current(name string) *Issued {
	for i := range l.Issued {
		if l.Issued[i].Name == name && l.Issued[i].Revoked.IsZero() {
			return &l.Issued[i]
		}
	}
	return nil
}

func (d *Dir) ledger() (*ledger, error) {
	l := &ledger{}
	err := readJSON(filepath.Join(d.Path, issuedName), l)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return l, err
}

// change changes the ledger. What an error of do leaves is not written.
func (d *Dir) change(do func(*ledger) error) error {
	return d.locked(func() error {
		l, err := d.ledger()
		if err == nil {
			err = do(l)
		}
		if err != nil {
			return err
		}
		return WriteJSON(filepath.Join(d.Path, issuedName), l)
	})
}

// Issued returns all credentials that were given out, the revoked ones too.
func (d *Dir) Issued() ([]Issued, error) {
	l, err := d.ledger()
	return l.Issued, err
}

// Revoke takes the credentials of a name back. A hub that runs ends their connections
// within two seconds.
func (d *Dir) Revoke(name string) error {
	return d.change(func(l *ledger) error {
		i := l.current(name)
		if i == nil {
			return problem.New("unknown_machine", fmt.Sprintf("no credential of %q is valid", name), "'tenterhook fleet hub list' shows all", nil)
		}
		i.Revoked = time.Now().UTC()
		return nil
	})
}

// TokenOptions describe who may enroll with a token.
type TokenOptions struct {
	Name    string        // "" = the machine says its name
	Role    Role          // "" = Machine
	Expires time.Duration // of the token; 0 = an hour
	Valid   time.Duration // of the credential; 0 = until it is revoked
}

// secretBytes is how long the secret part of a token is. The rest is the
// fingerprint of the hub's certificate.
const secretBytes = 16

// NewToken makes a token with which one machine enrolls once.
func (d *Dir) NewToken(o TokenOptions) (string, error) {
	if o.Role == "" {
		o.Role = Machine
	}
	if o.Name != "" {
		if err := CheckName(o.Name); err != nil {
			return "", err
		}
	}
	if err := checkGrant(o.Role, o.Valid); err != nil {
		return "", err
	}
	if o.Expires < 0 {
		return "", problem.New("bad_duration", fmt.Sprintf("a token cannot be used for %v", o.Expires), "say for how long, such as 1h", nil)
	}
	if o.Expires == 0 {
		o.Expires = time.Hour
	}
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // never fails
	err := d.change(func(l *ledger) error {
		var kept []token
		for _, t := range l.Tokens {
			if time.Now().Before(t.Expires) {
				kept = append(kept, t)
			}
		}
		l.Tokens = append(kept, token{Hash: hashOf(secret), Name: o.Name, Role: o.Role, Expires: time.Now().Add(o.Expires).UTC(), Valid: o.Valid})
		return nil
	})
	return hex.EncodeToString(append(secret, d.ca.fingerprint()...)), err
}

func hashOf(secret []byte) string {
	sum := sha256.Sum256(secret)
	return hex.EncodeToString(sum[:])
}

// redeem spends a token and mints the credential of a public key. Enrolling again
// under a name revokes its credential before, if the token is for that name.
func (d *Dir) redeem(secret []byte, name, key string) (credential string, role Role, err error) {
	err = d.change(func(l *ledger) error {
		at := -1
		for i, t := range l.Tokens {
			if subtle.ConstantTimeCompare([]byte(t.Hash), []byte(hashOf(secret))) == 1 && time.Now().Before(t.Expires) {
				at = i
			}
		}
		if at < 0 {
			return problem.New("bad_token", "the token was used, has expired or is unknown", "ask for another one: tenterhook fleet hub token", nil)
		}
		t := l.Tokens[at]
		if t.Name != "" && t.Name != name {
			return problem.New("bad_token", fmt.Sprintf("the token is for another machine than %q", name), "enroll with --name, or ask for a token of this machine", nil)
		}
		if old := l.current(name); old != nil {
			if t.Name == "" {
				return problem.New("name_taken", fmt.Sprintf("another machine is enrolled as %q", name), "choose another --name, or ask for a token of that name, which takes its place: tenterhook fleet hub token --name "+name, nil)
			}
			old.Revoked = time.Now().UTC()
		}
		role = t.Role
		if credential, err = d.keys.mint(t.Role, name, key, t.Valid); err != nil {
			return err
		}
		l.Tokens = append(l.Tokens[:at], l.Tokens[at+1:]...)
		l.Issued = append(l.Issued, Issued{Name: name, Role: t.Role, Key: key, At: time.Now().UTC()})
		return nil
	})
	return credential, role, err
}

// Credential mints a credential on the hub itself, and returns the connection of
// who has it. It takes the place of one of the same name; valid 0 = until it is
// revoked.
func (d *Dir) Credential(role Role, name string, valid time.Duration) (*Connection, error) {
	c, key, err := d.own(role, name, valid)
	if err != nil {
		return nil, err
	}
	return c, d.change(func(l *ledger) error {
		if old := l.current(name); old != nil {
			old.Revoked = time.Now().UTC()
		}
		l.Issued = append(l.Issued, Issued{Name: name, Role: role, Key: key, At: time.Now().UTC()})
		return nil
	})
}

// Admin is the connection of the hub's own operator on the hub's machine, valid for
// a day.
func (d *Dir) Admin() (*Connection, error) {
	c, _, err := d.own(Admin, "operator", 24*time.Hour)
	return c, err
}

// own makes a key and a credential for it.
func (d *Dir) own(role Role, name string, valid time.Duration) (c *Connection, key string, err error) {
	run, err := d.Run()
	if err != nil {
		return nil, "", err
	}
	seed, key, err := newUser()
	if err != nil {
		return nil, "", err
	}
	jwt, err := d.keys.mint(role, name, key, valid)
	return d.connection(run, role, name, jwt, seed), key, err
}

// connection is that of who has a credential of this hub.
func (d *Dir) connection(run Run, role Role, name, jwt, seed string) *Connection {
	c := &Connection{URL: run.URL, Fleet: run.Fleet, Name: name, Role: role, JWT: jwt, Seed: seed, CA: string(d.ca.Certificate)}
	if role == Worker {
		c.API = workerAPI
	}
	return c
}

// newUser makes the key of a user.
func newUser() (seed, key string, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return "", "", err
	}
	secret, err := pair.Seed()
	if err != nil {
		return "", "", err
	}
	key, err = pair.PublicKey()
	return string(secret), key, err
}

func readJSON(path string, to any) error {
	err := safefile.ReadJSON(path, to)
	if about := (*fs.PathError)(nil); err != nil && !errors.As(err, &about) {
		return problem.New("bad_file", err.Error(), "restore it from a copy, or remove it", err)
	}
	return err
}

// WriteJSON replaces a file as a whole, and only once it is on disk. Its owner alone
// may read it.
func WriteJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return safefile.Write(path, append(text, '\n'), 0o600)
}
