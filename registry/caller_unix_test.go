//go:build linux || darwin

package registry_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// A host serves callers with different masks at once; each file that a hook
// writes has its caller's, and the host's own files keep the host's.
func TestCommandsHaveTheUmaskOfTheCaller(t *testing.T) {
	reg := open(t, only(tree(t, `
-- touch/HOOK.md --
+++
event = "SessionStart"
command = "umask; : > \"$OUT\""
+++
`)))
	before := syscall.Umask(0o022)
	syscall.Umask(before)
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 16 {
		mask := []int{0o022, 0o077, 0o002, 0o027}[i%4]
		file := filepath.Join(dir, fmt.Sprint(i))
		all.Go(func() {
			ctx := registry.WithCaller(t.Context(), registry.Caller{Env: []string{"PATH=/usr/bin:/bin", "OUT=" + file}, Umask: &mask})
			if _, err := reg.Dispatch(ctx, hook.SessionStart{Source: "startup"}); err != nil {
				t.Error(err)
			}
			info, err := os.Stat(file)
			if err != nil {
				t.Error(err)
			} else if got := info.Mode().Perm(); got != os.FileMode(0o666&^mask) {
				t.Errorf("mask %o: the file has mode %o", mask, got)
			}
		})
	}
	all.Wait()
	if got := syscall.Umask(before); got != before {
		t.Errorf("the host's mask is %o, was %o", got, before)
	}
}
