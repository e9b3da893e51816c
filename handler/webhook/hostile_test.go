package webhook_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tenterhook/tenterhook/handler/webhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

func TestN1RedirectsAreNotFollowed(t *testing.T) {
	elsewhere := serve(t, says(`{"systemMessage":"thanks"}`))
	for _, status := range []int{300, 301, 302, 303, 304, 305, 307, 308} {
		from := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", elsewhere.URL+"/collect")
			w.WriteHeader(status)
		})
		h := handler(t, webhook.Options{Env: []string{"TOKEN=hunter2"}}, dialect.Settings{AllowedHTTPHookURLs: []string{"*"}, AllowLocalHTTPHookTargets: yes()})
		out, _, err := run(t, h, declares(params{"url": from.URL, "headers": params{"Authorization": "Bearer $TOKEN"}, "allowedEnvVars": []string{"TOKEN"}}))
		kind, text := failure(t, err)
		if out != nil || kind != hook.FailureTransport || !strings.Contains(text, fmt.Sprint(status)) || !strings.Contains(text, "redirects are not followed") {
			t.Errorf("%d: %v, %v", status, out, err)
		}
	}
	if got := elsewhere.requests(); len(got) > 0 {
		t.Errorf("this left: %+v", got)
	}
}

func TestN2AnotherHostOfALikeNameIsNotCalled(t *testing.T) {
	server := serve(t, says(""))
	names := resolver(t, map[string]string{"hooks.example.com.evil.com": "127.0.0.1", "hooks.example.com": "127.0.0.1"})
	at := ":" + port(t, server.URL)
	h := handler(t, webhook.Options{Resolver: names}, dialect.Settings{
		AllowedHTTPHookURLs: []string{"http://hooks.example.com" + at + "*", "https://hooks.example.com*"}, AllowLocalHTTPHookTargets: yes()})
	for _, url := range []string{
		"http://hooks.example.com.evil.com" + at, "http://hooks.example.com@127.0.0.1" + at, "http://hooks.example.com" + at + "@127.0.0.1" + at + "/",
	} {
		_, _, err := run(t, h, posts(url))
		if kind, _ := failure(t, err); kind != hook.FailureStart {
			t.Errorf("%s: %v", url, err)
		}
	}
	if n := len(server.requests()); n != 0 {
		t.Errorf("%d requests came", n)
	}
	if _, _, err := run(t, h, posts("http://hooks.example.com"+at+"/a")); err != nil {
		t.Error(err)
	}
}

