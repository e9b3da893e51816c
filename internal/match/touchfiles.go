package match

import (
	"os"
	"path"
	"strings"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// These bound how many names of one directory are read, and how many of them
// patterns of the shell are replaced by.
const (
	maxListed  = 1024
	maxEntries = 256
)

// exists looks for a file that a pattern of the shell without a letter stands
// for, like * or dir/*.
func (s *touchSearch) exists(name string, p *placedPattern) bool {
	dir := strings.TrimSuffix(name, lastPart(name))
	if !isPlain(dir) {
		return true
	}
	entries := s.entriesOf(dir)
	if len(entries) == 0 {
		return p.dir != ""
	}
	for _, entry := range entries {
		if name := strings.ToLower(dir + entry); p.takes(name, true, s.line.dots) && (s.line.dots || entry[0] != '.') && !s.excluded(name, true) {
			return true
		}
	}
	return false
}

// entriesOf returns names of a directory, as many as can be read soon. Each
// directory is read once.
func (s *touchSearch) entriesOf(dir string) []string {
	if names, ok := s.listed[dir]; ok {
		return names
	}
	var names []string
	if f, err := os.OpenFile(native(dir), os.O_RDONLY|safefile.NonBlock, 0); err == nil {
		names, _ = f.Readdirnames(maxListed) // what was read before an error counts
		f.Close()
	}
	if s.listed == nil {
		s.listed = map[string][]string{}
	}
	s.listed[dir] = names
	return names
}

// linksAmong returns where the paths lead that a pattern of the shell stands
// for, of those with a link in them.
func (s *touchSearch) linksAmong(name string) (found []string) {
	at := strings.IndexAny(name, wilds)
	if at < 0 {
		if to := followLinks(name); to != path.Clean(name) {
			return []string{to}
		}
		return nil
	}
	start := strings.LastIndexByte(name[:at], '/') + 1
	part, rest := name[start:], ""
	if end := strings.IndexByte(part, '/'); end >= 0 {
		part, rest = part[:end], part[end:]
	}
	if strings.ContainsAny(part, "\x03\x04") {
		return nil
	}
	for _, entry := range s.entriesOf(name[:start]) {
		if !literal(entry).meets(part, false) {
			continue
		}
		if s.entries++; s.entries > maxEntries {
			break
		}
		found = append(found, s.linksAmong(name[:start]+entry+rest)...)
	}
	return found
}
