package webhook

// Planned is how many plans are remembered.
func (h *Handler) Planned() int {
	n := 0
	h.policy.Load().plans.byHook.Range(func(any, any) bool { n++; return true })
	return n
}
