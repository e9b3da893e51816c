package hook_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

var everyKind = append(hook.Kinds(), hook.KindCallback, hook.KindFunction)

// facts writes down what a row of the event table says, one fact a line.
func facts(info *hook.EventInfo) string {
	var b strings.Builder
	line := func(word string, values ...string) {
		if said := strings.Join(values, " "); said != "" {
			fmt.Fprintf(&b, "  %s: %s\n", word, said)
		}
	}
	fmt.Fprintf(&b, "%s: %s\n", info.Event, info.Doc)
	line("matcher", info.MatcherField)
	line("block", string(info.Block))
	line("stderr of exit code 2", string(info.Stderr))
	line("plain text", string(info.Plain))
	line("fields", info.Fields.Names()...)
	for _, flag := range []struct {
		word string
		set  bool
	}{
		{"narrow matcher", info.NarrowMatcher}, {"takes if", info.TakesIf}, {"any exit code blocks", info.AnyExit},
		{"exit code 2 is a failure", info.NoExit2}, {"decision: block", info.BlockField}, {"a timeout blocks", info.OnTimeout},
		{"on_failure has no effect", info.NoPolicy}, {"legacy", info.Legacy},
	} {
		if flag.set {
			fmt.Fprintf(&b, "  %s\n", flag.word)
		}
	}
	var kinds []string
	for _, kind := range everyKind {
		if info.Takes(kind) {
			kinds = append(kinds, string(kind))
		}
	}
	line("kinds", kinds...)
	line("time limit", hook.DefaultTimeout(hook.KindCommand, info.Event).String())
	return b.String()
}

// The table is written down a second time, as the public references have it, so
// that no fact changes unnoticed.
func TestEventTableSaysWhatTheReferencesSay(t *testing.T) {
	want, err := os.ReadFile("testdata/events.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, info := range hook.Events() {
		got.WriteString(facts(&info))
		if found, ok := hook.Lookup(info.Event); !ok || facts(found) != facts(&info) || facts(hook.Info(info.Event)) != facts(&info) {
			t.Errorf("Lookup and Info of %s do not return its row", info.Event)
		}
	}
	if _, known := hook.Lookup("Deploy"); known {
		t.Error("the table has an event that nobody fires")
	}
	got.WriteString(facts(hook.Info("Deploy")))
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("testdata/events.txt (-want +got):\n%s", diff)
	}
}

func TestModelsHaveATimeLimitOfTheirOwn(t *testing.T) {
	if hook.SessionEndBudget != 1500*time.Millisecond || hook.SessionEndBudgetMax != time.Minute {
		t.Errorf("all SessionEnd hooks have %v, at most %v", hook.SessionEndBudget, hook.SessionEndBudgetMax)
	}
	for _, info := range append(hook.Events(), hook.EventInfo{Event: "Deploy"}) {
		for _, kind := range everyKind {
			want := hook.DefaultTimeout(hook.KindCommand, info.Event)
			switch kind {
			case hook.KindPrompt:
				want = 30 * time.Second
			case hook.KindAgent:
				want = time.Minute
			}
			if got := hook.DefaultTimeout(kind, info.Event); got != want {
				t.Errorf("%s on %s: %v, want %v", kind, info.Event, got, want)
			}
		}
	}
}

func TestRowsOfTheTableAreCopies(t *testing.T) {
	hook.Events()[0].Event = "Other"
	if got := hook.Events()[0].Event; got != hook.EventSessionStart {
		t.Errorf("the first event is now %s", got)
	}
}

func TestOnlyAChangeOfManagedSettingsCannotBeBlocked(t *testing.T) {
	for _, info := range hook.Events() {
		if got, want := info.CanBlock(hook.Blank(info.Event)), info.Block != hook.BlockNothing; got != want {
			t.Errorf("%s: %v", info.Event, got)
		}
	}
	info := hook.Info(hook.EventConfigChange)
	for source, want := range map[string]bool{"policy_settings": false, "user_settings": true, "": true} {
		for _, in := range []hook.Input{hook.ConfigChange{Source: source}, &hook.ConfigChange{Source: source}} {
			if got := info.CanBlock(in); got != want {
				t.Errorf("%T of %q: %v", in, source, got)
			}
		}
	}
}

func TestFieldsAreASetWithNames(t *testing.T) {
	both := hook.FieldRetry | hook.FieldContext
	if !both.Has(hook.FieldRetry) || !both.Has(both) || hook.FieldRetry.Has(both) || both.Has(hook.FieldDisplay) {
		t.Error("Has does not ask for every field")
	}
	if diff := cmp.Diff([]string{"additionalContext", "retry"}, both.Names()); diff != "" {
		t.Error(diff)
	}
}
