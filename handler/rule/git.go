package rule

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// git is what the files of a repository say.
type git struct {
	branch, root string
	err          error
}

// maxGitFile is how much of a file of .git is read: each is one line.
const maxGitFile = 16 << 10

// readGit looks for a repository from a directory upward, and reads which
// branch is checked out. It reads two small files and nothing that they
// configure.
func readGit(dir string) *git {
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		found, err := gitDir(dir)
		if err != nil {
			return &git{err: fmt.Errorf("git: %w", err)}
		}
		if found != "" {
			branch, err := branchOf(found)
			if err != nil {
				err = fmt.Errorf("git: %w", err)
			}
			return &git{branch, dir, err}
		}
		if filepath.Dir(dir) == dir {
			return &git{}
		}
	}
}

// gitDir finds the folder with a working tree's HEAD: .git, or for a further
// worktree or a submodule the folder that the file .git names. "" = none.
func gitDir(dir string) (string, error) {
	path := filepath.Join(dir, ".git")
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case info.IsDir():
		if _, err := os.Lstat(filepath.Join(path, "HEAD")); errors.Is(err, fs.ErrNotExist) {
			return "", nil // git passes over such a folder
		}
		return path, nil
	}
	line, err := readLine(path)
	if err != nil {
		return "", err
	}
	named, ok := strings.CutPrefix(line, "gitdir: ")
	if !ok {
		return "", fmt.Errorf("%s names no gitdir", path)
	}
	if !filepath.IsAbs(named) {
		named = filepath.Join(dir, named)
	}
	return named, nil
}

// branchOf reads HEAD; "" = no branch is checked out.
func branchOf(dir string) (string, error) {
	path := filepath.Join(dir, "HEAD")
	line := ""
	if target, err := os.Readlink(path); err == nil { // as old repositories have it
		if line = filepath.ToSlash(target); !strings.HasPrefix(line, "refs/") {
			return "", fmt.Errorf("%s: it links to %q, which is no ref", path, target)
		}
		line = "ref: " + line
	} else if line, err = readLine(path); err != nil {
		return "", err
	}
	ref, ok := strings.CutPrefix(line, "ref:")
	if !ok {
		return "", nil
	}
	ref = strings.TrimSpace(ref)
	if ref == "refs/heads/.invalid" {
		return "", fmt.Errorf("%s: the repository keeps its refs in a table, which is not read", path)
	}
	return strings.TrimPrefix(ref, "refs/heads/"), nil
}

// readLine reads the first line of a small regular file.
func readLine(path string) (string, error) {
	file, err := safefile.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxGitFile))
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimRight(line, "\r"), nil
}
