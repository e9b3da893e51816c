package asowner

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// drop takes from this thread what lets root read and write whatever the mode.
func drop(t testing.TB) (restore func()) {
	t.Helper()
	runtime.LockOSThread()
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var before [2]unix.CapUserData
	if err := unix.Capget(&head, &before[0]); err != nil {
		t.Fatal(err)
	}
	now := before
	now[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	if err := unix.Capset(&head, &now[0]); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := unix.Capset(&head, &before[0]); err != nil {
			t.Fatal(err)
		}
		runtime.UnlockOSThread()
	}
}
