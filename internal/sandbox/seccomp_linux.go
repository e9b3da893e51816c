//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data, see seccomp(2).
const (
	callNumber = 0
	callArch   = 4
	callArg    = 16 // + 8*n: the low half, on a little-endian machine
)

// The instructions of a filter.
const (
	load     = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	equals   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	atLeast  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	anyBitOf = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	skip     = unix.BPF_JMP | unix.BPF_JA
	mask     = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	answer   = unix.BPF_RET | unix.BPF_K
)

func op(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }

func jump(code uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k}
}

func refuse(e unix.Errno) unix.SockFilter { return op(answer, unix.SECCOMP_RET_ERRNO|uint32(e)) }

var allow = op(answer, unix.SECCOMP_RET_ALLOW)

// sockType is the part of socket's second argument that is not a flag.
const sockType = 0xf

// riskyCalls are refused in every filter: what Landlock does not see, and the kernel's riskiest doors.
var riskyCalls = []uint32{
	unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_FSCONFIG, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR,
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_ACCT, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
	unix.SYS_REBOOT, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
	unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES, unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET,
	unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE, unix.SYS_FANOTIFY_INIT, unix.SYS_QUOTACTL, unix.SYS_SYSLOG,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_CLOCK_SETTIME, unix.SYS_SETTIMEOFDAY, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
}

// metadataCalls change what a file is to others. Landlock does not see them.
var metadataCalls = append([]uint32{
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
	unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTRAT, sysFileSetattr,
}, olderMetadataCalls...)

// sysFileSetattr is file_setattr of Linux 6.17, the same number on each system.
const sysFileSetattr = 469

// newNamespaces are the flags of clone that make a namespace.
const newNamespaces = unix.CLONE_NEWTIME | unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// calls maps the number of a system call to what is done with it. What is not named is allowed.
type calls map[uint32][]unix.SockFilter

func (c calls) refuse(e unix.Errno, numbers ...uint32) {
	for _, nr := range numbers {
		c[nr] = []unix.SockFilter{refuse(e)}
	}
}

// refuseIf refuses a call where a test of an argument holds: an instruction that jumps 0 ahead for yes.
func (c calls) refuseIf(arg uint32, test unix.SockFilter, numbers ...uint32) {
	for _, nr := range numbers {
		c[nr] = []unix.SockFilter{op(load, callArg+8*arg), test, refuse(unix.EPERM), allow}
	}
}

// filters keeps the filter of each kind of policy: to make one takes longer than to install it.
var filters sync.Map // filterKind → []unix.SockFilter

// filterKind is what a filter depends on.
type filterKind struct {
	mode                  Mode
	serve, offline, ports bool
}

// refuseValues refuses a call with one of these values of an argument.
func (c calls) refuseValues(arg, number uint32, values ...uint32) {
	body := []unix.SockFilter{op(load, callArg+8*arg)}
	for i, v := range values {
		body = append(body, jump(equals, v, uint8(len(values)-i), 0))
	}
	c[number] = append(body, allow, refuse(unix.EPERM))
}

// filter is the deny list of a policy: it backs Landlock up. It must not be changed.
func (p *Policy) filter() []unix.SockFilter {
	kind := filterKind{p.Mode, p.Serve, p.offline(), len(p.Ports) > 0}
	if made, ok := filters.Load(kind); ok {
		return made.([]unix.SockFilter)
	}
	made, _ := filters.LoadOrStore(kind, p.makeFilter())
	return made.([]unix.SockFilter)
}

func (p *Policy) makeFilter() []unix.SockFilter {
	c := calls{}
	c.refuse(unix.ENOSYS, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_CLONE3)
	c.refuse(unix.EPERM, riskyCalls...)
	c.refuseIf(0, jump(anyBitOf, newNamespaces, 0, 1), unix.SYS_CLONE, unix.SYS_UNSHARE)
	// The host stops a child at its execve to set limits: for that it asks to be traced, and is let go.
	c[unix.SYS_PTRACE] = []unix.SockFilter{op(load, callArg),
		jump(equals, unix.PTRACE_TRACEME, 2, 0), jump(equals, unix.PTRACE_DETACH, 1, 0), refuse(unix.EPERM), allow}
	// Limits and processors of other processes: the first argument must be 0, which is oneself.
	c.refuseIf(0, jump(equals, 0, 1, 0), unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER,
		unix.SYS_SCHED_SETATTR, unix.SYS_SCHED_SETPARAM)
	// A pair of datagram sockets sends to any path, and connects to any. The other kinds stay a pair.
	c[unix.SYS_SOCKETPAIR] = []unix.SockFilter{op(load, callArg+8), op(mask, sockType),
		jump(equals, unix.SOCK_STREAM, 2, 0), jump(equals, unix.SOCK_SEQPACKET, 1, 0), refuse(unix.EPERM), allow}
	// A lease on a file that it may read keeps others from writing it.
	c.refuseValues(1, unix.SYS_FCNTL, unix.F_SETLEASE, unix.F_NOTIFY)
	typing := []uint32{unix.TIOCSTI, tiocLinux} // on the user's terminal
	if p.Mode == Strict {
		c.refuse(unix.EPERM, metadataCalls...)
		typing = append(typing, inodeFlags...)
	}
	c.refuseValues(1, unix.SYS_IOCTL, typing...)
	p.filterSockets(c)
	program := []unix.SockFilter{op(load, callArch), jump(equals, auditArch, 1, 0), refuse(unix.ENOSYS), op(load, callNumber)}
	program = append(program, otherABI...)
	return append(program, c.tree(slices.Sorted(maps.Keys(c)))...)
}

