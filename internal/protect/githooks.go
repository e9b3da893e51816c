package protect

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tenterhook/tenterhook/internal/match"
)

// hooksOfGit are the hooks that a command of git runs.
var hooksOfGit = map[string][]string{
	"commit": {"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-rewrite", "pre-auto-gc"},
	"merge":  {"pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-merge"}, "pull": {"pre-merge-commit", "post-merge", "pre-rebase", "post-rewrite", "post-checkout"},
	"rebase": {"pre-rebase", "post-rewrite", "post-checkout", "pre-commit"}, "push": {"pre-push"}, "checkout": {"post-checkout"}, "switch": {"post-checkout"},
	"worktree": {"post-checkout"}, "am": {"applypatch-msg", "pre-applypatch", "post-applypatch"}, "cherry-pick": {"prepare-commit-msg", "commit-msg", "post-commit"},
	"revert": {"prepare-commit-msg", "commit-msg", "post-commit"}, "gc": {"pre-auto-gc"}, "hook": nil,
}

// hooksPath is where the hooks of a repository are, in its configuration or a line.
var hooksPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[\n\]]|core\.)\s*hooksPath\s*=\s*"?([^"\n]+)`)
})

// ofAny are hooks that nearly every command of git runs: it changes a reference or the index.
var ofAny = []string{"reference-transaction", "post-index-change"}

// gitHooks takes the hooks of a repository that a command of git runs.
func (s *search) gitHooks(c *match.Call, args, dirs []string) {
	key := "git\x00" + strings.Join(args, "\x00") + "\x00\x00" + strings.Join(dirs, "\x00")
	if s.seen[key] {
		return
	}
	s.seen[key] = true
	names, i := ofAny, slices.IndexFunc(args, func(w string) bool { _, ok := hooksOfGit[w]; return ok })
	switch {
	case i < 0 || args[i] == "push" && slices.Contains(args[i:], "--no-verify"):
	case args[i] == "hook": // git hook run NAME
		names = slices.Compact(slices.Sorted(slices.Values(args[i+1:])))
	default:
		names = append(slices.Clip(hooksOfGit[args[i]]), ofAny...)
	}
	var places []string
	for _, option := range args {
		if m := hooksPath().FindStringSubmatch(option); m != nil {
			places = append(places, m[1])
		}
	}
	for _, dir := range dirs {
		top, git := repository(dir)
		if git == "" {
			continue
		}
		folders := append([]string{filepath.Join(git, "hooks")}, places...)
		for _, m := range hooksPath().FindAllStringSubmatch(s.read(filepath.Join(git, "config")), -1) { // the last counts
			folders = append(folders, strings.TrimSpace(m[1]))
		}
		slices.Sort(folders)
		for _, folder := range slices.Compact(folders) {
			if !filepath.IsAbs(folder) {
				folder = filepath.Join(top, folder)
			}
			for _, name := range names {
				if s.files > maxFiles {
					return
				}
				s.file(c, filepath.Join(folder, name))
			}
		}
	}
}

// repository finds the working tree and the folder of the repository around a directory;
// "" = there is none.
func repository(dir string) (top, git string) {
	for ; ; dir = filepath.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(dir, ".git")); err == nil && info.IsDir() {
			return dir, filepath.Join(dir, ".git")
		}
		if filepath.Dir(dir) == dir {
			return "", ""
		}
	}
}
