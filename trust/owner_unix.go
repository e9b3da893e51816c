//go:build !windows

package trust

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

const (
	maxLinks = 40      // one after the other, as the kernel has it
	maxOwned = 1 << 16 // files of one tree
)

// check judges path, and the way to it.
func (o *Owners) check(owner Owner, path string) *Problem {
	path, err := filepath.Abs(path)
	if err != nil {
		return asProblem(path, err)
	}
	return o.judge(owner, path, maxLinks, false)
}

// judge judges path after the folders on the way to it. A folder that is itself
// on the way may be written by others if its sticky bit keeps them from
// replacing what is not theirs.
func (o *Owners) judge(owner Owner, path string, links int, onTheWay bool) *Problem {
	if parent := filepath.Dir(path); parent != path {
		if p := o.way(owner, parent, links); p != nil {
			return p
		}
	}
	info, err := os.Lstat(path)
	if absent(err) {
		return nil
	}
	if err != nil {
		return &Problem{CodeNotOwned, path, fmt.Sprintf("cannot be examined: %v", err), "make it readable"}
	}
	if p := written(owner, path, info, onTheWay); p != nil || info.Mode().Type() != fs.ModeSymlink {
		return p
	}
	target, problem := follow(path, links)
	if problem != nil {
		return problem
	}
	return o.judge(owner, target, links-1, onTheWay)
}

// way judges a folder on the way, once.
func (o *Owners) way(owner Owner, folder string, links int) *Problem {
	w := way{owner, folder}
	if p, ok := o.remembered(w); ok {
		return p
	}
	return o.remember(w, o.judge(owner, folder, links, true))
}

// follow returns where a link leads. Its folder is resolved first: what .. means
// depends on where the link really is.
func follow(path string, links int) (string, *Problem) {
	target, err := os.Readlink(path)
	if err == nil && links == 0 {
		err = syscall.ELOOP
	}
	if err == nil && !filepath.IsAbs(target) {
		var parent string
		if parent, err = filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			target = filepath.Join(parent, target)
		}
	}
	if err != nil {
		return "", &Problem{CodeNotOwned, path, fmt.Sprintf("cannot be followed: %v", err), "remove the link, or fix it"}
	}
	return filepath.Clean(target), nil
}

// written says whether a user other than owner can have written, or can
// replace, what info is of.
func written(owner Owner, path string, info fs.FileInfo, onTheWay bool) *Problem {
	if uid := int(info.Sys().(*syscall.Stat_t).Uid); uid != 0 && (owner == OwnerRoot || uid != os.Getuid()) {
		want := "root"
		if owner == OwnerUser {
			want = "you"
		}
		return &Problem{CodeNotOwned, path, fmt.Sprintf("belongs to user %d, not to %s", uid, want),
			fmt.Sprintf("chown it, or move the hooks to a folder of %s", want)}
	}
	mode := info.Mode()
	if mode.Perm()&0o022 == 0 || mode.Type() == fs.ModeSymlink || onTheWay && mode&fs.ModeSticky != 0 {
		return nil
	}
	reason := fmt.Sprintf("can be written by others (mode %04o)", mode.Perm())
	if onTheWay {
		reason = fmt.Sprintf("lets others replace what is in it (mode %04o)", mode.Perm())
	}
	return &Problem{CodeNotOwned, path, reason, "chmod go-w " + show(path)}
}

// checkTree judges dir, the way to it, and everything in it. A link is judged
// by what it leads to.
func (o *Owners) checkTree(owner Owner, dir string) *Problem {
	var seen []string
	count := 0
	for todo := []string{dir}; len(todo) > 0; todo = todo[1:] {
		top := todo[0]
		if p := o.check(owner, top); p != nil {
			return p
		}
		info, err := os.Lstat(top)
		if err == nil && info.Mode().Type() == fs.ModeSymlink { // it would not be walked into
			top, err = filepath.EvalSymlinks(top)
		}
		if absent(err) || slices.Contains(seen, top) {
			continue
		}
		if err != nil {
			return asProblem(top, err)
		}
		seen = append(seen, top)
		err = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
			var info fs.FileInfo
			if err == nil {
				info, err = e.Info()
			}
			switch {
			case absent(err):
				return nil // it went away
			case err != nil:
				return asProblem(path, err)
			}
			if count++; count > maxOwned {
				return &Problem{CodeTooLarge, dir, fmt.Sprintf("holds more than %d files, too many to look at", maxOwned), "keep what the hooks do not need elsewhere"}
			}
			if e.Type() == fs.ModeSymlink {
				todo = append(todo, path)
				return nil
			}
			if p := written(owner, path, info, false); p != nil {
				return p
			}
			return nil
		})
		if err != nil {
			return asProblem(dir, err)
		}
	}
	return nil
}