func TestN3NamesAndNumbersThatLeadInward(t *testing.T) {
	server := serve(t, says(""))
	names := resolver(t, map[string]string{"rebound.example": "127.0.0.1", "intranet.example": "10.0.0.1", "metadata.example": "169.254.169.254", "here.example": "0.0.0.0"})
	at := ":" + port(t, server.URL)
	h := handler(t, webhook.Options{Resolver: names}, dialect.Settings{AllowedHTTPHookURLs: []string{"http://*:*", "http://localhost:*", "http://127.0.0.1:*"}})
	for _, host := range []string{
		"rebound.example", "intranet.example", "metadata.example", "here.example",
		"localhost", "x.localhost", "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "169.254.169.254", "100.64.0.1", "224.0.0.1",
		"[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fe80::1]", "[fd00::1]",
		"2130706433", "0x7f000001", "0x7f.0.0.1", "017700000001", "0177.0.0.1", "127.1", "127.0.0.1.",
	} {
		_, _, err := run(t, h, posts("http://"+host+at+"/hook"))
		kind, text := failure(t, err)
		if kind != hook.FailureStart || !strings.Contains(text, "(") {
			t.Errorf("%s: %v", host, err)
		}
	}
	if n := len(server.requests()); n != 0 {
		t.Errorf("%d requests came", n)
	}
	_, _, err := run(t, h, posts("http://127.0.0.1"+at+"/hook"))
	if _, text := failure(t, err); !strings.Contains(text, "allow_local_http_hook_targets") {
		t.Errorf("no way out is named: %s", text)
	}
	h.Configure(dialect.Settings{AllowedHTTPHookURLs: []string{"http://*:*"}, AllowLocalHTTPHookTargets: yes()})
	for _, host := range []string{"rebound.example", "127.0.0.1"} {
		if _, _, err := run(t, h, posts("http://"+host+at+"/hook")); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestN4TheProxyOfTheEnvironmentIsForWhoAsksForIt(t *testing.T) {
	server := serve(t, says(`{"systemMessage":"straight"}`))
	names := resolver(t, map[string]string{"hooks.example.com": "127.0.0.1"})
	url := "http://hooks.example.com:" + port(t, server.URL) + "/hook"
	envProxy.Lock()
	envProxy.asked = nil
	envProxy.Unlock()
	for proxied, want := range map[bool]string{false: "straight", true: "by way of the proxy"} {
		h := handler(t, webhook.Options{Resolver: names, Proxy: proxied}, dialect.Settings{AllowedHTTPHookURLs: []string{url}, AllowLocalHTTPHookTargets: yes()})
		out, _, err := run(t, h, posts(url))
		if err != nil || out.SystemMessage != want {
			t.Errorf("proxy %v: %+v, %v", proxied, out, err)
		}
	}
	envProxy.Lock()
	defer envProxy.Unlock()
	if len(envProxy.asked) != 1 || envProxy.asked[0] != url {
		t.Errorf("the proxy was asked for %q", envProxy.asked)
	}
}

func TestN4AProxyDoesNotOpenLocalTargets(t *testing.T) {
	h := handler(t, webhook.Options{Proxy: true}, dialect.Settings{AllowedHTTPHookURLs: []string{"*"}})
	for _, host := range []string{"localhost", "10.0.0.1", "[::1]", "0x7f.1"} {
		_, _, err := run(t, h, posts("http://"+host+"/"))
		if kind, _ := failure(t, err); kind != hook.FailureStart {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestN4ALineBreakInAHeaderIsRefused(t *testing.T) {
	server := serve(t, says(""))
	env := []string{"CRLF=a\r\nX-Evil: hunter2", "LF=hunter2\n", "CR=hunter2\r", "NUL=hunter2\x00", "DEL=hunter2\x7f", "FINE=a\tb"}
	h := handler(t, webhook.Options{Env: env}, dialect.Settings{AllowedHTTPHookURLs: []string{server.URL}, AllowLocalHTTPHookTargets: yes()})
	for _, value := range []string{"$CRLF", "$LF", "$CR", "$NUL", "$DEL", "a\nb", "a\r\nX-Evil: 1", "a\x00"} {
		_, _, err := run(t, h, declares(params{"url": server.URL, "headers": params{"X-Token": value}, "allowedEnvVars": []string{"CRLF", "LF", "CR", "NUL", "DEL"}}))
		kind, text := failure(t, err)
		if kind != hook.FailureStart || !strings.Contains(text, "X-Token") || strings.Contains(text, "hunter2") {
			t.Errorf("%q: %v", value, err)
		}
	}
	if n := len(server.requests()); n != 0 {
		t.Errorf("%d requests came", n)
	}
	if _, _, err := run(t, h, declares(params{"url": server.URL, "headers": params{"X-Token": "$FINE"}, "allowedEnvVars": []string{"FINE"}})); err != nil {
		t.Error(err)
	}
}

// gzipped is a bomb: n bytes of zeros.
func gzipped(t testing.TB, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for ; n > 0; n -= len(zeros) {
		_, _ = w.Write(zeros)
	}
	_ = w.Close()
	return b.Bytes()
}

func TestN5AnAnswerIsBoundedOnceItIsDecoded(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	bomb := gzipped(t, 64<<20)
	endless := func(w http.ResponseWriter, r *http.Request) {
		for chunk := make([]byte, 64<<10); r.Context().Err() == nil; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
	for name, answer := range map[string]http.HandlerFunc{
		"bomb": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb)
		},
		"endless": endless,
		"long": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(webhook.DefaultMaxBody+1))
			_, _ = w.Write(make([]byte, webhook.DefaultMaxBody+1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, answer)
			h := local(t, server.URL)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := run(t, h, posts(server.URL))
			runtime.ReadMemStats(&after)
			if kind, _ := failure(t, err); kind != hook.FailureOverflow {
				t.Errorf("want output_overflow, got %v", err)
			}
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
				t.Errorf("%d bytes were allocated", grown)
			}
		})
	}
}

func TestN5WhatFitsIsTaken(t *testing.T) {
	message := strings.Repeat("x", 9000)
	answer := `{"systemMessage":"` + message + `"}` + strings.Repeat(" ", 1000)
	for name, set := range map[string]http.HandlerFunc{
		"plain":   says(answer),
		"chunked": func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush(); says(answer)(w, r) },
		"gzip": func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") != "gzip" {
				t.Errorf("Accept-Encoding is %q", r.Header.Get("Accept-Encoding"))
			}
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write([]byte(answer))
			_ = z.Close()
		},
	} {
		for _, test := range []struct {
			limit int64
			fits  bool
		}{{int64(len(answer)), true}, {int64(len(answer)) - 1, false}, {1<<63 - 1, true}} {
			server := serve(t, set)
			h := handler(t, webhook.Options{MaxBody: test.limit}, dialect.Settings{AllowedHTTPHookURLs: []string{server.URL}, AllowLocalHTTPHookTargets: yes()})
			out, _, err := run(t, h, posts(server.URL))
			if test.fits && (err != nil || out.SystemMessage != message) {
				t.Errorf("%s within %d: %v", name, test.limit, err)
			}
			if !test.fits && err == nil {
				t.Errorf("%s over %d was taken", name, test.limit)
			}
		}
	}
}

