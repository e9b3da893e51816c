package fleetpolicy

// openFlags are nothing here.
const openFlags = 0

// syncDir does nothing: a rename is on the disk.
func syncDir(string) error { return nil }
