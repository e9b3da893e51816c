// Package asowner lets tests see what the modes of files forbid.
package asowner

import (
	"os"
	"testing"
)

// Do calls do as an owner of files, for whom modes count. Root, for whom they do
// not, gives that privilege up meanwhile, on this thread alone; where it cannot,
// the test is skipped.
func Do(t testing.TB, do func()) {
	t.Helper()
	if os.Geteuid() == 0 {
		defer drop(t)()
	}
	do()
}
