package client

import "os"

// genuine cannot be decided here without a system library: the socket is in a
// directory of this user alone, and the daemon compares the versions itself.
func (c conn) genuine(os.FileInfo) (genuine bool, pid int) { return true, 0 }

// startOf is not known here.
func startOf(int) string { return "" }
