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
	if UnderWine() {
		t.Skip("Wine: " + why)
	}
}

// UnderWine reports whether the tests run under Wine.
func UnderWine() bool { return runtime.GOOS == "windows" && os.Getenv(Variable) != "" }

// NeedsLinks skips where a symbolic link cannot be made.
func NeedsLinks(t testing.TB) {
	t.Helper()
	if !Links(t.TempDir()) {
		t.Skip("Wine makes no symbolic links, and Windows only for who may")
	}
}

// Links reports whether symbolic links can be made in a directory. Wine says that it made one.
func Links(dir string) bool {
	link := filepath.Join(dir, "link")
	err := os.Symlink(".", link)
	_, missing := os.Lstat(link)
	return err == nil && missing == nil
}
