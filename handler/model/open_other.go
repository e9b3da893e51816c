//go:build !unix

package model

// nonblock is nothing here: the file system holds no pipes.
const nonblock = 0
