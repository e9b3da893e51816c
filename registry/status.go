package registry

import (
	"fmt"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/load"
	"github.com/tenterhook/tenterhook/trust"
)

// status is whether a hook can run now for a caller, whatever the input.
type status struct {
	state     hook.State
	why, hint string        // "" if ready
	approval  trust.Verdict // of a hook that may run
}

// status judges what a dispatch judges before it calls a handler. Dispatch,
// Select, List, Check and Watch all ask it.
func (r *Registry) status(e *entry, from *Caller) status { return r.statusBelow(e, e.over, from) }

// statusBelow is the status of a hook where these hooks may take its place, the
// nearest first. Whether one of them can run does not depend on the nearer ones:
// what takes its place takes that of e too, and was asked before.
func (r *Registry) statusBelow(e *entry, over []*entry, from *Caller) status {
	switch err := e.matcher.Valid(); {
	case e.state != hook.StateReady:
		return status{state: e.state, why: e.why}
	case r.paused(e) != "":
		return status{state: hook.StateDisabled, why: r.paused(e), hint: "tenterhook enable " + e.hook.ID}
	case err != nil:
		return status{state: hook.StateInvalid, why: err.Error(), hint: "matchers are names, lists of names, or JavaScript regular expressions"}
	case len(e.rules) > 0 && !hook.Info(e.event).TakesIf:
		return status{state: hook.StateUnsupported, why: fmt.Sprintf("%s tests no `if`, so the hook never runs", e.event), hint: "remove if"}
	case e.noRule != nil:
		return status{state: hook.StateInvalid, why: e.noRule.Message, hint: e.noRule.Hint}
	}
	for _, near := range over { // only a hook that can run takes the place
		if s, _ := r.told(near, r.statusBelow(near, nil, from), from); s.state == hook.StateReady {
			return status{state: hook.StateShadowed, why: fmt.Sprintf("overridden by %s in %s", near.hook.ID, near.hook.Source.Path)}
		}
	}
	state, why, approval := e.standing(from)
	if state != hook.StateReady {
		return status{state: state, why: why, hint: approval.Hint}
	}
	if v := e.check.VerdictIn(from.lookup()); !v.Eligible {
		return status{state: hook.StateIneligible, why: v.Why, hint: v.Hint}
	}
	return status{state: hook.StateReady, approval: approval}
}

// paused says until when and why an operator has switched a hook off; "" = it is
// on. Managed hooks and hooks of the host cannot
// be switched off.
func (r *Registry) paused(e *entry) string {
	if e.hook.Authority() == hook.ScopeManaged || load.InProcess(e.hook) {
		return ""
	}
	p, off := r.pauses.Of(e.hook.ID, e.hook.Source.Path)
	if !off {
		return ""
	}
	return "it is switched off " + p.String()
}

// outlook is the status of a hook, and of a ready hook what its handler
// says of it without running it: a dispatch finds that out by running it.
func (r *Registry) outlook(e *entry, from *Caller) (status, []hook.Diagnostic) {
	return r.told(e, r.status(e, from), from)
}

// told is s, or what the handler of a hook that is ready says of it.
func (r *Registry) told(e *entry, s status, from *Caller) (status, []hook.Diagnostic) {
	if s.state != hook.StateReady {
		return s, nil
	}
	c, ok := e.handler.(hook.Checker)
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
			return status{state: hook.StateInvalid, why: fmt.Sprintf("line %d, column %d: %s", d.Line, max(1, d.Column), d.Message), hint: "correct the expression"}, notes
		case "bad_condition":
			return status{state: hook.StateInvalid, why: d.Message, hint: d.Hint}, notes
		}
		return status{state: hook.StateIneligible, why: d.Message, hint: d.Hint, approval: s.approval}, notes
	}
	return s, notes
}

// refuses reports whether a hook that cannot run blocks what it concerns.
func (e *entry) refuses(s status) bool {
	failed := hook.Result{Hook: e.hook, Status: hook.StatusSkipped, Failure: stateFailure(s.state)}
	return failed.Verdict() == hook.Deny
}
