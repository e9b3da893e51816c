package trust

// UnifiedDiff is the unified diff of two texts under one name, with control
// characters escaped; "" if they are equal.
func UnifiedDiff(name string, old, now []byte) string { return unified(name, old, now) }
