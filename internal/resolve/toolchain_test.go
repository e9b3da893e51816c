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
	for _, dir := range []string{".nvm/v22/bin", ".local/bin", ".local/share/uv/python/bin"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	python := filepath.Join(home, ".local/share/uv/python/bin/python3")
	if err := os.WriteFile(python, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{".nvm/current": ".nvm/v22", ".local/bin/python3": python, "elsewhere": ""} {
		if !filepath.IsAbs(to) {
			to = filepath.Join(home, to)
		}
		if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, test := range map[string]struct{ program, reads, never string }{
		".pyenv/shims":     {"", ".pyenv/versions", ".pyenv"},
		".nvm/current/bin": {"", ".nvm/v22/lib", ".nvm/v22"},
		".local/bin":       {".local/bin/python3", ".local/share/uv/python/lib", ".local/share"},
		".cargo/bin":       {"", ".cargo/bin", ".cargo"},
		"project/bin":      {"project/bin/x", "project/lib", "project"},
		"bin":              {"other/bin/x", "bin", "lib"},
		".ssh":             {".ssh/x", "", ".ssh"},
		"":                 {"", "", "lib"},
		"elsewhere/bin":    {"", "elsewhere/bin", "elsewhere/lib"}, // a link to the home directory
	} {
		e := NewEnviron(&hook.Hook{}, []string{"HOME=" + home, "PATH=relative:/usr/bin:" + filepath.Join(home, path)}, "")
		got := e.toolchains(filepath.Join(home, test.program))
		if test.reads != "" && !slices.Contains(got, filepath.Join(home, test.reads)) {
			t.Errorf("%s: got %q, want %q", path, got, test.reads)
		}
		for _, dir := range got {
			if dir == home || dir == "/usr/bin" || dir == filepath.Join(home, test.never) || dir == filepath.Join(home, "other/bin") {
				t.Errorf("%s: reads %s", path, dir)
			}
		}
	}
}

func TestAHomeDirectoryIsWideUnderEachOfItsNames(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "home")
	if err := os.MkdirAll(filepath.Join(dir, "var/home/u"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "var/home"), link); err != nil {
		t.Fatal(err)
	}
	e := NewEnviron(&hook.Hook{}, []string{"HOME=" + filepath.Join(link, "u")}, "")
	for path, want := range map[string]bool{"home/u": true, "var/home/u": true, "var/home": true, "var/home/u/project": false} {
		if got := wide(filepath.Join(dir, path), &e); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
