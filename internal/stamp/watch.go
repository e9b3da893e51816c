package stamp

import "errors"

// ErrBlind is returned where changes of files cannot be relied on to be reported:
// on a network file system, without the right to read a folder, in a tree that is too
// large, and on a system that has no such reports.
var ErrBlind = errors.New("changes are not reported here")
