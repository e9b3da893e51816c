package worker_test

import (
	"os"
	"time"
)

func stopSelf() { time.Sleep(time.Minute) }

func processExists(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	p.Release()
	return true
}
