package daemon

import "time"

// sinceBoot is not known here.
func sinceBoot() (boot string, up time.Duration) { return "", 0 }
