package trust

import (
	"cmp"
	"fmt"
)

// Verdict is whether a subject may run.
type Verdict struct {
	Approved bool
	Why      string // why not, lower case: "run.sh changed since it was approved"
	Hint     string // what to do about it
	// Changes are all differences to what was approved; to nothing, if it never
	// was.
	Changes []Change
	// Seal is what was judged; nil if it could not be read or, from a Guard, if
	// nothing of that name was ever approved, which takes no reading.
	Seal *Seal
	// Approval is what lets it run; nil if it is not approved.
	Approval *Approval
}

// Unbound says why what an approved subject runs may change without a new
// approval; "" = it may not.
func (v Verdict) Unbound() string {
	if v.Approval == nil || !v.Approval.Unbound {
		return ""
	}
	return cmp.Or(v.Seal.Unbound(), "it was approved as such")
}

// Judge says whether what was read is what was approved.
func (s *Store) Judge(seal *Seal) Verdict {
	b := s.current()
	if b.problem != nil {
		return refused(b.problem, seal)
	}
	if s.handed {
		if p := b.within(seal.key); p != nil {
			return refused(p, seal)
		}
	}
	candidates := b.find(seal.key)
	for _, unbound := range []bool{false, true} {
		for _, a := range candidates {
			if a.Unbound == unbound && a.same(seal) {
				return Verdict{Approved: true, Seal: seal, Approval: a}
			}
		}
	}
	if len(candidates) == 0 {
		v := unapproved(seal.key)
		v.Changes, v.Seal = changes(&Approval{}, seal), seal
		return v
	}
	v := Verdict{Changes: changes(candidates[0], seal), Seal: seal, Hint: approveHint("look at the changes", seal.key.ID)}
	v.Why = "it changed since it was approved"
	if len(v.Changes) > 0 {
		v.Why = v.Changes[0].String() + " since it was approved"
	}
	if more := len(v.Changes) - 1; more == 1 {
		v.Why += ", and so did one thing more"
	} else if more > 1 {
		v.Why += fmt.Sprintf(", and so did %d things more", more)
	}
	return v
}

// refused is the verdict where something cannot be read or relied on.
func refused(p *Problem, seal *Seal) Verdict {
	return Verdict{Why: p.Error(), Hint: p.Remedy, Seal: seal}
}

// unapproved is the verdict on what no store knows.
func unapproved(k Key) Verdict {
	return Verdict{Why: "it is not approved", Hint: approveHint("look at it", k.ID)}
}

func approveHint(first, id string) string {
	return fmt.Sprintf("%s, then approve it: tenterhook trust %s", first, show(id))
}
