//go:build linux || darwin

package client

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tenterhook/tenterhook/bridge/closed"
)

// Main answers one hook entry, "tenterhook-bridge AGENT EVENT", and ends the
// process. It returns only to its tests' helpers: never.
func Main(args []string) {
	where, alone, args := options(args)
	if len(args) != 2 {
		os.Stderr.WriteString("usage: tenterhook-bridge [--direct] [--env VARIABLE=VALUE]... AGENT EVENT\n" +
			"It hands a hook call of an agent to the tenterhook daemon; 'tenterhook install' writes the entries that run it.\n" +
			"--env says where the operator's hooks are, as in --env HOME=/home/me, whatever the agent's environment says.\n")
		os.Exit(usageCode(args))
	}
	if alone {
		direct(where, args[0], args[1])
	}
	e := entry{agent: args[0], event: args[1], where: where, began: time.Now()}
	defer func() {
		if p := recover(); p != nil { // Go would exit with 2, which keeps an agent working at Stop
			e.giveUp("its client failed")
		}
	}()
	e.run()
}

// direct becomes the tenterhook beside this program, which decides alone.
func direct(where []string, agent, event string) {
	program, err := sibling()
	if err == nil {
		err = syscall.Exec(program.path, bridgeArgs(program.path, where, agent, event), os.Environ())
	}
	e := entry{agent: agent, event: event}
	e.giveUp(err.Error())
}

// entry is one call of a hook entry.
type entry struct {
	agent, event string
	where        []string
	began        time.Time
	deadline     time.Time
	begun        *conn     // of a connection that no call was sent by; nil = none
	once         sync.Once // who answers first is who answers
	timed        sync.Once
}

// takesLong gives up at the deadline. It is for what may block for longer than the
// limit of a connection: a timer costs the entry a thread.
func (e *entry) takesLong() {
	e.timed.Do(func() {
		time.AfterFunc(time.Until(e.deadline), func() {
			e.giveUp("no answer within " + e.deadline.Sub(e.began).String())
		})
	})
}

func (e *entry) run() {
	e.deadline = e.began.Add(closed.Deadline(e.agent, e.event))
	place := Find(os.Getenv)
	if err := place.Make(); err != nil {
		e.giveUp("the directory of its socket cannot be used: " + err.Error())
	}
	e.begin(place)
	stdin, err := readAll(0, func() { e.unbegin(); e.takesLong() })
	if err != nil {
		e.giveUp("its input cannot be read: " + err.Error())
	}
	program, err := sibling()
	if err != nil {
		e.giveUp(err.Error())
	}
	call := Call{Agent: e.agent, Event: e.event, Stdin: stdin, Env: os.Environ(), Umask: Umask(), Program: program.stamp(), Began: e.began, Where: e.where}
	call.Dir, _ = os.Getwd()
	answer, err := e.ask(place, program, &call)
	if err != nil {
		e.giveUp(err.Error())
	}
	e.answer(answer)
}

// begin connects before there is anything to say: the daemon wakes up, and looks who
// asks, while this process still prepares its call.
func (e *entry) begin(place Place) {
	if c, err := dial(place.Socket, e.takeWithin()); err == nil {
		e.begun = &c
	}
}

// unbegin lets go of the connection: a daemon does not wait for a silent client.
func (e *entry) unbegin() {
	if e.begun != nil {
		e.begun.close()
		e.begun = nil
	}
}

// dial returns the connection that begin made, or another one.
func (e *entry) dial(place Place) (conn, error) {
	if e.begun == nil {
		return dial(place.Socket, e.takeWithin())
	}
	c := *e.begun
	e.begun = nil
	return c, nil
}

// ask asks the daemon. Where none runs one is started. Where one fails another
// takes its place, once, and is asked again.
func (e *entry) ask(place Place, program program, call *Call) (*Answer, error) {
	var before string
	for started := false; ; {
		answer, f := e.try(place, program, call)
		switch {
		case f == nil:
			return answer, nil
		case f.absent && !started:
			started = true
		case before != "":
			return nil, errors.New(f.why + " (again, after: " + before + ")")
		default:
			started, before = true, f.why
		}
		e.takesLong()
		if err := e.restart(place, program, f); err != nil {
			return nil, err
		}
	}
}

// fault is why a daemon did not answer.
type fault struct {
	why    string
	absent bool // nothing listens
	cut    bool // the connection ended before the daemon took the call
	kill   culprit
}

// culprit is a process that holds the socket and must not. The zero culprit is none.
type culprit struct {
	pid   int
	start string // tells it from a later process of that number
}

// caught returns the culprit that is at the other end of a connection.
func caught(pid int) culprit { return culprit{pid, startOf(pid)} }

// end ends the process, if it is still there.
func (c culprit) end() {
	if c.pid > 0 && c.start == startOf(c.pid) {
		_ = syscall.Kill(c.pid, syscall.SIGKILL)
	}
}

// takeWithin is how long a daemon may take to read a call and say so. It does
// that at once; the time is for a machine under load.
const takeWithin = 5 * time.Second

