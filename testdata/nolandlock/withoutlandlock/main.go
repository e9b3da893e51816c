// Command withoutlandlock runs a program as in a container that forbids Landlock, for tests.
//
//	withoutlandlock PROGRAM ARG...
package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/tenterhook/tenterhook/testdata/nolandlock"
)

func main() {
	path, err := exec.LookPath(os.Args[1])
	if err == nil {
		err = nolandlock.Forbid()
	}
	if err == nil {
		err = syscall.Exec(path, os.Args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "withoutlandlock:", err)
	os.Exit(125)
}
