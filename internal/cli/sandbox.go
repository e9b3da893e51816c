package cli

import (
	"fmt"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/resolve"
	"github.com/tenterhook/tenterhook/internal/sandbox"
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

// sandboxOf tells of a hook's sandbox; nil = it has none.
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
