package eligibility

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
)

func TestSetsThatAreRememberedAreBounded(t *testing.T) {
	c := New(Options{LookupEnv: func(string) (string, bool) { return "", false }})
	first := c.Prepare(hook.Requires{Envs: []string{"FIRST"}})
	for i := range 3 * maxChecks {
		c.Prepare(hook.Requires{Envs: []string{fmt.Sprint("V", i)}})
	}
	if len(c.checks) > maxChecks {
		t.Errorf("%d sets are kept", len(c.checks))
	}
	if v := first.Verdict(); v.Eligible || !strings.Contains(v.Why, "FIRST") {
		t.Errorf("a check that its holder keeps: %+v", v)
	}
}
