//go:build linux || darwin

package process

import (
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// guards is this host's guard: a shell that reads groups from a pipe, and kills them when the pipe
// breaks because the host is gone. It exists while there is a group to guard, so that a host at rest
// has no process of ours.
var guards guard

type guard struct {
	mu     sync.Mutex
	pid    int // 0: there is none
	pipe   int // where it hears from us
	groups map[int]struct{}
}

// guardScript keeps the set of groups in $l, each between blanks. A host that ends, in whatever way,
// breaks the pipe; then read fails.
const guardScript = `l=
while read -r op g; do
	case $op in
	+) l="$l $g " ;;
	-) l="${l%%" $g "*}${l#*" $g "}" ;;
	esac
done
for g in $l; do kill -9 "-$g"; done`

// add puts a group under guard, if there can be one.
func (g *guard) add(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pid == 0 && g.start() != nil {
		return
	}
	if g.say('+', group) == nil {
		g.groups[group] = struct{}{}
	} else if len(g.groups) == 0 {
		g.end()
	}
}

// remove takes a group out again; it must not have been reaped yet.
func (g *guard) remove(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.groups[group]; !ok {
		return // its guard is gone, and was perhaps followed by another
	}
	delete(g.groups, group)
	// A guard that could not hear this would, much later, kill the process that has that pid then.
	if len(g.groups) == 0 || g.say('-', group) != nil {
		g.end()
	}
}

// say never blocks: a guard that does not listen is as good as none.
func (g *guard) say(op byte, group int) error {
	line := append([]byte{op, ' '}, strconv.Itoa(group)...)
	_, err := unix.Write(g.pipe, append(line, '\n'))
	return err
}

func (g *guard) start() error {
	r, w, err := newPipe()
	if err != nil {
		return err
	}
	defer unix.Close(r)
	if err := unix.SetNonblock(w, true); err != nil {
		unix.Close(w)
		return err
	}
	inheritNothing()
	attr := syscall.ProcAttr{
		Dir:   "/",
		Files: []uintptr{uintptr(r), uintptr(r), uintptr(r)}, // what it says goes nowhere: r can not be written
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	}
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", guardScript}, &attr)
	if err != nil {
		unix.Close(w)
		return err
	}
	g.pid, g.pipe, g.groups = pid, w, make(map[int]struct{})
	return nil
}

// end stops the guard before it can see the pipe break.
func (g *guard) end() {
	unix.Kill(g.pid, unix.SIGKILL)
	reap(g.pid)
	unix.Close(g.pipe)
	g.pid, g.groups = 0, nil
}
