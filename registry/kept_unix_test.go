//go:build unix

package registry_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"github.com/tenterhook/tenterhook/hook"
)

// What was kept because its folder could not be read is read again once the folder
// can be, though no file of it ever changed.
func TestWhatWasKeptIsReadAgainOnceItCanBe(t *testing.T) {
	for name, file := range map[string]string{"settings": "settings.json", "a hook": "hooks/a/HOOK.md"} {
		opts := machine(t, "")
		folder, away := filepath.Join(opts.Workspace, ".tenterhook"), filepath.Join(filepath.Dir(opts.Workspace), "away")
		text := handlers("Stop", "true")
		if file != "settings.json" {
			text = "+++\nevent = \"Stop\"\ncommand = \"true\"\n+++\n"
		}
		write(t, filepath.Join(folder, file), text)
		settle()
		reg := open(t, opts)
		before := described(reg)
		if err := errors.Join(os.Rename(folder, away), os.Symlink(away, folder)); err != nil { // a link that leads out is refused
			t.Fatal(err)
		}
		if reload(t, reg); !has(reg.Diagnostics(), "kept_last_good", "") {
			t.Errorf("%s: it was not kept: %v", name, described(reg))
		}
		if err := errors.Join(os.Remove(folder), os.Rename(away, folder)); err != nil {
			t.Fatal(err)
		}
		reload(t, reg)
		if diff := cmp.Diff(before, described(reg)); diff != "" {
			t.Errorf("%s: -before +after:\n%s", name, diff)
		}
	}
}

// A file system of the host has no owners, whatever lies on the disk under the same names.
func TestFilesOfTheHostsFileSystemHaveNoOwner(t *testing.T) {
	opts := machine(t, "")
	opts.UserDir, opts.FS = t.TempDir(), afero.NewMemMapFs()
	if err := errors.Join(os.Chmod(opts.UserDir, 0o777), os.MkdirAll(filepath.Join(opts.UserDir, "hooks", "a"), 0o777),
		afero.WriteFile(opts.FS, filepath.Join(opts.UserDir, "hooks", "a", "HOOK.md"), []byte("+++\nevent = \"Stop\"\ntype = \"rule\"\ndecision = \"deny\"\nreason = \"no\"\n+++\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if l := state(t, open(t, opts), "user/a"); l.State != hook.StateReady {
		t.Errorf("%s: %s", l.State, l.Why)
	}
}
