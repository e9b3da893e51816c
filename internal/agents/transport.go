package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tenterhook/tenterhook/internal/daemon/door"
)

// The ways in which an entry asks the daemon.
const (
	CommandTransport = "command" // it starts tenterhook-bridge
	HTTPTransport    = "http"    // Claude Code's own http hooks, for the events of each call of a tool
)

// chooseTransport says how the entries of a plan ask. The HTTP transport needs a
// file that its user alone reads, since the entries hold a token.
func (e Env) chooseTransport(p *Plan) error {
	if p.Agent.Name == "claude" {
		if own, err := door.Read(e.StateDir); err == nil && own != nil {
			p.token = own.Token
		}
	}
	wanted := e.Transport == HTTPTransport || e.Transport == "" && p.receipt != nil && p.receipt.HTTP
	if !wanted || p.remove {
		return nil
	}
	switch {
	case e.Windows:
		return errors.New("there is no daemon on Windows that could be asked over HTTP; leave out --transport http")
	case p.Agent.Name != "claude":
		return fmt.Errorf("%s has no hooks that ask over HTTP and are known to block without an answer; leave out --transport http", p.Agent.Title)
	case p.Scope != User:
		return fmt.Errorf("entries that ask over HTTP hold a token, which everybody who reads a %s configuration would have; leave out --%s", p.Scope, p.Scope)
	}
	own, err := door.Read(e.StateDir)
	if err != nil {
		return err
	}
	if own == nil {
		made, err := door.New()
		if err != nil {
			return err
		}
		own = &made
	}
	p.door, p.token = own, own.Token
	return nil
}

// Secret is what must not be shown of a plan's files, "" for nothing.
func (p *Plan) Secret() string { return p.token }

// writeDoor writes the port and the token for the daemon, or removes them.
func (e Env) writeDoor(p *Plan) error {
	if p.Agent.Name != "claude" || p.Scope != User {
		return nil
	}
	if p.door == nil {
		if err := os.Remove(door.Path(e.StateDir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.Marshal(p.door)
	if err != nil {
		return err
	}
	return writePrivate(door.Path(e.StateDir), append(data, '\n'))
}

// hide refuses a file that others can read: the mode and the modes of all
// directories above it let them.
func (c *Change) hide() error {
	if c.Old == nil {
		return nil
	}
	for _, shift := range []int{3, 0} { // the group, all others
		open := c.mode>>shift&4 != 0
		for dir := filepath.Dir(c.Path); open; dir = filepath.Dir(dir) {
			info, err := os.Stat(dir)
			if err != nil {
				return err
			}
			open = info.Mode().Perm()>>shift&1 != 0
			if dir == filepath.Dir(dir) {
				break
			}
		}
		if open {
			return fmt.Errorf("%s can be read by others (mode %04o), and would hold a token; run chmod 600 %s first", c.Path, c.mode, c.Path)
		}
	}
	return nil
}
