//go:build amd64 || arm64

package sandbox

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// guard is a process in the outer domain. When the host is gone its pipe breaks; then it kills that domain, and
// becomes a shell that removes the run's own directory.
type guard struct {
	pid, pipe int
	plan      *guardPlan // what the process reads; kept as long as it lives
}

// guardPlan is what the guard's process needs. The assembly knows the offsets of its fields.
//
// To start a shell for each run would take longer than the run. So the guard is a clone that shares the host's
// memory: it runs a few system calls on registers alone, with all signals blocked, and never runs Go. What it
// reads is here, outside of the host's stacks; memory that is shared outlives the host.
type guardPlan struct {
	program *byte    // 0
	argv    **byte   // 8
	envp    **byte   // 16
	root    *byte    // 24
	name    *byte    // 32
	pipe    uintptr  // 40: the descriptor that it reads
	_       [8]byte  // 48: where it reads to
	words   [6]*byte // of argv, the last one nil
	none    *byte    // of envp
}

// cloneGuard starts the guard's process. The result is its id, or the negated number of an error.
func cloneGuard(p *guardPlan) (pid uintptr)

// ownWord is the place of the directory in the words.
const ownWord = 4

var (
	guardProgram = cString("/bin/sh")
	guardWords   = [ownWord]*byte{cString("sh"), cString("-c"), cString(`[ -z "$1" ] || rm -rf -- "$1"`), cString("sh")}
	guardRoot    = cString("/")
	guardName    = cString("hook-guard")
)

func cString(s string) *byte { return unsafe.StringData(s + "\x00") }

// startGuard starts the guard of the calling thread, which is in the outer domain and not yet in the inner one.
func startGuard() (guard, error) {
	none := guard{pipe: -1}
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return none, err
	}
	defer unix.Close(ends[0])
	p := &guardPlan{program: guardProgram, root: guardRoot, name: guardName, pipe: uintptr(ends[0])}
	copy(p.words[:], guardWords[:])
	p.argv, p.envp = &p.words[0], &p.none
	var all, before unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	// A handler of Go's would run on the thread's own stack, in the wrong process.
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &before); err != nil {
		unix.Close(ends[1])
		return none, err
	}
	pid := int(cloneGuard(p))
	unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	if pid < 0 {
		unix.Close(ends[1])
		return none, unix.Errno(-pid)
	}
	return guard{pid, ends[1], p}, nil
}

// removes has the guard remove a directory once the host is gone.
func (g guard) removes(dir string) {
	if dir != "" {
		g.plan.words[ownWord] = cString(dir)
	}
}

// end ends the guard. It must be called on a thread outside its domain.
func (g guard) end() {
	if g.pid == 0 {
		return
	}
	unix.Kill(g.pid, unix.SIGKILL)
	for {
		if _, err := unix.Wait4(g.pid, nil, 0, nil); err != unix.EINTR {
			break
		}
	}
	runtime.KeepAlive(g.plan) // the guard reads it until it has ended
	unix.Close(g.pipe)
}
