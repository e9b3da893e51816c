//go:build unix

package journal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/journal"
)

// Nothing is written where another user put a folder or a link, or could do so.
func TestFolderOfAnotherUserIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, dir string) error
		want    string
	}{
		"another's folder": {func(t *testing.T, dir string) error {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a folder away")
			}
			return os.Chown(dir, 1234, 1234)
		}, "belongs to another user (uid 1234)"},
		"another's folder above": {func(t *testing.T, dir string) error {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a folder away")
			}
			return os.Chown(filepath.Dir(dir), 1234, 1234)
		}, "belongs to another user (uid 1234)"},
		"a folder above that others write to": {func(t *testing.T, dir string) error { return os.Chmod(filepath.Dir(dir), 0o777) }, "others can write to"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "journal")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := tt.prepare(t, dir); err != nil {
				t.Fatal(err)
			}
			if _, err := journal.NewRecorder(dir, journal.Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("record: got %v, want %q", err, tt.want)
			}
			if _, err := journal.Open(t.Context(), dir, journal.Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("open: got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestFolderThatOthersCouldReadBecomesPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	keep(t, dir, journal.Options{}, record("r1", time.Now()))
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// A link in the folder leads no one's bytes elsewhere.
func TestLinksInTheFolderAreNotFollowed(t *testing.T) {
	for _, name := range []string{"spool", "journal.db"} {
		dir, target := filepath.Join(t.TempDir(), "journal"), filepath.Join(t.TempDir(), "target")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		r, err := journal.NewRecorder(dir, journal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r.Record(record("r1", time.Now()))
		recorded := r.Close()
		j, opened := journal.Open(t.Context(), dir, journal.Options{})
		if opened == nil {
			_ = j.Close()
		}
		if text, err := os.ReadFile(target); err != nil || len(text) > 0 {
			t.Errorf("%s: the link was followed: %d bytes, %v", name, len(text), err)
		}
		if recorded == nil && opened == nil {
			t.Errorf("%s: nobody says anything", name)
		}
	}
}
