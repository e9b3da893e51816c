package model

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

// askOnce runs a prompt hook against a server and returns its failure.
func askOnce(t *testing.T, w *wire, s *server) *hook.Error {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Second, hook.ErrTimeout)
	defer cancel()
	_, err := newHandler(t, Options{Env: w.env(s.URL)}).Handle(ctx, newCall(t, hook.KindPrompt, object{"prompt": "the question of the rule, at length", "model": "m"}, nil))
	if errors.Is(err, hook.ErrTimeout) {
		t.Fatal("it hung")
	}
	return failureOf(t, err)
}

func TestWhatAProviderRefusesIsATransportFailure(t *testing.T) {
	message := func(text string) string { return asJSON(object{"error": object{"type": "x", "message": text}}) }
	for _, tc := range []struct {
		name     string
		reply    reply
		requests int
		has      []string
		not      []string
	}{
		{"a bad key", reply{status: 401, body: message("Incorrect API key provided: sk-test-****cdef. " + theKey)}, 1,
			[]string{"answered 401 Unauthorized: Incorrect API key provided: [key]"}, []string{theKey, "cdef"}},
		{"an unknown model", reply{status: 404, body: message("model: \x1b[2Jm\nis unknown")}, 1,
			[]string{"answered 404 Not Found: model: [2Jm is unknown"}, []string{"\x1b", "\n"}},
		{"a long message", reply{status: 400, body: message(strings.Repeat("long ", 1000))}, 1, []string{"400", "…"}, []string{strings.Repeat("long ", 60)}},
		{"a message that repeats the request", reply{status: 400, body: message("cannot read: the question of the rule, at length")}, 1,
			[]string{"left out"}, []string{"question of"}},
		{"a message that repeats the event", reply{status: 400, body: message(`in "tool_input":{"command":"ls \u003c/event>"}`)}, 1, []string{"left out"}, []string{"tool_input"}},
		{"a plain text", reply{status: 403, header: map[string]string{"Content-Type": "text/html"}, body: "<h1>secret place</h1>"}, 1, []string{"403 Forbidden"}, []string{"secret"}},
		{"an error that is a text", reply{status: 400, body: `{"error":"no such model"}`}, 1, []string{"400 Bad Request: no such model"}, nil},
		{"500 is tried three times", reply{status: 500, header: map[string]string{"Retry-After-Ms": "1"}, body: message("boom")}, 3, []string{"500 Internal Server Error: boom"}, nil},
		{"429 is tried three times", reply{status: 429, header: map[string]string{"Retry-After": "0"}, body: message("slow down")}, 3, []string{"429 Too Many Requests: slow down"}, nil},
		{"a wait longer than the time", reply{status: 429, header: map[string]string{"Retry-After": "3600"}, body: message("slow down")}, 1, []string{"429", "1h0m0s"}, nil},
		{"a wait until a date", reply{status: 503, header: map[string]string{"Retry-After": "Fri, 31 Dec 2100 23:59:59 GMT"}}, 1, []string{"503"}, nil},
		{"a redirect", reply{status: 307, header: map[string]string{"Location": "http://127.0.0.1:1/elsewhere"}}, 1, []string{"redirects elsewhere (307 Temporary Redirect)"}, nil},
		{"a redirect with an answer", reply{status: 302, header: map[string]string{"Location": "/"}, body: anthropicWire.text(`{"ok":true}`, "end_turn").body}, 1, []string{"302"}, nil},
		{"another success", reply{status: 202, body: "{}"}, 1, []string{"202"}, nil},
		{"a truncated reply", reply{body: `{"id":"m","type":"message","content":[{"type":"te`}, 1, []string{"cannot be read"}, nil},
		{"an empty reply", reply{}, 1, []string{"cannot be read"}, nil},
		{"a list", reply{body: "[]"}, 1, []string{"cannot be read"}, nil},
		{"an error that says 200", reply{body: message("odd")}, 1, []string{"cannot be read"}, nil},
		{"prose", reply{header: map[string]string{"Content-Type": "text/plain"}, body: `{"ok":true}`}, 1, []string{"cannot be read"}, nil},
		{"an empty stream", reply{header: map[string]string{"Content-Type": "text/event-stream"}}, 1, []string{"cannot be read"}, nil},
		{"a stream with an error", reply{header: map[string]string{"Content-Type": "text/event-stream"},
			body: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n"}, 1, []string{"cannot be read"}, nil},
		{"a stream of nonsense", reply{header: map[string]string{"Content-Type": "text/event-stream"}, body: "data: {\"ok\":true}\n\n"}, 1, []string{"cannot be read"}, nil},
	} {
		for _, w := range wires {
			t.Run(w.name+"/"+tc.name, func(t *testing.T) {
				s := serve(t, always(tc.reply))
				f := askOnce(t, w, s)
				text := f.Error()
				if f.Failure != hook.FailureTransport || len(s.all()) != tc.requests {
					t.Errorf("got %v after %d requests, want transport after %d", f, len(s.all()), tc.requests)
				}
				for _, part := range tc.has {
					if !strings.Contains(text, part) {
						t.Errorf("%q is not in %q", part, text)
					}
				}
				for _, part := range tc.not {
					if strings.Contains(text, part) {
						t.Errorf("%q is in %q", part, text)
					}
				}
			})
		}
	}
}

// Whatever a key looks like, and wherever a message is cut.
func TestKeyIsNeverShown(t *testing.T) {
	const odd = "correct/horse/battery/staple"
	for before := range 220 {
		e := &endpoint{provider: providers[0], key: odd}
		text := e.safe(strings.Repeat("x ", before/2) + odd + " more")
		if strings.Contains(text, "correct") {
			t.Fatalf("after %d characters: %q", before, text)
		}
	}
	if text := (&endpoint{token: odd}).safe("got " + odd); text != "got [key]" {
		t.Errorf("got %q", text)
	}
}

func TestTruncatedStreamIsNoAnswer(t *testing.T) {
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			whole := w.stream(w.text(`{"ok":true}`, w.end))
			events := strings.SplitAfter(whole.body, "\n\n")
			for n := range len(events) - 3 { // the last ones carry no answer
				cut := whole
				cut.body = strings.Join(events[:n], "")
				if f := askOnce(t, w, serve(t, always(cut))); f.Failure != hook.FailureTransport {
					t.Errorf("after %d of %d events: got %v, want transport", n, len(events), f)
				}
			}
		})
	}
}

