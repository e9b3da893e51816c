package hooktest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"go.uber.org/goleak"
)

// program is the tenterhook command, built once.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "hooktest-")
	if err != nil {
		panic(err)
	}
	os.Setenv("TMPDIR", dir) // texts that are too long are kept there
	program = filepath.Join(dir, "tenterhook")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	build := exec.Command("go", "build", "-o", program, "github.com/tenterhook/tenterhook/cmd/tenterhook")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the command: %v\n%s", err, out)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}
