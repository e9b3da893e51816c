//go:build unix

package eligibility_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tenterhook/tenterhook/eligibility"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/testdata/asowner"
)

func TestFolderWithoutPermissionIsSaid(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locked")
	tool := program(t, dir, "tool")
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	want := eligibility.Verdict{Why: "needs " + tool + ": no permission to look at it", Hint: "let the agent's user into its folder"}
	asowner.Do(t, func() {
		got := newEnvironment().checker().Prepare(hook.Requires{Bins: []string{tool}}).Verdict()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
