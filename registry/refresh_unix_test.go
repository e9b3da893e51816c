//go:build unix

package registry_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
)

// Whatever way a guard comes into a registry that looks at no file while nothing
// changes, it judges the first event after the change.
func TestRefreshSeesEachWayInWhichAGuardComes(t *testing.T) {
	const allows, denies = "+++\nevent = \"PreToolUse\"\ntype = \"rule\"\nif = \"Bash(rm)\"\ndecision = \"deny\"\nreason = \"no\"\n+++\n", "+++\nevent = \"PreToolUse\"\ntype = \"rule\"\nif = \"Bash(ls)\"\ndecision = \"deny\"\nreason = \"no\"\n+++\n"
	type place struct{ base, user, folder, file string } // user leads to base/home by a link
	ways := map[string]func(p place) error{
		"a write": func(p place) error { return os.WriteFile(p.file, []byte(denies), 0o644) },
		"an edit that keeps size and time": func(p place) error {
			info, err := os.Stat(p.file)
			return errors.Join(err, os.WriteFile(p.file, []byte(denies), 0o644), os.Chtimes(p.file, info.ModTime(), info.ModTime()))
		},
		"a file in its place": func(p place) error {
			fresh := filepath.Join(p.base, "fresh")
			return errors.Join(os.WriteFile(fresh, []byte(denies), 0o644), os.Rename(fresh, p.file))
		},
		"another name of the file": func(p place) error {
			return os.WriteFile(filepath.Join(p.base, "second"), []byte(denies), 0o644)
		},
		"a new folder": func(p place) error {
			dir := filepath.Join(p.user, "hooks", "b")
			return errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "HOOK.md"), []byte(denies), 0o644))
		},
		"a file in a folder that was empty": func(p place) error {
			return os.WriteFile(filepath.Join(p.user, "hooks", "empty", "HOOK.md"), []byte(denies), 0o644)
		},
		"a folder that is deleted and made again": func(p place) error {
			return errors.Join(os.RemoveAll(p.folder), os.Mkdir(p.folder, 0o755), os.WriteFile(p.file, []byte(denies), 0o644))
		},
		"another tree in place of a parent": func(p place) error {
			home := filepath.Join(p.base, "home")
			return errors.Join(os.Rename(home, home+".was"), os.Rename(filepath.Join(p.base, "other"), home))
		},
		"a link that leads elsewhere": func(p place) error {
			link := filepath.Join(p.base, "new")
			return errors.Join(os.Symlink("other", link), os.Rename(link, filepath.Join(p.base, "link")))
		},
		"a scope that was not there": func(p place) error {
			dir := filepath.Join(p.base, "etc", "tenterhook", "hooks", "m")
			return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "HOOK.md"), []byte(denies), 0o644))
		},
		"settings": func(p place) error {
			return os.WriteFile(filepath.Join(p.user, "settings.toml"), []byte("[[hooks.PreToolUse]]\ntype = \"rule\"\nif = \"Bash(ls)\"\ndecision = \"deny\"\nreason = \"no\"\n"), 0o644)
		},
	}
	for name, change := range ways {
		t.Run(name, func(t *testing.T) {
			opts := machine(t, "")
			p := place{base: filepath.Dir(opts.Workspace)}
			p.user = filepath.Join(p.base, "link", "tenterhook")
			p.folder = filepath.Join(p.user, "hooks", "a")
			p.file = filepath.Join(p.folder, "HOOK.md")
			write(t, filepath.Join(p.base, "home/tenterhook/hooks/a/HOOK.md"), allows)
			write(t, filepath.Join(p.base, "other/tenterhook/hooks/a/HOOK.md"), denies)
			if err := errors.Join(os.Mkdir(filepath.Join(p.base, "home/tenterhook/hooks/empty"), 0o755), os.Symlink("home", filepath.Join(p.base, "link")), os.Link(p.file, filepath.Join(p.base, "second"))); err != nil {
				t.Fatal(err)
			}
			opts.UserDir = p.user
			reg := open(t, opts)
			for range 3 { // the last one looks at nothing where the system reports changes
				refresh(t, reg)
			}
			if out := dispatch(t, reg, bash("ls")); out.Verdict == hook.Deny {
				t.Fatalf("denied at once: %+v", out)
			}
			if err := change(p); err != nil {
				t.Fatal(err)
			}
			for i := range 2 {
				refresh(t, reg)
				if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Deny {
					t.Fatalf("not denied at call %d: %s", i+1, fmt.Sprint(out.Verdict))
				}
			}
		})
	}
}
