package oci

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/internal/pack"
)

// Its size alone is a reason to keep a file out of a pack.
func TestAFileThatCannotBePackedIsNamed(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "large"), make([]byte, pack.MaxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(dir, name string) string {
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		_, _, err = readFile(root, name)
		if err == nil {
			t.Fatalf("%s was read", name)
		}
		return err.Error()
	}
	for name, want := range map[string]string{"folder": "folder: it is no regular file", "large": "large: it is larger than 16 MiB; keep it out of the pack"} {
		if got := read(dir, name); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if runtime.GOOS != "linux" {
		return
	}
	if got := read("/proc/self", "mem"); !strings.Contains(got, "mem: input/output error") || strings.Contains(got, "keep it out") {
		t.Errorf("an error of the disk: %q", got)
	}
}
