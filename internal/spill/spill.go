// Package spill keeps texts that are too long for a model or a person in files,
// for a day. The handlers use it, each by its dialect.Reader.
package spill

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// MaxAge is how long a text is kept at least. The next text that is written
// after that removes it.
const MaxAge = 24 * time.Hour

const prefix = "tenterhook-spill-"

// Text writes a text to a file of the temporary directory that only this user
// can read, and returns its path. It removes texts that are older than MaxAge,
// those of other processes included.
func Text(name, text string) (string, error) {
	sweep(time.Now().Add(-MaxAge))
	f, err := os.CreateTemp("", prefix+name+"-*.txt")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	return f.Name(), errors.Join(err, f.Close())
}

func sweep(before time.Time) {
	old, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*.txt")) // a bad pattern finds nothing
	for _, path := range old {
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.ModTime().Before(before) {
			_ = os.Remove(path) // it may be another user's
		}
	}
}
