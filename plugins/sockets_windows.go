package plugins

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// lockFileIn makes a file that cannot be removed while this process has it open.
func lockFileIn(dir string) (*os.File, error) {
	return os.Create(filepath.Join(dir, socketsLock))
}

// claim gives the folder its name before the lock: Windows renames no folder in which a file is open. Others take a
// folder for stale by its age.
func claim(making, dir string) (*os.File, error) {
	if err := os.Rename(making, dir); err != nil {
		return nil, err
	}
	return lockFileIn(dir)
}

// abandoned reports whether the host of a folder is gone. Plugins listen on TCP
// here, so what stays behind is an empty folder; a day is soon enough.
func abandoned(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && time.Since(info.ModTime()) > 24*time.Hour
}

// lives reports whether a process has the number of a folder's host.
func lives(dir string) bool {
	number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), socketsPrefix), "-")
	pid, err := strconv.Atoi(number)
	if err != nil {
		return false
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = process.Release()
	return true
}
