//go:build !windows

package resolve

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
)

func TestAStrictSandboxReadsTheInstallationsBehindPath(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{".pyenv/shims", ".pyenv/versions", ".nvm/versions/node/v22/bin", ".nvm/versions/node/v22/lib",
		".local/bin", ".local/lib", ".local/share/keyrings", ".cargo/bin", "bin", "lib"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(home, ".nvm/versions/node/v22"), filepath.Join(home, ".nvm/current")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		".pyenv/shims":     ".pyenv",
		".nvm/current/bin": ".nvm/versions/node/v22", // and the link's own name
		".local/bin":       ".local/bin",
		".cargo/bin":       ".cargo/bin",
		"bin":              "bin",
		"":                 "",
		"gone/bin":         "gone/bin",
	} {
		e := NewEnviron(&hook.Hook{}, []string{"HOME=" + home, "PATH=relative:/usr/bin:" + filepath.Join(home, path)}, "")
		got := e.toolchains()
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, filepath.Join(home, want)) {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
		for _, dir := range got {
			if dir == home || dir == filepath.Join(home, ".local") || dir == "/usr/bin" {
				t.Errorf("%s: reads %s", path, dir)
			}
		}
	}
}
