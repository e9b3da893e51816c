// Package account knows where this user's home directory is without asking the
// environment, which an agent's project may set.
//
// Stage: before everything. internal/daemon, internal/cli and internal/resolve ask it. It imports
// the standard library alone.
package account

import (
	"path/filepath"
	"sync"
)

// home takes the place of the system's answer in a program that is linked with
// it: -ldflags "-X …/internal/account.home=/some/where", for tests.
var home string

// Home returns the home directory that the system's accounts give the user of
// this process, "" if they give none. A program that was built without cgo reads
// /etc/passwd alone, and takes HOME for a user that does not stand there.
var Home = sync.OnceValue(func() string {
	if home != "" {
		return home
	}
	u, err := current()
	if err != nil || !filepath.IsAbs(u.HomeDir) {
		return ""
	}
	return filepath.Clean(u.HomeDir)
})
