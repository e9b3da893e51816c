package discovery_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenterhook/tenterhook/internal/built"

	"github.com/spf13/afero"
	"go.uber.org/goleak"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const text = "+++\nevent = \"Stop\"\ncommand = \"true\"\n+++\n"

// write puts a file into the operating system's file system.
func write(t testing.TB, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	built.NeedsLinks(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Skip("no links here, as on Windows:", err)
	}
}

// tempDir is t.TempDir without links in its path.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// memory is a file system of hook folders.
func memory(t testing.TB, files map[string]string) afero.Fs {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for path, data := range files {
		if err := afero.WriteFile(fsys, filepath.FromSlash(path), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return fsys
}

func dirScope(dir string) []discovery.Scope {
	return []discovery.Scope{{Scope: hook.ScopeDir, Dir: dir, HooksDir: dir}}
}

// userScope is a scope like the user's at dir.
func userScope(dir string) []discovery.Scope {
	return []discovery.Scope{{Scope: hook.ScopeUser, Dir: dir, HooksDir: filepath.Join(dir, "hooks")}}
}

// find returns the names of the readable hooks, "!name" for the others, and the
// diagnostics' codes.
func find(t testing.TB, fsys afero.Fs, scopes []discovery.Scope) (names, codes []string) {
	t.Helper()
	found, notes, err := discovery.Find(context.Background(), fsys, scopes)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		switch {
		case f.Problem != nil:
			names = append(names, "!"+f.Name)
		case string(f.Data) != text:
			t.Errorf("%s holds %q", f.Path, f.Data)
		default:
			names = append(names, f.Name)
		}
	}
	for _, d := range notes {
		if d.Message == "" || d.Severity == "" || d.Path == "" {
			t.Errorf("incomplete diagnostic %+v", d)
		}
		codes = append(codes, d.Code)
	}
	return names, codes
}
