//go:build !unix

package discovery

// nonblock is nothing here: the file system holds no pipes.
const nonblock = 0
