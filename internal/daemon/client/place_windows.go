package client

import (
	"errors"
	"os"
)

var errNoDaemon = errors.New("there is no daemon on Windows: 'tenterhook bridge' decides in a process of its own")

func owned(string) error   { return errNoDaemon }
func private(string) error { return errNoDaemon }

func inode(os.FileInfo) string { return "" }

// Umask is negative: there is none here.
func Umask() int { return -1 }
