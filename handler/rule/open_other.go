//go:build !unix

package rule

// nonblock is nothing here: the file system holds no pipes.
const nonblock = 0
