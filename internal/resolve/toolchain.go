package resolve

import (
	"os"
	"path/filepath"
	"slices"
)

// toolchains are the directories outside of the system that the programs of PATH
// are made of: those that PATH names, and around bin and shims the installation of
// a version manager (pyenv, nvm, asdf, conda). A strict sandbox lets them be read,
// since otherwise python3 works on one machine and fails on the next. An operator
// keeps no secrets there.
func (e *Environ) toolchains() []string {
	var found []string
	for _, dir := range filepath.SplitList(e.Get("PATH")) {
		if !filepath.IsAbs(dir) || below(systems, dir) {
			continue
		}
		for _, at := range []string{filepath.Clean(dir), real(dir)} {
			if at != "" && !wide(at, e) {
				found = append(found, e.installation(at))
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// installation is the directory that a folder of programs belongs to, or the
// folder itself where the one around it holds more than an installation, as
// ~/.local and ~/.cargo do.
func (e *Environ) installation(dir string) string {
	around := filepath.Dir(dir)
	if wide(around, e) || filepath.Base(around) == ".local" {
		return dir
	}
	parts := map[string][]string{"shims": {"versions", "installs", "libexec"}, "bin": {"lib", "libexec"}}[filepath.Base(dir)]
	for _, part := range parts {
		if info, err := os.Stat(filepath.Join(around, part)); err == nil && info.IsDir() {
			return around
		}
	}
	return dir
}

// real is where a path leads, "" if it leads nowhere.
func real(path string) string {
	path, _ = filepath.EvalSymlinks(path)
	return path
}
