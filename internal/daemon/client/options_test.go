package client

import "testing"

// Go ends a program that panics or meets a fatal error with exit code 2, which blocks.
func TestACrashOfGoIsNoDenial(t *testing.T) {
	for said, want := range map[string]bool{
		"panic: x\n\ngoroutine 1 [running]:": true, "panic: x\n": true, "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [select]:": true,
		"runtime: out of memory\nfatal error: out of memory\n\nruntime stack:\n":            true,
		"unexpected fault address 0x0\nfatal error: fault\n\ngoroutine 1 gp=0x1 [running]:": true,
		"": false, "no pushes": false, "do not panic: it is blocked": false, "fatal error: the tests fail": false,
		"a test fails:\nfatal error: x\ngoroutine 1 [running]:": false,
	} {
		if got := crashed([]byte(said)); got != want {
			t.Errorf("%q: %v, want %v", said, got, want)
		}
	}
}
