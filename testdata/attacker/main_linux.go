package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// target is what the attacks are about.
type target struct {
	Outside string // a directory of the host with victim files
	Secret  string // a file of the host
	Own     string // one that it may read, under every mode
	Unix    string // a listening unix socket of the host, by path
	Name    string // the same, by abstract name

	Datagram string // one that takes datagrams, by path

	TCP   int // a listening port of the host
	Other int // another one
	UDP   int
	Host  int // its process
}

// attack is one thing to try. Wanted ones must work under every mode.
type attack struct {
	name string
	try  func(*target) error
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "beat" {
		beat(os.Args[2])
	}
	if len(os.Args) == 3 && os.Args[1] == "daemon" {
		daemon(os.Args[2])
		return
	}
	if len(os.Args) == 3 && os.Args[1] == "daemon-and-stay" {
		daemon(os.Args[2])
		time.Sleep(20 * time.Second)
		return
	}
	if len(os.Args) == 3 && os.Args[1] == "hopper" {
		hopper(os.Args[2], time.Now().Add(5*time.Second))
		return
	}
	if len(os.Args) == 3 && os.Args[1] == "owner" {
		pid, _ := strconv.Atoi(os.Args[2])
		signalByDescriptor(pid)
		return
	}
	var t target
	if err := json.Unmarshal([]byte(os.Args[1]), &t); err != nil {
		panic(err)
	}
	for _, list := range [][]attack{inherited(), files(), network(), processes()} {
		for _, a := range list {
			say(a.name, a.try(&t))
		}
	}
}

func say(name string, err error) {
	var errno syscall.Errno
	switch {
	case err == nil:
		fmt.Println(name, "ok")
	case errors.As(err, &errno):
		fmt.Println(name, unix.ErrnoName(errno))
	default:
		fmt.Println(name, "failed:", err)
	}
}

// beat lets a file grow for as long as it lives, 20 s at most.
func beat(file string) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		os.Exit(1)
	}
	for range 10000 {
		f.WriteString(".")
		time.Sleep(2 * time.Millisecond)
	}
	os.Exit(0)
}

// signalByDescriptor makes a process the owner of a pipe that signals when it can be read.
func signalByDescriptor(pid int) {
	var pipe [2]int
	unix.Pipe(pipe[:])
	unix.FcntlInt(uintptr(pipe[0]), unix.F_SETOWN, pid)
	unix.FcntlInt(uintptr(pipe[0]), unix.F_SETSIG, int(unix.SIGUSR1))
	unix.FcntlInt(uintptr(pipe[0]), unix.F_SETFL, unix.O_ASYNC|unix.O_NONBLOCK)
	unix.Write(pipe[1], []byte("x"))
}

// daemon leaves session, group, environment and parent.
func daemon(file string) {
	self, _ := os.Executable()
	line := fmt.Sprintf("setsid env -i %q beat %q </dev/null >/dev/null 2>&1 &", self, file)
	syscall.ForkExec("/bin/sh", []string{"sh", "-c", line}, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Setsid: true}})
	awaitBeat(file)
}

// awaitBeat returns once somebody writes the file: an attack that never ran proves nothing.
func awaitBeat(file string) {
	for range 5000 {
		if info, err := os.Stat(file); err == nil && info.Size() > 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// hopper never has the same process id for long.
func hopper(file string, until time.Time) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		os.Exit(1)
	}
	f.WriteString(".")
	if os.Getenv("HOPPING") == "" {
		os.Setenv("HOPPING", "1")
		self, _ := os.Executable()
		syscall.ForkExec(self, os.Args, &syscall.ProcAttr{Env: []string{"HOPPING=1"}, Sys: &syscall.SysProcAttr{Setsid: true}})
		awaitBeat(file)
		time.Sleep(100 * time.Millisecond)
		return
	}
	self, _ := os.Executable()
	syscall.ForkExec(self, os.Args, &syscall.ProcAttr{Env: []string{"HOPPING=1"}, Sys: &syscall.SysProcAttr{Setsid: true}})
}

