package trust

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tenterhook/tenterhook/hook"
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
	// Only names the one file of Dir that is bound, as for a plugin; "" = all are.
	Only string
	// Definition is that of [Define].
	Definition []byte
	// Workspace is the directory of the workspace, where that is not Root: files
	// there are bound by names that hold in every workspace.
	Workspace string
	// Files are further files, bound by content and run where they lie. One
	// that does not exist is bound as such: it must not be created.
	Files []string
	// Unbound says why the hook can run files that are not among those above;
	// "" = it cannot. What is unbound is approved by [Store.ApproveUnbound] alone.
	Unbound string
}

// With returns the subject with what its command comes to.
func (s Subject) With(p hook.Program) Subject {
	s.Files = slices.Concat(s.Files, p.Files)
	s.Unbound = cmp.Or(s.Unbound, p.Unbound)
	return s
}

// Key is what approvals are kept by.
type Key struct {
	Root string // canonical; "" = wherever the content is found
	ID   string
	Path string // with slashes; relative to the root if it is there
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
// and the workspace are, as long as the file is there. No two files have the
// same.
func (s *Subject) nameOf(path string) string {
	if rel, ok := relative(s.Root, path); ok && strings.HasPrefix(rel, "$") {
		return "./" + rel
	} else if ok {
		return rel
	}
	if rel, ok := relative(s.Workspace, path); ok && s.Workspace != "" {
		return "$CLAUDE_PROJECT_DIR/" + rel
	}
	return filepath.ToSlash(filepath.Clean(path))
}

func relative(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

func below(dir, path string) bool {
	_, ok := relative(dir, path)
	return ok
}

// definition is the subject's definition without insignificant space.
func (s *Subject) definition() (json.RawMessage, error) {
	if len(s.Definition) == 0 {
		return nil, &Problem{CodeDefinition, s.Path, "has no definition that could be approved", "fix what 'tenterhook check' reports"}
	}
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
