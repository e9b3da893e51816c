package eligibility

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// DefaultTTL is how long an answer about files is taken as it is.
const DefaultTTL = time.Second

// A Verdict is the answer for one set of requirements. The zero Verdict is not
// eligible: what was not judged does not run.
type Verdict struct {
	Eligible bool
	Why      string // what is missing, in one line; "" if eligible
	Hint     string // what to do about it; "" if eligible
}

// Options are the surroundings of a Checker. The zero value is this process'.
type Options struct {
	// LookupEnv reads the environment; nil means os.LookupEnv. It is called
	// from several goroutines at once, and for each warm verdict.
	LookupEnv func(name string) (value string, ok bool)
	// TTL is how long an answer about files counts. 0 means DefaultTTL, a
	// negative one looks at the files each time.
	TTL time.Duration
}

// A Checker prepares checks, and hands out one check for equal requirements.
// It keeps up to 1024 sets that it has prepared, and then begins again.
// All methods may be called from several goroutines at once.
type Checker struct {
	lookupEnv func(string) (string, bool)
	ttl       time.Duration

	mu     sync.Mutex        // guards checks
	checks map[string]*Check // by the whole set of requirements, never by a name
}

const maxChecks = 1024

// New returns a Checker without checks.
func New(o Options) *Checker {
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	if o.TTL == 0 {
		o.TTL = DefaultTTL
	}
	return &Checker{lookupEnv: o.LookupEnv, ttl: o.TTL, checks: make(map[string]*Check)}
}

// unconditional is the check of a hook that requires nothing.
var unconditional = &Check{fixed: &Verdict{Eligible: true}}

// Prepare returns the check of r, to be kept with the hook and asked at each
// dispatch. It looks nothing up yet, keeps no reference to r, and never fails:
// a requirement that makes no sense is not met, and Why says so.
func (c *Checker) Prepare(r hook.Requires) *Check {
	if p, ok := foreignSystem(r.OS, runtime.GOOS); ok {
		v := explain([]hook.Diagnostic{p})
		return &Check{fixed: &v}
	}
	bins, anyBins, envs := distinct(r.Bins), distinct(r.AnyBins), distinct(r.Envs)
	if len(bins)+len(anyBins)+len(envs) == 0 {
		return unconditional
	}
	// %q is injective: no two sets of requirements have the same key.
	key := fmt.Sprintf("%q", [][]string{bins, anyBins, envs})
	c.mu.Lock()
	defer c.mu.Unlock()
	check := c.checks[key]
	if check == nil {
		if len(c.checks) >= maxChecks {
			clear(c.checks) // a caller that has one keeps it
		}
		check = newCheck(c, bins, anyBins, envs)
		c.checks[key] = check
	}
	return check
}

func newCheck(c *Checker, bins, anyBins, envs []string) *Check {
	check := &Check{lookupEnv: c.lookupEnv, ttl: c.ttl, envs: envs}
	for _, bin := range bins {
		check.programs = append(check.programs, []string{bin})
	}
	if len(anyBins) > 0 {
		check.programs = append(check.programs, anyBins)
	}
	for _, alternatives := range check.programs {
		check.searches = check.searches || slices.ContainsFunc(alternatives, isBare)
	}
	return check
}

// distinct returns a copy of names without repetitions, in the same order.
// Its strings are clones: a check does not hold the manifest that they are from.
func distinct(names []string) []string {
	var out []string
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if !seen[name] {
			name = strings.Clone(name)
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}
