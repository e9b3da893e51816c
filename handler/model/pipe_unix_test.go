//go:build unix

package model

import "syscall"

func makePipe(path string) bool { return syscall.Mkfifo(path, 0o600) == nil }
