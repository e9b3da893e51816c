package webhook

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

const (
	maxResponseHeader = 64 << 10 // bytes
	idleTimeout       = 30 * time.Second
	keptPerHost       = 32 // idle connections
	proxyHandshake    = 30 * time.Second
)

// localHint is the way out for who meant a local target.
const localHint = "if that is meant, set allow_local_http_hook_targets = true in the user's settings; being on the list of allowed URLs is not enough"

// localError is an address that the settings do not allow.
type localError struct{ addr netip.Addr }

func (e *localError) Error() string { return "the address " + e.addr.String() + " is not allowed" }

// dialer makes connections that end with the call that wanted them; net/http
// would continue dialling after it, for as long as it takes.
type dialer struct {
	net.Dialer
	tls *tls.Config
}

func newDialer(resolver *net.Resolver, config *tls.Config, local bool) *dialer {
	d := &dialer{Dialer: net.Dialer{Resolver: resolver}, tls: config}
	if !local {
		d.ControlContext = refuseLocal
	}
	return d
}

// refuseLocal looks at an address as it is connected to: no name can resolve
// to another one in between.
func refuseLocal(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if isLocal(at.Addr()) {
		return &localError{at.Addr()}
	}
	return nil
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return d.DialContext(callOf(ctx), network, address)
}

func (d *dialer) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	ctx = callOf(ctx)
	plain, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := d.tls.Clone()
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(address)
	}
	conn := tls.Client(plain, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = plain.Close()
		return nil, err
	}
	return conn, nil
}

// callKey is where a request's context has the context of its call. net/http
// dials with a context that has its values and not its end.
type callKey struct{}

func withCall(ctx context.Context) context.Context { return context.WithValue(ctx, callKey{}, ctx) }

func callOf(ctx context.Context) context.Context {
	if call, ok := ctx.Value(callKey{}).(context.Context); ok {
		return call
	}
	return ctx
}

// newTransport returns a transport that dials with d. All time limits are
// those of a request's context, but for the TLS handshake through a proxy,
// which net/http does by itself.
func newTransport(d *dialer, proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	return &http.Transport{
		Proxy:                  proxy,
		DialContext:            d.dial,
		DialTLSContext:         d.dialTLS,
		TLSClientConfig:        d.tls,
		TLSHandshakeTimeout:    proxyHandshake,
		MaxIdleConnsPerHost:    keptPerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxResponseHeader,
	}
}

// newTLSConfig completes a configuration of TLS; nil = the system's roots.
func newTLSConfig(given *tls.Config) *tls.Config {
	config := given.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	config.NextProtos = []string{"http/1.1"}
	if config.ClientSessionCache == nil {
		config.ClientSessionCache = tls.NewLRUClientSessionCache(keptPerHost)
	}
	return config
}
