package hub

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenterhook/tenterhook/fleet/internal/problem"
)

// Options say how a hub runs. The zero value listens on this machine alone.
type Options struct {
	Fleet  string   // its name; "" = that of the last run, or "fleet"
	Listen string   // HOST:PORT; "" = 127.0.0.1:4222. Port 0 = any that is free
	Enroll string   // where machines enroll; "" = 127.0.0.1:4223
	Hosts  []string // names and addresses by which machines reach it, the first in URLs; empty = the host of Listen
	Limits Limits
	Logger *slog.Logger // nil = silence
}

// Run is how a hub runs, or ran last, as its folder keeps it.
type Run struct {
	Fleet  string   `json:"fleet"`
	URL    string   `json:"url"`
	Enroll string   `json:"enroll"` // URL
	Hosts  []string `json:"hosts"`
}

// Run returns how the hub runs, or ran last.
func (d *Dir) Run() (Run, error) {
	var r Run
	err := readJSON(filepath.Join(d.Path, runName), &r)
	if errors.Is(err, fs.ErrNotExist) {
		return r, problem.New("hub_never_ran", "no hub ran in "+d.Path+" yet", "start it: tenterhook fleet hub --dir "+d.Path, err)
	}
	return r, err
}

// Server is a hub that runs.
type Server struct {
	Run    Run
	dir    *Dir
	nats   *server.Server
	door   *http.Server
	log    *slog.Logger
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// maxPayload bounds a message, in bytes.
const maxPayload = 8 << 20

// Start starts the hub of a folder. Each acknowledgement comes after the disk has it.
func (d *Dir) Start(ctx context.Context, o Options) (*Server, error) {
	s, err := d.prepare(&o)
	if err != nil {
		return nil, err
	}
	secure, err := d.ca.server(s.Run.Hosts)
	if err != nil {
		return nil, err
	}
	host, port, err := address(o.Listen)
	if err != nil {
		return nil, err
	}
	revoked, err := d.revoked()
	if err != nil {
		return nil, err
	}
	accounts, err := d.keys.accounts(revoked)
	if err != nil {
		return nil, err
	}
	operator, err := public(d.keys.Operator)
	if err != nil {
		return nil, err
	}
	system, err := public(d.keys.System)
	if err != nil {
		return nil, err
	}
	resolver := &server.MemAccResolver{}
	for key, text := range accounts {
		_ = resolver.Store(key, text) // never fails
	}
	s.nats, err = server.NewServer(&server.Options{
		ServerName: "tenterhook-hub", Host: host, Port: port, NoSigs: true, MaxPayload: maxPayload, TLS: true, TLSConfig: secure, TLSTimeout: 10,
		JetStream: true, StoreDir: filepath.Join(d.Path, streamName), SyncAlways: true, JetStreamMaxMemory: 256 << 20, JetStreamMaxStore: 1 << 40,
		TrustedOperators: []*jwt.OperatorClaims{jwt.NewOperatorClaims(operator)}, AccountResolver: resolver, SystemAccount: system,
	})
	if err != nil {
		return nil, err
	}
	s.nats.SetLoggerV2(natsLog{s.log}, false, false, false)
	s.nats.Start()
	if err := s.begin(ctx, o, secure.Clone(), revoked); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// prepare fills in what options leave open.
func (d *Dir) prepare(o *Options) (*Server, error) {
	last, err := d.Run()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	o.Listen, o.Enroll = cmp.Or(o.Listen, "127.0.0.1:4222"), cmp.Or(o.Enroll, "127.0.0.1:4223")
	hosts := o.Hosts
	if len(hosts) == 0 {
		hosts = last.Hosts
	}
	if len(hosts) == 0 {
		host, _, err := address(o.Listen)
		if err != nil {
			return nil, err
		}
		if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
			return nil, problem.New("no_host", "the hub listens everywhere, and does not know its own name", "say by which name machines reach it: --host hub.example.com", nil)
		}
		hosts = []string{host}
	}
	hosts = slices.Clone(hosts)
	for _, own := range []string{"localhost", "127.0.0.1", "::1"} {
		if !slices.Contains(hosts, own) {
			hosts = append(hosts, own)
		}
	}
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Server{Run: Run{Fleet: cmp.Or(o.Fleet, last.Fleet, "fleet"), Hosts: hosts}, dir: d, log: log}, nil
}

func address(text string) (host string, port int, err error) {
	host, p, err := net.SplitHostPort(text)
	if err == nil {
		port, err = strconv.Atoi(p)
	}
	if err != nil {
		return "", 0, problem.New("bad_address", fmt.Sprintf("%q is no address to listen on", text), "use HOST:PORT, such as 127.0.0.1:4222", err)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	return host, port, nil
}

// begin waits for the server, declares the streams and opens the door for machines
// that enroll.
func (s *Server) begin(ctx context.Context, o Options, secure *tls.Config, revoked map[string]time.Time) error {
	if !s.nats.ReadyForConnections(15 * time.Second) {
		return problem.New("hub_failed", "the hub does not listen on "+o.Listen, "see whether another program does, or choose another --listen", nil)
	}
	listener, err := net.Listen("tcp", o.Enroll)
	if err != nil {
		return problem.New("hub_failed", err.Error(), "choose another --enroll", err)
	}
	url := func(scheme string, a net.Addr) string {
		return scheme + "://" + net.JoinHostPort(s.Run.Hosts[0], strconv.Itoa(a.(*net.TCPAddr).Port))
	}
	s.Run.URL, s.Run.Enroll = url("tls", s.nats.Addr()), url("https", listener.Addr())
	if err := s.declare(ctx, o.Limits); err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := WriteJSON(filepath.Join(s.dir.Path, runName), s.Run); err != nil {
		return errors.Join(err, listener.Close())
	}
	s.door = &http.Server{Handler: s.dir.enrollment(s.Run, s.log), TLSConfig: secure, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)}
	watching, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.done.Go(func() { _ = s.door.ServeTLS(listener, "", "") }) // until it is closed
	s.done.Go(func() { s.watch(watching, revoked) })
	return nil
}

func (s *Server) declare(ctx context.Context, l Limits) error {
	admin, err := s.InProcess()
	if err != nil {
		return err
	}
	defer admin.Close()
	js, err := jetstream.New(admin)
	if err != nil {
		return err
	}
	_, err = Declare(ctx, js, l, false)
	return err
}

// InProcess connects as an admin, without a network. Close the connection.
func (s *Server) InProcess() (*nats.Conn, error) {
	seed, key, err := newUser()
	if err != nil {
		return nil, err
	}
	token, err := s.dir.keys.mint(Admin, "hub", key, 0)
	if err != nil {
		return nil, err
	}
	c := &Connection{URL: "nats://in-process", Name: "hub", Role: Admin, JWT: token, Seed: seed}
	return c.Connect(nats.InProcessServer(s.nats))
}

// revoked are the keys that may no longer connect, and since when.
func (d *Dir) revoked() (map[string]time.Time, error) {
	issued, err := d.Issued()
	if err != nil {
		return nil, err
	}
	revoked := map[string]time.Time{}
	for _, i := range issued {
		if !i.Revoked.IsZero() {
			revoked[i.Key] = i.Revoked.Add(time.Second) // credentials know whole seconds
		}
	}
	return revoked, nil
}

// watch takes revoked credentials out of force.
func (s *Server) watch(ctx context.Context, before map[string]time.Time) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var read time.Time // the stamp of the ledger that was read
	for {
		info, err := os.Stat(filepath.Join(s.dir.Path, issuedName))
		if err == nil && !info.ModTime().Equal(read) {
			now, err := s.dir.revoked()
			if err == nil && !maps.Equal(before, now) {
				err = s.refresh(now)
			}
			if err != nil {
				s.log.Error("revoked credentials stay in force", "err", err)
			} else {
				read, before = info.ModTime(), now
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (s *Server) refresh(revoked map[string]time.Time) error {
	accounts, err := s.dir.keys.accounts(revoked)
	if err != nil {
		return err
	}
	for key, text := range accounts {
		claims, err := jwt.DecodeAccountClaims(text)
		if err != nil {
			return err
		}
		if err := s.nats.AccountResolver().Store(key, text); err != nil {
			return err
		}
		account, err := s.nats.LookupAccount(key)
		if err != nil {
			return err
		}
		s.nats.UpdateAccountClaims(account, claims)
	}
	return nil
}

// Stop ends the hub and waits for it. It may be called twice.
func (s *Server) Stop() {
	if s.cancel != nil {
		s.cancel()
	}
	if s.door != nil {
		_ = s.door.Close() // connections end with it
	}
	s.done.Wait()
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
}

// natsLog hands on what the server says.
type natsLog struct{ log *slog.Logger }

func (l natsLog) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l natsLog) Warnf(format string, v ...any)   { l.log.Warn(fmt.Sprintf(format, v...)) }
func (l natsLog) Errorf(format string, v ...any)  { l.log.Error(fmt.Sprintf(format, v...)) }
func (l natsLog) Fatalf(format string, v ...any)  { l.log.Error(fmt.Sprintf(format, v...)) }
func (l natsLog) Debugf(string, ...any)           {}
func (l natsLog) Tracef(string, ...any)           {}
