package daemon

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// maxLog bounds the log file, in bytes. One earlier file is kept.
const maxLog = 1 << 20

// Log is the daemon's log file. Close it at the end.
type Log struct {
	*slog.Logger
	file *logFile
}

// OpenLog opens daemon.log in the state directory of an environment. On an error
// the Log is usable, and silent.
func OpenLog(env []string, level slog.Level) (*Log, error) {
	quiet := &Log{Logger: slog.New(slog.DiscardHandler), file: &logFile{}}
	dir := userOf(env, nil).state
	if dir == "" {
		return quiet, fmt.Errorf("open the log: HOME names no directory: set HOME")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return quiet, fmt.Errorf("open the log: %w", err)
	}
	f := &logFile{path: filepath.Join(dir, "daemon.log")}
	if err := f.open(); err != nil {
		return quiet, fmt.Errorf("open the log: %w", err)
	}
	return &Log{Logger: slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: level})), file: f}, nil
}

// Close closes the file.
func (l *Log) Close() error { return l.file.close() }

// logFile is a file that is renamed away when it is full. What cannot be written
// is lost: a log never keeps a decision waiting.
type logFile struct {
	path string

	mu   sync.Mutex // guards all below
	file *os.File
	size int64
}

func (l *logFile) open() error {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|safefile.NoFollow|safefile.NonBlock, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file: remove it", l.path)
	}
	if err != nil {
		f.Close()
		return err
	}
	l.file, l.size = f, info.Size()
	return nil
}

// Write appends a line.
func (l *logFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return len(line), nil
	}
	if l.size+int64(len(line)) > maxLog {
		l.file.Close()
		l.file = nil
		_ = os.Rename(l.path, l.path+".1")
		if err := l.open(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	return n, err
}

func (l *logFile) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
