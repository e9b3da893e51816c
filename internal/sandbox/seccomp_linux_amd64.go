package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

// otherABI refuses the numbers of x32, where they mean other calls.
var otherABI = []unix.SockFilter{jump(atLeast, 0x40000000, 0, 1), refuse(unix.ENOSYS)}

// olderMetadataCalls are calls that newer machines never had.
var olderMetadataCalls = []uint32{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}
