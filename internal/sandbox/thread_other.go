//go:build !linux

package sandbox

// onMainThread: here no thread is changed for good, so any will do.
func onMainThread() bool { return false }
