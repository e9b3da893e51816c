//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// Modes that need signals, sessions or descriptors.
func init() {
	modes["fds"] = mode{"", "prints the numbers of its open descriptors as JSON", descriptors}
	modes["stubborn"] = mode{"DURATION", "ignores SIGTERM, prints \"ready\", sleeps", stubborn}
	modes["polite"] = mode{"DURATION", "prints \"ready\", sleeps; at SIGTERM prints \"bye\" and exits 0", polite}
	modes["family"] = mode{"DURATION", "as stubborn, and so is a child that holds stdout", family}
	modes["stop"] = mode{"", "stops itself (SIGSTOP), again whenever it is continued", stop}
	modes["kill"] = mode{"NUMBER", "sends itself that signal", kill}
	modes["daemon"] = mode{"DURATION [hold]", "prints a decision; a double-forked daemon in a session of its own goes on that long", daemon}
	modes["disown"] = mode{"MODE …", "starts this program in a session of its own in that mode, and exits", disown}
	modes["regroup"] = mode{"DURATION", "prints a decision; a child in a group of its own goes on that long", regroup}
	modes["report"] = mode{"FILE DURATION", "writes its pid and that of a child to the file, both sleep", report}
}

// descriptors asks for each number, since to list /proc/self/fd takes a descriptor itself.
func descriptors([]string) {
	open := []int{}
	for fd := range 4096 {
		if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0); errno == 0 {
			open = append(open, fd)
		}
	}
	printJSON(open)
}

func stubborn(a []string) {
	signal.Ignore(syscall.SIGTERM)
	fmt.Println("ready")
	time.Sleep(duration(a, 0))
}

func polite(a []string) {
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	fmt.Println("ready")
	select {
	case <-term:
		fmt.Println("bye")
	case <-time.After(duration(a, 0)):
	}
}

func family(a []string) {
	again(nil, os.Stdout, "stubborn", arg(a, 0, "60s"))
	stubborn(a)
}

func stop([]string) {
	for {
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
}

func kill(a []string) {
	n, err := strconv.Atoi(arg(a, 0, "9"))
	check(err)
	syscall.Kill(os.Getpid(), syscall.Signal(n))
	time.Sleep(time.Minute) // until it arrives
}

// daemon leaves the group the classical way: a child in a new session starts a child, and exits.
func daemon(a []string) {
	var stdout io.Writer
	if arg(a, 1, "") == "hold" {
		stdout = os.Stdout
	}
	cmd := again(session, stdout, "disown", "sleep", arg(a, 0, "60s"))
	check(cmd.Wait())
	fmt.Println(decision)
}

func disown(a []string) {
	again(session, os.Stdout, a[0], a[1:]...)
}

func session(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func regroup(a []string) {
	again(func(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }, nil, "sleep", arg(a, 0, "60s"))
	fmt.Println(decision)
}

func report(a []string) {
	child := again(nil, nil, "sleep", arg(a, 1, "60s"))
	pids := fmt.Sprintf("%d %d", os.Getpid(), child.Process.Pid)
	check(os.WriteFile(a[0]+".part", []byte(pids), 0o600))
	check(os.Rename(a[0]+".part", a[0]))
	time.Sleep(duration(a, 1))
}
