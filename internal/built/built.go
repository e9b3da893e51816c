// Package built gives tests the programs of this module.
//
// Stage: tests alone. It imports nothing of this project.
package built

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
)

// module is where the programs are.
const module = "github.com/tenterhook/tenterhook/"

// NoAccount links a program as if the account of its user had no home directory: a
// test must not ask what an operator keeps in the directories of this one.
const NoAccount = "-X=" + module + "internal/account.home=" + Nowhere

// Nowhere is where nothing is.
const Nowhere = "/nonexistent"

// Into builds programs, such as "cmd/tenterhook", into a directory that exists,
// each under the last part of its path. They are built without -race, whatever
// the test is built with. It may be called by many processes at once: what "go
// run" links it keeps in its cache, so that only the first one waits for the
// linker. "go build" would link for each.
func Into(dir string, programs ...string) error {
	for _, program := range programs {
		to := filepath.Join(dir, filepath.Base(program))
		args := []string{"run", "-ldflags", NoAccount, "-exec", "cp", module + program, to}
		if runtime.GOOS == "windows" { // without cp
			args = []string{"build", "-ldflags", NoAccount, "-o", to + ".exe", module + program}
		}
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", program, err, out)
		}
	}
	return nil
}
