package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// otherABI is for machines where one number can mean two calls.
var otherABI []unix.SockFilter

// olderMetadataCalls are calls that this machine never had.
var olderMetadataCalls []uint32
