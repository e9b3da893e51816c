package discovery_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tenterhook/tenterhook/internal/built"

	"github.com/tenterhook/tenterhook/discovery"
)

func TestProjectRootIsFoundUpward(t *testing.T) {
	for name, tc := range map[string]struct {
		make       []string // a path that ends in / is a folder
		home       string
		from, want string
	}{
		"hooks above":                       {[]string{"p/.tenterhook/", "p/a/b/"}, "", "p/a/b", "p"},
		"hooks here":                        {[]string{"p/.tenterhook/", "p/a/.tenterhook/"}, "", "p/a", "p/a"},
		"the nearest hooks":                 {[]string{".tenterhook/", "p/.tenterhook/", "p/a/"}, "", "p/a", "p"},
		"hooks before a repository":         {[]string{"p/.tenterhook/", "p/a/.git/", "p/a/b/"}, "", "p/a/b", "p"},
		"a repository":                      {[]string{"p/.git/", "p/a/b/"}, "", "p/a/b", "p"},
		"a worktree's .git file":            {[]string{"p/.git", "p/a/"}, "", "p/a", "p"},
		"a product's file":                  {[]string{".git/", "p/.claude/settings.json", "p/a/"}, "", "p/a", "p"},
		"a product's file by its pattern":   {[]string{".git/", "p/.github/hooks/x.json", "p/a/"}, "", "p/a", "p"},
		"hooks before a product's file":     {[]string{".tenterhook/", "p/.claude/settings.json"}, "", "p", ""},
		"nothing":                           {[]string{"p/a/"}, "p", "p/a", "p/a"},
		"a file named .tenterhook":          {[]string{"p/.tenterhook", "p/a/"}, "p", "p/a", "p/a"},
		"the home directory is none":        {[]string{"h/.tenterhook/", "h/.git/", "h/a/"}, "h", "h/a", "h/a"},
		"nothing above the home directory":  {[]string{".tenterhook/", "h/a/"}, "h", "h/a", "h/a"},
		"nothing above it, from it":         {[]string{".tenterhook/", "h/"}, "h", "h", "h"},
		"the home directory itself":         {[]string{"h/.tenterhook/"}, "h", "h", "h"},
		"a project in the home directory":   {[]string{"h/.tenterhook/", "h/p/.tenterhook/", "h/p/a/"}, "h", "h/p/a", "h/p"},
		"a repository in the home":          {[]string{"h/.tenterhook/", "h/p/.git/", "h/p/a/"}, "h", "h/p/a", "h/p"},
		"a project beside the home":         {[]string{"h/", "p/.tenterhook/", "p/a/"}, "h", "p/a", "p"},
		"a directory that is not there":     {[]string{"p/.tenterhook/"}, "", "p/gone", "p/gone"},
		"deep":                              {[]string{"p/.tenterhook/", "p/1/2/3/4/5/6/7/8/9/"}, "", "p/1/2/3/4/5/6/7/8/9", "p"},
		"other folders' hooks do not count": {[]string{"p/b/.tenterhook/", "p/a/"}, "p", "p/a", "p/a"},
	} {
		t.Run(name, func(t *testing.T) {
			root := tempDir(t)
			for _, path := range tc.make {
				full := filepath.Join(root, path)
				if path[len(path)-1] == '/' {
					if err := os.MkdirAll(full, 0o755); err != nil {
						t.Fatal(err)
					}
					continue
				}
				write(t, full, "")
			}
			home := filepath.Join(root, "none")
			if tc.home != "" {
				home = filepath.Join(root, tc.home)
			}
			got := discovery.ProjectRoot(filepath.Join(root, tc.from), home, []string{".claude/settings.json", ".github/hooks/*.json"})
			if want := filepath.Join(root, tc.want); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

func TestAProjectRootIsNotSearchedInFoldersOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give folders away, and Windows has none")
	}
	shared := tempDir(t)
	dir := filepath.Join(shared, "mine", "a")
	for _, d := range []string{filepath.Join(shared, ".tenterhook"), dir} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	chown(t, 12345, shared)
	if got := discovery.ProjectRoot(dir, "", nil); got != dir {
		t.Errorf("root's folder: %s", got)
	}
	chown(t, 12345, dir, filepath.Dir(dir))
	if got := discovery.ProjectRoot(dir, "", nil); got != shared {
		t.Errorf("a folder of the same owner: %s", got)
	}
	chown(t, 0, shared)
	if got := discovery.ProjectRoot(dir, "", nil); got != shared {
		t.Errorf("below a folder of root: %s", got)
	}
}

func chown(t *testing.T, uid int, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.Chown(path, uid, uid); err != nil {
			t.Skip(err)
		}
	}
}

// A directory that is reached by a link is in the project that it is in, if
// the path that was taken leads through none.
func TestProjectRootIsFoundThroughALink(t *testing.T) {
	built.NeedsLinks(t)
	root := tempDir(t)
	for _, path := range []string{"p/.tenterhook", "p/a/b", "q/.tenterhook", "q/c", "r"} {
		if err := os.MkdirAll(filepath.Join(root, path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"r/into": "p/a", "q/other": "p/a"} {
		if err := os.Symlink(filepath.Join(root, to), filepath.Join(root, link)); err != nil {
			t.Skip(err)
		}
	}
	for from, want := range map[string]string{"r/into": "p", "r/into/b": "p", "q/other": "q", "q/other/b": "q", "q/c": "q"} {
		if got := discovery.ProjectRoot(filepath.Join(root, from), filepath.Join(root, "home"), nil); got != filepath.Join(root, want) {
			t.Errorf("from %s: %s, want %s", from, got, want)
		}
	}
}