func TestN5TimeIsBoundedWhateverTheServerDoes(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits for servers that hang")
	}
	before := goleak.IgnoreCurrent()
	drip := func(head, drop string) func(int, net.Conn) {
		return func(_ int, conn net.Conn) {
			readRequest(conn)
			_, _ = io.WriteString(conn, head)
			for {
				if _, err := io.WriteString(conn, drop); err != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		}
	}
	silent := func(_ int, conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }
	deaf := func(_ int, conn net.Conn) { time.Sleep(time.Second) } // reads nothing, so that a long event never leaves
	for name, test := range map[string]struct {
		treat  func(int, net.Conn)
		scheme string
	}{
		"silent":           {silent, "http"},
		"silent TLS":       {silent, "https"},
		"slow body":        {drip("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", "{"), "http"},
		"slow chunks":      {drip("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\n{\r\n"), "http"},
		"slow header":      {drip("HTTP/1.1 200 OK\r\n", "A: b\r\n"), "http"},
		"slow status":      {drip("HTTP/1.1 200 ", "O"), "http"},
		"slow error":       {drip("HTTP/1.1 500 No\r\nContent-Length: 9\r\n", ""), "http"},
		"only hints":       {drip("", "HTTP/1.1 103 Early Hints\r\n\r\n"), "http"},
		"never more":       {drip("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", ""), "http"},
		"nothing but gzip": {drip("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", string(gzipped(t, 0))), "http"},
		"reads nothing":    {deaf, "http"},
	} {
		t.Run(name, func(t *testing.T) {
			at := raw(t, test.treat)
			h := local(t, "*")
			ctx, cancel := context.WithTimeoutCause(t.Context(), 150*time.Millisecond, hook.ErrTimeout)
			defer cancel()
			c := call(t, posts(test.scheme+"://"+at+"/hook"))
			c.Payload = bytes.Repeat([]byte{' '}, 16<<20)
			start := time.Now()
			out, err := h.Handle(ctx, c)
			if !errors.Is(err, hook.ErrTimeout) || out != nil {
				t.Errorf("want a timeout, got %v, %v", out, err)
			}
			if took := time.Since(start); took > soon {
				t.Errorf("it took %s", took)
			}
			_ = h.Close()
		})
	}
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
}

func TestAnErrorIsToldWithoutWaitingForItsPage(t *testing.T) {
	at := raw(t, func(_ int, conn net.Conn) {
		readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
	})
	_, _, err := run(t, local(t, "*"), posts("http://"+at))
	if kind, _ := failure(t, err); kind != hook.FailureExit {
		t.Error(err)
	}
}

