package eligibility

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// A Check answers for one set of requirements, at little cost. It comes from
// [Checker.Prepare]; hooks with equal requirements have the same one. All
// methods may be called from several goroutines at once.
type Check struct {
	fixed *Verdict // non-nil: nothing that can change decides it

	lookupEnv func(string) (string, bool)
	ttl       time.Duration
	programs  [][]string // of each group, one program must be found
	searches  bool       // a program is a bare name: PATH counts
	envs      []string

	generation atomic.Uint64         // proofs of an earlier one do not count
	proof      atomic.Pointer[proof] // nil: not looked up yet

	mu sync.Mutex // held while looking up, so that one caller does it for all
}

// A proof is a verdict and what it rests on. It is never changed.
type proof struct {
	verdict    Verdict
	generation uint64
	endedAt    time.Time
	setting    setting
	found      []string // a file for each of Check.programs; "" = none
}

// A setting is the part of the environment that a verdict depends on. An unset
// PATH or PATHEXT means the same as an empty one.
type setting struct {
	path    string
	pathExt string
	envs    []presence // for each of Check.envs
}

// presence is all that is remembered of a required variable.
type presence uint8

const (
	unset presence = iota
	empty
	present
)

const onWindows = runtime.GOOS == "windows"

// Verdict returns the verdict for the environment as it is now and the files
// as they were at most the TTL ago. While a lookup is under way on behalf of
// another caller it waits for it.
func (c *Check) Verdict() Verdict { return c.VerdictIn(nil) }

// VerdictIn is Verdict for another environment, which lookupEnv reads; nil means
// that of the Checker. One lookup of files is kept: callers that take turns with
// environments that differ in what is required look each time.
func (c *Check) VerdictIn(lookupEnv func(name string) (value string, ok bool)) Verdict {
	if c.fixed != nil {
		return *c.fixed
	}
	env := environment(c.lookupEnv)
	if lookupEnv != nil {
		env = lookupEnv
	}
	if p := c.proof.Load(); p != nil && c.holds(p, env) {
		return p.verdict
	}
	return c.prove(env)
}

// environment reads a variable.
type environment func(name string) (value string, ok bool)

// Invalidate makes the next Verdict look at the files again. It never blocks. A
// lookup that is under way answers the caller that began it, and no other caller.
func (c *Check) Invalidate() {
	if c.fixed == nil { // which is shared, and stays true
		c.generation.Add(1)
	}
}

// holds is the warm path: one atomic load, one clock reading, one lookup for
// each variable, nothing allocated.
func (c *Check) holds(p *proof, env environment) bool {
	if p.generation != c.generation.Load() {
		return false
	}
	if time.Since(p.endedAt) >= c.ttl {
		return false
	}
	if c.searches && env.value("PATH") != p.setting.path {
		return false
	}
	if env.pathExt() != p.setting.pathExt {
		return false
	}
	for i, name := range c.envs {
		if env.presence(name) != p.setting.envs[i] {
			return false
		}
	}
	return true
}

// prove looks up what is required and keeps the result. The proof's age counts
// from the end of the lookup: from its start, callers that waited for a lookup
// slower than the TTL would each begin their own.
func (c *Check) prove(env environment) Verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.proof.Load()
	if old != nil && c.holds(old, env) {
		return old.verdict
	}
	p := &proof{generation: c.generation.Load(), setting: c.read(env)}
	var known []string
	if old != nil && old.setting.samePrograms(p.setting) {
		known = old.found
	}
	var problems []hook.Diagnostic
	p.found, problems = c.findPrograms(p.setting, known)
	problems = append(problems, c.missingEnvs(p.setting)...)
	p.verdict = explain(problems)
	p.endedAt = time.Now()
	c.proof.Store(p)
	return p.verdict
}

// findPrograms returns a file for each group of programs. A file of known that
// still counts saves the search: the verdict would be the same.
func (c *Check) findPrograms(s setting, known []string) (found []string, problems []hook.Diagnostic) {
	search := newSearch(s.path, s.pathExt)
	found = make([]string, len(c.programs))
	for i, alternatives := range c.programs {
		if known != nil && known[i] != "" && inspect(known[i]) == fine {
			found[i] = known[i]
			continue
		}
		var misses []miss
		for _, name := range alternatives {
			file, m := search.find(name)
			if m.trouble == fine {
				found[i] = file
				break
			}
			misses = append(misses, m)
		}
		if found[i] == "" {
			problems = append(problems, missingProgram(misses))
		}
	}
	return found, problems
}

func (c *Check) missingEnvs(s setting) (problems []hook.Diagnostic) {
	for i, name := range c.envs {
		if s.envs[i] != present {
			problems = append(problems, missingEnv(name, s.envs[i]))
		}
	}
	return problems
}

// read returns the environment as it is now.
func (c *Check) read(env environment) setting {
	s := setting{pathExt: env.pathExt()}
	if c.searches {
		s.path = env.value("PATH")
	}
	for _, name := range c.envs {
		s.envs = append(s.envs, env.presence(name))
	}
	return s
}

func (env environment) value(name string) string {
	value, _ := env(name)
	return value
}

// pathExt is the value of PATHEXT where it counts.
func (env environment) pathExt() string {
	if !onWindows {
		return ""
	}
	return env.value("PATHEXT")
}

func (env environment) presence(name string) presence {
	switch value, ok := env(name); {
	case value != "":
		return present
	case ok:
		return empty
	}
	return unset
}

func (s setting) samePrograms(t setting) bool {
	return s.path == t.path && s.pathExt == t.pathExt
}
