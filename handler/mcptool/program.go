package mcptool

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/environ"
	"github.com/tenterhook/tenterhook/internal/process"
	"github.com/tenterhook/tenterhook/internal/resolve"
	"github.com/tenterhook/tenterhook/internal/sandbox"
)

// stderrTail is how much of a server's stderr internal/process keeps, in bytes.
const stderrTail = 8 << 10

// plan is how the server's program is started. It is where the sandbox of the server is decided.
func (v *server) plan() (process.ServiceSpec, *hook.Error) {
	spec := v.def.spec
	env := environment(v.handler.env, spec.Env)
	path, failed := findProgram(spec, env)
	if failed != nil {
		return process.ServiceSpec{}, failed
	}
	planned := process.ServiceSpec{Path: path, Argv: append([]string{spec.Command}, spec.Args...), Dir: spec.Source.Dir, Env: env}
	e := resolve.EnvironOf(env)
	policy, _, failed := resolve.Enforced(e.Policy(spec.Sandbox, path, named(spec)...), spec.Sandbox)
	if failed != nil {
		return planned, failed
	}
	if policy.Contains() && policy.Mode == sandbox.Strict {
		e.Narrow(slices.Collect(maps.Keys(spec.Env)))
		planned.Env = e.List()
	}
	planned.Sandbox = policy
	return planned, nil
}

// named lists the files among a server's arguments: it may read them. A directory it may not: that can be all
// of the home directory.
func named(spec dialect.MCPServer) (files []string) {
	for _, arg := range spec.Args {
		if !filepath.IsAbs(arg) {
			arg = filepath.Join(spec.Source.Dir, arg)
		}
		if info, err := os.Stat(arg); err == nil && info.Mode().IsRegular() {
			files = append(files, arg)
		}
	}
	return files
}

// startProgram starts a server that is a command.
func (v *server) startProgram() (*link, error) {
	planned, failed := v.plan()
	if failed != nil {
		return nil, failed
	}
	s, err := process.Start(planned)
	if err != nil {
		var start *process.StartError
		if errors.As(err, &start) {
			if start.Cause == process.CauseSandbox {
				return nil, &hook.Error{Failure: hook.FailureSandbox, Reason: start.Reason, Hint: start.Remedy, Err: err}
			}
			return nil, &hook.Error{Failure: hook.FailureStart, Reason: "it cannot be started: " + start.Path + ": " + start.Reason, Hint: start.Remedy, Err: err}
		}
		return nil, &hook.Error{Failure: hook.FailureStart, Reason: "it cannot be started: " + err.Error(), Err: err}
	}
	l := &link{
		stop: func() {
			select { // a program that ends by itself must say how
			case <-s.Done():
			case <-time.After(ownEnd):
			}
			s.Stop()
		},
		ending: func() string {
			select {
			case <-s.Done():
			default:
				return ""
			}
			if r := s.Result(); !r.Cancelled {
				return r.Describe()
			}
			return ""
		},
		stderr: func() string { return redact(dropPartialLine(s.StderrTail(), stderrTail), v.secrets) },
	}
	shut := func() error { return errors.Join(s.Stdin().Close(), s.Stdout().Close()) }
	l.conn = newTap(newWire(s.Stdout(), s.Stdin(), shut, l.blame))
	return l, nil
}

// ownEnd is how long a server whose stdout has ended may take for its exit.
const ownEnd = 100 * time.Millisecond

// environment is what a server inherits, and its own variables.
func environment(inherited []string, own map[string]string) []string {
	env := slices.Clone(inherited)
	for _, key := range slices.Sorted(maps.Keys(own)) {
		env = append(env, key+"="+own[key])
	}
	return env
}

// findProgram finds a server's program: a path from the settings' folder, or a
// name on PATH. An element of PATH that is not absolute is passed over: it would
// let a workspace bring its own programs.
func findProgram(spec dialect.MCPServer, env []string) (string, *hook.Error) {
	name := spec.Command
	if strings.ContainsAny(name, "/"+string(filepath.Separator)) {
		if filepath.IsAbs(name) {
			return name, nil
		}
		if spec.Source.Dir == "" {
			return "", &hook.Error{Failure: hook.FailureStart, Reason: "its command " + name + " is a relative path without a folder to start from", Hint: "write the full path"}
		}
		return filepath.Join(spec.Source.Dir, name), nil
	}
	path, _ := environ.Lookup(env, "PATH")
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", &hook.Error{Failure: hook.FailureStart, Reason: "its command " + name + " is not on PATH", Hint: "install it, or write the full path"}
}

// startable says what would keep a program from being started, without trying.
func startable(path string) *hook.Error {
	if _, err := exec.LookPath(path); err != nil {
		return &hook.Error{Failure: hook.FailureStart, Reason: "its command " + path + " cannot be run", Hint: "create it, make it executable, or correct the path", Err: err}
	}
	return nil
}
