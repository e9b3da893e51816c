package selection

import (
	"fmt"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/load"
	"github.com/tenterhook/tenterhook/trust"
)

// Status is whether a hook can run now for a caller, whatever the input.
type Status struct {
	State     hook.State
	Why, Hint string        // "" if ready
	Approval  trust.Verdict // of a hook that may run
}

// Status judges what a dispatch judges before it calls a handler. Dispatch,
// Select, List, Check and Watch all ask it.
func (r *Hooks) Status(e *Entry, from *Caller) Status { return r.statusBelow(e, e.over, from) }

// statusBelow is the status of a hook where these hooks may take its place, the
// nearest first. Whether one of them can run does not depend on the nearer ones:
// what takes its place takes that of e too, and was asked before.
func (r *Hooks) statusBelow(e *Entry, over []*Entry, from *Caller) Status {
	switch err := e.Matcher.Valid(); {
	case e.State != hook.StateReady:
		return Status{State: e.State, Why: e.Why}
	case r.paused(e) != "":
		return Status{State: hook.StateDisabled, Why: r.paused(e), Hint: "tenterhook enable " + e.Hook.ID}
	case err != nil:
		return Status{State: hook.StateInvalid, Why: err.Error(), Hint: "matchers are names, lists of names, or JavaScript regular expressions"}
	case len(e.rules) > 0 && !hook.Info(e.Event).TakesIf:
		return Status{State: hook.StateUnsupported, Why: fmt.Sprintf("%s tests no `if`, so the hook never runs", e.Event), Hint: "remove if"}
	case e.NoRule != nil:
		return Status{State: hook.StateInvalid, Why: e.NoRule.Message, Hint: e.NoRule.Hint}
	}
	for _, near := range over { // only a hook that can run takes the place
		if s, _ := r.told(near, r.statusBelow(near, nil, from), from); s.State == hook.StateReady {
			return Status{State: hook.StateShadowed, Why: fmt.Sprintf("overridden by %s in %s", near.Hook.ID, near.Hook.Source.Path)}
		}
	}
	state, why, approval := e.standing(from)
	if state != hook.StateReady {
		return Status{State: state, Why: why, Hint: approval.Hint}
	}
	if v := e.Check.VerdictIn(from.lookup()); !v.Eligible {
		return Status{State: hook.StateIneligible, Why: v.Why, Hint: v.Hint}
	}
	return Status{State: hook.StateReady, Approval: approval}
}

// paused says until when and why an operator has switched a hook off; "" = it is
// on. Managed hooks and hooks of the host cannot
// be switched off.
func (r *Hooks) paused(e *Entry) string {
	if e.Hook.Authority() == hook.ScopeManaged || load.InProcess(e.Hook) {
		return ""
	}
	p, off := r.Pauses.Of(e.Hook.ID, e.Hook.Source.Path)
	if !off {
		return ""
	}
	return "it is switched off " + p.String()
}

// Outlook is the status of a hook, and of a ready hook what its handler
// says of it without running it: a dispatch finds that out by running it.
func (r *Hooks) Outlook(e *Entry, from *Caller) (Status, []hook.Diagnostic) {
	return r.told(e, r.Status(e, from), from)
}

// told is s, or what the handler of a hook that is ready says of it.
func (r *Hooks) told(e *Entry, s Status, from *Caller) (Status, []hook.Diagnostic) {
	if s.State != hook.StateReady {
		return s, nil
	}
	c, ok := e.Handler.(hook.Checker)
	if !ok {
		return s, nil
	}
	notes := r.checked(e, c, from)
	for _, d := range notes {
		if d.Severity != hook.SeverityError {
			continue
		}
		switch d.Code {
		case "bad_expression":
			return Status{State: hook.StateInvalid, Why: fmt.Sprintf("line %d, column %d: %s", d.Line, max(1, d.Column), d.Message), Hint: "correct the expression"}, notes
		case "bad_condition":
			return Status{State: hook.StateInvalid, Why: d.Message, Hint: d.Hint}, notes
		}
		return Status{State: hook.StateIneligible, Why: d.Message, Hint: d.Hint, Approval: s.Approval}, notes
	}
	return s, notes
}

// Refuses reports whether a hook that cannot run blocks what it concerns.
func (e *Entry) Refuses(s Status) bool {
	failed := hook.Result{Hook: e.Hook, Status: hook.StatusSkipped, Failure: stateFailure(s.State)}
	return failed.Verdict() == hook.Deny
}
