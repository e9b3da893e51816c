package worker_test

import (
	"time"

	"golang.org/x/sys/windows"
)

func stopSelf() { time.Sleep(time.Minute) }

// processExists looks whether it has ended: while anybody has a handle of it, it can still be opened.
func processExists(pid int) bool {
	p, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(p)
	event, err := windows.WaitForSingleObject(p, 0)
	return err == nil && event == uint32(windows.WAIT_TIMEOUT)
}
