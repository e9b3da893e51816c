package model

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

const (
	maxReply   = 8 << 20 // bytes of one reply, decoded
	maxRetries = 2       // of one request, by the SDKs: 408, 409, 429, 5xx, a broken connection
)

// boundedClient returns a client that follows no redirect, and bounds what a
// reply can cost. Without a given one it is a client of its own, which asks no
// proxy that the environment names: keys and events go where the settings say.
func boundedClient(given *http.Client) *http.Client {
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var next http.RoundTripper
	if given != nil {
		client.Timeout = given.Timeout
		if next = given.Transport; next == nil {
			next = http.DefaultTransport
		}
	} else {
		own := http.DefaultTransport.(*http.Transport).Clone()
		own.Proxy = nil
		own.MaxResponseHeaderBytes = 64 << 10
		next = own
	}
	client.Transport = bounded{next}
	return client
}

// bounded bounds the body of a reply, and tells an SDK not to wait longer than
// there is time.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if wait, ok := retryAfter(res); ok && !timeFor(req.Context(), wait) {
		giveUp(res)
	}
	res.Body = &boundedBody{ReadCloser: res.Body, left: maxReply, over: func() { giveUp(res) }}
	return res, nil
}

// CloseIdleConnections makes http.Client's method of that name work.
func (b bounded) CloseIdleConnections() {
	if closer, ok := b.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// giveUp tells the SDK that asking again is of no use. Both read this header.
func giveUp(res *http.Response) { res.Header.Set("X-Should-Retry", "false") }

// longestWait is how long a provider may make us wait where ctx has no end.
const longestWait = time.Minute

// timeFor reports whether there is time to wait and to ask once more.
func timeFor(ctx context.Context, wait time.Duration) bool {
	deadline, limited := ctx.Deadline()
	return limited && wait < time.Until(deadline) || !limited && wait <= longestWait
}

// retryAfter is how long a reply asks to be left alone.
func retryAfter(res *http.Response) (time.Duration, bool) {
	for _, h := range []struct {
		name string
		unit time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		text := res.Header.Get(h.name)
		if n, err := strconv.ParseFloat(text, 64); err == nil && n >= 0 {
			const most = float64(24 * time.Hour)
			return time.Duration(min(n*float64(h.unit), most)), true
		}
		if at, err := http.ParseTime(text); err == nil {
			return max(0, time.Until(at).Round(time.Second)), true
		}
	}
	return 0, false
}

var errTooLong = errors.New("the reply is too long")

// boundedBody fails beyond its bound.
type boundedBody struct {
	io.ReadCloser
	left int64
	over func()
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		b.over()
		return 0, errTooLong
	}
	return n, err
}
