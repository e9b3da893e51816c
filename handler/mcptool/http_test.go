package mcptool_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenterhook/tenterhook/handler/mcptool"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

// remote is the SDK's server behind HTTP, and what reached it.
type remote struct {
	*httptest.Server
	handler atomic.Pointer[http.Handler]

	mu      sync.Mutex
	headers []http.Header
	methods []string
	servers []*mcp.Server
}

func newRemote(t testing.TB) *remote {
	t.Helper()
	r := &remote{}
	r.restart(nil)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		r.headers = append(r.headers, req.Header.Clone())
		r.methods = append(r.methods, req.Method)
		r.mu.Unlock()
		(*r.handler.Load()).ServeHTTP(w, req)
	}))
	t.Cleanup(func() {
		r.Close()
		for _, s := range r.servers {
			for session := range s.Sessions() {
				session.Close()
			}
		}
	})
	return r
}

// restart makes the server forget its sessions.
func (r *remote) restart(o *mcp.StreamableHTTPOptions) {
	s := newToolServer()
	r.mu.Lock()
	r.servers = append(r.servers, s)
	r.mu.Unlock()
	var h http.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, o)
	r.handler.Store(&h)
}

// becomes makes it a server that answers everything in one way.
func (r *remote) becomes(f http.HandlerFunc) {
	var h http.Handler = f
	r.handler.Store(&h)
}

func TestToolOverHTTP(t *testing.T) {
	for name, options := range map[string]*mcp.StreamableHTTPOptions{
		"event stream": nil, "JSON": {JSONResponse: true}, "stateless": {Stateless: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRemote(t)
			r.restart(options)
			h := with(t, dialect.MCPServer{URL: r.URL})
			for range 3 {
				out, err := h.Handle(within(t, 20*time.Second), call("policy", `{"command":"${tool_input.command}"}`))
				if err != nil {
					t.Fatal(err)
				}
				if out.Verdict != hook.Deny || out.Reason != "no rm" {
					t.Errorf("got %v %q", out.Verdict, out.Reason)
				}
			}
			_, err := h.Handle(within(t, 20*time.Second), call("polcy", ""))
			wantFailure(t, err, hook.FailureStart, `did you mean "policy"?`)
			if err := h.Close(); err != nil {
				t.Error(err)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			if version := r.headers[len(r.headers)-1].Get("Mcp-Protocol-Version"); version != "2025-11-25" {
				t.Errorf("the last request speaks of revision %q", version)
			}
			if last := r.methods[len(r.methods)-1]; name == "event stream" && last != http.MethodDelete {
				t.Errorf("the session was left by %s", last)
			}
		})
	}
}

func TestN6HeadersTakeAllowedVariablesOnly(t *testing.T) {
	r := newRemote(t)
	h := mcptool.New(mcptool.Options{Env: []string{"TOKEN=sesame-5up3r ${OTHER}", "OTHER=sesame-other"}})
	defer h.Close()
	h.Configure(settings("s", dialect.MCPServer{URL: r.URL, AllowedEnvVars: []string{"TOKEN", "MISSING"},
		Headers: map[string]string{"Authorization": "Bearer ${TOKEN}", "X-Other": "a${OTHER}b", "X-Missing": "<${MISSING}>", "Content-Type": "text/plain"}}))
	if _, err := h.Handle(within(t, 20*time.Second), call("policy", `{"command":"ls"}`)); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, got := range r.headers {
		if diff := cmp.Diff([]string{"Bearer sesame-5up3r ${OTHER}", "ab", "<>", "application/json"},
			[]string{got.Get("Authorization"), got.Get("X-Other"), got.Get("X-Missing"), got.Get("Content-Type")}); diff != "" {
			t.Errorf("request %d: %s", i, diff)
		}
	}
}

func TestN4LineBreakInAHeaderIsRefused(t *testing.T) {
	h := mcptool.New(mcptool.Options{Env: []string{"TOKEN=sesame-5up3r\r\nX-Evil: 1"}})
	defer h.Close()
	found := h.Configure(settings("s", dialect.MCPServer{URL: "http://127.0.0.1:1", AllowedEnvVars: []string{"TOKEN"}, Headers: map[string]string{"Authorization": "${TOKEN}"}}))
	if len(found) != 1 || found[0].Code != "invalid_server" || strings.Contains(found[0].String(), "sesame") {
		t.Errorf("diagnostics: %v", found)
	}
	_, err := h.Handle(t.Context(), call("t", ""))
	wantFailure(t, err, hook.FailureStart, "Authorization")
}

