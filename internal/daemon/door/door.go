// Package door is where Claude Code asks the daemon over HTTP: a port on
// loopback and a token, kept in a file of the state directory.
//
// Stage: outside the pipeline. Package internal/agents writes the file and the
// entries that use it; the daemon listens there. It imports the standard library
// alone.
package door

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Door is a port on 127.0.0.1, and what a caller has to know.
type Door struct {
	Port  int    `json:"port"`
	Token string `json:"token"`
}

// Events are the events that are asked over HTTP: those of each call of a tool.
// The client is known to block a call whose hook fails. The others stay commands:
// these start the daemon and hand over the session's environment.
func Events() []string {
	return []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch"}
}

// Path is the file in a state directory.
func Path(state string) string { return filepath.Join(state, "http.json") }

// Ports are below the ports that systems hand out by themselves, so that no
// connection takes ours while no daemon runs.
const lowest, highest = 20000, 32000

// New returns a door with a free port and a token of its own.
func New() (Door, error) {
	token := make([]byte, 32)
	if _, err := rand.Read(token); err != nil {
		return Door{}, err
	}
	for range 100 {
		n, err := rand.Int(rand.Reader, big.NewInt(highest-lowest))
		if err != nil {
			return Door{}, err
		}
		d := Door{lowest + int(n.Int64()), hex.EncodeToString(token)}
		if l, err := net.Listen("tcp4", d.Address()); err == nil {
			return d, l.Close()
		}
	}
	return Door{}, errors.New("no free port between 20000 and 32000 on 127.0.0.1")
}

// Read reads a door, nil if there is none. It refuses a file that another user
// may have read.
func Read(state string) (*Door, error) {
	path := Path(state)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s is no file that its owner alone can read; install the HTTP transport again", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var d Door
	if err := json.Unmarshal(data, &d); err != nil || d.Port <= 0 || d.Port > 65535 || len(d.Token) < 32 {
		return nil, fmt.Errorf("%s holds no port and token; install the HTTP transport again", path)
	}
	return &d, nil
}

// Address is where the daemon listens.
func (d Door) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(d.Port)) }

const pathPrefix = "/tenterhook/claude/"

// URL is where an entry asks about an event.
func (d Door) URL(event string) string { return "http://" + d.Address() + pathPrefix + event }

// Event is the event of a request's path.
func Event(path string) (event string, ok bool) {
	event, ok = strings.CutPrefix(path, pathPrefix)
	return event, ok && slices.Contains(Events(), event)
}

// IsURL reports whether an entry's URL is that of a door, whichever port it has.
func IsURL(url string) bool {
	rest, ok := strings.CutPrefix(url, "http://127.0.0.1:")
	if !ok {
		return false
	}
	port, path, ok := strings.Cut(rest, "/")
	if _, err := strconv.ParseUint(port, 10, 16); !ok || err != nil {
		return false
	}
	_, ok = Event("/" + path)
	return ok
}

// Authorization is the header that an entry sends.
func (d Door) Authorization() string { return "Bearer " + d.Token }

// Knows reports whether a header is the entries' own. It takes the same time for
// every wrong one.
func (d Door) Knows(authorization string) bool {
	got, want := sha256.Sum256([]byte(authorization)), sha256.Sum256([]byte(d.Authorization()))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// Proxied names the variable with which an environment sends requests to
// 127.0.0.1 to a proxy, which could answer in the daemon's place; "" if there is
// none.
func Proxied(env []string) string {
	proxy, exempt, spoiled := "", false, false
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		switch strings.TrimPrefix(strings.ToLower(name), "npm_config_") {
		case "http_proxy", "https_proxy", "all_proxy", "proxy":
			if value != "" {
				proxy = name
			}
		case "no_proxy", "noproxy":
			exempt, spoiled = exempt || exempts(value), spoiled || !exempts(value) // either spelling may count
		}
	}
	if exempt && !spoiled {
		return ""
	}
	return proxy
}

// exempts reports whether a list of hosts without a proxy has ours.
func exempts(list string) bool {
	hosts := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
	return slices.Contains(hosts, "*") || slices.Contains(hosts, "127.0.0.1")
}