// opened is the error of an open; what was opened is closed.
func opened(fd int, err error) error {
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func files() []attack {
	victim := func(t *target) string { return filepath.Join(t.Outside, "victim") }
	own := func(name string) string { return filepath.Join(os.TempDir(), name) }
	open := func(path func(*target) string, flags int) func(*target) error {
		return func(t *target) error { return opened(unix.Open(path(t), flags|unix.O_CLOEXEC, 0o600)) }
	}
	outside := func(name string) func(*target) string {
		return func(t *target) string { return filepath.Join(t.Outside, name) }
	}
	secret := func(t *target) string { return t.Secret }
	return []attack{
		{"wanted-write-inside", open(func(*target) string { return own("own") }, unix.O_CREAT|unix.O_WRONLY)},
		{"wanted-memfd", func(*target) error { return opened(unix.MemfdCreate("x", 0)) }},
		{"wanted-null", open(func(*target) string { return "/dev/null" }, unix.O_RDWR)},
		{"create-outside", open(outside("new"), unix.O_CREAT|unix.O_WRONLY)},
		{"write-outside", open(victim, unix.O_WRONLY)},
		{"open-truncate", open(victim, unix.O_RDONLY|unix.O_TRUNC)},
		{"truncate", func(t *target) error { return unix.Truncate(victim(t), 1) }},
		{"mkdir", func(t *target) error { return unix.Mkdir(outside("dir")(t), 0o700) }},
		{"symlink", func(t *target) error { return unix.Symlink("/etc", outside("link")(t)) }},
		{"mkfifo", func(t *target) error { return unix.Mkfifo(outside("fifo")(t), 0o600) }},
		{"unlink", func(t *target) error { return unix.Unlink(outside("victim2")(t)) }},
		{"hardlink-in", func(t *target) error { return unix.Link(victim(t), own("linked")) }},
		{"hardlink-secret", func(t *target) error { return unix.Link(t.Secret, own("linkedsecret")) }},
		{"rename-in", func(t *target) error { return unix.Rename(outside("victim3")(t), own("moved")) }},
		{"rename-over", func(t *target) error { return unix.Rename(own("own"), victim(t)) }},
		{"chmod", func(t *target) error { return unix.Chmod(victim(t), 0o777) }},
		{"utimes", func(t *target) error {
			return unix.UtimesNanoAt(unix.AT_FDCWD, victim(t), []unix.Timespec{{Sec: 1}, {Sec: 1}}, 0)
		}},
		{"setxattr", func(t *target) error { return unix.Setxattr(victim(t), "user.x", []byte("y"), 0) }},
		{"chown", func(t *target) error { return unix.Chown(victim(t), os.Getuid(), os.Getgid()) }},
		{"inode-flags", func(t *target) error { // chattr, on a file that may be read
			fd, err := unix.Open(t.Own, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
			if err != nil {
				return err
			}
			return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, flags|0x40 /* FS_NODUMP_FL */)
		}},
		{"times-of-descriptor", func(t *target) error {
			fd, err := unix.Open(t.Own, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return unix.Futimes(fd, []unix.Timeval{{Sec: 1}, {Sec: 1}})
		}},
		{"lease", func(t *target) error {
			fd, err := unix.Open(t.Own, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
			return err
		}},
		{"write-shm", open(func(*target) string { return "/dev/shm/tenterhook-attack" }, unix.O_CREAT|unix.O_WRONLY)},
		{"write-tmp", open(func(*target) string { return "/tmp/tenterhook-attack" }, unix.O_CREAT|unix.O_WRONLY)},
		{"core-pattern", open(func(*target) string { return "/proc/sys/kernel/core_pattern" }, unix.O_WRONLY)},
		{"read-secret", open(secret, unix.O_RDONLY)},
		{"secret-by-proc-root", open(func(t *target) string { return "/proc/self/root" + t.Secret }, unix.O_RDONLY)},
		{"secret-by-symlink", func(t *target) error {
			unix.Symlink(t.Secret, own("tosecret"))
			return opened(unix.Open(own("tosecret"), unix.O_RDONLY, 0))
		}},
		{"secret-by-handle", func(t *target) error {
			fd, err := unix.Open(t.Secret, unix.O_PATH|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return opened(unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_RDONLY, 0))
		}},
		{"list-secrets", open(func(t *target) string { return filepath.Dir(t.Secret) }, unix.O_RDONLY|unix.O_DIRECTORY)},
		{"exec-of-memfd-writes", func(t *target) error { // what is started from memory is contained as well
			fd, err := unix.MemfdCreate("script", 0)
			if err != nil {
				return err
			}
			unix.Write(fd, []byte("#!/bin/sh\necho x > \""+outside("memfd")(t)+"\"\n"))
			path := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd)
			return wait(syscall.ForkExec("/bin/sh", []string{"sh", path}, &syscall.ProcAttr{Files: []uintptr{0, 2, 2}}))
		}},
	}
}

// wait returns EACCES for a child that failed.
func wait(pid int, err error) error {
	if err != nil {
		return err
	}
	var status unix.WaitStatus
	unix.Wait4(pid, &status, 0, nil)
	if status.ExitStatus() != 0 {
		return unix.EACCES
	}
	return nil
}
