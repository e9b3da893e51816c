package daemon

import "runtime/debug"

// tidy gives memory back to the system.
func tidy() { debug.FreeOSMemory() }
