package eligibility

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A search finds programs under one PATH and PATHEXT.
type search struct {
	absolute   []string // the elements of PATH that are used
	relative   []string // and the others
	extensions []string // nil where a file needs none
}

func newSearch(path, pathExt string) search {
	var s search
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) {
			s.absolute = append(s.absolute, dir)
		} else {
			s.relative = append(s.relative, dir)
		}
	}
	if onWindows {
		s.extensions = parsePathExt(pathExt)
	}
	return s
}

// trouble is what keeps a name from being a program that can be used.
type trouble uint8

const (
	fine trouble = iota
	notFound
	notExecutable
	noPermission
	isDirectory
	isSpecial
	emptyPath
	relativeElement // found, but through a relative element of PATH alone
	relativeName
	noName
)

// A miss is a program that cannot be used. Its trouble is fine if it can.
type miss struct {
	name    string
	trouble trouble
	where   string // the file, or for relativeElement the element of PATH
}

// find returns the file of a program, or what is the trouble with it.
func (s search) find(name string) (string, miss) {
	switch {
	case name == "" || name == "." || name == "..":
		return "", miss{name: name, trouble: noName}
	case isBare(name):
		return s.findOnPath(name)
	case !filepath.IsAbs(name):
		return "", miss{name: name, trouble: relativeName}
	}
	file, t := s.inspect(name)
	return file, miss{name: name, trouble: t, where: file}
}

// findOnPath looks through PATH. The relative elements are looked at only to
// explain why the search failed.
func (s search) findOnPath(name string) (string, miss) {
	m := miss{name: name, trouble: notFound}
	for _, dir := range s.absolute {
		file, t := s.inspect(filepath.Join(dir, name))
		if t == fine {
			return file, miss{name: name}
		}
		if t == notExecutable && m.trouble == notFound {
			m.trouble, m.where = t, file
		}
	}
	for _, dir := range s.relative {
		if _, t := s.inspect(filepath.Join(dir, name)); t == fine {
			return "", miss{name: name, trouble: relativeElement, where: dir}
		}
	}
	if len(s.absolute)+len(s.relative) == 0 {
		m.trouble = emptyPath
	}
	return "", m
}

// inspect returns the first fine candidate for a path, or else the trouble with
// the first existing one.
func (s search) inspect(path string) (string, trouble) {
	worst, where := notFound, path
	for _, file := range candidates(path, s.extensions) {
		t := inspect(file)
		if t == fine {
			return file, fine
		}
		if worst == notFound && t != notFound {
			worst, where = t, file
		}
	}
	if worst == notFound && s.extensions != nil && inspect(path) == isDirectory {
		return path, isDirectory
	}
	return where, worst
}

// inspect says whether this process may execute a file. The last word is
// os/exec's, which starts it: it knows effective user ids, access lists and
// noexec mounts, and given a path it searches for nothing.
func inspect(file string) trouble {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return noPermission
	case err != nil:
		return notFound
	case info.IsDir():
		return isDirectory
	case info.Mode().Type()&^fs.ModeIrregular != 0: // Windows' app aliases are irregular
		return isSpecial
	}
	// An element "." of PATH leaves a bare name, which must not start a search.
	if isBare(file) {
		file = "." + string(filepath.Separator) + file
	}
	if _, err := exec.LookPath(file); err != nil {
		return notExecutable
	}
	return fine
}

// isBare says whether a program is looked for on PATH.
func isBare(name string) bool {
	if onWindows {
		return !strings.ContainsAny(name, `:\/`)
	}
	return !strings.Contains(name, "/")
}

// candidates are the files that a path may mean, best first, by the rules of
// os/exec: what has an extension may be meant as it is.
func candidates(path string, extensions []string) []string {
	if extensions == nil {
		return []string{path}
	}
	var files []string
	if strings.LastIndex(path, ".") > strings.LastIndexAny(path, `:\/`) {
		files = append(files, path)
	}
	for _, extension := range extensions {
		files = append(files, path+extension)
	}
	return files
}

// parsePathExt returns the extensions of PATHEXT, each with its dot, in lower
// case; those of os/exec if it has none.
func parsePathExt(value string) []string {
	var extensions []string
	for extension := range strings.SplitSeq(strings.ToLower(value), ";") {
		if extension != "" {
			extensions = append(extensions, "."+strings.TrimPrefix(extension, "."))
		}
	}
	if extensions == nil {
		return []string{".com", ".exe", ".bat", ".cmd"}
	}
	return extensions
}
