package hooktest_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hooktest"
)

func TestRegistryConforms(t *testing.T) {
	hooktest.Run(t, hooktest.Registry(), hooktest.Cases())
}

func TestCommandConforms(t *testing.T) {
	if testing.Short() {
		t.Skip("long: starts the command for each case; TestRegistryConforms runs the same cases")
	}
	hooktest.Run(t, hooktest.Command(program), hooktest.Cases())
}

// sources are where a rule may come from.
var sources = regexp.MustCompile(`^(Claude Code protocol|observed of the real client|older Claude Code hosts|tenterhook|` +
	`starpod|starpod and openclaw|caliban|moltis|openclaw): `)

func TestEveryCaseNamesWhereItsRuleComesFrom(t *testing.T) {
	name := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`)
	for _, c := range cases(t) {
		if !sources.MatchString(c.Rule) {
			t.Errorf("%s: rule %q comes from nowhere", c.Name, c.Rule)
		}
		if !name.MatchString(c.Name) {
			t.Errorf("%s: the name of a case is words with hyphens", c.Name)
		}
		if !strings.HasSuffix(c.Prose, ".") {
			t.Errorf("%s: its prose is no sentence: %q", c.Name, c.Prose)
		}
	}
}

func cases(t *testing.T) []*hooktest.Case {
	t.Helper()
	all, err := hooktest.ReadCases(hooktest.Cases())
	if err != nil {
		t.Fatal(err)
	}
	return all
}
