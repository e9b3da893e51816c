package trust

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
)

// Subject is a definition that wants to run.
type Subject struct {
	// ID is the hook's, scope/name.
	ID string
	// Root is the directory of the workspace or the package. Approvals are kept
	// by its canonical path, and no link of Dir may lead out of it.
	Root string
	// Path is the file that declares the hook. It is part of the approval's
	// key, not of what is bound; Dir or Files bind its bytes.
	Path string
	// Dir is the hook's folder, of which every file is bound; "" = none.
	Dir string
	// Definition is that of [Define].
	Definition []byte
	// Files are further files, bound by content and run where they lie. One
	// that does not exist is bound as such: it must not come into being.
	Files []string
	// Words are those of [Words]. One that names a file is bound as one of Files.
	// Any other must go on naming none.
	Words []Word
}

// Key is what approvals are kept by.
type Key struct {
	Root string // canonical; "" = wherever the content is found
	ID   string
	Path string // with slashes; relative to the root if it lies there
}

// Key is what an approval of the subject is kept by, for [Store.Revoke].
func (s *Subject) Key() (Key, error) { return s.key() }

// key finds the subject's canonical key.
func (s *Subject) key() (Key, error) {
	root, err := filepath.Abs(s.Root)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return Key{}, asProblem(s.Root, err)
	}
	return Key{Root: root, ID: s.ID, Path: s.nameOf(s.Path)}, nil
}

// nameOf is a file's name in approvals: it does not depend on where the root
// is, as long as the file lies there.
func (s *Subject) nameOf(path string) string {
	if rel, err := filepath.Rel(s.Root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(filepath.Clean(path))
}

// definition is the subject's definition without insignificant space.
func (s *Subject) definition() (json.RawMessage, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, s.Definition); err != nil {
		return nil, &Problem{CodeDefinition, s.Path, "has a definition that is no JSON: " + err.Error(), "make it with Define"}
	}
	return b.Bytes(), nil
}

// show makes a name safe to stand in a sentence: one with characters that move
// the cursor or turn text around is quoted.
func show(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return strconv.Quote(name)
	}
	return name
}
