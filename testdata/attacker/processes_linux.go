package main

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// inherited looks for descriptors of the host, before there are others.
func inherited() []attack {
	return []attack{
		{"inherited-descriptors", func(*target) error {
			for fd := 3; fd < 1024; fd++ {
				path := fmt.Sprintf("/proc/self/fd/%d", fd)
				var link [256]byte
				n, err := unix.Readlink(path, link[:])
				own := err == nil && (strings.HasPrefix(string(link[:n]), "anon_inode") || strings.HasPrefix(string(link[:n]), "/sys/fs/cgroup"))
				if err == nil && !own { // Go has a few of its own
					return nil
				}
			}
			return unix.EBADF
		}},
	}
}

// processes are attacks on the host's process and on the kernel.
func processes() []attack {
	call := func(number uintptr, args ...uintptr) error {
		var a [6]uintptr
		copy(a[:], args)
		if _, _, e := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]); e != 0 {
			return e
		}
		return nil
	}
	proc := func(name string, flags int) func(*target) error {
		return func(t *target) error {
			fd, err := unix.Open(fmt.Sprintf("/proc/%d/%s", t.Host, name), flags|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			if flags == unix.O_RDONLY {
				_, err = unix.Read(fd, make([]byte, 9))
			}
			return err
		}
	}
	return []attack{
		{"signal-host", func(t *target) error { return unix.Kill(t.Host, 0) }},
		{"pidfd-signal-host", func(t *target) error {
			fd, err := unix.PidfdOpen(t.Host, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return unix.PidfdSendSignal(fd, 0, nil, 0)
		}},
		{"pidfd-getfd", func(t *target) error {
			fd, err := unix.PidfdOpen(t.Host, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return opened(unix.PidfdGetfd(fd, 0, 0))
		}},
		{"ptrace-host", func(t *target) error {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			if err := call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(t.Host)); err != nil {
				return err
			}
			return call(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(t.Host))
		}},
		{"read-host-memory", func(t *target) error {
			var b [8]byte
			local := []unix.Iovec{{Base: &b[0], Len: 8}}
			_, err := unix.ProcessVMReadv(t.Host, local, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0)
			return err
		}},
		{"host-environ", proc("environ", unix.O_RDONLY)},
		{"host-mem", proc("mem", unix.O_RDWR)},
		{"host-descriptor", proc("fd/1", unix.O_WRONLY)},
		{"host-oom-score", proc("oom_score_adj", unix.O_WRONLY)},
		{"host-limits", func(t *target) error {
			var now unix.Rlimit
			if err := unix.Prlimit(t.Host, unix.RLIMIT_CORE, nil, &now); err != nil {
				return err
			}
			return unix.Prlimit(t.Host, unix.RLIMIT_CORE, &now, nil)
		}},
		{"host-affinity", func(t *target) error {
			var set unix.CPUSet
			if err := unix.SchedGetaffinity(t.Host, &set); err != nil {
				return err
			}
			return unix.SchedSetaffinity(t.Host, &set)
		}},
		{"host-renice", func(t *target) error {
			now, err := unix.Getpriority(unix.PRIO_PROCESS, t.Host) // 20 less the nice value
			if err != nil {
				return err
			}
			return unix.Setpriority(unix.PRIO_PROCESS, t.Host, 20-now)
		}},
		{"keyctl", func(*target) error {
			_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
			return err
		}},
		{"user-namespace", func(*target) error {
			// A program of several threads may not unshare, so the flags of clone are asked.
			pid, _, e := unix.RawSyscall6(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
			if e != 0 {
				return e
			}
			if pid == 0 {
				unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
			}
			return wait(int(pid), nil)
		}},
		{"clone3", func(*target) error {
			var args [11]uint64 // flags = 0: EINVAL or a child, where clone3 is there at all
			args[4] = uint64(unix.SIGCHLD)
			pid, _, e := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
			if e != 0 {
				return e
			}
			if pid == 0 {
				unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
			}
			return wait(int(pid), nil)
		}},
		{"userfaultfd", func(*target) error { return call(unix.SYS_USERFAULTFD, 1) }},
		{"shared-memory", func(*target) error { return call(unix.SYS_SHMGET, 0, 4096, 0o1600) }},
	}
}