const tiocLinux = 0x541c

// inodeFlags are the ioctls that change what a file is to others: FS_IOC_SETFLAGS and FS_IOC_SETVERSION for both
// sizes of a long, FS_IOC_FSSETXATTR, FS_IOC_SET_ENCRYPTION_POLICY, FS_IOC_ENABLE_VERITY and FAT_IOCTL_SET_ATTRIBUTES.
var inodeFlags = []uint32{0x40086602, 0x40046602, 0x40087602, 0x40047602, 0x401c5820, 0x800c6613, 0x40806685, 0x40047211}

// filterSockets narrows which sockets may be opened. socketpair stays: it reaches no other process.
func (p *Policy) filterSockets(c calls) {
	switch {
	case p.Serve:
		// A stream goes nowhere without connect. A datagram would.
		c[unix.SYS_SOCKET] = []unix.SockFilter{
			op(load, callArg), jump(equals, unix.AF_UNIX, 0, 4),
			op(load, callArg+8), op(mask, sockType), jump(equals, unix.SOCK_STREAM, 0, 1),
			allow, refuse(unix.EPERM)}
		c.refuse(unix.EPERM, unix.SYS_CONNECT)
	case p.offline() && len(p.Ports) > 0:
		// TCP alone: Landlock's rules about ports do not see MPTCP and SCTP.
		c[unix.SYS_SOCKET] = []unix.SockFilter{
			op(load, callArg), jump(equals, unix.AF_INET, 1, 0), jump(equals, unix.AF_INET6, 0, 6),
			op(load, callArg+8), op(mask, sockType), jump(equals, unix.SOCK_STREAM, 0, 3),
			op(load, callArg+16), jump(equals, 0, 2, 0), jump(equals, unix.IPPROTO_TCP, 1, 0),
			refuse(unix.EPERM), allow}
		// Nor a connection that is made by sending with MSG_FASTOPEN.
		c.refuseIf(3, jump(anyBitOf, unix.MSG_FASTOPEN, 0, 1), unix.SYS_SENDTO, unix.SYS_SENDMMSG)
		c.refuseIf(2, jump(anyBitOf, unix.MSG_FASTOPEN, 0, 1), unix.SYS_SENDMSG)
		c.refuse(unix.EPERM, unix.SYS_LISTEN) // which binds by itself, to a free port
	case p.offline():
		c.refuse(unix.EPERM, unix.SYS_SOCKET)
	default:
		// A process that reaches D-Bus, a container engine or a key agent has its rights.
		c.refuseIf(0, jump(equals, unix.AF_UNIX, 0, 1), unix.SYS_SOCKET)
	}
}

// tree searches the number, which is loaded, among numbers. The kernel runs a filter once for each number
// when it is installed, so a list would take long.
func (c calls) tree(numbers []uint32) []unix.SockFilter {
	if len(numbers) == 1 {
		body := c[numbers[0]]
		return append(append([]unix.SockFilter{jump(equals, numbers[0], 0, uint8(len(body)))}, body...), allow)
	}
	half := len(numbers) / 2
	low, high := c.tree(numbers[:half]), c.tree(numbers[half:])
	program := []unix.SockFilter{jump(atLeast, numbers[half], 0, 1), op(skip, uint32(len(low)))}
	if len(low) < 256 {
		program = []unix.SockFilter{jump(atLeast, numbers[half], uint8(len(low)), 0)}
	}
	return append(append(program, low...), high...)
}

// install puts the calling thread, and what it starts, behind a filter.
func install(filter []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog))); e != 0 {
		return fmt.Errorf("seccomp: %w", e)
	}
	return nil
}
