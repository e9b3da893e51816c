package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// free are the words of usage lines that are whatever a person likes, or files.
var free = []string{"DIR", "FILE", "PATH", "SOURCE", "NAME"}

// Each word of a usage line and each flag that stands for a hook, an event, an
// agent, a package or a run has a completer, and each completer has a word.
func TestEachWordOfAUsageLineIsCompletedOrFree(t *testing.T) {
	a := &app{}
	known, used := a.completers(), make(map[string]bool)
	for _, word := range free {
		if known[word] != nil {
			t.Errorf("%s is free, and has a completer", word)
		}
		used[word] = false
	}
	for word := range known {
		used[word] = false
	}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			visit(sub)
		}
		for n := range strings.Fields(c.Use)[1:] {
			word := wordAt(c.Use, n)
			if strings.ToUpper(word) != word || strings.HasPrefix(word, "-") { // a word to type, as in "schema hook|settings"
				continue
			}
			if c.ValidArgsFunction == nil {
				t.Errorf("%s: nothing completes %s", c.CommandPath(), word)
			}
			for one := range strings.SplitSeq(word, "|") {
				if _, ok := used[one]; !ok {
					t.Errorf("%s: %s is neither completed nor free", c.CommandPath(), one)
				}
				used[one] = true
			}
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if word := flagWords[f.Name]; word != "" && known[word] == nil {
				t.Errorf("%s --%s: nothing completes %s", c.CommandPath(), f.Name, word)
			}
		})
	}
	visit(Command())
	for word, ok := range used {
		if !ok {
			t.Errorf("no usage line has %s", word)
		}
	}
}
