package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	maxReply   = 8 << 20 // bytes of one reply, decoded
	maxRetries = 2       // of one request
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

// bounded bounds the body of a reply.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	res.Body = &boundedBody{ReadCloser: res.Body, left: maxReply}
	return res, nil
}

// CloseIdleConnections makes http.Client's method of that name work.
func (b bounded) CloseIdleConnections() {
	if closer, ok := b.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// object is a JSON object that is sent.
type object = map[string]any

// modelReply is what a provider answered with 200.
type modelReply struct {
	header http.Header
	body   []byte
}

// exchange posts a request and returns the reply. If the provider cannot be
// reached, or wants to be asked again, it asks again: as late as the provider
// says, else after half a second and a random part of it.
func (e *endpoint) exchange(ctx context.Context, client *http.Client, r *Request, path string, header http.Header, request object) (*modelReply, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json")
	header.Set("User-Agent", "tenterhook")
	pause := backoff.NewExponentialBackOff()
	for tries := 0; ; tries++ {
		res, text, err := post(ctx, client, e.address.JoinPath(path).String(), header, body)
		wait := pause.NextBackOff()
		if res != nil {
			if said, ok := retryAfter(res); ok {
				wait = said
			}
		}
		if tries == maxRetries || ctx.Err() != nil || errors.Is(err, errTooLong) || !again(res) || !timeFor(ctx, wait) {
			if err := e.replyFailure(ctx, r, res, err); err != nil {
				return nil, err
			}
			return &modelReply{res.Header, text}, nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// post sends a request once and reads the reply, whose Body can be read again.
func post(ctx context.Context, client *http.Client, url string, header http.Header, body []byte) (*http.Response, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header = header.Clone()
	res, err := client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(text))
	return res, text, err
}

// again reports whether a provider may answer otherwise if it is asked again. nil
// stands for a provider that was not reached.
func again(res *http.Response) bool {
	if res == nil {
		return true
	}
	switch res.Header.Get("X-Should-Retry") {
	case "true":
		return true
	case "false":
		return false
	}
	switch code := res.StatusCode; code {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	default:
		return code >= http.StatusInternalServerError
	}
}

func (r *modelReply) isEventStream() bool {
	return strings.HasPrefix(strings.ToLower(r.header.Get("Content-Type")), "text/event-stream")
}

// eventData yields the data of each event of a stream that has ended. An event
// that was cut off is left out.
func eventData(stream []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var data [][]byte
		for line := range bytes.Lines(stream) {
			text, ended := bytes.CutSuffix(line, []byte("\n"))
			text = bytes.TrimSuffix(text, []byte("\r"))
			if more, ok := bytes.CutPrefix(text, []byte("data:")); ok {
				data = append(data, bytes.TrimPrefix(more, []byte(" ")))
			}
			if ended && len(text) == 0 && data != nil {
				if !yield(bytes.Join(data, []byte("\n"))) {
					return
				}
				data = nil
			}
		}
	}
}

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
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLong
	}
	return n, err
}
