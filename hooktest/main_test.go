package hooktest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/dlclark/regexp2/v2"
	"go.uber.org/goleak"

	"github.com/tenterhook/tenterhook/internal/built"
)

// program is the tenterhook command, built once.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "hooktest-")
	if err != nil {
		panic(err)
	}
	os.Setenv("TMPDIR", dir) // texts that are too long are kept there
	if err := built.Into(dir, "cmd/tenterhook"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program = filepath.Join(dir, "tenterhook")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	goleak.VerifyTestMain(clocked{m}, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// clocked ends the clock of matchers, which would end by itself, a second later.
type clocked struct{ *testing.M }

func (c clocked) Run() int {
	defer regexp2.StopTimeoutClock()
	return c.M.Run()
}
