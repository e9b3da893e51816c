package built

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// NotOnWindows skips a test of what Windows does not have.
func NotOnWindows(t testing.TB, why string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows: " + why)
	}
}

// NotUnderWine skips a test of what Windows does and Wine does not. It knows Wine by the programs that are built before.
func NotUnderWine(t testing.TB, why string) {
	t.Helper()
	if runtime.GOOS == "windows" && os.Getenv(Variable) != "" {
		t.Skip("Wine: " + why)
	}
}

// NeedsLinks skips where a symbolic link cannot be made.
func NeedsLinks(t testing.TB) {
	t.Helper()
	link := filepath.Join(t.TempDir(), "link")
	err := os.Symlink(".", link)
	if _, missing := os.Lstat(link); err != nil || missing != nil {
		t.Skipf("Wine makes no symbolic links, and Windows only for who may (%v)", err)
	}
}
