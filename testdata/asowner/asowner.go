// Package asowner lets tests see what the modes of files forbid.
package asowner

import (
	"os"
	"runtime"
	"testing"
)

// Do calls do as an owner of files, for whom modes count. Root, for whom they do
// not, gives that privilege up meanwhile, on this thread alone; where it cannot,
// the test is skipped. Code that shares its work among the processors sees one, and
// so does all of it here.
func Do(t testing.TB, do func()) {
	t.Helper()
	if os.Geteuid() == 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		defer drop(t)()
	}
	do()
}
