//go:build unix

package client

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// owned refuses a directory that this user does not own.
func owned(dir string) error {
	_, err := ownDir(dir)
	return err
}

func ownDir(dir string) (os.FileInfo, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(stat.Uid) != os.Geteuid() {
		return nil, errors.New(dir + " is not a directory of user " + strconv.Itoa(os.Geteuid()) + ": remove it")
	}
	return info, nil
}

// private also refuses a directory that others can look into or write to.
func private(dir string) error {
	info, err := ownDir(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return errors.New(dir + " is open to other users: run chmod 700 " + dir)
	}
	return nil
}

func inode(info os.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return strconv.FormatUint(uint64(stat.Dev), 36) + "." + strconv.FormatUint(stat.Ino, 36)
}
