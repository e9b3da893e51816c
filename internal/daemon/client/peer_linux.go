package client

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// genuine tells whether the process at the other end runs the same program file
// that this client would start: what listens in the daemon's place may be of
// another version, or no daemon at all. A peer that cannot be seen, as from
// inside of a container, counts as genuine: its directory is the user's own.
func (c conn) genuine(program os.FileInfo) (genuine bool, pid int) {
	peer, err := syscall.GetsockoptUcred(int(c), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil || int(peer.Uid) != os.Geteuid() {
		return false, 0
	}
	if peer.Pid <= 0 {
		return true, 0
	}
	running, err := os.Stat("/proc/" + strconv.Itoa(int(peer.Pid)) + "/exe")
	if err != nil {
		return os.IsPermission(err), 0
	}
	return os.SameFile(running, program), int(peer.Pid)
}

// startOf is when a process was started, as the kernel writes it; "" = it is gone.
func startOf(pid int) string {
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	// "pid (name) state …": a name may hold anything. The time is the 20th behind it.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}