func TestRateLimitIsWaitedFor(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits as a provider asks")
	}
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			s := serve(t, func(n int) reply {
				if n == 0 {
					return reply{status: 429, header: map[string]string{"Retry-After": "1"}}
				}
				return w.text(`{"ok":true}`, w.end)
			})
			start := time.Now()
			if f := askOnce(t, w, s); f.Failure != "" || len(s.all()) != 2 || time.Since(start) < time.Second {
				t.Errorf("got %v after %d requests and %s", f, len(s.all()), time.Since(start))
			}
		})
	}
}

// N5: an endless reply, in the clear or compressed, is cut off and not asked
// for again.
func TestN5EndlessReplyIsCutOff(t *testing.T) {
	var bomb bytes.Buffer
	zip := gzip.NewWriter(&bomb)
	for range 64 {
		_, _ = zip.Write(make([]byte, 1<<20))
	}
	_ = zip.Close()
	for _, w := range wires {
		for _, zipped := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/zipped=%v", w.name, zipped), func(t *testing.T) {
				var requests atomic.Int32
				s := &server{Server: httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					requests.Add(1)
					rw.Header().Set("Content-Type", "application/json")
					if zipped {
						rw.Header().Set("Content-Encoding", "gzip")
						_, _ = rw.Write(bomb.Bytes())
						return
					}
					for r.Context().Err() == nil {
						if _, err := rw.Write(bytes.Repeat([]byte(" "), 1<<16)); err != nil {
							return
						}
					}
				}))}
				t.Cleanup(s.Close)
				if f := askOnce(t, w, s); f.Failure != hook.FailureTransport || !strings.Contains(f.Reason, "more than 8 MiB") || requests.Load() != 1 {
					t.Errorf("got %v after %d requests", f, requests.Load())
				}
			})
		}
	}
}

func TestSlowReplyEndsWithTheTime(t *testing.T) {
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			s := &server{Server: httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				for r.Context().Err() == nil {
					_, _ = rw.Write([]byte(" "))
					rw.(http.Flusher).Flush()
					time.Sleep(10 * time.Millisecond)
				}
			}))}
			t.Cleanup(s.Close)
			ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, hook.ErrTimeout)
			defer cancel()
			start := time.Now()
			_, err := newHandler(t, Options{Env: w.env(s.URL)}).Handle(ctx, newCall(t, hook.KindPrompt, object{"prompt": "?", "model": "m"}, nil))
			if !errors.Is(err, hook.ErrTimeout) || time.Since(start) > 10*time.Second {
				t.Errorf("got %v after %s", err, time.Since(start))
			}
		})
	}
}

func TestNobodyThereIsATransportFailure(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits between three tries")
	}
	s := serve(t, always(reply{}))
	s.Close()
	for _, w := range wires {
		if f := askOnce(t, w, s); f.Failure != hook.FailureTransport || !strings.Contains(f.Reason, "the way to 127.0.0.1:") || strings.Contains(f.Error(), theKey) {
			t.Errorf("%s: got %v", w.name, f)
		}
	}
}

// N4: a proxy that the environment names gets to see nothing.
func TestN4ProxyOfTheEnvironmentIsNotAsked(t *testing.T) {
	if proxy := boundedClient(nil).Transport.(bounded).next.(*http.Transport).Proxy; proxy != nil {
		t.Error("the client asks for a proxy")
	}
}

