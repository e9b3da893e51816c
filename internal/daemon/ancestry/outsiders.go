package ancestry

import (
	"os"
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Outsiders remembers processes that do not descend from this one. None of them ever
// will: a process whose parent ends goes to one that it descended from before, or to
// the first process. It is safe for concurrent use.
type Outsiders struct {
	known *lru.Cache[outsider, struct{}]
}

// outsider names a process for ever.
type outsider struct {
	pid   int
	start uint64
}

// maxOutsiders bounds the processes that are remembered.
const maxOutsiders = 256

// NewOutsiders returns an Outsiders that knows none.
func NewOutsiders() *Outsiders {
	known, _ := lru.New[outsider, struct{}](maxOutsiders) // it fails for no size alone
	return &Outsiders{known}
}

// Of is what the function Of returns, without what is above an outsider.
func (o *Outsiders) Of(pid int) []Process {
	met := false
	chain := upTo(pid, func(p Process) bool {
		_, met = o.known.Get(outsider{p.PID, p.Start})
		return met
	})
	whole := met || len(chain) > 0 && chain[len(chain)-1].Parent == 0
	if !whole || slices.ContainsFunc(chain, func(p Process) bool { return p.PID == os.Getpid() }) {
		return chain
	}
	for _, p := range chain[1:] {
		if p.Start != 0 {
			o.known.Add(outsider{p.PID, p.Start}, struct{}{})
		}
	}
	return chain
}
