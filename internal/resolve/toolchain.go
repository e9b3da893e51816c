package resolve

import (
	"path/filepath"
	"slices"
	"strings"
)

// toolchains are what the programs of PATH outside of the system are made of: their
// folders, and beside a bin or shims the parts of the installation of a version
// manager (pyenv, nvm, asdf, conda) or of a virtual environment. A strict sandbox
// lets them be read, since otherwise python3 works on one machine and fails on the
// next. It reads nothing else around them: that may be a project, or a home
// directory. program is what the command starts; where PATH leads to it, what it
// links to counts too.
func (e *Environ) toolchains(program string) []string {
	var found []string
	for _, dir := range filepath.SplitList(e.Get("PATH")) {
		if !filepath.IsAbs(dir) || below(systems, dir) {
			continue
		}
		dir = filepath.Clean(dir)
		found = append(found, e.installation(dir)...)
		if at := real(dir); at != dir {
			found = append(found, e.installation(at)...)
		}
		if filepath.Dir(program) == dir {
			found = append(found, e.installation(filepath.Dir(real(program)))...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// installation is a folder of programs and the parts of an installation that may
// are beside it; nil for a folder of another name, and for one of the system.
func (e *Environ) installation(dir string) []string {
	if !slices.Contains(programFolders, filepath.Base(dir)) || below(systems, dir) || wide(dir, e) {
		return nil
	}
	list := []string{dir}
	around := filepath.Dir(dir)
	switch {
	case wide(around, e), wide(real(around), e):
	case filepath.Base(around) == ".local": // its share has keys of every program
		list = append(list, filepath.Join(around, "lib"))
	default:
		for _, part := range installationParts {
			list = append(list, filepath.Join(around, part))
		}
	}
	return list
}

var (
	programFolders    = strings.Fields("bin sbin shims libexec Scripts")
	installationParts = strings.Fields("lib lib64 libexec share include versions version installs plugins tools envs conda-meta pyvenv.cfg")
)

// real is where a path leads, "" if it leads nowhere.
func real(path string) string {
	path, _ = filepath.EvalSymlinks(path)
	return path
}
