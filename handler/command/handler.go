package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/process"
	"github.com/tenterhook/tenterhook/internal/resolve"
	"github.com/tenterhook/tenterhook/internal/sandbox"
	"github.com/tenterhook/tenterhook/internal/spill"
	"github.com/tenterhook/tenterhook/internal/worker"
)

// Options configure a Handler. The zero value is usable.
type Options struct {
	// Env is what commands inherit, as "key=value"; nil = this process's
	// environment as it is when New is called.
	Env []string
	// Workers is for the commands that stay, those with worker = true.
	Workers WorkerOptions
}

// Handler runs command hooks. It is safe for concurrent use.
type Handler struct {
	inherited []string
	reader    dialect.Reader
	workers   *worker.Pool
}

// New returns a Handler.
func New(o Options) *Handler {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	return &Handler{inherited: slices.Clone(o.Env), reader: dialect.Reader{Spill: spill.Text}, workers: newWorkers(o.Workers)}
}

// Close stops the workers, and fails the calls that they were answering.
// Commands that are no workers are not affected: they end with their contexts.
func (h *Handler) Close() error {
	sandbox.Forget()
	return h.workers.Close()
}

// maxStderr is how much of a hook's stderr goes into its report, in bytes.
const maxStderr = 8 << 10

// Handle runs the hook's command and reads its answer. A command that hands
// itself off continues after Handle has returned, until its Output's Wait.
func (h *Handler) Handle(ctx context.Context, c *hook.Call) (*hook.Output, error) {
	if c.Hook.Command == nil || c.Hook.Command.Line == "" {
		return nil, &hook.Error{Failure: hook.FailureStart, Reason: "it has no command", Hint: `add command = "./run.sh"`}
	}
	payload, err := dialect.Payload(c.Hook.Protocol, c.Input, c.Payload)
	if err != nil {
		return nil, hook.Errorf(hook.FailureStart, "it cannot be told of the event: %w", err)
	}
	if c.Hook.Command.Worker {
		return h.ask(ctx, c, payload)
	}
	r := &run{handler: h, call: c, env: h.environ(c), payload: payload}
	if takesEnvFile(c.Hook.Event) {
		if r.envFile, err = newEnvFile(); err != nil {
			return nil, hook.Errorf(hook.FailureStart, "no file for its environment: %w", err)
		}
		r.env.Set("CLAUDE_ENV_FILE", r.envFile)
	}
	var off handoff
	if !c.Hook.Async && !c.Hook.AsyncRewake {
		r.start(ctx, off.look)
	} else {
		r.start(ctx, nil)
	}
	if r.result.Rest != nil {
		off.declared.Wait = func(ctx context.Context) (*hook.Output, error) { return r.wait(ctx, &off) }
		return &hook.Output{Handoff: off.declared}, nil
	}
	out, err := r.finish(ctx)
	if err == nil && out != nil && out.Handoff != nil { // it ended as soon as it had handed itself off
		out.Handoff.Wait = func(context.Context) (*hook.Output, error) { return r.later() }
	}
	return out, err
}

// run is one run of a command.
type run struct {
	handler *Handler
	call    *hook.Call
	payload []byte // the event, as the hook's protocol has it
	env     resolve.Environ
	envFile string // "" = the event has none

	program hook.Program
	spec    process.Spec
	result  process.Result
	err     error // why it was not started
}

// environ is the environment of the call's hook.
func (h *Handler) environ(c *hook.Call) resolve.Environ {
	inherited := h.inherited
	if c.Env != nil {
		inherited = c.Env
	}
	e := resolve.NewEnviron(c.Hook, inherited, c.ProjectDir)
	e.Set("TENTERHOOK_HOOK", c.Hook.ID)
	e.Set("TENTERHOOK_WITHIN", strings.Join(c.Within, "\n"))
	return e
}

// resolved is what the call's command comes to.
func resolved(c *hook.Call, env *resolve.Environ) (hook.Program, *hook.Error) {
	at := resolve.Place{Project: c.ProjectDir, Session: c.Dir}
	if c.Verify == nil && !c.Hook.Sandbox.Contains() {
		return resolve.Start(c.Hook, env, at)
	}
	return resolve.Command(c.Hook, env, at)
}

