//go:build linux || darwin

package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/tenterhook/tenterhook/bridge/closed"
	"github.com/tenterhook/tenterhook/internal/daemon/client"
	"github.com/tenterhook/tenterhook/internal/daemon/door"
)

// doorman holds the doors at which Claude Code's calls over HTTP arrive, where
// 'tenterhook install --transport http' asked for that. The session's other
// calls, which come by way of the socket, hand over what an HTTP request does not
// carry.
type doorman struct {
	server *server

	mu    sync.Mutex           // guards all below, and what is open of each door
	doors map[string]*openDoor // by the state directory that says so
	ended bool
}

// openDoor is a door and who may come in.
type openDoor struct {
	server   *server
	sessions *lru.Cache[string, *sessionCaller]

	mu     sync.Mutex // guards all below
	door   *door.Door // as it is installed; nil = it is not
	http   *http.Server
	broken string // why calls over HTTP would not reach us; "" = they do
}

// sessionCaller is what a session's calls over HTTP lack. It is not changed.
type sessionCaller struct {
	env, where []string
	umask      int
	within     []string
}

const (
	// openWithin is how long a daemon tries to take the port, which the daemon
	// that it follows may not have let go.
	openWithin = 2 * time.Second
	// maxDoors bounds the installations that one daemon listens for.
	maxDoors = 16
	// maxCallers bounds the sessions of a door.
	maxCallers = 1024
)

// at finds the door of a state directory as it is installed now, nil if there is
// none.
func (d *doorman) at(state string) *openDoor {
	if state == "" {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.doors[state]
	if d.ended || o == nil && (len(d.doors) >= maxDoors || !exists(door.Path(state))) {
		return nil
	}
	if o == nil {
		callers, _ := lru.New[string, *sessionCaller](maxCallers) // it fails for no size alone
		o = &openDoor{server: d.server, sessions: callers}
		if d.doors == nil {
			d.doors = make(map[string]*openDoor)
		}
		d.doors[state] = o
	}
	if !o.look(state) {
		delete(d.doors, state)
		return nil
	}
	return o
}

// look sees to it that the daemon listens where it is installed to, and reports
// whether it is.
func (o *openDoor) look(state string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	now, err := door.Read(state)
	switch {
	case err != nil:
		o.broken = err.Error()
		return true
	case now == nil:
		o.shut()
		return false
	case o.http != nil && *now == *o.door:
		return true
	}
	o.shut()
	o.door = now
	if o.broken = o.listen(); o.broken != "" {
		o.server.log.Error("calls over HTTP", "err", o.broken)
	}
	return true
}

// listen takes the port. The caller holds mu.
func (o *openDoor) listen() (why string) {
	var l net.Listener
	var err error
	for until := time.Now().Add(openWithin); ; time.Sleep(20 * time.Millisecond) {
		if l, err = net.Listen("tcp4", o.door.Address()); err == nil || time.Now().After(until) {
			break
		}
	}
	if err != nil {
		return fmt.Sprintf("its port is taken (%v): end the program that has it, or run 'tenterhook install claude --transport command' in a terminal of your own", err)
	}
	o.http = &http.Server{Handler: http.HandlerFunc(o.serve), ReadHeaderTimeout: readWithin, ReadTimeout: readWithin, MaxHeaderBytes: 64 << 10}
	o.server.open.Add(1)
	go func(s *http.Server) {
		defer o.server.open.Done()
		_ = s.Serve(l) // until it is shut
		o.mu.Lock()
		if o.http == s {
			o.http = nil // the next look opens it again
		}
		o.mu.Unlock()
		_ = s.Shutdown(context.Background()) // bounded by the calls' own patience
	}(o.http)
	return ""
}

// shut lets go of the port. Calls that are under way are answered. The caller
// holds mu.
func (o *openDoor) shut() {
	if o.http != nil {
		o.http.SetKeepAlivesEnabled(false)
		go func(s *http.Server) { _ = s.Shutdown(context.Background()) }(o.http)
		o.http = nil
	}
}

// end is called once, when the daemon drains.
func (d *doorman) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	for _, o := range d.doors {
		o.mu.Lock()
		o.shut()
		o.mu.Unlock()
	}
}

