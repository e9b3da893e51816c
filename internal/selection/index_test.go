package selection

import (
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/match"
)

// A matcher that timed out may match the next time: what it came to is not
// remembered, whatever the matchers after it say.
func TestWhatAMatcherCouldNotTellIsNotRemembered(t *testing.T) {
	matching := func(pattern string) *Entry {
		return &Entry{Hook: &hook.Hook{Event: hook.EventPreToolUse}, preparation: &preparation{Event: hook.EventPreToolUse,
			Matcher: match.Compile(pattern, match.MatcherOptions{Syntax: match.SyntaxRegexp})}}
	}
	slow, sure := matching(`^(?=(a+)+b)`), matching("^c")
	x := &eventIndex{names: make(map[string][]int)}
	x.add(slow)
	x.add(sure)
	if found := x.find(strings.Repeat("a", 64)); len(found) != 1 || found[0] != slow {
		t.Errorf("a guard that may be concerned is left out: %v", found)
	}
	if memo := x.memo.Load(); memo != nil {
		t.Errorf("%v is remembered", *memo)
	}
	x = &eventIndex{names: make(map[string][]int)}
	x.add(sure)
	for subject, want := range map[string]int{"cat": 1, "dog": 0} {
		found := x.find(subject)
		if kept, ok := (*x.memo.Load())[subject]; len(found) != want || !ok || len(kept) != want {
			t.Errorf("%q: %d found, %v remembered", subject, len(found), ok)
		}
	}
}