func TestACallerThatGivesUpIsNoTimeout(t *testing.T) {
	asked := make(chan struct{})
	at := raw(t, func(_ int, conn net.Conn) {
		readRequest(conn)
		close(asked)
		_, _ = io.Copy(io.Discard, conn)
	})
	h := local(t, "*")
	gaveUp := errors.New("the user pressed escape")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-asked
		cancel(gaveUp)
	}()
	_, err := h.Handle(ctx, call(t, posts("http://"+at)))
	var failed *hook.Error
	if !errors.Is(err, gaveUp) || errors.As(err, &failed) {
		t.Errorf("got %v", err)
	}
}

func TestWhatGoesWrongOnTheWayIsTold(t *testing.T) {
	needsUDP(t)
	answers := func(text string) func(testing.TB) string {
		return func(t testing.TB) string {
			return "http://" + raw(t, func(_ int, conn net.Conn) {
				readRequest(conn)
				_, _ = io.WriteString(conn, text)
			})
		}
	}
	for name, test := range map[string]struct {
		url  func(testing.TB) string
		kind hook.Failure
		want string
	}{
		"nobody listens": {func(t testing.TB) string {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			_ = listener.Close()
			return "http://" + listener.Addr().String()
		}, hook.FailureTransport, "127.0.0.1:"},
		"no such name":      {func(testing.TB) string { return "http://nowhere.example:81/?q=hunter2" }, hook.FailureTransport, "nowhere.example:81: there is no such host"},
		"closed at once":    {func(t testing.TB) string { return "http://" + raw(t, func(int, net.Conn) {}) }, hook.FailureTransport, "closed before"},
		"closed unanswered": {answers(""), hook.FailureTransport, "closed before"},
		"no HTTP":           {answers("SSH-2.0-OpenSSH_9.9\r\n"), hook.FailureTransport, "no HTTP"},
		"half a header":     {answers("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"), hook.FailureTransport, "closed before"},
		"half a body":       {answers("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{}"), hook.FailureTransport, "broke off"},
		"half a chunk":      {answers("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{}"), hook.FailureTransport, "broke off"},
		"a long header":     {answers("HTTP/1.1 200 OK\r\nA: " + strings.Repeat("b", 1<<20) + "\r\n\r\n"), hook.FailureTransport, "too long a header"},
		"two lengths":       {answers("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 50\r\n\r\n{}"), hook.FailureTransport, "no HTTP"},
		"switching":         {answers("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), hook.FailureExit, "101"},
		"no gzip":           {answers("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}"), hook.FailureTransport, "broke off"},
		"bad gzip":          {answers("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 12\r\n\r\n{          }"), hook.FailureOutput, "no gzip"},
		"brotli":            {answers("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\n{}"), hook.FailureOutput, "encoding"},
		"gzip twice":        {answers("HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\nContent-Length: 2\r\n\r\n{}"), hook.FailureOutput, "encoding"},
		"unknown authority": {func(t testing.TB) string { return serveTLS(t, says("")).URL }, hook.FailureTransport, "no trusted authority"},
		"TLS unasked":       {func(t testing.TB) string { return strings.Replace(serveTLS(t, says("")).URL, "https", "http", 1) }, hook.FailureExit, "400"},
		"no TLS":            {func(t testing.TB) string { return strings.Replace(serve(t, says("")).URL, "http", "https", 1) }, hook.FailureTransport, "does not speak TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			h := handler(t, webhook.Options{Resolver: resolver(t, nil)}, dialect.Settings{AllowedHTTPHookURLs: []string{"*"}, AllowLocalHTTPHookTargets: yes()})
			out, _, err := run(t, h, posts(test.url(t)))
			kind, text := failure(t, err)
			if out != nil || kind != test.kind || !strings.Contains(text, test.want) {
				t.Errorf("got %v, %s", out, text)
			}
			if !strings.HasSuffix(text, ")") || strings.Contains(text, "hunter2") {
				t.Errorf("no hint, or too much said: %s", text)
			}
		})
	}
}