func TestGivenClientCarriesTheRequests(t *testing.T) {
	var carried atomic.Int32
	given := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		carried.Add(1)
		res := httptest.NewRecorder()
		res.Header().Set("Location", "http://127.0.0.1:1/")
		res.WriteHeader(http.StatusPermanentRedirect)
		return res.Result(), nil
	})}
	h := newHandler(t, Options{Env: openaiWire.env("http://127.0.0.1:1"), HTTPClient: given})
	_, err := h.Handle(t.Context(), newCall(t, hook.KindPrompt, object{"prompt": "?", "model": "m"}, nil))
	if f := failureOf(t, err); f.Failure != hook.FailureTransport || carried.Load() != 1 || given.CheckRedirect != nil {
		t.Errorf("got %v after %d requests", err, carried.Load())
	}
	if boundedClient(&http.Client{}).Transport.(bounded).next != http.DefaultTransport {
		t.Error("a client without a transport has not the default one")
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestRetryAfter(t *testing.T) {
	for _, tc := range []struct {
		name, value string
		want        time.Duration
		ok          bool
	}{
		{"Retry-After", "2", 2 * time.Second, true},
		{"Retry-After", "0.5", 500 * time.Millisecond, true},
		{"Retry-After-Ms", "20", 20 * time.Millisecond, true},
		{"Retry-After", "1e300", 24 * time.Hour, true},
		{"Retry-After", "Inf", 24 * time.Hour, true},
		{"Retry-After", "NaN", 0, false},
		{"Retry-After", "-1", 0, false},
		{"Retry-After", "soon", 0, false},
		{"Retry-After", "Thu, 01 Jan 1970 00:00:00 GMT", 0, true},
		{"X", "", 0, false},
	} {
		got, ok := retryAfter(&http.Response{Header: http.Header{tc.name: {tc.value}}})
		if got != tc.want || ok != tc.ok {
			t.Errorf("%s: %s = %v, %v", tc.name, tc.value, got, ok)
		}
	}
	if !timeFor(context.Background(), time.Minute) || timeFor(context.Background(), 2*time.Minute) {
		t.Error("without a deadline a minute is waited for, and no more")
	}
}

// What a model writes into a call is kept as it wrote it, also if the stream cuts
// it off, and a stream's error is no answer.
func TestStreamsAreReadToTheirEnd(t *testing.T) {
	stream := func(events ...string) *modelReply {
		return &modelReply{http.Header{"Content-Type": {"text/event-stream"}}, []byte("data: " + strings.Join(events, "\r\n\r\ndata:") + "\n\n")}
	}
	begin := `{"type":"message_start","message":{"type":"message","usage":{"input_tokens":3}}}`
	block := `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"1","name":"Read","input":{},"caller":"x"}}`
	part := `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"pa"}}`
	cut := `{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":5}}`
	stop := `{"type":"message_stop"}`
	res, err := stream(begin, block, part, cut, stop).anthropic()
	if err != nil || res.Stop != StopMaxTokens || string(res.ToolCalls[0].Input) != `{"pa` || res.Usage != (Usage{3, 5}) {
		t.Errorf("got %+v, %v", res, err)
	}
	if native := asJSON(res.Native); !strings.Contains(native, `"input":{}`) || !strings.Contains(native, `"caller":"x"`) {
		t.Errorf("native %s", native)
	}
	for _, bad := range [][]string{{begin, part, cut, stop}, {begin, strings.Replace(block, `"index":0`, `"index":1`, 1), cut, stop},
		{begin, block, `{"type":"error"}`, cut, stop}, {begin, cut}, {cut, stop}} {
		if res, err := stream(bad...).anthropic(); err == nil {
			t.Errorf("%v: got %+v", bad, res)
		}
	}
	call := func(index int, id, name, arguments string) string {
		return asJSON(object{"choices": []any{object{"delta": object{"tool_calls": []any{object{"index": index, "id": id, "function": object{"name": name, "arguments": arguments}}}}}}})
	}
	end := `{"choices":[{"index":1,"delta":{"content":"other"},"finish_reason":"whim"},{"delta":{},"finish_reason":"tool_calls"}],"usage":null}`
	res, err = stream(call(-1, "a", "Read", `{"p`), call(0, "", "", `":1}`), call(1, "b", "Glob", ""), end, `{"choices":[],"usage":{"prompt_tokens":2,"completion_tokens":1}}`, "[DONE]", "{").openai()
	want := []ToolCall{{"a", "Read", json.RawMessage(`{"p":1}`)}, {"b", "Glob", json.RawMessage("")}}
	if err != nil || res.Stop != StopTools || res.Text != "" || res.Usage != (Usage{2, 1}) || cmp.Diff(want, res.ToolCalls) != "" {
		t.Errorf("got %+v, %v", res, err)
	}
	for _, bad := range [][]string{{call(1, "a", "Read", ""), end}, {`{"error":{"message":"busy"}}`, end}, {`{"choices":[{"delta":{"content":"x"}}]}`}, {"{", end}} {
		if res, err := stream(bad...).openai(); err == nil {
			t.Errorf("%v: got %+v", bad, res)
		}
	}
}
