//go:build unix

package worker_test

import "syscall"

func stopSelf() { syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) }

// processExists also holds for one that no one has reaped.
func processExists(pid int) bool { return syscall.Kill(pid, 0) == nil }