// contained returns what the call's processes may do. A sandbox that this machine cannot enforce is a failure,
// unless the settings say that it is not required; then the report says so.
func contained(c *hook.Call, env *resolve.Environ, p *hook.Program) (*sandbox.Policy, *hook.Error) {
	policy := resolve.Sandbox(c.Hook, env, p, resolve.Place{Project: c.ProjectDir, Session: c.Dir})
	policy, warning, failed := resolve.Enforced(policy, c.Hook.Sandbox)
	if warning != "" {
		c.Warn("sandbox", warning, "see docs/containment.md")
	}
	return policy, failed
}

// makeCaches creates the directories that a sandbox lets the hook write to below
// tenterhook's own cache. Elsewhere a directory that is not there stays away.
func makeCaches(box *sandbox.Policy, env *resolve.Environ) {
	home := env.Home()
	if box == nil || !filepath.IsAbs(home) {
		return
	}
	ours := filepath.Join(home, ".cache", "tenterhook") + string(filepath.Separator)
	for _, dir := range box.Write {
		if strings.HasPrefix(dir, ours) {
			_ = os.MkdirAll(dir, 0o700) // what the hook may not write, it says itself
		}
	}
}

// verified returns an error if the program must not be started.
func verified(c *hook.Call, p *hook.Program) error {
	if c.Verify == nil {
		return nil
	}
	return c.Verify(p)
}

// start runs the command to its end. A program that turns out to be a script
// without a first line is one for the shell after all.
func (r *run) start(ctx context.Context, detach func([]byte) context.Context) {
	c := r.call
	p, failed := resolved(c, &r.env)
	if failed != nil {
		r.err = failed
		return
	}
	box, failed := contained(c, &r.env, &p)
	if failed != nil {
		r.err = failed
		return
	}
	makeCaches(box, &r.env)
	r.program = p
	r.spec = process.Spec{Path: p.Path, Argv: p.Argv, Dir: p.Dir, Env: r.env.List(), Umask: c.Umask, Sandbox: box, Stdin: r.payload, Detach: detach}
	if r.err = verified(c, &p); r.err != nil {
		return
	}
	var err error
	r.result, err = process.Run(ctx, r.spec)
	var broken *process.StartError
	if errors.As(err, &broken) && broken.Cause == process.CauseFormat && !p.Shell && c.Hook.Command.Args == nil {
		shell, failed := resolve.ViaShell(c.Hook, &r.env)
		if failed != nil {
			r.err = failed
			return
		}
		r.spec.Path, r.spec.Argv = shell.Path, shell.Argv
		if r.err = verified(c, &p); r.err != nil {
			return
		}
		r.result, err = process.Run(ctx, r.spec)
	}
	if err != nil {
		r.err = startFailure(c.Hook, err)
	}
}

// finish reports how the command ended, and reads its answer.
func (r *run) finish(ctx context.Context) (*hook.Output, error) {
	if r.envFile != "" {
		defer os.Remove(r.envFile)
	}
	c := r.call
	if r.err != nil {
		return nil, r.err
	}
	if r.result.ExitCode >= 0 {
		c.Report.ExitCode = &r.result.ExitCode
	}
	c.Report.Stderr = tail(r.result.Stderr)
	for _, w := range r.result.Warnings {
		c.Warn("process", w, "")
	}
	suspectSandbox(c, r.spec.Sandbox, &r.result)
	if err := ended(ctx, &r.result); err != nil {
		return nil, err
	}
	out, err := r.read()
	if r.envFile != "" {
		r.takeEnvFile(&out)
	}
	return out, err
}

// suspectSandbox says of a contained run in which something was refused that the sandbox may be why.
func suspectSandbox(c *hook.Call, box *sandbox.Policy, r *process.Result) {
	if !box.Contains() || r.OK() {
		return
	}
	said := strings.ToLower(string(r.Stderr))
	for _, word := range []string{"permission denied", "operation not permitted", "eacces", "eperm"} {
		if strings.Contains(said, word) {
			c.Warn("sandbox", fmt.Sprintf("something was refused to it, and it runs in the sandbox %q", box.Mode),
				"if the sandbox refused it, add allow_read, allow_write or allow_net to [sandbox]; see docs/containment.md")
			return
		}
	}
}