// address is where calls over HTTP are taken, "" for nowhere.
func (d *doorman) address() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []string
	for _, o := range d.doors {
		o.mu.Lock()
		if o.http != nil {
			list = append(list, o.door.Address())
		}
		o.mu.Unlock()
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// meet gets each call of Claude Code that comes by way of the socket, and notes
// what the session's calls over HTTP lack. It returns why these would not reach
// the daemon, "" if they would.
func (d *doorman) meet(call *client.Call, u user, within []string) (why string) {
	if call.Agent != "claude" {
		return ""
	}
	o := d.at(u.state)
	if o == nil {
		return ""
	}
	id := said(call.Stdin).Session
	if call.Event == "SessionEnd" {
		o.sessions.Remove(id)
		return ""
	}
	env := slices.DeleteFunc(slices.Clone(call.Env), func(kv string) bool { return strings.HasPrefix(kv, "CLAUDE_ENV_FILE=") })
	o.sessions.Add(id, &sessionCaller{env, call.Where, call.Umask, within})
	o.mu.Lock()
	why = o.broken
	o.mu.Unlock()
	if name := door.Proxied(call.Env); name != "" && why == "" {
		why = name + " sends this session's calls over HTTP to a proxy: add 127.0.0.1 to NO_PROXY (and to no_proxy, if it is set), and start the agent again"
	}
	return why
}

// payload is what of a payload says who asks.
type payload struct {
	Session string `json:"session_id"`
	Dir     string `json:"cwd"`
}

func said(stdin []byte) (p payload) {
	_ = json.Unmarshal(stdin, &p) // the bridge says what is wrong with it
	return p
}

// serve answers one request. Whatever is not a call of our own entries is
// refused before its body is read.
func (o *openDoor) serve(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	own := o.door
	o.mu.Unlock()
	event, known := door.Event(r.URL.Path)
	refuse := func(code int, why string) {
		o.server.log.Warn("refused a call over HTTP", "why", why, "code", code)
		http.Error(w, why, code)
	}
	switch {
	case r.Host != own.Address(), len(r.Header["Origin"]) > 0, len(r.Header["Sec-Fetch-Site"]) > 0:
		refuse(http.StatusForbidden, "a browser, or another name of this host")
		return
	case !own.Knows(r.Header.Get("Authorization")):
		refuse(http.StatusUnauthorized, "a wrong token")
		return
	case !known:
		refuse(http.StatusNotFound, "no event of the HTTP transport")
		return
	case r.Method != http.MethodPost:
		refuse(http.StatusMethodNotAllowed, "not a POST")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, client.MaxFrame/2))
	if err != nil {
		refuse(http.StatusBadRequest, "the payload cannot be read, or is larger than 32 MiB")
		return
	}
	o.answer(w, &client.Call{Agent: "claude", Event: event, Stdin: body, Began: time.Now(), Patience: closed.Deadline("claude", event)})
}

// answer decides a call and writes the answer as a body: there is no exit code.
func (o *openDoor) answer(w http.ResponseWriter, call *client.Call) {
	p := said(call.Stdin)
	caller, known := o.sessions.Get(p.Session)
	var a client.Answer
	if !known {
		o.server.failed.Add(1)
		a = Undecided(call, "this session's environment is not known to the daemon; the session's next prompt hands it over")
	} else {
		call.Env, call.Where, call.Umask, call.Dir = caller.env, caller.where, caller.umask, p.Dir
		a = o.server.decideInTurn(call, Caller{Within: caller.within})
	}
	body := a.Stdout
	if a.ExitCode != 0 && len(body) == 0 {
		reason := cmp.Or(strings.TrimSpace(string(a.Stderr)), "a hook denied it")
		body, _ = json.Marshal(map[string]string{"decision": "block", "reason": reason}) // strings always encode
	}
	if len(body) == 0 {
		body = []byte("{}\n")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	_, _ = w.Write(body) // the client may be gone
}
