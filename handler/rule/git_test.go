package rule

import (
	"os"
	"path/filepath"
	"testing"
)

func TestBranchIsReadFromTheFilesOfGit(t *testing.T) {
	for _, test := range []struct {
		name         string
		files        map[string]string
		cwd          string
		branch, root string // root below the folder of the test, "" = none
		fails        bool
	}{
		{name: "a branch", files: map[string]string{"r/.git/HEAD": "ref: refs/heads/main\n"}, cwd: "r", branch: "main", root: "r"},
		{name: "from below", files: map[string]string{"r/.git/HEAD": "ref: refs/heads/a/b\r\n", "r/x/y/f": ""}, cwd: "r/x/y", branch: "a/b", root: "r"},
		{name: "from a folder that is gone", files: map[string]string{"r/.git/HEAD": "ref: refs/heads/main\n"}, cwd: "r/gone/too", branch: "main", root: "r"},
		{name: "no branch", files: map[string]string{"r/.git/HEAD": "2e65efe2a145dda7ee51d1741299f848e5bf752e\n"}, cwd: "r", root: "r"},
		{name: "a worktree", files: map[string]string{"m/.git/HEAD": "ref: refs/heads/main\n", "m/.git/worktrees/w/HEAD": "ref: refs/heads/side\n", "w/.git": "gitdir: ../m/.git/worktrees/w\n"}, cwd: "w", branch: "side", root: "w"},
		{name: "a folder that is no repository", files: map[string]string{"r/.git/HEAD": "ref: refs/heads/main\n", "r/x/.git/config": ""}, cwd: "r/x", branch: "main", root: "r"},
		{name: "refs in a table", files: map[string]string{"r/.git/HEAD": "ref: refs/heads/.invalid\n"}, cwd: "r", root: "r", fails: true},
		{name: "a file that names nothing", files: map[string]string{"r/.git": "hello\n"}, cwd: "r", fails: true},
		{name: "a gitdir that is gone", files: map[string]string{"r/.git": "gitdir: ../gone\n"}, cwd: "r", root: "r", fails: true},
		{name: "HEAD is a folder", files: map[string]string{"r/.git/HEAD/x": ""}, cwd: "r", root: "r", fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range test.files {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			root := ""
			if test.root != "" {
				root = filepath.Join(dir, test.root)
			}
			got := readGit(filepath.Join(dir, filepath.FromSlash(test.cwd)))
			if got.branch != test.branch || got.root != root || (got.err != nil) != test.fails {
				t.Errorf("branch %q root %q error %v", got.branch, got.root, got.err)
			}
		})
	}
}
