package webhook_test

import (
	"context"
	"encoding/binary"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var quiet = log.New(io.Discard, "", 0)

// recorder is a server that remembers what it got and answers what the test says.
type recorder struct {
	*httptest.Server
	mu    sync.Mutex
	got   []request
	conns int
}

type request struct {
	method, uri, host string
	header            http.Header
	body              string
}

func serve(t testing.TB, answer http.HandlerFunc) *recorder {
	t.Helper()
	r := &recorder{}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.got = append(r.got, request{req.Method, req.RequestURI, req.Host, req.Header, string(body)})
		r.mu.Unlock()
		answer(w, req)
	}))
	r.Config.ErrorLog = quiet
	r.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			r.mu.Lock()
			r.conns++
			r.mu.Unlock()
		}
	}
	r.Start()
	t.Cleanup(r.Close)
	return r
}

func serveTLS(t testing.TB, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(answer)
	server.Config.ErrorLog = quiet
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func says(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}

func (r *recorder) requests() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]request(nil), r.got...)
}

func (r *recorder) connections() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.conns
}

// port is a server's port.
func port(t testing.TB, url string) string {
	t.Helper()
	return url[strings.LastIndexByte(url, ':')+1:]
}

// raw is a TCP server that treats each connection, numbered from 1, as it is
// told, and closes it. It returns its address.
func raw(t testing.TB, treat func(n int, conn net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	all.Go(func() {
		for n := 1; ; n++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[conn] = true
			mu.Unlock()
			all.Go(func() {
				treat(n, conn)
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		mu.Lock()
		for conn := range open {
			_ = conn.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return listener.Addr().String()
}

// readRequest reads one request of a connection.
func readRequest(conn net.Conn) {
	buf := make([]byte, 64<<10)
	for seen := ""; ; {
		n, err := conn.Read(buf)
		seen += string(buf[:n])
		head, body, whole := strings.Cut(seen, "\r\n\r\n")
		if err != nil {
			return
		}
		_, length, _ := strings.Cut(strings.ToLower(head), "content-length: ")
		length, _, _ = strings.Cut(length, "\r\n")
		if want, _ := strconv.Atoi(length); whole && len(body) >= want {
			return
		}
	}
}

// needsUDP skips where Go cannot listen on UDP.
func needsUDP(t testing.TB) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("Wine has no UDP sockets for Go: %v", err)
	}
	conn.Close()
}

// resolver knows the addresses of some names, and no others.
func resolver(t testing.TB, names map[string]string) *net.Resolver {
	t.Helper()
	needsUDP(t)
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 2048)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if reply := answerDNS(buf[:n], names); reply != nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// answerDNS answers a query for an address (RFC 1035, section 4).
func answerDNS(query []byte, names map[string]string) []byte {
	if len(query) < 12 {
		return nil
	}
	name, end := "", 12
	for end < len(query) && query[end] != 0 {
		next := end + 1 + int(query[end])
		if next > len(query) {
			return nil
		}
		name, end = name+string(query[end+1:next])+".", next
	}
	if end += 5; end > len(query) {
		return nil
	}
	kind := binary.BigEndian.Uint16(query[end-4:])
	reply := append([]byte(nil), query[:end]...)
	copy(reply[2:12], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
	addr, err := netip.ParseAddr(names[strings.TrimSuffix(name, ".")])
	switch {
	case err != nil:
		reply[3] |= 3 // there is no such name
	case kind == 1 && addr.Is4() || kind == 28 && addr.Is6():
		reply[7] = 1
		data := addr.AsSlice()
		reply = append(reply, 0xc0, 12, byte(kind>>8), byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(data)))
		reply = append(reply, data...)
	}
	return reply
}
