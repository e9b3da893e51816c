package ancestry

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Ours reports whether a process runs the program file that this one runs.
func Ours(p Process) bool {
	theirs, err := os.Stat("/proc/" + strconv.Itoa(p.PID) + "/exe")
	if err != nil {
		return false
	}
	own, err := os.Stat("/proc/self/exe")
	return err == nil && os.SameFile(theirs, own)
}

// look reads what /proc says of a process.
func look(pid int) (Process, bool) {
	var buffer [1 << 10]byte
	stat, err := read("/proc/"+strconv.Itoa(pid)+"/stat", buffer[:0])
	if err != nil {
		return Process{}, false
	}
	// "pid (name) state ppid pgrp session tty …": a name may hold anything.
	_, rest, _ := bytes.Cut(stat[max(bytes.LastIndexByte(stat, ')'), 0):], []byte(") "))
	p, i := Process{PID: pid}, 0
	for field := range bytes.FieldsSeq(rest) {
		switch i {
		case 1:
			p.Parent, _ = strconv.Atoi(string(field))
		case 4:
			p.TTY = string(field) != "0"
		case 19:
			p.Start, _ = strconv.ParseUint(string(field), 10, 64)
			return p, true
		}
		i++
	}
	return Process{}, false
}

// Args are the arguments that the process has now, its program's name first; nil if
// they cannot be read.
func (p Process) Args() []string { return p.list("cmdline") }

// Environ is the environment that a process was started in, nil if it cannot be
// read.
func Environ(p Process) []string { return p.list("environ") }

// list reads a file of strings that end with a zero.
func (p Process) list(file string) []string {
	data, err := read("/proc/"+strconv.Itoa(p.PID)+"/"+file, make([]byte, 0, 1<<10))
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}

// read appends a file of /proc, which the kernel hands over whole if there is room.
// Each call walks up to the first process: os.ReadFile makes three times as many
// system calls, for what only other files need.
func read(path string, data []byte) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	for {
		room := data[len(data):cap(data)]
		n, err := unix.Read(fd, room)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		data = data[:len(data)+max(n, 0)]
		if err != nil || n < len(room) {
			return data, err
		}
		data = slices.Grow(data, cap(data))
	}
}
