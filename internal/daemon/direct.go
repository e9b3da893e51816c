package daemon

import (
	"context"
	"os"
	"time"

	"github.com/tenterhook/tenterhook/bridge/closed"
	"github.com/tenterhook/tenterhook/internal/daemon/ancestry"
	"github.com/tenterhook/tenterhook/internal/daemon/client"
	"github.com/tenterhook/tenterhook/internal/environ"
)

// Direct answers one call in this process, without a daemon. What one process
// would forget between two calls of a session is in the state directory.
func Direct(ctx context.Context, call *client.Call) (answer client.Answer) {
	defer func() {
		if p := recover(); p != nil { // Go would exit with 2, which keeps an agent working at Stop
			answer = Undecided(call, "a fault in tenterhook")
		}
	}()
	call.Patience = closed.Deadline(call.Agent, call.Event) - time.Since(call.Began)
	place := Place(call.Env)
	log, _ := OpenLog(call.Env, 0)
	defer log.Close()
	d := NewDecider(log.Logger, place)
	d.alone = true
	chain := ancestry.Of(os.Getpid())
	if agent, ok := ancestry.Agent(chain, func(ancestry.Process) bool { return false }); ok && place.Make() == nil {
		d.agents.note(call.Agent, agent, environ.Get(call.Env, "PATH"), userOf(call.Env, call.Where))
	}
	answer = d.Decide(ctx, call, Caller{Within: within(call, chain, isDirect)})
	_ = d.Close()
	return answer
}
