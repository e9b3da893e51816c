package mcptool_test

import (
	"os"
	"testing"
	"time"
)

func stopSelf() { select {} }

func mustBeGone(t testing.TB, pid int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if p, err := os.FindProcess(pid); err != nil {
			return
		} else if p.Release(); time.Now().After(deadline) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}
