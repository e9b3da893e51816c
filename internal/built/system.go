package built

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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

// WithoutSandbox lets the hooks of workspaces and packages run on a system that has no sandbox: a user's settings in
// dir say so, beside what they say already.
func WithoutSandbox(t testing.TB, dir string) {
	t.Helper()
	if runtime.GOOS != "windows" || dir == "" {
		return
	}
	file, key := filepath.Join(dir, "settings.toml"), "sandbox_required = false\n"
	text, err := os.ReadFile(file)
	if strings.Contains(string(text), "sandbox_required") || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(file, append([]byte(key), text...), 0o644)); err != nil {
		t.Fatal(err)
	}
}
