package sandbox

import "golang.org/x/sys/unix"

func onMainThread() bool { return unix.Gettid() == unix.Getpid() }
