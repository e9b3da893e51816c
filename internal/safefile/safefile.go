// Package safefile opens files that another program may have put there, and
// replaces files as a whole.
//
// Stage: below all others: whoever reads or keeps files imports it. It imports
// nothing of this project.
package safefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/robustio"
)

// ErrNotRegular is why a folder, a pipe or a device is not read.
var ErrNotRegular = errors.New("it is no regular file")

// Open opens a regular file for reading. It does not wait for the writer of a pipe.
func Open(path string) (*os.File, error) {
	return Regular(os.OpenFile(path, os.O_RDONLY|NonBlock, 0))
}

// OpenIn is [Open] for a file below root.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	return Regular(root.OpenFile(name, os.O_RDONLY|NonBlock, 0))
}

// Regular takes what an open returned, and refuses and closes what is no regular
// file. Open with [NonBlock]: a pipe would be waited for.
func Regular(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Read returns the content of a regular file of at most that many bytes. An error
// without a path is about what the file is: no regular file, or too large.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, most)
}

// ReadAll is [Read] of an open file.
func ReadAll(f *os.File, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = TooLargeError(most)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// TooLargeError is the limit, in bytes, that a file is larger than.
type TooLargeError int64

func (e TooLargeError) Error() string {
	switch {
	case e%1024 != 0:
		return fmt.Sprintf("it is larger than %d bytes", int64(e))
	case e%(1<<20) != 0:
		return fmt.Sprintf("it is larger than %d KiB", e>>10)
	}
	return fmt.Sprintf("it is larger than %d MiB", e>>20)
}

// MaxKept bounds the files that this project keeps for itself, in bytes.
const MaxKept = 64 << 20

// ReadJSON reads such a file. Its errors name the file.
func ReadJSON(path string, into any) error {
	data, err := Read(path, MaxKept)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	return Named(path, err)
}

// Named names the file in an error that is about what the file is.
func Named(path string, err error) error {
	if about := (*fs.PathError)(nil); err != nil && !errors.As(err, &about) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// Write replaces a file: path holds the old or the new bytes, whenever the machine
// stops, and the new bytes are on the disk when it returns. An error leaves the
// old file, unless the folder alone could not be written to the disk.
func Write(path string, data []byte, mode fs.FileMode) error {
	return WriteFor(path, data, mode, func(string) error { return nil })
}

// WriteFor is [Write] for a file of another user: give hands over the file that
// takes the place of the old one, before it does.
func WriteFor(path string, data []byte, mode fs.FileMode, give func(fresh string) error) error {
	err := put(path, data, func(f *os.File) error {
		err := give(f.Name())
		if err == nil && mode != 0o600 { // which it has
			err = f.Chmod(mode)
		}
		if err == nil {
			err = f.Sync()
		}
		return err
	})
	if err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// Put replaces a file for its owner alone, and makes its folder. It does not wait
// for the disk: for what a crash of the machine may undo.
func Put(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return put(path, data, func(*os.File) error { return nil })
}

// TempSuffix ends the names of files that are not finished.
const TempSuffix = ".tmp"

func put(path string, data []byte, finish func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+TempSuffix) // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = finish(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = robustio.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
