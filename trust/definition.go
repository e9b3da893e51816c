package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/tenterhook/tenterhook/hook"
)

// Define returns the canonical form of what a file, or one entry of it,
// declares: a JSON list of what runs, when and with what policy. Events that
// differ in nothing else share an entry. Hooks in another order within an event
// are another definition, names and descriptions are no part of it. It fails
// for text that is not UTF-8, which would not be told apart, and parameters
// that are no JSON.
func Define(hooks ...*hook.Hook) ([]byte, error) {
	var all []definition
	for _, h := range hooks {
		d, err := define(h)
		if err != nil {
			return nil, fmt.Errorf("bind the definition of %s: %w", show(h.ID), err)
		}
		var events []text
		if h.Event != "" {
			events = []text{text(h.Event)}
		}
		if last := len(all) - 1; last >= 0 {
			d.Events = all[last].Events
			if reflect.DeepEqual(d, all[last]) {
				all[last].Events = append(all[last].Events, events...)
				continue
			}
		}
		d.Events = events
		all = append(all, d)
	}
	for _, d := range all {
		slices.Sort(d.Events)
	}
	data, err := marshal(all)
	if err != nil {
		return nil, fmt.Errorf("bind a definition: %w (its text must be UTF-8, its parameters JSON)", err)
	}
	return data, nil
}

// definition has every field of a hook that decides what runs, when and with
// what policy, by HOOK.md's words. Fields that have no say are left out, so a
// field that is added here leaves old approvals valid.
type definition struct {
	Events      []text                     `json:"events,omitempty"` // a plugin itself has none
	Matcher     text                       `json:"matcher,omitzero"`
	Syntax      text                       `json:"syntax,omitzero"`
	If          hook.Rules                 `json:"if,omitempty"`
	Type        text                       `json:"type"`
	Command     text                       `json:"command,omitzero"`
	Args        []text                     `json:"args,omitzero"` // an empty list is no shell, none is a shell
	Shell       text                       `json:"shell,omitzero"`
	Worker      bool                       `json:"worker,omitzero"`
	Params      map[string]json.RawMessage `json:"params,omitempty"`
	Env         map[string]text            `json:"env,omitempty"`
	Timeout     text                       `json:"timeout,omitzero"`
	OnFailure   text                       `json:"on_failure,omitzero"`
	Rewrites    bool                       `json:"rewrites,omitzero"`
	Async       bool                       `json:"async,omitzero"`
	AsyncRewake bool                       `json:"async_rewake,omitzero"`
	Queue       text                       `json:"queue,omitzero"`
	Once        bool                       `json:"once,omitzero"`
	Protocol    text                       `json:"protocol,omitzero"`
	Priority    int                        `json:"priority,omitzero"`
	Requires    requires                   `json:"requires,omitzero"`
	Breaker     breaker                    `json:"breaker,omitzero"`
	Sandbox     *hook.Sandbox              `json:"sandbox,omitempty"`
}

type requires struct {
	Bins    []text `json:"bins,omitempty"`
	AnyBins []text `json:"any_bins,omitempty"`
	Envs    []text `json:"envs,omitempty"`
	OS      []text `json:"os,omitempty"`
}

func (r requires) IsZero() bool { return len(r.Bins)+len(r.AnyBins)+len(r.Envs)+len(r.OS) == 0 }

type breaker struct {
	Failures int  `json:"failures,omitzero"`
	Cooldown text `json:"cooldown,omitzero"`
}

func define(h *hook.Hook) (definition, error) {
	d := definition{
		Matcher: text(h.Matcher), Syntax: text(h.Syntax), If: h.If, Type: text(h.Kind),
		Rewrites: h.Rewrites, Async: h.Async, AsyncRewake: h.AsyncRewake, Queue: text(h.Queue), Once: h.Once, Priority: h.Priority,
		Requires: requires{texts(h.Requires.Bins), texts(h.Requires.AnyBins), texts(h.Requires.Envs), texts(h.Requires.OS)},
		Breaker:  breaker{Failures: h.Breaker.Failures}, Sandbox: h.Sandbox,
	}
	if c := h.Command; c != nil {
		d.Command, d.Args, d.Shell = text(c.Line), texts(c.Args), text(c.Shell)
		d.Worker = c.Worker
	}
	if h.Timeout != 0 {
		d.Timeout = text(h.Timeout.String())
	}
	if h.Breaker.Cooldown != 0 {
		d.Breaker.Cooldown = text(h.Breaker.Cooldown.String())
	}
	if h.OnFailure != hook.FailureContinue { // the same as ""
		d.OnFailure = text(h.OnFailure)
	}
	if h.Protocol != hook.ProtocolClaude { // the same as ""
		d.Protocol = text(h.Protocol)
	}
	// encoding/json asks no key for its text, and a list of rules none of them.
	for _, key := range slices.Concat(slices.Collect(maps.Keys(h.Params)), slices.Collect(maps.Keys(h.Env)), h.If) {
		if !utf8.ValidString(key) {
			return definition{}, errNotUTF8
		}
	}
	d.Params = h.Params
	d.Env = make(map[string]text, len(h.Env))
	for key, value := range h.Env {
		d.Env[key] = text(value)
	}
	return d, nil
}

// text is a string that JSON keeps as it is: encoding/json would make one text
// of all that is not UTF-8.
type text string

var errNotUTF8 = errors.New("it holds text that is not UTF-8: save it as UTF-8")

// MarshalText makes text a string, or a key, in JSON.
func (t text) MarshalText() ([]byte, error) {
	if !utf8.ValidString(string(t)) {
		return nil, errNotUTF8
	}
	return []byte(t), nil
}

// texts keeps the difference between no list and an empty one.
func texts(list []string) []text {
	if list == nil {
		return nil
	}
	made := make([]text, len(list))
	for i, s := range list {
		made[i] = text(s)
	}
	return made
}

// marshal is json.Marshal that leaves <, > and & readable.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
