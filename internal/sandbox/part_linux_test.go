//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// onKernel has the package see an older version of Landlock's interface until the test ends.
func onKernel(t *testing.T, abi int) {
	t.Helper()
	if now, _ := landlock(); now < abiScopes {
		t.Skipf("Landlock is of version %d here", now)
	}
	kernel, probe := landlock, Probe
	t.Cleanup(func() { landlock, Probe = kernel, probe })
	landlock = func() (int, uint) { return abi, 0 }
	if abi == 0 {
		landlock = func() (int, uint) { return 0, 0 }
	}
	Probe = sync.OnceValue(probed)
}

// On kernels before 6.12 a sandbox that must hold starts nothing. One that need not enforces what is there.
func TestOlderKernelsEnforceTheRest(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		abi     int
		ports   []uint16
		missing []Mechanism
		reads   bool
	}{
		{5, []uint16{1}, []Mechanism{MechanismReap}, false},
		{3, []uint16{1}, []Mechanism{MechanismReap, MechanismPorts}, false},
		{3, nil, []Mechanism{MechanismReap}, false},
		{1, nil, []Mechanism{MechanismReap, MechanismFiles}, true},
		{0, nil, []Mechanism{MechanismReap, MechanismFiles}, true},
	} {
		onKernel(t, tc.abi)
		policy := &Policy{Mode: Strict, Ports: tc.ports}
		var missing []Mechanism
		for _, f := range policy.Missing() {
			missing = append(missing, f.Mechanism)
		}
		if !slices.Equal(missing, tc.missing) {
			t.Errorf("version %d: missing %v, want %v", tc.abi, missing, tc.missing)
		}
		var refused *Error
		if err := Do(policy, func(*Inside) { t.Errorf("version %d: it ran", tc.abi) }); !errors.As(err, &refused) {
			t.Errorf("version %d: %v", tc.abi, err)
		}
		var reads bool
		var socket error
		err := Do(policy.Enforceable(), func(in *Inside) {
			fd, err := unix.Open(secret, unix.O_RDONLY, 0)
			if reads = err == nil; reads {
				unix.Close(fd)
			}
			if in.Reaped() {
				t.Errorf("version %d: it says that it reaps", tc.abi)
			}
			fd, socket = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if socket == nil {
				unix.Close(fd)
			}
		})
		if err != nil || reads != tc.reads || socket != syscall.EPERM {
			t.Errorf("version %d: %v, reads %v, want %v, socket: %v", tc.abi, err, reads, tc.reads, socket)
		}
	}
	if part := (&Policy{Mode: Reap}).Enforceable(); part != nil {
		t.Errorf("nothing can be enforced of %+v", part)
	}
}
