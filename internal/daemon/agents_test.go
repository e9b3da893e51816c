//go:build linux || darwin

package daemon

import (
	"os"
	"testing"

	"github.com/tenterhook/tenterhook/internal/daemon/ancestry"
	"github.com/tenterhook/tenterhook/internal/daemon/client"
)

// A call for an agent that does not exist must not make an operator's shell an agent.
func TestOnlyAgentsAreRemembered(t *testing.T) {
	self, ok := ancestry.Look(os.Getpid())
	if !ok {
		t.Skip("processes cannot be seen here")
	}
	known := openAgents(client.Place{Dir: t.TempDir()})
	for name, want := range map[string]bool{"nobody": false, "": false, "claude": true} {
		known.note(name, self, "", user{})
		if got := known.knows(name, self); got != want {
			t.Errorf("%q is remembered: %v, want %v", name, got, want)
		}
	}
}
