package journal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/gofrs/flock"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// The files of a journal's folder.
const (
	spoolName  = "spool"         // lines that no process has moved into the database
	lockName   = "spool.lock"    // held to append, and to take the spool away
	ingestName = "ingest.lock"   // held by the process that moves lines
	takenGlob  = "spool.*.taken" // a spool that was taken away and is being moved
	dataName   = "journal.db"
)

// maxSpool bounds the spool that is not moved yet, in bytes. Past it lines are
// refused, so that a machine whose journal is never read does not fill up.
const maxSpool = 256 << 20

// spool appends lines to a file that other processes append to too.
type spool struct {
	path string
	lock *flock.Flock
}

// newSpool makes the folder where it is missing. Only its owner may read it.
func newSpool(dir string) (*spool, error) {
	if err := private(dir); err != nil {
		return nil, err
	}
	return &spool{path: filepath.Join(dir, spoolName), lock: safefile.Lock(filepath.Join(dir, lockName))}, nil
}

// append adds lines, all or none. Each has a checksum, so that what a crash or a
// full disk left of a line is told from a line.
func (s *spool) append(lines [][]byte) (err error) {
	err = s.lock.Lock()
	if errors.Is(err, fs.ErrNotExist) { // the folder was removed
		if err = private(filepath.Dir(s.path)); err == nil {
			err = s.lock.Lock()
		}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.lock.Unlock()) }()
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_APPEND|safefile.NoFollow, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() > maxSpool {
		return fmt.Errorf("%s holds more than %d MiB that were not moved into the journal: run 'tenterhook log'", s.path, maxSpool>>20)
	}
	var text []byte
	if info.Size() > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			text = append(text, '\n') // ends what a crash left
		}
	}
	for _, line := range lines {
		text = fmt.Appendf(text, "%08x ", crc32.ChecksumIEEE(line))
		text = append(append(text, line...), '\n')
	}
	if n, err := f.Write(text); err != nil {
		if n > 0 {
			err = errors.Join(err, f.Truncate(info.Size()))
		}
		return err
	}
	return nil
}

// take renames the spool, so that no process appends to it any more, and returns
// every spool that was taken, the oldest first: an ingester may have been killed
// before it moved one.
func (s *spool) take(ctx context.Context, now time.Time) (taken []string, err error) {
	if _, err := s.lock.TryLockContext(ctx, time.Millisecond); err != nil { // another process may hold it for ever
		return nil, err
	}
	defer func() { err = errors.Join(err, s.lock.Unlock()) }()
	dir := filepath.Dir(s.path)
	if info, err := os.Stat(s.path); err == nil && info.Size() > 0 {
		to := filepath.Join(dir, fmt.Sprintf("spool.%020d.taken", now.UnixNano()))
		if err := os.Rename(s.path, to); err != nil {
			return nil, err
		}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	taken, err = filepath.Glob(filepath.Join(GlobEscape(dir), takenGlob))
	slices.Sort(taken)
	return taken, err
}

// GlobEscape quotes what filepath.Glob would take for a pattern.
func GlobEscape(dir string) string {
	var b bytes.Buffer
	for i := range len(dir) {
		if bytes.IndexByte([]byte(`*?[`), dir[i]) >= 0 {
			b.WriteString("[" + dir[i:i+1] + "]")
			continue
		}
		b.WriteByte(dir[i])
	}
	return b.String()
}

// readLines calls take with each whole line and counts the damaged ones.
func readLines(r io.Reader, take func([]byte) error) (damaged int, err error) {
	lines := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if body, ok := checked(bytes.TrimSuffix(line, []byte("\n"))); ok && err == nil {
			if err := take(body); err != nil {
				return damaged, err
			}
		} else if len(bytes.TrimSpace(line)) > 0 {
			damaged++
		}
		if errors.Is(err, io.EOF) {
			return damaged, nil
		}
		if err != nil {
			return damaged, err
		}
	}
}

func checked(line []byte) (body []byte, ok bool) {
	sum, body, ok := bytes.Cut(line, []byte{' '})
	want, err := strconv.ParseUint(string(sum), 16, 32)
	return body, ok && err == nil && uint32(want) == crc32.ChecksumIEEE(body)
}
