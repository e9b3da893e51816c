package trust

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/stamp"
)

// Seal is a subject as it was read: what an approval binds, and how to tell
// whether it still stands. It is immutable and safe for concurrent use.
type Seal struct {
	subject    Subject
	key        Key
	definition json.RawMessage
	folder     []File // of Subject.Dir, by name
	files      []File // of Subject.Files, by name

	watch   []watched
	settled bool // the stamps can be relied on: nothing was younger than they can tell

	base     *Seal // that this one is of the same folder as; nil = itself
	copyOnce sync.Once
	copyName string // see copyID
}

// File is a file as an approval binds it.
type File struct {
	Name    string `json:"name"`             // with slashes, relative to the folder, or to the root for a file outside of it
	Size    int64  `json:"size,omitzero"`    // in bytes
	SHA256  string `json:"sha256,omitempty"` // in hex; "" for a link within the folder, and for no file
	Exec    bool   `json:"exec,omitzero"`    // a user may execute it
	Link    string `json:"link,omitempty"`   // where a link leads, as it is written
	Missing bool   `json:"missing,omitzero"` // it is not there
}

// describe is a file's content in a word.
func (f File) describe() string {
	switch {
	case f.Missing:
		return "not there"
	case f.Link != "" && f.SHA256 != "":
		return "link to " + show(f.Link) + ", sha256:" + f.SHA256
	case f.Link != "":
		return "link to " + show(f.Link)
	}
	return "sha256:" + f.SHA256
}

// watched is a path whose stamp tells whether a seal stands.
type watched struct {
	path   string
	name   string // for messages
	follow bool   // what the path leads to, rather than a link itself
	gone   bool   // it is to stay away
	stamp  stamp.Stamp
}

// Seal reads and hashes the subject's files. It never waits for a pipe, follows
// no link out of the root, and takes at most [MaxFiles] files and [MaxBytes]
// bytes; the error is a [*Problem]. Where something changes meanwhile it reads
// all of it again, and gives up after the third time.
func (s Subject) Seal() (*Seal, error) {
	key, err := s.key()
	if err != nil {
		return nil, err
	}
	definition, err := s.definition()
	if err != nil {
		return nil, err
	}
	if s.ID == "" {
		return nil, &Problem{CodeDefinition, s.Path, "has no ID to approve it by", "name the hook"}
	}
	s.Files = slices.Clone(s.Files)
	moved := ""
	for range 3 {
		start := time.Now()
		r := reader{subject: &s, root: key.Root}
		if err := r.read(); err != nil {
			return nil, asProblem(s.Path, err)
		}
		if p := unwritable(key, r.folder, r.files); p != nil {
			return nil, p
		}
		seal := &Seal{subject: s, key: key, definition: definition, folder: r.folder, files: r.files, watch: r.watch}
		if moved = seal.moved(); moved == "" {
			seal.settled = !slices.ContainsFunc(seal.watch, func(w watched) bool { return !w.gone && w.stamp.Young(start) })
			return seal, nil
		}
	}
	return nil, &Problem{CodeChanging, s.Path, "changes while it is read: " + moved, "try again when nothing writes to it"}
}

// Intact reports whether everything is as it was read, and if not, what moved.
// It costs a stat a file. What moved need not have changed in what is bound:
// the next seal tells. A file that a process holds mapped can change unseen.
func (s *Seal) Intact() (bool, string) {
	if !s.settled {
		return false, "something changed too short a time ago to be sure of it"
	}
	why := s.moved()
	return why == "", why
}

// Folder lists the files of the subject's folder that are bound, by name. It must
// not be changed.
func (s *Seal) Folder() []File { return s.folder }

// Approval is what approving the subject would record, but for the time.
func (s *Seal) Approval() Approval {
	return Approval{Root: s.key.Root, ID: s.key.ID, Path: s.key.Path, Definition: slices.Clone(s.definition),
		Unbound: s.subject.Unbound != "", Folder: slices.Clone(s.folder), Files: slices.Clone(s.files)}
}

func (s *Seal) moved() string {
	for i := range s.watch {
		w := &s.watch[i]
		now, err := stamp.Of(w.path, w.follow)
		switch {
		case w.gone && err == nil:
			return fmt.Sprintf("%s came into being", show(w.name))
		case w.gone && absent(err), err == nil && now == w.stamp:
		case absent(err):
			return fmt.Sprintf("%s is gone", show(w.name))
		case err != nil:
			return fmt.Sprintf("%s cannot be examined: %v", show(w.name), err)
		default:
			return fmt.Sprintf("%s moved", show(w.name))
		}
	}
	return ""
}

// with returns the seal of the same folder with files as they are now, read and
// hashed again.
func (s *Seal) with(p hook.Program) (*Seal, error) {
	if len(p.Files) == 0 && p.Unbound == "" {
		return s, nil
	}
	sub := s.subject.With(p)
	r := reader{subject: &sub, root: s.key.Root}
	if err := r.readFiles(); err != nil {
		return nil, asProblem(sub.Path, err)
	}
	if p := unwritable(s.key, r.files); p != nil {
		return nil, p
	}
	return &Seal{subject: sub, key: s.key, definition: s.definition, folder: s.folder, files: r.files,
		watch: slices.Concat(s.watch, r.watch), base: s}, nil
}

// Unbound says why the subject can run files that the seal does not hold; "" =
// it cannot.
func (s *Seal) Unbound() string { return s.subject.Unbound }

// unwritable finds a name that a store could not tell from others.
func unwritable(k Key, lists ...[]File) *Problem {
	texts := []string{k.Root, k.ID, k.Path}
	for _, list := range lists {
		for _, f := range list {
			texts = append(texts, f.Name, f.Link)
		}
	}
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return &Problem{CodeDefinition, s, "is a name that is not UTF-8", "rename it"}
		}
	}
	return nil
}

func byName(a, b File) int { return strings.Compare(a.Name, b.Name) }
