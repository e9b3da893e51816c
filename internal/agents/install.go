package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/internal/daemon/door"
)

// Plan is what an installation, or its end, changes.
type Plan struct {
	Agent   *bridge.Agent
	Scope   Scope
	Changes []*Change

	remove  bool
	receipt *Receipt   // of the installation before
	door    *door.Door // of entries that ask over HTTP; nil = they are commands
	token   string     // of the door that is or was installed
}

// Same reports whether nothing is to be done.
func (p *Plan) Same() bool {
	return !slices.ContainsFunc(p.Changes, func(c *Change) bool { return !c.Same() })
}

// Present lists the agents that are on this machine.
func (e Env) Present() []*bridge.Agent {
	var here []*bridge.Agent
	for _, a := range bridge.Agents() {
		if _, ok := e.present(a.Name); ok {
			here = append(here, a)
		}
	}
	return here
}

// PlanInstall says what an installation would change, and changes nothing. It
// fails where a file cannot be edited, with the line and what to do.
func (e Env) PlanInstall(a *bridge.Agent, s Scope) (*Plan, error) {
	if err := checkProgram(e.Program); err != nil {
		return nil, err
	}
	return e.plan(a, s, false)
}

// PlanUninstall says what taking the entries out would change.
func (e Env) PlanUninstall(a *bridge.Agent, s Scope) (*Plan, error) { return e.plan(a, s, true) }

func (e Env) plan(a *bridge.Agent, s Scope, remove bool) (*Plan, error) {
	e = e.in(s)
	targets, err := e.targets(a, s)
	if err != nil {
		return nil, err
	}
	if err := e.caller(a.Name).check(a); err != nil && !remove {
		return nil, err
	}
	p := &Plan{Agent: a, Scope: s, remove: remove}
	if p.receipt, err = e.receipt(a.Name, s); err != nil {
		return nil, err
	}
	if err := e.chooseTransport(p); err != nil {
		return nil, err
	}
	if len(targets) == 0 && !remove {
		return nil, fmt.Errorf("%s has no file here that holds hooks; make an agent in it first", a.Title)
	}
	for _, t := range p.withEarlier(targets) {
		t.door = p.door
		c, err := e.planChange(t, a, p)
		if err != nil {
			return nil, err
		}
		p.Changes = append(p.Changes, c)
	}
	if remove && p.receipt != nil && p.receipt.Trust != nil {
		c, err := e.planTrustEnd(p.receipt.Trust)
		if err != nil {
			return nil, err
		}
		p.Changes = append(p.Changes, c)
	}
	return p, nil
}

// withEarlier adds the files of the installation before that lie elsewhere: a
// variable of the client may have named another directory then.
func (p *Plan) withEarlier(targets []target) []target {
	if !p.remove || p.receipt == nil || len(targets) == 0 {
		return targets
	}
	all := slices.Clone(targets)
	for _, f := range p.receipt.Files {
		known := func(t target) bool { path, err := resolve(t.path); return err == nil && path == f.Path }
		if !slices.ContainsFunc(targets, known) {
			t := targets[0] // all files of an agent are of one kind
			t.path = f.Path
			all = append(all, t)
		}
	}
	return all
}

// targets are the files of an installation.
func (e Env) targets(a *bridge.Agent, s Scope) ([]target, error) {
	dir, err := e.dirOf(a, s)
	if err != nil {
		return nil, err
	}
	if s == Project && e.Project == e.Home {
		return nil, errors.New("the project is your home directory, whose configuration is your own; leave out --project")
	}
	for _, path := range append([]string{dir, e.Program, e.StateDir}, e.Where...) {
		if !utf8.ValidString(path) {
			return nil, fmt.Errorf("%q is not UTF-8, which a configuration in JSON cannot hold; rename it", path)
		}
	}
	return places[a.Name].targets(e, a, s, dir)
}

// planTrustEnd takes back the trust that an agent was given in our entries.
func (e Env) planTrustEnd(f *FileReceipt) (*Change, error) {
	now, err := readTarget(f.Path)
	if err != nil {
		return nil, err
	}
	c := &Change{Path: now.path, Old: now.data, mode: now.mode, owner: now.owner, New: now.data}
	if now.data != nil {
		c.New = withoutTrust(now.data, f)
	}
	return c, err
}

func (e Env) planChange(t target, a *bridge.Agent, p *Plan) (*Change, error) {
	if !p.remove {
		return e.planFile(t, p)
	}
	c, err := e.read(t, p.Scope)
	if err != nil {
		return nil, err
	}
	c.base, err = e.without(c, a, p.receipt.file(c.Path))
	c.New = c.base
	return c, err
}

