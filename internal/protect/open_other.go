//go:build !unix

package protect

// nonblock is nothing here: the file system holds no pipes.
const nonblock = 0
