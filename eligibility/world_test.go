package eligibility_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tenterhook/tenterhook/eligibility"
)

// An environment is a hermetic one, to be used by several goroutines.
type environment struct {
	mu   sync.Mutex
	vars map[string]string
}

func newEnvironment(pairs ...string) *environment {
	e := &environment{vars: make(map[string]string)}
	for i := 0; i < len(pairs); i += 2 {
		e.vars[pairs[i]] = pairs[i+1]
	}
	return e
}

func (e *environment) lookup(name string) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	value, ok := e.vars[name]
	return value, ok
}

func (e *environment) set(name, value string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.vars[name] = value
}

func (e *environment) unset(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.vars, name)
}

func (e *environment) checker() *eligibility.Checker {
	return eligibility.New(eligibility.Options{LookupEnv: e.lookup})
}

func pathOf(dirs ...string) string {
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// program writes a program and returns its path.
func program(tb testing.TB, dir, name string) string {
	tb.Helper()
	return write(tb, dir, name, 0o755)
}

func write(tb testing.TB, dir, name string, mode os.FileMode) string {
	tb.Helper()
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(file, nil, mode); err != nil {
		tb.Fatal(err)
	}
	return file
}

func remove(tb testing.TB, file string) {
	tb.Helper()
	if err := os.Remove(file); err != nil {
		tb.Fatal(err)
	}
}

func needsModes(tb testing.TB) {
	tb.Helper()
	if runtime.GOOS == "windows" {
		tb.Skip("Windows: files have no execute permission")
	}
}