// read reads the answer. A shell's 126 or 127 without one is a failed start.
func (r *run) read() (*hook.Output, error) {
	if !looksLikeJSON(r.result.Stdout) {
		if d, ok := process.Explain(r.spec, r.result); ok {
			return nil, diagnosed(d)
		}
		if r.saidNothing() {
			if failed := startable(r.call.Hook, &r.program, &r.env); failed != nil {
				return nil, failed
			}
		}
	}
	return r.handler.reader.Read(r.call, dialect.Reply{Stdout: r.result.Stdout, Stderr: r.result.Stderr, ExitCode: r.result.ExitCode})
}

// saidNothing reports whether the command may have started nothing, although its
// exit code does not say so, as in "! ./missing" and "node missing.js". 2 is an
// answer, also where an interpreter gives it for a script that is missing.
func (r *run) saidNothing() bool {
	return r.result.ExitCode != 2 && len(r.result.Stdout) == 0 &&
		(len(r.result.Stderr) > 0 || r.program.Shell && strings.Contains(r.call.Hook.Command.Line, "2>"))
}

// startFailure says why the command did not start.
func startFailure(h *hook.Hook, err error) error {
	var start *process.StartError
	if !errors.As(err, &start) {
		return &hook.Error{Failure: hook.FailureStart, Reason: err.Error(), Err: err}
	}
	failed := diagnosed(start.Diagnosis)
	failed.Err = err
	if start.Cause == process.CauseNotFound && h.Command.Args == nil {
		if path := unquoted(h.Command.Line, h.Source.Dir); path != "" {
			failed.Reason, failed.Hint = fmt.Sprintf("the path %s has a space that is not quoted", path), "put it in quotes"
		}
	}
	return failed
}

func diagnosed(d process.Diagnosis) *hook.Error {
	failed := &hook.Error{Failure: hook.FailureStart, Reason: d.Reason, Hint: d.Remedy}
	if d.Cause == process.CauseSandbox {
		failed.Failure = hook.FailureSandbox
		return failed
	}
	if d.Path != "" && !strings.Contains(d.Reason, d.Path) {
		failed.Reason = d.Path + ": " + d.Reason
	}
	return failed
}

// unquoted finds a file whose name a space cut short.
func unquoted(line, dir string) string {
	for i, r := range line {
		if r != ' ' {
			continue
		}
		end := len(line)
		if next := strings.IndexByte(line[i+1:], ' '); next >= 0 {
			end = i + 1 + next
		}
		path := line[:end]
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return line[:end]
		}
	}
	return ""
}

// ended tells a process that was stopped from a process that ended by itself.
func ended(ctx context.Context, r *process.Result) error {
	switch {
	case r.Overflow != "":
		return &hook.Error{Failure: hook.FailureOverflow, Reason: fmt.Sprintf("it wrote more than %d bytes to %s", process.DefaultOutput, r.Overflow),
			Hint: "print the answer only, and little of it"}
	case r.TimedOut || r.Cancelled:
		if errors.Is(context.Cause(ctx), hook.ErrTimeout) {
			return hook.ErrTimeout
		}
		return context.Cause(ctx)
	case r.Signal != "":
		return &hook.Error{Failure: hook.FailureExit, Reason: r.Describe(), Hint: "find out who killed it: out of memory, a crash?"}
	case r.ExitCode < 0:
		return &hook.Error{Failure: hook.FailureExit, Reason: r.Describe()}
	}
	return nil
}

func looksLikeJSON(stdout []byte) bool {
	s := strings.TrimSpace(string(stdout))
	return strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}")
}

func (r *run) takeEnvFile(out **hook.Output) {
	vars, passed, err := readEnvFile(r.envFile, r.env.Get)
	const remedy = "write lines such as export KEY=value"
	if err != nil {
		r.call.Warn("env_file", err.Error(), remedy)
	}
	if passed > 0 {
		r.call.Warn("env_file", fmt.Sprintf("%d lines of its environment file set no plain variable and were passed over", passed), remedy)
	}
	if len(vars) == 0 {
		return
	}
	if *out == nil {
		*out = &hook.Output{}
	}
	(*out).Env = vars
}

// tail keeps the end of a long stderr, where the error is.
func tail(b []byte) string {
	if len(b) > maxStderr {
		b = append([]byte("…"), b[len(b)-maxStderr:]...)
	}
	return strings.ToValidUTF8(strings.TrimRight(string(b), "\n"), "\uFFFD")
}
