package daemon

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// clockFile holds what time it was at the first call since the system started.
const clockFile = ".clock"

// clockSeen is the system's clock beside a clock that cannot be set.
type clockSeen struct {
	Boot string        `json:"boot"` // names the start of the system
	Up   time.Duration `json:"up"`   // since then
	Wall time.Time     `json:"wall"`
}

// steadyNow is the time by which sessions in a directory grow old: that of the first
// call since the system started, and what has passed since then. Setting the
// clock forward does not age the sessions whose agents run. A clock that is behind
// that counts too: what is too old by one of the two alone stays.
func steadyNow(dir string) time.Time {
	boot, up := sinceBoot()
	if boot == "" {
		return time.Now()
	}
	var first clockSeen
	path := filepath.Join(dir, clockFile)
	if readOwn(path, &first) && first.Boot == boot && first.Up <= up {
		steady, now := first.Wall.Add(up-first.Up), time.Now()
		if steady.Before(now) {
			return steady
		}
		return now
	}
	first = clockSeen{boot, up, time.Now().Round(0)}
	if data, err := json.Marshal(first); err == nil {
		_ = safefile.Put(path, data) // the next call tries again
	}
	return first.Wall
}
