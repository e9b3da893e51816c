package command

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/process"
	"github.com/tenterhook/tenterhook/internal/resolve"
	"github.com/tenterhook/tenterhook/internal/worker"
)

// WorkerOptions configure the commands that stay. The zero value is usable.
type WorkerOptions struct {
	// Processes is how many each such hook may have, 0 = 1. With one, its calls
	// are answered one after the other, in the order in which they came.
	Processes int
	// MaxCalls is after how many calls a process is replaced, 0 = 10,000.
	MaxCalls int
	// Idle is after how long without a call it is stopped, 0 = 10 minutes.
	Idle time.Duration
}

func newWorkers(o WorkerOptions) *worker.Pool {
	return worker.NewPool(worker.Options{Processes: o.Processes, MaxCalls: o.MaxCalls, Idle: o.Idle})
}

// ask has the hook's worker answer. What an exit code would say, a worker says
// in its answer: it has none.
func (h *Handler) ask(ctx context.Context, c *hook.Call, payload []byte) (*hook.Output, error) {
	env := h.environ(c)
	p, failed := resolved(c, &env)
	if failed != nil {
		return nil, failed
	}
	if err := verified(c, &p); err != nil { // a process that stays is not asked either
		return nil, err
	}
	box, failed := contained(c, &env, &p)
	if failed != nil {
		return nil, failed
	}
	own := env.List()
	if c.Env == nil && !box.Contains() { // all of the handler's commands inherit the same
		own = own[len(h.inherited):]
	}
	if c.Umask != nil { // not a variable of the worker, but told apart like one
		own = append(own[:len(own):len(own)], "umask "+strconv.Itoa(*c.Umask))
	}
	if box.Contains() {
		own = append(own[:len(own):len(own)], fmt.Sprintf("sandbox %+v", *box))
	}
	key := workerKey(c.Hook.Command, &p, own)
	shell := false
	var started worker.Command
	plan := func() (_ worker.Command, err error) {
		started, err = workerCommand(c, &env, shell)
		started.Umask, started.Sandbox = c.Umask, box
		return started, err
	}

	reply, err := h.workers.Call(ctx, key, plan, payload)
	var broken *process.StartError
	if errors.As(err, &broken) && broken.Cause == process.CauseFormat && c.Hook.Command.Args == nil {
		shell = true // a script without a first line
		reply, err = h.workers.Call(ctx, key, plan, payload)
	}
	c.Report.Stderr = tail([]byte(reply.Stderr))
	for _, note := range reply.Notes {
		c.Warn("worker", note, "")
	}
	if err != nil {
		return nil, workerFailure(ctx, c, started, err)
	}
	return h.reader.ReadBody(c, reply.Line)
}

// workerKey names the process that a call is for: hooks that run the same
// command, in the same folder with the same variables, share it.
func workerKey(cmd *hook.Command, p *hook.Program, env []string) string {
	var b strings.Builder
	add := func(s string) { b.WriteString(strconv.Itoa(len(s))); b.WriteByte(':'); b.WriteString(s) }
	add(cmd.Line)
	add(cmd.Shell)
	add(p.Dir)
	b.WriteString(strconv.Itoa(len(env)))
	for _, s := range env {
		add(s)
	}
	if cmd.Args != nil {
		b.WriteByte('x')
	}
	for _, s := range cmd.Args {
		add(s)
	}
	return b.String()
}

// workerCommand is how the hook's worker is started, at the time of the start.
func workerCommand(c *hook.Call, env *resolve.Environ, shell bool) (worker.Command, error) {
	p, failed := resolved(c, env)
	if failed != nil {
		return worker.Command{}, failed
	}
	if shell && !p.Shell {
		via, failed := resolve.ViaShell(c.Hook, env)
		if failed != nil {
			return worker.Command{}, failed
		}
		p.Path, p.Argv, p.Shell = via.Path, via.Argv, true
	}
	if err := verified(c, &p); err != nil {
		return worker.Command{}, err
	}
	return worker.Command{Path: p.Path, Argv: p.Argv, Dir: p.Dir, Env: env.List(), Files: resolve.Watched(c.Hook.Command, &p, env)}, nil
}

// workerFailure says why a worker did not answer.
func workerFailure(ctx context.Context, c *hook.Call, started worker.Command, err error) error {
	var failed *hook.Error
	var broken *process.StartError
	var ended *worker.ExitError
	var answer *worker.AnswerError
	switch {
	case errors.As(err, &failed):
		return failed
	case errors.As(err, &broken):
		return startFailure(c.Hook, err)
	case errors.As(err, &ended):
		return workerEnded(c, started, ended)
	case errors.As(err, &answer):
		failure := hook.FailureOutput
		if answer.TooLong {
			failure = hook.FailureOverflow
		}
		return &hook.Error{Failure: failure, Reason: answer.Reason, Hint: answer.Hint, Err: err}
	case errors.Is(err, worker.ErrClosed):
		return &hook.Error{Failure: hook.FailureTransport, Reason: err.Error(), Err: err}
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return &hook.Error{Failure: hook.FailureStart, Reason: err.Error(), Err: err}
}

// workerEnded is the failure of a worker that ended instead of answering.
func workerEnded(c *hook.Call, started worker.Command, ended *worker.ExitError) error {
	r := ended.Result
	suspectSandbox(c, started.Sandbox, &r)
	spec := process.Spec{Path: started.Path, Argv: started.Argv, Dir: started.Dir, Env: started.Env}
	if d, ok := process.Explain(spec, r); ok {
		return diagnosed(d)
	}
	if r.ExitCode >= 0 && r.Started {
		c.Report.ExitCode = &r.ExitCode
	}
	failed := &hook.Error{Failure: hook.FailureExit, Reason: ended.Error(), Err: ended,
		Hint: "a worker reads a line, prints an answer, and continues with the next line until its stdin ends"}
	if line := lastLine(c.Report.Stderr); line != "" && ended.Pause == 0 {
		failed.Reason += ": " + strconv.Quote(line)
	}
	return failed
}

// lastLine is where most programs say what they died of.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	s = strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
	if r := []rune(s); len(r) > 200 {
		s = string(r[:200]) + "…"
	}
	return s
}
