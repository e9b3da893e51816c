package webhook_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tenterhook/tenterhook/handler/webhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

func TestConnectionsAreUsedAgain(t *testing.T) {
	bodies := []http.HandlerFunc{says(""), says("{}"), says(`{"systemMessage":"x"}`),
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush(); says("{}")(w, r) },
	}
	var n int
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { bodies[n%len(bodies)](w, r) })
	h := local(t, server.URL)
	for n = range 4 * len(bodies) {
		if _, _, err := run(t, h, posts(server.URL)); err != nil {
			t.Fatal(n, err)
		}
	}
	if got := server.connections(); got != 1 {
		t.Errorf("%d connections", got)
	}
}

func TestAConnectionThatTheServerClosedMeanwhileIsNoFailure(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
	var connections atomic.Int64
	at := raw(t, func(n int, conn net.Conn) {
		connections.Store(int64(n))
		readRequest(conn)
		_, _ = io.WriteString(conn, answer)
		readRequest(conn) // the next one is read and not answered
	})
	h := local(t, "*")
	for range 3 {
		if _, _, err := run(t, h, posts("http://"+at)); err != nil {
			t.Fatal(err)
		}
	}
	if n := connections.Load(); n != 3 {
		t.Errorf("%d connections: none was closed on a request", n)
	}
}

func TestOverTLSAKeptConnectionIsUsedAgain(t *testing.T) {
	server := serveTLS(t, says(`{"systemMessage":"safe"}`))
	roots := server.Client().Transport.(*http.Transport).TLSClientConfig
	h := handler(t, webhook.Options{TLS: roots, Resolver: resolver(t, map[string]string{"example.com": "127.0.0.1"})},
		dialect.Settings{AllowedHTTPHookURLs: []string{"https://*:*"}, AllowLocalHTTPHookTargets: yes()})
	for range 2 {
		if out, _, err := run(t, h, posts(server.URL)); err != nil || out.SystemMessage != "safe" {
			t.Error(out, err)
		}
	}
	if _, _, err := run(t, h, posts("https://example.com:"+port(t, server.URL))); err != nil {
		t.Error(err)
	}
	own := handler(t, webhook.Options{TLS: &tls.Config{RootCAs: roots.RootCAs, ServerName: "other.example"}},
		dialect.Settings{AllowedHTTPHookURLs: []string{"https://*:*"}, AllowLocalHTTPHookTargets: yes()})
	_, _, err := run(t, own, posts(server.URL))
	if _, text := failure(t, err); !strings.Contains(text, "another name") {
		t.Error(text)
	}
}

func TestSettingsChangeUnderCallsThatAreUnderWay(t *testing.T) {
	server := serve(t, says("{}"))
	h := local(t, server.URL+"/*")
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for range 50 {
				_, _, err := run(t, h, posts(server.URL+"/"+fmt.Sprint(n)))
				var failed *hook.Error
				if err != nil && (!errors.As(err, &failed) || failed.Failure != hook.FailureStart) {
					t.Error(err)
				}
			}
		})
	}
	for n := range 50 {
		on := n%2 == 1
		h.Configure(dialect.Settings{AllowedHTTPHookURLs: []string{server.URL + "/*"}, AllowLocalHTTPHookTargets: &on})
	}
	all.Wait()
	if _, _, err := run(t, h, posts(server.URL+"/x")); err != nil {
		t.Error(err)
	}
	h.Configure(dialect.Settings{})
	if _, _, err := run(t, h, posts(server.URL+"/x")); err == nil {
		t.Error("what is no longer allowed was called")
	}
}

func TestACallThatBeganGoesOnUnderItsOwnSettings(t *testing.T) {
	began, goOn := make(chan struct{}), make(chan struct{})
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		close(began)
		<-goOn
		says(`{"systemMessage":"done"}`)(w, r)
	})
	h := local(t, server.URL)
	go func() {
		<-began
		h.Configure(dialect.Settings{})
		_ = h.Close()
		close(goOn)
	}()
	out, _, err := run(t, h, posts(server.URL))
	if err != nil || out.SystemMessage != "done" {
		t.Error(out, err)
	}
	_, _, err = run(t, h, posts(server.URL))
	if kind, text := failure(t, err); kind != hook.FailureStart || !strings.Contains(text, "closed") {
		t.Error(text)
	}
}

func TestManyHooksAreNotKept(t *testing.T) {
	server := serve(t, says(""))
	h := local(t, server.URL)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // planned, and not called
	for range 3000 {
		if _, err := h.Handle(ctx, call(t, posts(server.URL))); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if n := h.Planned(); n > 1024 {
		t.Errorf("%d plans are kept", n)
	}
}
