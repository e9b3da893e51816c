package discovery

import (
	"io/fs"
	"os"
	"path/filepath"
)

// projectFolder is the folder of a project that holds its hooks.
const projectFolder = ".tenterhook"

// ProjectRoot returns the root of the project that dir, an absolute path, lies
// in: the nearest of dir and the folders above it that has a .tenterhook folder,
// else the nearest with a file that one of the patterns marks matches, else the
// nearest with a .git, else dir itself. Where dir leads through a link, the
// folders above come before those above the directory that it is.
//
// The search stays below home, if dir does: hooks in the home directory belong
// to a project only where dir is the home directory. It ends at a folder that
// belongs to another user than dir's owner, root or this process: a user who can
// write to a shared folder above dir must not move the project's root.
func ProjectRoot(dir, home string, marks []string) string {
	above := foldersAbove(dir, home)
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		above = append(above, foldersAbove(real, home)...)
	}
	for _, folder := range above {
		if info, err := os.Stat(filepath.Join(folder, projectFolder)); err == nil && info.IsDir() {
			return folder
		}
	}
	for _, folder := range above {
		for _, mark := range marks {
			if found, _ := fs.Glob(os.DirFS(folder), mark); len(found) > 0 {
				return folder
			}
		}
	}
	for _, folder := range above {
		if _, err := os.Stat(filepath.Join(folder, ".git")); err == nil {
			return folder
		}
	}
	return dir
}

// foldersAbove returns dir and the folders above it that may be its project's
// root.
func foldersAbove(dir, home string) []string {
	folders := []string{dir}
	own, err := os.Stat(dir)
	if err != nil {
		return folders
	}
	house, _ := os.Stat(home)
	isHome := func(info os.FileInfo) bool { return house != nil && os.SameFile(info, house) }
	for folder, info := dir, own; !isHome(info); {
		parent := filepath.Dir(folder)
		if info, err = os.Stat(parent); parent == folder || err != nil || isHome(info) || !sameOwner(info, own) {
			break
		}
		folders, folder = append(folders, parent), parent
	}
	return folders
}
