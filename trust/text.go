package trust

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// What is kept of approved texts, so that changes to them can be shown.
const (
	maxText  = 64 << 10 // bytes of one file
	maxTexts = 1 << 20  // bytes of one subject

	maxShown = 4 << 20 // bytes of a file that is shown
)

// Text returns the text of a file of the seal, raw: escape it before it goes to
// a terminal, for it may hold bytes that are no text. It is not ok for what a
// person cannot read, for more than 4 MiB, and for what is not any more what was
// sealed.
func (s *Seal) Text(f File) (data []byte, ok bool) {
	if f.SHA256 == "" {
		return nil, false
	}
	return readText(s.pathOf(f), f, maxShown)
}

// Diff returns a change of a file as a unified diff, raw: escape it before it
// goes to a terminal. It is "" for any other change, for what is no text of at
// most 64 KiB, and where the approved text is not kept any more.
func (s *Store) Diff(seal *Seal, c Change) string {
	if c.Kind != ChangeAdded && c.Kind != ChangeRemoved && c.Kind != ChangeContent {
		return ""
	}
	before, after := File{Missing: true}, File{Missing: true}
	path := ""
	for _, a := range s.current().find(seal.key) {
		for _, f := range slices.Concat(a.Folder, a.Files) {
			if f.Name == c.Name && f.describe() == c.Old {
				before = f
			}
		}
	}
	for _, f := range slices.Concat(seal.folder, seal.files) {
		if f.Name == c.Name && f.describe() == c.New {
			after, path = f, seal.pathOf(f)
		}
	}
	old, ok := s.text(before)
	if !ok {
		return ""
	}
	now, ok := readText(path, after, maxText)
	if !ok {
		return ""
	}
	return UnifiedDiff(c.Name, old, now)
}

// pathOf is where a file of the seal lies. A file of the folder and one outside
// of it can have the same name, but then they are distinguished by what is in them.
func (s *Seal) pathOf(f File) string {
	if slices.Contains(s.folder, f) {
		return filepath.Join(s.subject.Dir, filepath.FromSlash(f.Name))
	}
	for _, path := range s.subject.Files {
		if s.subject.nameOf(path) == f.Name {
			return path
		}
	}
	return ""
}

// texts collects the subject's small texts, as far as they are still as they
// were read.
func (s *Seal) texts(into map[string][]byte) {
	room := int64(maxTexts)
	for _, list := range [][]File{s.folder, s.files} {
		for _, f := range list {
			if f.SHA256 == "" || f.Size > room {
				continue
			}
			if text, ok := readText(s.pathOf(f), f, maxText); ok {
				into[f.SHA256] = text
				room -= f.Size
			}
		}
	}
}

// readText returns the text of a file of at most limit bytes, if it is one and
// has the digest.
func readText(path string, f File, limit int64) ([]byte, bool) {
	if f.SHA256 == "" {
		return nil, f.Missing
	}
	if f.Size > limit {
		return nil, false
	}
	data, err := safefile.Read(path, f.Size)
	return data, err == nil && isText(data, f.SHA256)
}

func isText(data []byte, sum string) bool {
	got := sha256.Sum256(data)
	return hex.EncodeToString(got[:]) == sum && readable(data)
}

// readable reports whether a person can read a file. A script is shown whatever
// bytes its author put into it: a few that are no text must not hide the rest.
func readable(data []byte) bool {
	if bytes.HasPrefix(data, []byte("#!")) {
		return true
	}
	head := data[:min(len(data), 4<<10)]
	odd := 0
	for rest := head; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == 0 || r == utf8.RuneError && size == 1 {
			odd++
		}
		rest = rest[size:]
	}
	return odd*4 <= len(head)
}

// text returns the text that was approved.
func (s *Store) text(f File) ([]byte, bool) {
	if f.SHA256 == "" {
		return nil, f.Missing
	}
	if s.texts != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		data, ok := s.texts[f.SHA256]
		return data, ok
	}
	if s.dir == "" {
		return nil, false
	}
	return readText(filepath.Join(s.dir, textsName, f.SHA256), f, maxText)
}

// keepTexts writes texts to files named by their digests.
func (s *Store) keepTexts(texts map[string][]byte) error {
	if len(texts) == 0 {
		return nil
	}
	dir := filepath.Join(s.dir, textsName)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for sum, text := range texts {
		path := filepath.Join(dir, sum)
		if have, err := safefile.Read(path, maxText); err == nil && isText(have, sum) {
			continue
		}
		// Half a file is no text with that digest, and is written again next time.
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes the texts that no approval is about, and what a writer that was
// killed left behind. What stays does no harm.
func (s *Store) sweep(list []Approval) {
	used := make(map[string]bool)
	for i := range list {
		for _, files := range [][]File{list[i].Folder, list[i].Files} {
			for _, f := range files {
				used[f.SHA256] = true
			}
		}
	}
	dir := filepath.Join(s.dir, textsName)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !used[e.Name()] {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	entries, _ = os.ReadDir(s.dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), approvalsName) && strings.HasSuffix(e.Name(), safefile.TempSuffix) {
			_ = os.Remove(filepath.Join(s.dir, e.Name()))
		}
	}
}
