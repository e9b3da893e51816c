package nolandlock

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Forbid forbids Landlock to this process, and to all that it starts, for good.
func Forbid() error {
	load := unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}
	is := func(nr uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: nr, Jt: yes, Jf: no}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	filter := []unix.SockFilter{load, is(unix.SYS_LANDLOCK_CREATE_RULESET, 1, 0), is(unix.SYS_LANDLOCK_RESTRICT_SELF, 0, 1),
		answer(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)), answer(unix.SECCOMP_RET_ALLOW)}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if e != 0 {
		return e
	}
	return nil
}
