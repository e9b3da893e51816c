package mcptool

import (
	"errors"
	"maps"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/dialect"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/process"
)

// stderrTail is how much of a server's stderr internal/process keeps, in bytes.
const stderrTail = 8 << 10

// startProgram starts a server that is a command.
func startProgram(spec dialect.MCPServer, inherited, secrets []string) (*link, error) {
	env := environment(inherited, spec.Env)
	path, failed := findProgram(spec, env)
	if failed != nil {
		return nil, failed
	}
	s, err := process.Start(process.ServiceSpec{Path: path, Argv: append([]string{spec.Command}, spec.Args...), Dir: spec.Source.Dir, Env: env})
	if err != nil {
		var start *process.StartError
		if errors.As(err, &start) {
			return nil, &hook.Error{Failure: hook.FailureStart, Reason: "it cannot be started: " + start.Path + ": " + start.Reason, Hint: start.Remedy, Err: err}
		}
		return nil, &hook.Error{Failure: hook.FailureStart, Reason: "it cannot be started: " + err.Error(), Err: err}
	}
	l := &link{
		stop: func() {
			select { // one that ends by itself shall say how
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
		stderr: func() string { return redact(dropPartialLine(s.StderrTail(), stderrTail), secrets) },
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

func variable(env []string, key string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		name, value, _ := strings.Cut(env[i], "=")
		if name == key || runtime.GOOS == "windows" && strings.EqualFold(name, key) {
			return value, true
		}
	}
	return "", false
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
			return "", &hook.Error{Failure: hook.FailureStart, Reason: "its command " + name + " is a relative path, and nobody knows from where", Hint: "write the full path"}
		}
		return filepath.Join(spec.Source.Dir, name), nil
	}
	path, _ := variable(env, "PATH")
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
