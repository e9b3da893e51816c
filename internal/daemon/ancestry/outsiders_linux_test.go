package ancestry_test

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/tenterhook/tenterhook/internal/daemon/ancestry"
)

func TestOutsidersEndAChainOnlyOutsideOfThisProcess(t *testing.T) {
	outsiders := ancestry.NewOutsiders()
	whole := ancestry.Of(os.Getppid())
	if len(whole) == 0 || whole[len(whole)-1].Parent != 0 {
		t.Skip("the first process cannot be seen here")
	}
	if got := outsiders.Of(os.Getppid()); !slices.Equal(got, whole) {
		t.Fatalf("nothing is known yet: got %v, want %v", got, whole)
	}
	if got, want := outsiders.Of(os.Getppid()), whole[:min(2, len(whole))]; len(whole) > 1 && !slices.Equal(got, want) {
		t.Errorf("the parent of the parent is known: got %v, want %v", got, want)
	}
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	}()
	for range 2 { // what was met once is not taken for an outsider
		chain := outsiders.Of(child.Process.Pid)
		if !slices.ContainsFunc(chain, func(p ancestry.Process) bool { return p.PID == os.Getpid() }) {
			t.Errorf("got %v, want a chain with this process, %d", chain, os.Getpid())
		}
	}
}
