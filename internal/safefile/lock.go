package safefile

import (
	"os"

	"github.com/gofrs/flock"
)

// Lock returns the lock that a file stands for, which its owner alone can open. It
// follows no link, and a pipe in its place is not waited for.
func Lock(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(os.O_RDWR|os.O_CREATE|NonBlock|NoFollow))
}
