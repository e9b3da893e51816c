package agent_test

import (
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/fleet/internal/archive"
	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/fleetstate"
	"github.com/tenterhook/tenterhook/internal/recording"
	"github.com/tenterhook/tenterhook/journal"
)

// proxy stands between a machine and the hub. What it eats vanishes, and both ends
// know nothing of it.
type proxy struct {
	listener         net.Listener
	to               string
	eatUp, eatDown   atomic.Bool
	mu               sync.Mutex
	conns            []net.Conn
	passed, vanished atomic.Int64 // bytes
}

func newProxy(t testing.TB, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, to: to}
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("tcp", to)
			if err != nil {
				_ = from.Close()
				continue
			}
			p.mu.Lock()
			p.conns = append(p.conns, from, up)
			p.mu.Unlock()
			go p.pipe(up, from, &p.eatUp)
			go p.pipe(from, up, &p.eatDown)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); p.cut() })
	return p
}

func (p *proxy) pipe(to, from net.Conn, eat *atomic.Bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		if eat.Load() {
			p.vanished.Add(int64(n))
			continue
		}
		p.passed.Add(int64(n))
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

// fleetOf is a hub and machines as processes.
type fleetOf struct {
	t         testing.TB
	dir, home string
	port      int
	hub       *exec.Cmd
	machines  []*machineOf
}

type machineOf struct {
	name, home string
	proxy      *proxy
	agent      *exec.Cmd
}

func (m *machineOf) state() string { return filepath.Join(m.home, "state", "tenterhook") }

func newFleet(t testing.TB, machines int) *fleetOf {
	t.Helper()
	f := &fleetOf{t: t, dir: filepath.Join(t.TempDir(), "hub"), home: t.TempDir()}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.port = l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	f.startHub()
	d, err := hub.Open(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range machines {
		m := &machineOf{name: fmt.Sprintf("m%d", i+1), home: t.TempDir(), proxy: newProxy(t, "127.0.0.1:"+strconv.Itoa(f.port))}
		c, err := d.Credential(hub.Machine, m.name, 0)
		if err != nil {
			t.Fatal(err)
		}
		c.URL = "tls://" + m.proxy.listener.Addr().String()
		if err := c.Save(fleetstate.ConnectionFile(m.state())); err != nil {
			t.Fatal(err)
		}
		f.machines = append(f.machines, m)
	}
	return f
}

// startHub returns once it listens.
func (f *fleetOf) startHub() {
	f.t.Helper()
	f.hub = program(f.t, f.home, "hub", "--dir", f.dir, "--listen", "127.0.0.1:"+strconv.Itoa(f.port), "--enroll-listen", "127.0.0.1:0")
	f.until("the hub listens", func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(f.port))
		if err == nil {
			_ = c.Close()
			_, err = os.Stat(filepath.Join(f.dir, "hub.json"))
		}
		return err == nil
	})
}

func (f *fleetOf) startAgent(m *machineOf) { m.agent = program(f.t, m.home, "agent") }

func (f *fleetOf) until(what string, holds func() bool) {
	f.t.Helper()
	for end := time.Now().Add(10 * time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			f.t.Fatalf("it does not come about that %s", what)
		}
	}
}

// fill records dispatches as the processes of a machine do.
func (f *fleetOf) fill(m *machineOf, from, to int) {
	f.t.Helper()
	r, err := journal.NewRecorder(recording.Dir(m.state()), journal.Options{})
	if err != nil {
		f.t.Error(err)
		return
	}
	for i := from; i < to; i++ {
		r.Record(hook.Record{Run: fmt.Sprintf("%s-%06d", m.name, i), Time: time.Now(), Event: hook.EventPreToolUse, Tool: "Bash", Payload: []byte(`{"tool_input":{"command":"make test"}}`),
			Outcome: &hook.Outcome{Verdict: hook.Deny, Results: []hook.Result{{Hook: &hook.Hook{ID: "managed/guard"}, Status: hook.StatusBlocked, Reason: "the command writes outside"}}}})
		if i%1000 == 999 {
			if err := r.Flush(f.t.Context()); err != nil {
				f.t.Error(err)
			}
		}
	}
	if err := r.Close(); err != nil {
		f.t.Error(err)
	}
}

