package rule

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tenterhook/tenterhook/internal/built"
)

func TestHeadThatIsALinkNamesABranchOnlyBelowRefs(t *testing.T) {
	built.NeedsLinks(t)
	for target, want := range map[string]string{"refs/heads/main": "main", "HEAD": "", "/etc/hostname": "", "../x": ""} {
		dir := t.TempDir()
		if err := os.Symlink(filepath.FromSlash(target), filepath.Join(dir, "HEAD")); err != nil {
			t.Skip("this system makes no links here:", err)
		}
		got, err := branchOf(dir)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("HEAD -> %s: branch %q, %v", target, got, err)
		}
	}
}
