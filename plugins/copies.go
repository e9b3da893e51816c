package plugins

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/internal/stamp"
)

// copies holds the executables that run: private copies of what was approved,
// by digest. The digest is taken of the very bytes that are copied, and of the
// copy before it is executed, so there is no time to swap a plugin between its
// check and its start.
type copies struct {
	dir string

	mu       sync.Mutex
	verified map[string]stamp.Stamp // by path of the copy
}

// unused is how long a copy stays that no host started.
const unused = 30 * 24 * time.Hour

// take returns a copy of src whose bytes have the digest, and refuses any other.
func (c *copies) take(src, want string) (string, *Problem) {
	c.mu.Lock()
	defer c.mu.Unlock()
	folder := filepath.Join(c.dir, want)
	path := filepath.Join(folder, filepath.Base(src))
	if p := c.private(); p != nil {
		return "", p
	}
	if !c.intact(path, want) {
		if p := c.copy(src, path, want); p != nil {
			return "", p
		}
		c.sweep(want)
		if !c.intact(path, want) {
			return "", &Problem{Code: CodeState, Path: path, Reason: "it is not what was put there", Hint: "find out who writes to it"}
		}
	}
	_ = os.Chtimes(folder, time.Time{}, time.Now()) // in use
	return path, nil
}

// private makes the folder and sees that it is this user's alone, and that so is
// the state folder two above: who can write there can put another in its place.
func (c *copies) private() *Problem {
	const hint = "make it yours alone, or name another state folder"
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return about(CodeState, c.dir, err, hint)
	}
	if info, err := os.Lstat(c.dir); err != nil || !info.IsDir() {
		return &Problem{Code: CodeState, Path: c.dir, Reason: "it is no folder", Hint: hint, Err: err}
	}
	state := filepath.Dir(filepath.Dir(c.dir))
	for _, dir := range []string{state, filepath.Dir(c.dir), c.dir} {
		if err := unshared(dir); err != nil {
			return about(CodeState, dir, err, hint)
		}
	}
	return nil
}

// intact reports whether a copy is there and has the digest. One that was read
// by this process costs a stat.
func (c *copies) intact(path, want string) bool {
	s, err := stampOf(path)
	if err != nil {
		return false
	}
	if info, err := os.Lstat(path); err != nil || checkBinary(path, info) != nil {
		return false
	}
	if have, ok := c.verified[path]; ok && have == s {
		return true
	}
	f, err := openFile(path)
	if err != nil {
		return false
	}
	defer f.Close()
	now := time.Now()
	if sum, err := digestOf(f); err != nil || sum != want {
		return false
	}
	after, err := stampOf(path)
	if err != nil || after != s {
		return false
	}
	if !after.Young(now) {
		c.verified[path] = after
	}
	return true
}

func (c *copies) copy(src, path, want string) *Problem {
	from, err := openFile(src)
	if err != nil {
		return about(CodeMissing, src, err, "install the package again")
	}
	defer from.Close()
	if info, err := from.Stat(); err != nil || !info.Mode().IsRegular() {
		return &Problem{Code: CodeUnsafe, Path: src, Reason: "it is no regular file", Hint: "put the executable there"}
	}
	to, err := os.CreateTemp(c.dir, "*.tmp")
	if err != nil {
		return about(CodeState, c.dir, err, "make room, or name another state folder")
	}
	defer os.Remove(to.Name())
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(to, h), from)
	if err = errors.Join(err, to.Chmod(0o500), to.Close()); err != nil {
		return about(CodeState, to.Name(), err, "make room, or name another state folder")
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		return notApproved(src, got, want)
	}
	if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
		err = os.Rename(to.Name(), path)
	}
	if err != nil {
		return about(CodeState, path, err, "remove it, or name another state folder")
	}
	return nil
}

// sweep removes copies that nobody used for long. One that still runs continues.
func (c *copies) sweep(but string) {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.Name() != but && time.Since(info.ModTime()) > unused {
			os.RemoveAll(filepath.Join(c.dir, e.Name()))
		}
	}
}
