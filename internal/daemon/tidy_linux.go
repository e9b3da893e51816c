package daemon

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"
)

// tidy gives memory back to the system: what Go has freed, and the pages of the
// program file that only loading hooks needs. The system reads those again from
// its cache when they are used.
func tidy() {
	debug.FreeOSMemory()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		var mode string
		fields := strings.Fields(line)
		if len(fields) < 6 || fields[5] != self || strings.Contains(fields[1], "w") {
			continue // a page that was written to is nowhere else
		}
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); n == 3 && from < to {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED)
		}
	}
}