func TestN1RedirectIsNotFollowed(t *testing.T) {
	var reached atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer elsewhere.Close()
	r := newRemote(t)
	r.becomes(func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, elsewhere.URL+"/?key=sesame", http.StatusTemporaryRedirect)
	})
	h := with(t, dialect.MCPServer{URL: r.URL, Headers: map[string]string{"Authorization": "Bearer sesame-5up3r"}})
	_, err := h.Handle(within(t, 20*time.Second), call("t", ""))
	wantFailure(t, err, hook.FailureStart, "redirect")
	if reached.Load() {
		t.Error("the redirect was followed")
	}
}

func TestN4ProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("NO_PROXY", "")
	r := newRemote(t)
	h := with(t, dialect.MCPServer{URL: r.URL})
	if _, err := h.Handle(within(t, 20*time.Second), call("policy", `{"command":"ls"}`)); err != nil {
		t.Error(err)
	}
}

func TestN5BodiesAreBounded(t *testing.T) {
	endless := func(w io.Writer) {
		chunk := []byte(strings.Repeat("x", 1<<20))
		for range 256 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
	for name, answer := range map[string]http.HandlerFunc{
		"JSON": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":"`)
			endless(w)
		},
		"event stream": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: ")
			endless(w)
		},
		"gzip bomb": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			endless(z)
			z.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRemote(t)
			h := with(t, dialect.MCPServer{URL: r.URL})
			if _, err := h.Handle(within(t, 20*time.Second), call("policy", `{"command":"ls"}`)); err != nil {
				t.Fatal(err)
			}
			r.becomes(answer)
			_, err := h.Handle(within(t, 20*time.Second), call("policy", `{"command":"ls"}`))
			wantFailure(t, err, hook.FailureOverflow, "4 MiB")
			r.restart(nil)
			if _, err := h.Handle(within(t, 20*time.Second), call("policy", `{"command":"ls"}`)); err != nil {
				t.Errorf("after it: %v", err)
			}
		})
	}
}

func TestN5DrippingBodyEndsWithTheHooksTime(t *testing.T) {
	r := newRemote(t)
	h := with(t, dialect.MCPServer{URL: r.URL})
	if _, err := h.Handle(within(t, 20*time.Second), call("policy", `{"command":"ls"}`)); err != nil {
		t.Fatal(err)
	}
	r.becomes(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for req.Context().Err() == nil {
			fmt.Fprint(w, " ")
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	})
	began := time.Now()
	_, err := h.Handle(within(t, 300*time.Millisecond), call("policy", `{"command":"ls"}`))
	wantFailure(t, err, hook.FailureTimeout)
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestSessionThatTheServerLostIsMadeAnew(t *testing.T) {
	r := newRemote(t)
	h := with(t, dialect.MCPServer{URL: r.URL})
	for range 3 {
		if _, err := h.Handle(within(t, 20*time.Second), call("policy", `{"command":"ls"}`)); err != nil {
			t.Fatal(err)
		}
		r.restart(nil)
	}
}

func TestHTTPTroubleIsNamedWithoutTheURL(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "see key sesame", code) }
	}
	for _, tt := range []struct {
		name  string
		does  http.HandlerFunc
		words []string
	}{
		{"refused", status(http.StatusUnauthorized), []string{"401", "headers"}},
		{"not there", status(http.StatusNotFound), []string{"404", "/mcp"}},
		{"broken", status(http.StatusBadGateway), []string{"502"}},
		{"a web page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, []string{"content type"}},
		{"hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, []string{"closed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRemote(t)
			r.becomes(tt.does)
			h := with(t, dialect.MCPServer{URL: r.URL + "/?key=sesame"})
			_, err := h.Handle(within(t, 20*time.Second), call("t", ""))
			wantFailure(t, err, hook.FailureStart, tt.words...)

			r = newRemote(t)
			h = with(t, dialect.MCPServer{URL: r.URL + "/?key=sesame"})
			if _, err := h.Handle(within(t, 20*time.Second), call("policy", `{"command":"ls"}`)); err != nil {
				t.Fatal(err)
			}
			r.becomes(tt.does)
			_, err = h.Handle(within(t, 20*time.Second), call("policy", `{"command":"ls"}`))
			if failed := failure(t, err); tt.name != "not there" && failed.Failure != hook.FailureTransport {
				t.Errorf("in a call: %v", failed)
			}
		})
	}
	r := newRemote(t)
	r.Close()
	h := with(t, dialect.MCPServer{URL: r.URL + "/?key=sesame"})
	_, err := h.Handle(within(t, 20*time.Second), call("t", ""))
	wantFailure(t, err, hook.FailureStart, "refused")
}

func TestHTTPCallIsCancelledAndTheServerIsTold(t *testing.T) {
	r := newRemote(t)
	h := with(t, dialect.MCPServer{URL: r.URL})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	began := time.Now()
	if _, err := h.Handle(ctx, call("hang", "")); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	if _, err := h.Handle(within(t, 20*time.Second), call("policy", `{"command":"ls"}`)); err != nil {
		t.Error(err)
	}
}
