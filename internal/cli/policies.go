package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// printPolicies tells a person which of the fleet's policies are in force.
func (a *app) printPolicies(reg *registry.Registry) {
	style := a.styleOf(a.Out)
	for _, p := range reg.Policies() {
		line := oneLine(policyLine(p))
		switch p.State {
		case registry.PolicyBroken:
			line = style.red(line)
		case registry.PolicyKnown:
			line = style.dim(line)
		}
		fmt.Fprintln(a.Out, line)
	}
}

// policyLine says which version is in force, how old it is and who signed it.
func policyLine(p registry.Policy) string {
	line := "fleet " + p.Fleet + ": "
	switch {
	case p.State == registry.PolicyBroken:
		return line + strings.TrimSuffix(p.Channel+" does not count, so everything is blocked: ", " ") + p.Why
	case p.State == registry.PolicyUnknown:
		return line + "no " + p.Channel + " policy has come here yet"
	}
	line += fmt.Sprintf("%s version %d, %s old, signed by %s", p.Channel, p.Version, shortAge(time.Since(p.Issued)), strings.Join(p.Signers, ", "))
	if p.State == registry.PolicyStale {
		line += ", stale since " + p.Expires.Local().Format(time.DateTime)
	}
	if p.Reason != "" {
		line += ": " + p.Reason
	}
	return line
}

// shortAge is a time in its greatest unit.
func shortAge(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d s", max(0, d/time.Second))
}

// examinePolicies says what is in force; what is wrong with it, loading has said.
func examinePolicies(reg *registry.Registry) (problems []problem) {
	for _, p := range reg.Policies() {
		if p.State == registry.PolicyKnown {
			problems = append(problems, problem{Severity: hook.SeverityInfo, Code: "policy", Subject: cmp.Or(p.Path, p.Fleet), Message: policyLine(p),
				Hint: "'tenterhook fleet policy show' shows what it says"})
		}
	}
	return problems
}
