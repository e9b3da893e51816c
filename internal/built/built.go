// Package built gives tests the programs of this module.
//
// Stage: tests alone. It imports nothing of this project.
package built

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
)

// module is where the programs are.
const module = "github.com/tenterhook/tenterhook/"

// NoAccount links a program as if the account of its user had no home directory: a
// test must not ask what an operator keeps in the directories of this one. What a
// debugger needs stays out, which halves the linker's work.
const NoAccount = "-s -w -X=" + module + "internal/account.home=" + Nowhere

// Nowhere is where nothing is.
const Nowhere = "/nonexistent"

// Variable names a directory in which the programs are built already, each under the
// last part of its path: for .ci/run, and for a system without Go, such as Windows under Wine.
const Variable = "TENTERHOOK_TEST_PROGRAMS"

// Into builds programs, such as "cmd/tenterhook", into a directory that exists,
// each under the last part of its path; on Windows with .exe. They are built without
// -race, whatever the test is built with. It may be called by many processes at once:
// what "go run" links it keeps in its cache, so that only the first one waits for the
// linker. "go build" would link for each.
func Into(dir string, programs ...string) error {
	for _, program := range programs {
		to := Program(dir, program)
		if from := os.Getenv(Variable); from != "" {
			if err := copyFile(Program(from, program), to); err != nil {
				return fmt.Errorf("copy a program from $%s: %w", Variable, err)
			}
			continue
		}
		args := []string{"run", "-ldflags", NoAccount, "-exec", "cp", module + program, to}
		if runtime.GOOS == "windows" { // without cp
			args = []string{"build", "-ldflags", NoAccount, "-o", to, module + program}
		}
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", program, err, out)
		}
	}
	return nil
}

// Program is where Into puts a program.
func Program(dir, program string) string {
	file := filepath.Join(dir, path.Base(program))
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	return file
}

func copyFile(from, to string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, program, 0o755)
}
