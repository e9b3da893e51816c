package dispatch

import (
	"sync"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
)

// A session has many tool calls: nothing is kept of one that is over.
func TestLocksOfToolCallsAreKeptForAsLongAsTheyAreUsed(t *testing.T) {
	var l callLocks
	var all sync.WaitGroup
	in := hook.PreToolUse{ToolUseID: "call"}
	for range 8 {
		all.Go(func() {
			unlock, err := l.lock(t.Context(), in, false)
			if err != nil {
				t.Error(err)
				return
			}
			unlock()
		})
	}
	all.Wait()
	if len(l.held) != 0 {
		t.Errorf("%d locks are left", len(l.held))
	}
}
