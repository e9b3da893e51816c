package plugins

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/internal/process"
	"github.com/tenterhook/tenterhook/plugins/internal/wire"
)

// runner starts a plugin for go-plugin, and ends it. It reads the handshake
// itself, within bounds, and hands go-plugin a line that is sound and outputs
// that have ended: so nothing in go-plugin waits for the plugin.
type runner struct {
	ctx       context.Context // bounds the start
	spec      process.ServiceSpec
	socketDir string
	versions  []int

	service *process.Service // nil until it was started
	drained chan struct{}    // stdout has ended
	line    string
	shake   handshake
}

// Start starts the plugin and reads its handshake. Its error is a [*Problem],
// and then nothing of the plugin is left.
func (r *runner) Start(context.Context) error {
	service, err := process.Start(r.spec)
	if err != nil {
		return notStarted(err)
	}
	r.service, r.drained = service, make(chan struct{})
	type first struct {
		line string
		err  error
	}
	got := make(chan first, 1)
	go func() {
		defer close(r.drained)
		line, err := readHandshake(service.Stdout())
		got <- first{line, err}
		if err == nil {
			_, _ = io.Copy(io.Discard, service.Stdout()) // ends with the plugin
		}
	}()
	var p *Problem
	select {
	case <-r.ctx.Done():
		p = r.silent()
	case f := <-got:
		switch {
		case errors.Is(f.err, errTooLong):
			p = &Problem{Code: CodeGarbage, Reason: f.err.Error(), Hint: "is it a plugin? its first line on stdout must be the handshake"}
		case f.err != nil:
			p = r.exited()
		default:
			r.line = f.line
			r.shake, p = parseHandshake(f.line, r.socketDir, r.versions)
		}
	}
	if p != nil {
		service.Stop()
		<-r.drained
		return p
	}
	return nil
}

// silent is a plugin that has not shaken hands when the start's time was up.
func (r *runner) silent() *Problem {
	if errors.Is(context.Cause(r.ctx), errClosed) {
		return closedProblem()
	}
	return &Problem{Code: CodeSilent, Reason: "it did not shake hands in time" + r.said(),
		Hint: "run it by hand; a plugin prints one line on stdout as soon as it listens"}
}

// exited is a plugin that closed stdout without a handshake.
func (r *runner) exited() *Problem {
	select {
	case <-r.service.Done():
	case <-r.ctx.Done():
		return r.silent()
	case <-time.After(time.Second): // it closed stdout and lives on
		return &Problem{Code: CodeGarbage, Reason: "it closed stdout without a handshake" + r.said(), Hint: "is it a plugin?"}
	}
	result := r.service.Result()
	hint := "is it a plugin of tenterhook, built for this system? what it wrote to stderr may tell"
	if box := r.spec.Sandbox; box.Contains() {
		hint += fmt.Sprintf("; it runs in the sandbox %q: allow what it needs in plugin.toml, and approve it again with: tenterhook trust", box.Mode)
	}
	return &Problem{Code: CodeExited, Reason: "it ended before the handshake: " + result.Describe() + r.said(), Hint: hint}
}

// said is the last line of stderr, for an error.
func (r *runner) said() string {
	tail := strings.TrimSpace(r.service.StderrTail())
	if tail == "" {
		return ""
	}
	return "; it said: " + strconv.Quote(wire.FirstLine(tail[strings.LastIndexByte(tail, '\n')+1:]))
}

func notStarted(err error) *Problem {
	var start *process.StartError
	if errors.As(err, &start) {
		return &Problem{Code: CodeStart, Reason: start.Reason, Hint: start.Remedy, Err: err}
	}
	return &Problem{Code: CodeStart, Reason: err.Error(), Err: err}
}

// Stdout is the handshake, and nothing else.
func (r *runner) Stdout() io.ReadCloser { return io.NopCloser(strings.NewReader(r.line + "\n")) }

// Stderr is empty: what the plugin writes there is read by process.
func (r *runner) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Wait waits for the plugin's end.
func (r *runner) Wait(context.Context) error {
	<-r.service.Done()
	return nil
}

// Kill ends the plugin and all that it started.
func (r *runner) Kill(context.Context) error {
	r.service.Stop()
	return nil
}

// Name is the executable's path.
func (r *runner) Name() string { return r.spec.Path }

// ID is the process id.
func (r *runner) ID() string {
	if r.service == nil {
		return ""
	}
	return strconv.Itoa(r.service.PID())
}

// Diagnose has nothing to add.
func (r *runner) Diagnose(context.Context) string { return "" }

// PluginToHost leaves addresses as they are: both live on one machine.
func (r *runner) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

// HostToPlugin leaves addresses as they are.
func (r *runner) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}