// takeWithin is how long a daemon may take of what is left.
func (e *entry) takeWithin() time.Duration { return min(takeWithin, time.Until(e.deadline)/3) }

// beatWithin is how long a daemon that has a call may say nothing.
const beatWithin = 4 * BeatEvery

// try asks the daemon that there is. It may have let go of the connection that begin
// made, if this process was held up for long.
func (e *entry) try(place Place, program program, call *Call) (*Answer, *fault) {
	early := e.begun != nil
	answer, f := e.tryOnce(place, program, call)
	if early && f != nil && f.cut {
		return e.tryOnce(place, program, call)
	}
	return answer, f
}

func (e *entry) tryOnce(place Place, program program, call *Call) (*Answer, *fault) {
	c, err := e.dial(place)
	if err != nil {
		return nil, &fault{why: "the daemon cannot be reached: " + err.Error(), absent: true}
	}
	defer c.close()
	genuine, pid := c.genuine(program.info)
	frame := AppendFrame(nil, KindYield)
	if genuine {
		call.Patience = time.Until(e.deadline)
		frame = call.Frame()
	}
	if err := c.write(frame); err != nil {
		return nil, &fault{why: "the daemon did not take the call: " + err.Error(), cut: true}
	}
	from := reader{from: c}
	kind, fields, err := ReadFrame(from.read)
	switch {
	case err == nil && kind == KindReplaced, errors.Is(err, ErrProtocol):
		return nil, &fault{why: "the daemon is of another version"}
	case !genuine:
		return nil, &fault{why: "another program listens in the daemon's place", kill: caught(pid)}
	case errors.Is(err, syscall.EAGAIN):
		return nil, &fault{why: "the daemon does not respond", kill: caught(pid)}
	case err != nil:
		return nil, &fault{why: "the daemon ended before it took the call: " + err.Error(), cut: true}
	case kind == KindTaken:
		e.takesLong()
		c.limit(beatWithin)
	}
	for err == nil && kind == KindTaken {
		kind, fields, err = ReadFrame(from.read)
	}
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return nil, &fault{why: "the daemon hangs", kill: caught(pid)}
	case err != nil:
		return nil, &fault{why: "the daemon ended in the middle of the call: " + err.Error()}
	case kind != KindAnswer:
		return nil, &fault{why: "the daemon's answer cannot be read"}
	}
	answer, err := ParseAnswer(fields)
	if err != nil {
		return nil, &fault{why: "the daemon's answer cannot be read"}
	}
	return answer, nil
}

// restart sees to it that a daemon of our own version runs. Only one client at
// a time does that.
func (e *entry) restart(place Place, program program, f *fault) error {
	lock, err := lockFile(place.Start)
	if err != nil {
		return errors.New("the daemon cannot be started: " + err.Error())
	}
	defer syscall.Close(lock)
	silence := min(takeWithin/2, time.Until(e.deadline)/4)
	if e.healthy(place, program, silence) {
		return nil // another client was first
	}
	f.kill.end()
	return startDaemon(program.path)
}

// healthy tells whether a daemon of our own version answers.
func (e *entry) healthy(place Place, program program, silence time.Duration) bool {
	c, err := dial(place.Socket, silence)
	if err != nil {
		return false
	}
	defer c.close()
	if genuine, _ := c.genuine(program.info); !genuine || c.write(AppendFrame(nil, KindPing, []byte(program.stamp()))) != nil {
		return false
	}
	kind, _, err := ReadFrame(c.read)
	return err == nil && kind == KindTaken
}

// answer prints the daemon's answer and exits as it says.
func (e *entry) answer(a *Answer) {
	e.once.Do(func() {
		err := writeAll(1, a.Stdout)
		_ = writeAll(2, a.Stderr)
		os.Exit(a.Code(e.agent, e.event, os.Stdout, err))
	})
	select {} // the first one ends the process
}

// giveUp answers what the event's failure policy says, and exits.
func (e *entry) giveUp(why string) {
	a := closed.Undecided(e.agent, e.event, why)
	e.answer(&Answer{Stdout: []byte(a.Stdout), Stderr: []byte(a.Stderr), ExitCode: a.ExitCode})
}

// program is the tenterhook that this client would start.
type program struct {
	path string
	info os.FileInfo
}

func (p program) stamp() string { return stampOf(p.info) }

// sibling is the tenterhook beside this program, whatever the environment says.
func sibling() (program, error) {
	self, err := ownPath()
	if err != nil {
		return program{}, err
	}
	p := program{path: filepath.Join(filepath.Dir(self), "tenterhook")}
	if p.info, err = os.Stat(p.path); err != nil || p.info.Mode()&0o111 == 0 {
		return program{}, errors.New(p.path + " is missing or cannot be executed: install tenterhook again")
	}
	return p, nil
}

// ownPath is the file that this process runs, without links on the way.
func ownPath() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", errors.New("its own path is not known: " + err.Error())
	}
	if strings.HasSuffix(self, " (deleted)") {
		return "", errors.New("its own program file was deleted: install tenterhook again")
	}
	if runtime.GOOS == "linux" { // the kernel says where it is
		return self, nil
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	return self, nil
}
