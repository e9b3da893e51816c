package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/resolve"
	"github.com/tenterhook/tenterhook/internal/sandbox"
	"github.com/tenterhook/tenterhook/registry"
)

// listedSandbox is what a hook's sandbox asks for, and what of it this machine enforces.
type listedSandbox struct {
	Asked    *hook.Sandbox     `json:"asked"`
	Enforced map[string]string `json:"enforced"` // by mechanism: what enforces it
	Missing  []listedMissing   `json:"missing"`
}

type listedMissing struct {
	What   string `json:"what"`
	Why    string `json:"why"`
	Remedy string `json:"remedy"`
}

// sandboxOf describes a hook's sandbox; nil = it has none.
func sandboxOf(box *hook.Sandbox) *listedSandbox {
	if !box.Contains() {
		return nil
	}
	policy := resolve.Asked(box)
	shown := &listedSandbox{Asked: box, Enforced: map[string]string{}, Missing: []listedMissing{}}
	needs := policy.Needs()
	for _, f := range sandbox.Probe() {
		for _, need := range needs {
			switch {
			case f.Mechanism != need:
			case f.Why == "":
				shown.Enforced[string(need)] = f.By
			default:
				shown.Missing = append(shown.Missing, listedMissing{string(need), f.Why, f.Remedy})
			}
		}
	}
	return shown
}

// examineSandboxes says what hooks ask of this machine and it does not enforce, a problem for each mechanism. It is
// an error if one of them fails for it, and a warning if all run uncontained.
func examineSandboxes(list []registry.Listed) (problems []problem) {
	type lack struct {
		listedMissing
		fails, uncontained []string
	}
	lacks := make(map[string]*lack)
	for _, l := range list {
		shown := sandboxOf(l.Hook.Sandbox)
		if shown == nil {
			continue
		}
		for _, m := range shown.Missing {
			if lacks[m.What] == nil {
				lacks[m.What] = &lack{listedMissing: m}
			}
			if one := lacks[m.What]; l.Hook.Sandbox.Optional {
				one.uncontained = append(one.uncontained, l.Hook.ID)
			} else {
				one.fails = append(one.fails, l.Hook.ID)
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(lacks)) {
		l := lacks[what]
		p := problem{Severity: hook.SeverityWarning, Code: "sandbox", Subject: "sandbox", Hint: l.Remedy,
			Message: fmt.Sprintf("this machine does not enforce %s: %s", what, l.Why)}
		if len(l.uncontained) > 0 {
			p.Message += "; running without it, as sandbox_required is false: " + someOf(l.uncontained)
		}
		if len(l.fails) > 0 {
			p.Severity = hook.SeverityError
			p.Message += "; failing for it: " + someOf(l.fails)
		}
		problems = append(problems, p)
	}
	return problems
}

// someOf names a few of a list.
func someOf(ids []string) string {
	const few = 5
	if len(ids) > few {
		return strings.Join(ids[:few], ", ") + fmt.Sprintf(" and %d more", len(ids)-few)
	}
	return strings.Join(ids, ", ")
}

// sandboxNote says how a hook is contained, for a person; "" = it is not.
func sandboxNote(box *hook.Sandbox) string {
	s := sandboxOf(box)
	if s == nil {
		return ""
	}
	note := "sandbox: " + string(box.Mode)
	for _, more := range []struct {
		what string
		list []string
	}{{"writes", box.AllowWrite}, {"reads", box.AllowRead}, {"never reads", box.DenyRead}, {"connects to", box.AllowNet}} {
		if len(more.list) > 0 {
			note += ", " + more.what + " " + strings.Join(more.list, " ")
		}
	}
	if box.Memory > 0 {
		note += fmt.Sprintf(", %d MiB a process", box.Memory>>20)
	}
	for _, m := range s.Missing {
		note += "; not enforced: " + m.What + " (" + m.Why + ")"
	}
	return note
}