// archived opens the archive, which the hub writes.
func (f *fleetOf) archived() *archive.Archive {
	f.t.Helper()
	path := filepath.Join(f.dir, "archive", "archive.db")
	f.until("there is an archive", func() bool { _, err := os.Stat(path); return err == nil })
	a, err := archive.Open(f.t.Context(), path)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = a.Close() })
	return a
}

func count(t testing.TB, a *archive.Archive) (n int64) {
	t.Helper()
	sources, err := a.Sources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources {
		n += s.Records
	}
	return n
}

// TENTERHOOK_FLEET_CHAOS is how many records all machines have, of which there are
// 20 then; without it the test is small.
func TestNothingIsLostOrKeptTwiceWhateverIsKilled(t *testing.T) {
	t.Parallel()
	machines, total := 3, 600
	if text := os.Getenv("TENTERHOOK_FLEET_CHAOS"); text != "" {
		machines = 20
		var err error
		if total, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	each := total / machines
	total = each * machines
	f := newFleet(t, machines)
	began := time.Now()
	say := func(format string, args ...any) {
		t.Logf("%6.2fs "+format, append([]any{time.Since(began).Seconds()}, args...)...)
	}
	var filling sync.WaitGroup
	fill := func(quarter int) { // while things happen
		for _, m := range f.machines {
			filling.Go(func() { f.fill(m, each*(quarter-1)/4, each*quarter/4) })
		}
	}
	fill(1)
	for _, m := range f.machines {
		f.startAgent(m)
	}
	a := f.archived()
	reach := func(share int) {
		f.until(fmt.Sprintf("%d/8 are archived", share), func() bool { return count(t, a) >= int64(total*share/8) })
	}

	reach(1)
	say("kill the hub")
	kill(f.hub)
	fill(2)
	time.Sleep(300 * time.Millisecond)
	f.startHub()
	say("the hub listens again")
	reach(3)
	for i, m := range f.machines {
		[]*atomic.Bool{&m.proxy.eatUp, &m.proxy.eatDown}[i%2].Store(true)
	}
	fill(3)
	say("the network swallows what one half sends, and what the other half should get")
	f.until("something vanished in either direction", func() bool { return f.machines[0].proxy.vanished.Load() > 0 && f.machines[1].proxy.vanished.Load() > 0 })
	time.Sleep(300 * time.Millisecond)
	for _, m := range f.machines {
		m.proxy.eatUp.Store(false)
		m.proxy.eatDown.Store(false)
		m.proxy.cut()
	}
	say("the network works again")
	fill(4)
	for range 3 {
		for _, m := range f.machines {
			kill(m.agent)
			f.startAgent(m)
		}
		time.Sleep(200 * time.Millisecond)
	}
	say("each agent was killed three times")
	kill(f.hub)
	f.startHub()
	say("the hub was killed again")
	filling.Wait()
	reach(8)
	say("all %d are archived", total)

	sources, err := a.Sources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources {
		if s.Records != int64(each) || s.Missing != 0 || s.Twice != 0 {
			t.Errorf("%+v, want %d records", s, each)
		}
	}
	if gaps, err := a.Gaps(t.Context(), 10); len(gaps) != 0 || err != nil {
		t.Errorf("gaps %v, %v", gaps, err)
	}
	db, err := sql.Open("sqlite", "file:"+a.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var rows, runs int
	if err := db.QueryRow(`SELECT count(*), count(DISTINCT run) FROM record`).Scan(&rows, &runs); err != nil || rows != total || runs != total {
		t.Errorf("%d rows of %d runs, want %d of each; %v", rows, runs, total, err)
	}
}
