//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Probe says what this machine enforces. It tries each mechanism on a thread of its own, once a process, and
// takes a few milliseconds the first time. A version alone says little: containers forbid what the kernel has.
var Probe = sync.OnceValue(probed)

func probed() []Finding {
	return []Finding{
		tried(MechanismReap, "Landlock", tryReap),
		tried(MechanismFiles, "Landlock", tryFiles),
		tried(MechanismNetwork, "seccomp", tryNetwork),
		tried(MechanismPorts, "Landlock and seccomp", tryPorts),
		{Mechanism: MechanismMemory, By: "resource limits"},
	}
}

// remedies say what to do about a mechanism that is not enforced.
const (
	remedyOld       = "update the kernel: Linux 6.12 or later has all of it"
	remedyWithin    = "run it outside of the other sandbox, or give the hooks around it the mode \"reap\""
	remedyForbidden = "let the container's seccomp profile allow the landlock system calls, or run on the machine itself"
)

// tried tries a mechanism on a thread that ends afterwards.
func tried(m Mechanism, by string, try func() error) Finding {
	done := make(chan error, 1)
	go OnOwnThread(func() { done <- try() })
	err := <-done
	switch {
	case err == nil:
		return Finding{Mechanism: m, By: by}
	case errors.Is(err, errWithin), errors.Is(err, unix.E2BIG):
		return Finding{Mechanism: m, Why: err.Error(), Remedy: remedyWithin}
	case errors.Is(err, errNoLandlock):
		return Finding{Mechanism: m, Why: err.Error(), Remedy: remedyForbidden}
	}
	return Finding{Mechanism: m, Why: err.Error(), Remedy: remedyOld}
}

var errNoLandlock = errors.New("no Landlock: the kernel is built without it, it was not switched on at boot, or this container forbids it")

// needs returns an error if Landlock is older than a version of its interface.
func needs(version int, linux string) error {
	switch abi, _ := landlock(); {
	case abi == 0:
		return errNoLandlock
	case abi < version:
		return fmt.Errorf("version %d of Landlock is here, and %d is needed (Linux %s)", abi, version, linux)
	}
	return nil
}

// try restricts the calling thread by a policy, without a guard.
func (p *Policy) try() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	ruleset, err := p.ruleset("")
	if err != nil {
		return err
	}
	return enterDomain(ruleset)
}

func tryReap() error {
	if err := needs(abiScopes, "6.12"); err != nil {
		return err
	}
	if err := (&Policy{Mode: Reap}).try(); err != nil {
		return err
	}
	_, err := proveScope()
	return err
}

func tryFiles() error {
	if err := needs(abiTruncate, "6.2"); err != nil {
		return err
	}
	probe, err := os.CreateTemp("", "tenterhook-probe-")
	if err != nil {
		return err
	}
	probe.Close()
	defer onFreeThread(func() error { return os.Remove(probe.Name()) })
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	ruleset, err := (&Policy{Mode: ReadOnly}).ruleset("")
	if err != nil {
		return err
	}
	if err := enterDomain(ruleset); err != nil {
		return err
	}
	fd, err := unix.Open(probe.Name(), unix.O_WRONLY|unix.O_CLOEXEC, 0)
	return mustFail(fd, err, "a file could be written")
}

func tryNetwork() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := install((&Policy{Mode: Strict}).filter()); err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	return mustFail(fd, err, "a socket could be opened")
}

func tryPorts() error {
	if err := needs(abiPorts, "6.7"); err != nil {
		return err
	}
	return (&Policy{Mode: Reap, Ports: []uint16{}}).try()
}

// mustFail turns what should not have worked into an error.
func mustFail(fd int, err error, what string) error {
	if err != nil {
		return nil
	}
	unix.Close(fd)
	return errors.New("the kernel took the restriction and does not enforce it: " + what)
}
