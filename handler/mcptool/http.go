package mcptool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/environ"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

const (
	dialTimeout    = 10 * time.Second
	goodbyeTimeout = time.Second // for the request that ends a session
	bodyLinger     = time.Second
)

var errRedirect = errors.New("it redirects, which is not followed")

// openURL opens a link to a streamable HTTP endpoint. Nothing is sent yet. Local
// addresses are taken: who may name a server may name a program too. No
// proxy is used, and no redirect followed: headers go to this endpoint alone.
func openURL(ctx context.Context, spec dialect.MCPServer, headers http.Header) (*link, error) {
	transport := &http.Transport{
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout:    dialTimeout,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
	courier := &courier{next: transport, headers: headers}
	client := &http.Client{Transport: courier, CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect }}
	conn, err := (&mcp.StreamableClientTransport{
		Endpoint: spec.URL, HTTPClient: client, MaxEventSize: maxMessage, MaxRetries: 2,
		DisableStandaloneSSE: true, // nothing that a server says unasked is needed
	}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	courier.tap = newTap(conn)
	return &link{
		conn: courier.tap,
		stop: func() {
			_ = courier.tap.Close() // that a server does not take its leave well is no news
			transport.CloseIdleConnections()
		},
		ending: func() string { return "" },
		stderr: func() string { return "" },
		linger: bodyLinger,
	}, nil
}

// courier carries the requests of one session.
type courier struct {
	next    *http.Transport
	headers http.Header
	tap     *tap
}

// RoundTrip adds what the SDK cannot know, and bounds what comes back.
func (k *courier) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if req.Method == http.MethodDelete {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, goodbyeTimeout)
		defer cancel()
	}
	req = req.Clone(ctx)
	for key, values := range k.headers {
		if req.Header.Get(key) == "" {
			req.Header[key] = values
		}
	}
	const versionHeader = "Mcp-Protocol-Version"
	if v := k.tap.version.Load(); v != nil && req.Header.Get(versionHeader) == "" {
		req.Header.Set(versionHeader, *v)
	}
	resp, err := k.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	ex := exchangeOf(ctx)
	if ex != nil && resp.StatusCode >= 300 {
		ex.status = resp.StatusCode
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: maxMessage, exchange: ex}
	return resp, nil
}

// boundedBody ends a body that continues and on. What is counted is what comes
// out of the decompression.
type boundedBody struct {
	io.ReadCloser
	left     int
	exchange *exchange // nil: of no call
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left >= 0 {
		return n, err
	}
	if b.exchange != nil {
		b.exchange.fault.CompareAndSwap(nil, &hook.Error{Failure: hook.FailureOverflow,
			Reason: fmt.Sprintf("it answered with more than %d MiB", maxMessage>>20), Hint: "let the tool answer with little: a decision and its reason"})
	}
	return 0, errTooLong
}

var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`) })

// expandHeaders puts variables of the environment into headers: the variables that the
// server's settings allow, the others as "". What is put in is not expanded
// again. secrets are the values that must not be shown.
func expandHeaders(spec dialect.MCPServer, env []string) (headers http.Header, secrets []string, failed *hook.Error) {
	headers = make(http.Header)
	for name, value := range spec.Headers {
		value = placeholder().ReplaceAllStringFunc(value, func(found string) string {
			key := found[2 : len(found)-1]
			if !slices.Contains(spec.AllowedEnvVars, key) {
				return ""
			}
			v, _ := environ.Lookup(env, key)
			secrets = append(secrets, v)
			return v
		})
		if !isToken(name) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7F }) {
			return nil, nil, &hook.Error{Failure: hook.FailureStart, Reason: "its header " + phrase.First(name, 80) + " has a character that no header may have",
				Hint: "look for a line break, also in the variables that it names"}
		}
		headers.Set(name, strings.TrimSpace(value))
		secrets = append(secrets, value)
	}
	return headers, secrets, nil
}

// isToken reports whether a header can have this name.
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7F || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	})
}

// trouble says what went wrong with a request. The SDK's words for it name the
// endpoint, which may hold a key.
func (v *server) trouble(ex *exchange, err error) string {
	var broken *url.Error
	refusal := refusalOf(err)
	switch {
	case errors.Is(err, errRedirect):
		return errRedirect.Error()
	case ex.status != 0:
		text := strings.TrimSpace(fmt.Sprintf("it answered with status %d %s", ex.status, http.StatusText(ex.status)))
		if refusal != nil {
			text += ": " + v.clean(refusal.Message)
		}
		return text
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, mcp.ErrConnectionClosed):
		return "it closed the connection"
	case errors.As(err, &broken):
		return "it cannot be reached: " + v.clean(broken.Err.Error())
	}
	text := err.Error()
	for _, by := range []string{"calling ", "sending ", "rejected by transport: "} { // the SDK's own steps
		if rest, ok := strings.CutPrefix(text, by); ok {
			_, after, _ := strings.Cut(rest, ": ")
			if text = rest; by != "rejected by transport: " {
				text = after
			}
		}
	}
	return v.clean(text)
}

func httpHint(status int) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "look at the server's headers, and at allowed_env_vars if they name variables"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return "is the URL that of a streamable HTTP endpoint? Often it ends in /mcp"
	}
	return "is it running, and is the URL right?"
}