func checkProgram(path string) error {
	if info, err := os.Stat(path); err != nil || !executable(info) {
		return fmt.Errorf("%s is not there, or not executable; install tenterhook-bridge beside tenterhook (go build ./cmd/tenterhook-bridge)", path)
	}
	return nil
}

// Apply carries a plan out. Each file is replaced at once; if one fails, those
// before it are put back.
func (e Env) Apply(p *Plan) (err error) {
	var done []*Change
	defer func() {
		if err != nil {
			for _, c := range done {
				err = errors.Join(err, c.write(c.Old))
			}
		}
	}()
	r := &Receipt{Agent: p.Agent.Name, Scope: p.Scope, Program: e.Program, HTTP: p.door != nil, Time: time.Now().UTC()}
	if err := e.writeDoor(p); err != nil {
		return err
	}
	if p.Scope == Project {
		r.Project = e.Project
	}
	for _, c := range p.Changes {
		if err := c.unchanged(); err != nil {
			return err
		}
		f, err := e.fileReceipt(p, c)
		if err != nil {
			return err
		}
		if err := c.write(c.New); err != nil {
			return fmt.Errorf("%s: %w", c.Path, err)
		}
		done = append(done, c)
		r.Files = append(r.Files, f)
	}
	if p.remove {
		return e.forget(p, r)
	}
	if p.receipt != nil {
		r.Trust = p.receipt.Trust
		for _, f := range p.receipt.Files {
			if r.file(f.Path) == nil {
				r.Files = append(r.Files, f) // it lies elsewhere; uninstalling removes it too
			}
		}
	}
	return e.writeReceipt(r)
}

func (e Env) fileReceipt(p *Plan, c *Change) (FileReceipt, error) {
	f := FileReceipt{Path: c.Path, Existed: c.base != nil, After: digest(c.New), Created: c.made}
	if before := p.receipt.file(c.Path); before != nil {
		f.Dirs = before.Dirs
	}
	if c.base != nil && !p.remove {
		var err error
		if f.Backup, err = e.backup(c.Path, c.base); err != nil {
			return f, fmt.Errorf("the backup: %w", err)
		}
		f.Before = digest(c.base)
	}
	if c.New != nil {
		mode := fs.FileMode(0o755)
		if p.Scope == User {
			mode = 0o700
		}
		made, err := makeDirs(filepath.Dir(c.Path), mode)
		f.Dirs = append(f.Dirs, made...)
		return f, err
	}
	return f, nil
}

// unchanged fails if the file was written since the plan was made.
func (c *Change) unchanged() error {
	now, err := readTarget(c.Path)
	if err != nil {
		return err
	}
	if now.path != c.Path || !bytes.Equal(now.data, c.Old) || (now.data == nil) != (c.Old == nil) {
		return fmt.Errorf("%s changed in the meantime; run the command again", c.Path)
	}
	return nil
}

func (c *Change) write(data []byte) error {
	if data == nil {
		if err := os.Remove(c.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	mode := c.mode
	switch {
	case c.Old != nil:
	case c.target.exec:
		mode = 0o755
	case c.target.door != nil:
		mode = 0o600 // it holds the token
	}
	return writeAtomic(c.Path, data, mode, c.owner)
}

// forget ends an installation: the directories that it made, its receipt and
// its backups go.
func (e Env) forget(p *Plan, r *Receipt) error {
	var dirs []string
	for _, f := range r.Files {
		dirs = append(dirs, f.Dirs...)
	}
	slices.SortFunc(dirs, func(a, b string) int { return len(b) - len(a) }) // the innermost first
	for _, dir := range dirs {
		_ = os.Remove(dir) // not while anything else is in it
	}
	if p.receipt == nil {
		return nil
	}
	files := p.receipt.Files
	if p.receipt.Trust != nil {
		files = append(files, *p.receipt.Trust)
	}
	for _, f := range files {
		if f.Backup != "" {
			_ = os.Remove(f.Backup)
		}
	}
	return os.Remove(e.receiptPath(p.Agent.Name, p.Scope))
}

// Forget drops the receipt of an installation of which nothing is left.
func (e Env) Forget(p *Plan) error {
	if p.receipt == nil {
		return nil
	}
	return e.forget(p, &Receipt{Files: p.receipt.Files})
}

// Installed lists the agents that have a receipt of an installation in a scope.
func (e Env) Installed(s Scope) []*bridge.Agent {
	var list []*bridge.Agent
	for _, a := range bridge.Agents() {
		if r, err := e.receipt(a.Name, s); err != nil || r != nil {
			list = append(list, a)
		}
	}
	return list
}

// HasReceipt reports whether tenterhook was installed into an agent, in any
// scope.
func (e Env) HasReceipt(a *bridge.Agent) bool {
	for _, s := range []Scope{Managed, User, Project} {
		if r, err := e.receipt(a.Name, s); err != nil || r != nil {
			return true
		}
	}
	return false
}
