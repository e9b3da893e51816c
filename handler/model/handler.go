package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync/atomic"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

// Options configure a Handler. The zero value is usable.
type Options struct {
	// Env is where keys, and addresses of providers, are looked for, as
	// "key=value"; nil = this process's environment as it is when New is called.
	Env []string
	// Model is asked in the place of a provider; nil = the provider that the
	// settings, or else Env, choose.
	Model Model
	// Agent runs agent hooks; nil = a loop of at most 50 turns around the model,
	// which can read and search the workspace and nothing else.
	Agent AgentRunner
	// HTTPClient carries the requests to a provider; nil = one of its own, which
	// uses no proxy. Of the given one the Transport and the Timeout count.
	// Redirects are never followed.
	HTTPClient *http.Client
	// Budget is how many tokens, in and out, one run of an agent may use up;
	// 0 = 1,000,000. It is checked after each turn.
	Budget int64
}

// maxTokens bounds one answer, thinking included.
const maxTokens = 8192

// Handler runs prompt and agent hooks. It is safe for concurrent use.
type Handler struct {
	opts    Options
	client  *http.Client
	owned   bool // the client's connections are ours to close
	current atomic.Pointer[backend]
	schemas schemaCache
}

// New returns a Handler that asks the model that the environment chooses,
// until Configure is called.
func New(o Options) *Handler {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	o.Env = slices.Clone(o.Env)
	o.Budget = cmp.Or(o.Budget, 1_000_000)
	h := &Handler{opts: o, client: boundedClient(o.HTTPClient), owned: o.HTTPClient == nil}
	h.Configure(dialect.Settings{})
	return h
}

// Configure takes over the settings of the model. Runs that are under way keep
// the model that they began with. It returns what is wrong with the settings.
func (h *Handler) Configure(s dialect.Settings) []hook.Diagnostic {
	b, notes := h.choose(s.Model)
	h.current.Store(b)
	return notes
}

// Close closes idle connections. The Handler can be used on.
func (h *Handler) Close() error {
	if h.owned {
		h.client.CloseIdleConnections()
	}
	return nil
}

// Handle asks the hook's question about the event of the call. ok: false denies,
// ok: true is no permission: it only raises no objection.
//
// Failures are start (no model, no prompt, a bad schema), transport (the
// provider cannot be reached, or refuses) and output (what was answered is no
// verdict). If ctx ends, its cause is the error.
func (h *Handler) Handle(ctx context.Context, c *hook.Call) (*hook.Output, error) {
	d, failed := h.declared(c.Hook)
	if failed != nil {
		return nil, failed
	}
	event, failed := eventBlock(c)
	if failed != nil {
		return nil, failed
	}
	question := expand(d.prompt, event)
	var answer []byte
	var err error
	if c.Hook.Kind.Info().Turns {
		answer, err = h.runAgent(ctx, c, d, question)
	} else {
		answer, err = h.ask(ctx, c, d, question)
	}
	if err != nil {
		return nil, endOf(ctx, err)
	}
	out, err := d.schema.read(c, answer)
	if err == nil {
		d.endTurn(c, out)
	}
	return out, err
}

// ask is a prompt hook: one question, one answer.
func (h *Handler) ask(ctx context.Context, c *hook.Call, d *declared, question string) ([]byte, error) {
	b := h.current.Load()
	if b.failed != nil {
		return nil, b.failed
	}
	name, failed := b.modelFor(d.model)
	if failed != nil {
		return nil, failed
	}
	res, err := b.model.Generate(ctx, &Request{
		Model: name, System: promptSystem(d.schema), MaxTokens: maxTokens,
		Messages: []Message{{Role: RoleUser, Text: question}},
		Schema:   d.schema.raw, Strict: d.schema.strict,
	})
	if err == nil && res == nil {
		err = errors.New("it returned nothing")
	}
	if err != nil {
		return nil, modelFailure(err)
	}
	note(c, res.Usage, 0)
	if failed := stopFailure(res.Stop); failed != nil {
		return nil, failed
	}
	return []byte(res.Text), nil
}

// endOf is why a run ended: the end of ctx comes before whatever it broke.
func endOf(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// note leaves in the report what a run cost, where the model tells.
func note(c *hook.Call, u Usage, turns int) {
	if u == (Usage{}) && turns == 0 {
		return
	}
	text := fmt.Sprintf("the model used %d input and %d output tokens", u.InputTokens, u.OutputTokens)
	if turns > 0 {
		text += fmt.Sprintf(" in %d turn", turns)
	}
	if turns > 1 {
		text += "s"
	}
	c.Report.Warnings = append(c.Report.Warnings, hook.Diagnostic{
		Severity: hook.SeverityInfo, Code: "model_usage", Hook: c.Hook.ID,
		Path: c.Hook.Source.Path, Line: c.Hook.Source.Line, Message: text,
	})
}
