package pack

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a file's name.
const (
	maxName  = 240 // bytes
	maxDepth = 12  // folders
)

// errNoFiles says that there is nothing in a pack.
var errNoFiles = errors.New("it holds no files")

// checkFiles says why a pack may not hold files, which are sorted by name.
func checkFiles(files []File) error {
	if len(files) == 0 {
		return errNoFiles
	}
	if len(files) > MaxFiles {
		return fmt.Errorf("it holds %d files, and at most %d are allowed", len(files), MaxFiles)
	}
	var total int64
	names := newNameSet()
	for _, f := range files {
		if err := names.add(f.Name); err != nil {
			return err
		}
		if f.Size < 0 || f.Size > MaxFile {
			return fmt.Errorf("%q has %d bytes, and at most %d are allowed", f.Name, f.Size, int64(MaxFile))
		}
		if total += f.Size; total > MaxTotal {
			return fmt.Errorf("it holds more than %d bytes", int64(MaxTotal))
		}
		if !validSum(f.SHA256) {
			return fmt.Errorf("%q has the digest %q, which is none", f.Name, f.SHA256)
		}
	}
	return nil
}

// nameSet are names that every file system keeps apart.
type nameSet struct {
	spelt map[string]string // how a name or a folder is spelt, by its folded form
	files map[string]bool   // folded forms of files
}

func newNameSet() *nameSet {
	return &nameSet{make(map[string]string), make(map[string]bool)}
}

// add fails for a name that is not allowed, or that is another's on some file
// system: in another case, or as a folder.
func (s *nameSet) add(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	folded := fold(name)
	if s.files[folded] {
		return fmt.Errorf("%q is there twice, as %q", name, s.spelt[folded])
	}
	if other := s.spelt[folded]; other != "" {
		return fmt.Errorf("%q is a file, and the folder %q too", name, other)
	}
	s.files[folded], s.spelt[folded] = true, name
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		folded := fold(dir)
		if s.files[folded] {
			return fmt.Errorf("%q is a folder, and the file %q too", dir, s.spelt[folded])
		}
		if other := s.spelt[folded]; other != "" && other != dir {
			return fmt.Errorf("the folder %q is there twice, as %q", dir, other)
		}
		s.spelt[folded] = dir
	}
	return nil
}

// fold makes one text of all that differ in case alone.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, name)
}

// checkName says why a name is not allowed. What is allowed means the same file
// on every system, and one below the pack's folder.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("a file has no name")
	case len(name) > maxName:
		return fmt.Errorf("a name has %d bytes, and at most %d are allowed: %.40q…", len(name), maxName, name)
	case !utf8.ValidString(name):
		return fmt.Errorf("the name %q is not UTF-8", name)
	case path.Clean(name) != name || path.IsAbs(name) || !filepath.IsLocal(filepath.FromSlash(name)):
		return fmt.Errorf("the name %q leads out of the pack, or is spelt in a roundabout way", name)
	case strings.Count(name, "/") >= maxDepth:
		return fmt.Errorf("%q lies more than %d folders deep", name, maxDepth)
	case strings.ContainsAny(name, `\:*?"<>|`) || strings.ContainsFunc(name, forbidden):
		return fmt.Errorf("the name %q has a character that is not allowed", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if err := CheckPart(name, part); err != nil {
			return err
		}
	}
	return nil
}

// forbidden are characters that show nothing, turn text around, or, as accents of
// their own, spell a name in a second way.
func forbidden(r rune) bool {
	return !unicode.IsPrint(r) || unicode.Is(unicode.Mn, r) || r == unicode.ReplacementChar
}

// CheckPart says why a part of a name is not possible on every system; nil = it is.
func CheckPart(name, part string) error {
	if strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || strings.HasPrefix(part, " ") {
		return fmt.Errorf("the name %q begins or ends with what some systems drop", name)
	}
	stem, _, _ := strings.Cut(strings.ToUpper(part), ".")
	stem = strings.TrimRight(stem, " ")
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return fmt.Errorf("the name %q is a device on Windows", name)
	}
	if port, ok := strings.CutPrefix(stem, "COM"); ok && isPort(port) {
		return fmt.Errorf("the name %q is a device on Windows", name)
	}
	if port, ok := strings.CutPrefix(stem, "LPT"); ok && isPort(port) {
		return fmt.Errorf("the name %q is a device on Windows", name)
	}
	if strings.EqualFold(part, ".git") {
		return fmt.Errorf("git obeys the name %q", name)
	}
	return nil
}

// isPort reports whether a text is the number of a device, superscripts included.
func isPort(s string) bool {
	return utf8.RuneCountInString(s) == 1 && strings.ContainsAny(s, "0123456789¹²³")
}
