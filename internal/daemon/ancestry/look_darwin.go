package ancestry

import (
	"slices"

	"golang.org/x/sys/unix"
)

// Ours reports whether a process is named as this program is: its file is not
// known here.
func Ours(p Process) bool {
	return slices.Equal(p.Args(), []string{"tenterhook"})
}

// look asks the kernel about a process.
func look(pid int) (Process, bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return Process{}, false
	}
	started := info.Proc.P_starttime
	p := Process{PID: pid, Parent: int(info.Eproc.Ppid), TTY: info.Eproc.Tdev != -1,
		Start: uint64(started.Sec)*1e6 + uint64(started.Usec)}
	return p, true
}

// Args is the name of the process alone: its arguments are not read here.
func (p Process) Args() []string {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", p.PID)
	if err != nil || int(info.Proc.P_pid) != p.PID || info.Proc.P_comm[0] == 0 {
		return nil
	}
	return []string{unix.ByteSliceToString(info.Proc.P_comm[:])}
}

// Environ returns nil: environments of others are not read here.
func Environ(Process) []string { return nil }
