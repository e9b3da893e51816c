package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	maxMatches   = 200
	maxPaths     = 1000
	maxPattern   = 1000             // bytes
	maxFile      = 32 << 20         // bytes of one file that Grep goes through
	maxSearch    = 256 << 20        // bytes of all files
	maxGrepLine  = 1 << 20          // bytes of a line that are matched
	around       = 150              // bytes of a long line on each side of a match
	searchWithin = 10 * time.Second // for one search
)

// grep is the tool Grep.
func (ws *workspace) grep(ctx context.Context, in toolInput) (string, error) {
	if len(in.Pattern) > maxPattern {
		return "", fmt.Errorf("the pattern has more than %d bytes", maxPattern)
	}
	re, err := regexp.Compile(in.Pattern)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, searchWithin)
	defer cancel()
	s := &search{ws: ws, re: re, ctx: ctx}
	return s.in(ctx, in.Path, in.Glob, s.file, "[no line matches]")
}

// glob is the tool Glob.
func (ws *workspace) glob(ctx context.Context, in toolInput) (string, error) {
	if in.Pattern == "" {
		return "", errors.New("the pattern is empty")
	}
	ctx, cancel := context.WithTimeout(ctx, searchWithin)
	defer cancel()
	s := &search{ws: ws}
	return s.in(ctx, in.Path, in.Pattern, func(t target) error { return s.add(filepath.ToSlash(t.name)+"\n", maxPaths) }, "[no file matches]")
}

// in visits the files below a path that a glob matches; "" = all.
func (s *search) in(ctx context.Context, path, glob string, visit func(target) error, none string) (string, error) {
	if err := checkGlob(glob); err != nil {
		return "", err
	}
	t, err := s.ws.find(path)
	if err != nil {
		return "", err
	}
	all, err := s.ws.walk(ctx, t, func(rel string, t target) error {
		if glob != "" && !doublestar.MatchUnvalidated(glob, rel) {
			return nil
		}
		return visit(t)
	})
	if err != nil {
		return "", err
	}
	return s.found(all, none), nil
}

// checkGlob refuses globs that are wrong, or that take long to match.
func checkGlob(glob string) error {
	switch {
	case len(glob) > maxPattern || strings.Count(glob, "{") > 8 || strings.Count(glob, "**") > 8:
		return errors.New("the glob is too long")
	case !doublestar.ValidatePattern(glob):
		return errors.New("the glob is malformed")
	case strings.HasPrefix(glob, "/"):
		return errors.New("a glob begins at path, without a slash")
	}
	return nil
}

// search collects what a search finds, within its bounds.
type search struct {
	ws      *workspace
	re      *regexp.Regexp
	ctx     context.Context
	read    int64
	count   int
	partial int // files of which not all was read
	results strings.Builder
}

// add adds a line of the result.
func (s *search) add(line string, most int) error {
	if s.count >= most || s.results.Len()+len(line) > maxResult {
		return errEnough
	}
	s.count++
	s.results.WriteString(line)
	return nil
}

// found is the result; what it lacks is said.
func (s *search) found(all bool, nothing string) string {
	switch {
	case !all:
		s.results.WriteString("[there may be more: narrow the search]\n")
	case s.count == 0:
		s.results.WriteString(nothing + "\n")
	}
	if s.partial > 0 {
		fmt.Fprintf(&s.results, "[%d files could not be read, or only in part]\n", s.partial)
	}
	return s.results.String()
}

// file searches one file. A file that is no text has no lines.
func (s *search) file(t target) error {
	f, err := s.ws.open(t)
	if err != nil {
		s.partial++
		return nil
	}
	defer f.Close()
	counted := &countingReader{Reader: io.LimitReader(f, min(maxFile, maxSearch-s.read))}
	defer func() { s.read += counted.n }()
	lines := newLines(counted, maxGrepLine)
	if lines.binary() {
		return nil
	}
	for n := 1; ; n++ {
		if n%1024 == 0 && s.ctx.Err() != nil {
			return errEnough
		}
		line, err := lines.next()
		if err != nil {
			if s.read+counted.n >= maxSearch {
				return errEnough
			}
			if counted.n == maxFile || !errors.Is(err, io.EOF) {
				s.partial++
			}
			return nil
		}
		at := s.re.FindIndex(line)
		if at == nil {
			continue
		}
		if err := s.add(fmt.Sprintf("%s:%d: %s\n", filepath.ToSlash(t.name), n, excerpt(line, at)), maxMatches); err != nil {
			return err
		}
	}
}

// excerpt is a line, or of a long one what stands around a match.
func excerpt(line []byte, at []int) string {
	from, to := max(0, at[0]-around), min(len(line), at[0]+2*around)
	text := strings.ToValidUTF8(string(line[from:to]), "")
	if from > 0 {
		text = "…" + text
	}
	if to < len(line) {
		text += "…"
	}
	return text
}

type countingReader struct {
	io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}
