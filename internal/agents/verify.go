package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/daemon/door"
)

// State is what is known of an agent on this machine.
type State struct {
	Agent     *bridge.Agent
	By        string // the program or the directory that shows that it is here; "" = it is not
	Client    string // its program, "" = not on the PATH
	Version   string // of the program, "" = unknown
	Installed []Scope
}

// State looks for an agent. It starts the agent's program to ask its version.
func (e Env) State(a *bridge.Agent) State {
	s := State{Agent: a, Client: e.clientPath(a.Name)}
	s.By, _ = e.present(a.Name)
	if s.Client != "" {
		s.Version = e.clientVersion(s.Client)
	}
	for _, scope := range []Scope{Managed, User, Project} {
		if r, err := e.receipt(a.Name, scope); err != nil || r != nil {
			s.Installed = append(s.Installed, scope)
		}
	}
	return s
}

var versionNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+\.\d+\.\d+`) })

// clientVersion asks a program for its version, "" if it does not say.
func (e Env) clientVersion(program string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.Dir, cmd.WaitDelay = e.Home, time.Second
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return versionNumber().FindString(string(out))
}

// Verify says what keeps the entries of an agent from being in effect, without
// running a session. No diagnostic means that nothing was found.
func (e Env) Verify(s State, scope Scope) []hook.Diagnostic {
	v := &verifier{Env: e.in(scope), agent: s.Agent}
	v.Transport = "" // as it is installed
	if r, err := e.receipt(s.Agent.Name, scope); err == nil && r != nil && r.HTTP {
		v.http = true
		if own, err := door.Read(e.StateDir); err != nil || own == nil {
			v.say(hook.SeverityError, "entry_gone", door.Path(e.StateDir), 0, "the daemon's port and token for calls over HTTP are gone: every call of a tool is blocked", "run 'tenterhook install claude --transport http' again")
			return v.found
		}
	}
	v.entries(scope)
	v.switches(scope)
	if state, err := e.TrustState(s.Agent, scope); err != nil {
		v.say(hook.SeverityError, "trust_unknown", "", 0, fmt.Sprintf("it cannot be told whether %s trusts the entries: %v", s.Agent.Title, err), "")
	} else if state == "unknown" {
		v.say(hook.SeverityWarning, "trust_unknown", "", 0, "the program of "+s.Agent.Title+" is not on the PATH, so that its trust cannot be read", "put it on the PATH")
	} else if state != "" && state != Trusted {
		v.say(hook.SeverityError, "untrusted", "", 0, fmt.Sprintf("the entries are %s, and %s ignores them", state, s.Agent.Title), "run 'tenterhook install "+s.Agent.Name+"' again")
	}
	v.doubled(scope)
	switch {
	case s.Agent.Version() == "":
		v.say(hook.SeverityWarning, "not_verified", "", 0, s.Agent.Title+" is described from its documentation and was never run with tenterhook", "run 'tenterhook agents verify "+s.Agent.Name+" --live' where it has a client")
	case s.Version != "" && s.Version != s.Agent.Version():
		v.say(hook.SeverityWarning, "other_version", s.Client, 0, fmt.Sprintf("%s is %s here; tenterhook was tested with %s", s.Agent.Title, s.Version, s.Agent.Version()), "run 'tenterhook agents verify "+s.Agent.Name+" --live'")
	}
	return v.found
}

// doubled says that two agents read each other's entries: both Copilot and VS
// Code run every file of a project's .github/hooks.
func (v *verifier) doubled(scope Scope) {
	other := map[string]string{"copilot": "vscode", "vscode": "copilot"}[v.agent.Name]
	if scope != Project || other == "" {
		return
	}
	if r, err := v.receipt(other, Project); err == nil && r != nil {
		v.say(hook.SeverityWarning, "asked_twice", "", 0, "the project's .github/hooks holds the entries of Copilot and of VS Code, and each of them runs both",
			"uninstall one of them there: tenterhook uninstall "+other+" --project")
	}
}

type verifier struct {
	Env
	agent *bridge.Agent
	http  bool // the entries ask over HTTP
	found []hook.Diagnostic
}

func (v *verifier) say(sev hook.Severity, code, path string, line int, message, hint string) {
	v.found = append(v.found, hook.Diagnostic{Severity: sev, Code: code, Path: path, Line: line, Message: message, Hint: hint})
}

// entries compares the agent's files with what an installation would write.
func (v *verifier) entries(scope Scope) {
	again := "run 'tenterhook install " + v.agent.Name + "' again"
	p, err := v.plan(v.agent, scope, false)
	if err != nil {
		v.say(hook.SeverityError, "unreadable", "", 0, err.Error(), again)
		return
	}
	if err := checkProgram(v.Program); err != nil {
		v.say(hook.SeverityError, "program_gone", v.Program, 0, err.Error(), "")
	} else if r, err := v.receipt(v.agent.Name, scope); err == nil && r != nil && r.Program != v.Program && checkProgram(r.Program) != nil {
		v.say(hook.SeverityError, "program_gone", r.Program, 0, "the entries call "+r.Program+", which is not there, or not executable", again)
	}
	for _, c := range p.Changes {
		switch {
		case c.Same():
		case c.Old == nil:
			v.say(hook.SeverityError, "entry_gone", c.Path, 0, "the file is gone, and with it the entries", again)
		case c.target.own != nil:
			v.say(hook.SeverityError, "entry_changed", c.Path, 0, "the file is not as it was installed", again)
		default:
			v.sharedEntries(c, again)
		}
	}
}

// sameJSON reports whether two values are the same, however they are written: an
// agent may write its file again.
func sameJSON(a, b []byte) bool {
	var x, y any
	return bytes.Equal(a, b) || json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// sharedEntries says which entries of a shared file are missing or changed.
func (v *verifier) sharedEntries(c *Change, again string) {
	d, err := readDocument(c.Path, c.Old, c.target.syntax)
	if err != nil {
		v.say(hook.SeverityError, "unreadable", c.Path, 0, err.Error(), again)
		return
	}
	before := len(v.found)
	for _, event := range v.agent.Events() {
		want := c.target.element(v.caller(v.agent.Name), v.agent, event)
		list := d.at(append(slices.Clone(c.target.keys), event)...)
		found, changed := 0, 0
		if list != nil {
			for _, s := range spans(list) {
				if raw := d.standard(s); isOurs(raw, v.agent.Name) {
					found++
					if !sameJSON(raw, []byte(want)) {
						changed = d.line(s.start)
					}
				}
			}
		}
		switch {
		case found == 0:
			v.say(hook.SeverityError, "entry_gone", c.Path, 0, "the entry of "+event+" is gone", again)
		case changed > 0:
			v.say(hook.SeverityError, "entry_changed", c.Path, changed, "the entry of "+event+" is not as it would be installed now", again)
		}
	}
	if len(v.found) == before {
		v.say(hook.SeverityInfo, "file_changed", c.Path, 0, "something else changed the file; the entries are all there", "")
	}
}
