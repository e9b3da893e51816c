package stamp

import "time"

// Young reports whether a file changed so shortly before now that it could have
// changed once more without another stamp: times advance with a clock that
// ticks each few milliseconds, and on some file systems in whole seconds.
func (s Stamp) Young(now time.Time) bool {
	tick := 100 * time.Millisecond
	if s.Ctime%int64(time.Second) == 0 {
		tick = 2100 * time.Millisecond
	}
	return s.Ctime > now.Add(-tick).UnixNano()
}
