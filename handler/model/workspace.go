package model

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

// workspace is what an agent may look at: the files below a root, whatever
// links they are, and the transcripts by their exact paths.
type workspace struct {
	root        *os.Root // nil = there is none
	names       []string // of the root: as the host has it, and without links
	transcripts []string
}

// openWorkspace opens a root; "" opens none.
func openWorkspace(root string, transcripts []string) (*workspace, error) {
	ws := &workspace{}
	for _, path := range transcripts {
		ws.transcripts = append(ws.transcripts, filepath.Clean(path))
	}
	if root == "" {
		return ws, nil
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	ws.names = []string{root}
	if resolved, err := filepath.EvalSymlinks(root); err == nil && resolved != root {
		ws.names = append(ws.names, resolved)
	}
	ws.root, err = os.OpenRoot(root)
	return ws, err
}

// Close closes the root.
func (ws *workspace) Close() {
	if ws.root != nil {
		_ = ws.root.Close()
	}
}

// reach says what the tools reach, for the model.
func (ws *workspace) reach() string {
	var b strings.Builder
	if ws.root != nil {
		b.WriteString("reach the files of the workspace " + strconv.Quote(ws.names[0]))
	} else {
		b.WriteString("reach no files: there is no workspace")
	}
	if len(ws.transcripts) > 0 {
		b.WriteString(", and the transcripts that the event names (JSON lines)")
	}
	return b.String()
}

// target is a path that may be read.
type target struct {
	name       string // in the root, with the system's separators; or of the transcript
	transcript bool
}

// find says what a model means by a path. The root itself refuses links that
// lead out of it.
func (ws *workspace) find(path string) (target, error) {
	if strings.ContainsRune(path, 0) {
		return target{}, errors.New("a path has no NUL in it")
	}
	clean := filepath.Clean(filepath.FromSlash(path))
	if slices.Contains(ws.transcripts, clean) {
		return target{clean, true}, nil
	}
	if ws.root == nil {
		return target{}, errors.New("there is no workspace: only the transcript can be read")
	}
	if filepath.IsAbs(clean) {
		for _, name := range ws.names {
			if rel, err := filepath.Rel(name, clean); err == nil && filepath.IsLocal(rel) {
				return target{name: rel}, nil
			}
		}
	} else if filepath.IsLocal(clean) {
		return target{name: clean}, nil
	}
	return target{}, fmt.Errorf("%s is outside the workspace", phrase.Quote(path))
}

// open opens a regular file. Pipes and devices, which may block a caller that opens
// them, are refused before and after.
func (ws *workspace) open(t target) (*os.File, error) {
	stat, open := os.Stat, os.OpenFile
	if !t.transcript {
		stat, open = ws.root.Stat, ws.root.OpenFile
	}
	info, err := stat(t.name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a folder", phrase.Quote(t.name))
	}
	if info.Mode().IsRegular() {
		f, err := safefile.Regular(open(t.name, os.O_RDONLY|safefile.NonBlock, 0))
		if !errors.Is(err, safefile.ErrNotRegular) {
			return f, err
		}
	}
	return nil, fmt.Errorf("%s is no regular file", phrase.Quote(t.name))
}

const (
	maxRead     = 256 << 10 // bytes that Read returns
	maxLine     = 16 << 10  // bytes of a line that Read returns
	maxScan     = 256 << 20 // bytes that Read goes through
	defaultRead = 2000      // lines
)

// read is the tool Read.
func (ws *workspace) read(ctx context.Context, in toolInput) (string, error) {
	t, err := ws.find(in.Path)
	if err != nil {
		return "", err
	}
	f, err := ws.open(t)
	if err != nil {
		return "", err
	}
	defer f.Close()
	lines := newLines(io.LimitReader(f, maxScan), maxLine)
	if lines.binary() {
		return "", fmt.Errorf("%s is no text", phrase.Quote(in.Path))
	}
	first, limit := max(1, in.Offset), in.Limit
	if limit <= 0 {
		limit = defaultRead
	}
	var b strings.Builder
	for n := 1; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return "", ctx.Err()
		}
		line, err := lines.next()
		if err != nil {
			switch {
			case !errors.Is(err, io.EOF):
				return "", err
			case n == 1:
				return "[the file is empty]", nil
			case n <= first:
				return fmt.Sprintf("[the file has %d lines]", n-1), nil
			}
			return b.String(), nil
		}
		if n < first {
			continue
		}
		if n-first >= limit || b.Len()+len(line)+16 > maxRead {
			fmt.Fprintf(&b, "[more follows: read on from line %d]\n", n)
			return b.String(), nil
		}
		fmt.Fprintf(&b, "%d\t%s\n", n, line)
	}
}

// lines reads lines of bounded length. What a line has beyond is dropped, and
// said.
type lines struct {
	r    *bufio.Reader
	most int
}

func newLines(r io.Reader, most int) *lines { return &lines{bufio.NewReaderSize(r, 32<<10), most} }

// binary reports whether the beginning has a NUL in it.
func (l *lines) binary() bool {
	head, _ := l.r.Peek(8 << 10)
	return bytes.IndexByte(head, 0) >= 0
}

// next returns the next line without its end, valid until the next call.
func (l *lines) next() ([]byte, error) {
	var line []byte
	dropped := 0
	for {
		part, err := l.r.ReadSlice('\n')
		if room := l.most - len(line); len(part) > room {
			dropped += len(bytes.TrimRight(part[room:], "\r\n"))
			part = part[:room]
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(line) == 0:
			return nil, err
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		}
		line = bytes.ToValidUTF8(bytes.TrimRight(line, "\r\n"), []byte("\uFFFD"))
		if dropped > 0 {
			line = fmt.Appendf(line, "[… %d bytes more]", dropped)
		}
		return line, nil
	}
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// maxEntries bounds a walk.
const maxEntries = 100_000

// walk visits the regular files at and below a target in the order of their
// names, with their paths from it. It follows no links and leaves out .git. It
// reports whether it saw all of them.
func (ws *workspace) walk(ctx context.Context, t target, visit func(rel string, t target) error) (all bool, err error) {
	if t.transcript {
		return true, ignoreEnough(visit(filepath.Base(t.name), t))
	}
	start, seen := filepath.ToSlash(t.name), 0
	err = fs.WalkDir(ws.root.FS(), start, func(name string, d fs.DirEntry, err error) error {
		if seen++; seen > maxEntries || ctx.Err() != nil {
			return errEnough
		}
		switch {
		case err != nil && name == start:
			return err
		case err != nil: // a folder that cannot be read hides no other
			return nil
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(name, start), "/")
		if start == "." {
			rel = name
		}
		if rel == "" {
			rel = d.Name()
		}
		return visit(rel, target{name: filepath.FromSlash(name)})
	})
	return !errors.Is(err, errEnough), ignoreEnough(err)
}

func ignoreEnough(err error) error {
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
