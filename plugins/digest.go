package plugins

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"os"
	"sync"
	"time"
)

// digests knows the sha256 of files. That of a file that did not change costs a
// stat, across processes too: it is kept by the file's identity.
type digests struct {
	path string // the file that keeps them

	mu    sync.Mutex
	known map[string]digest // by path; nil = not loaded
}

type digest struct {
	Stamp  stamp  `json:"stamp"`
	SHA256 string `json:"sha256"` // hex
}

// maxDigests bounds the file that keeps them, in bytes.
const maxDigests = 4 << 20

// of returns the digest of an executable, which it also checks.
func (d *digests) of(path string) (string, *Problem) {
	s, info, err := stampOf(path)
	if err != nil {
		return "", about(CodeMissing, path, err, "install the package again, or take its hooks out")
	}
	d.mu.Lock()
	if d.known == nil {
		d.known = d.load()
	}
	have, ok := d.known[path]
	d.mu.Unlock()
	if ok && have.Stamp == s {
		return have.SHA256, nil // it was checked then; its stamp has its mode and owner
	}
	if p := checkBinary(path, info); p != nil {
		return "", p
	}
	f, err := openFile(path)
	if err != nil {
		return "", about(CodeUnsafe, path, err, "make it readable for this user")
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return "", about(CodeUnsafe, path, err, "")
	}
	now := time.Now()
	sum, err := digestOf(f)
	if err != nil {
		return "", about(CodeUnsafe, path, err, "")
	}
	if after, _, err := stampOf(path); err == nil && after == newStamp(before) && !after.young(now) {
		d.keep(path, digest{after, sum})
	}
	return sum, nil
}

func digestOf(f *os.File) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// keep notes a digest, with what other processes noted meanwhile. A note that
// is lost costs another reading.
func (d *digests) keep(path string, one digest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	merged := d.load()
	maps.Copy(merged, d.known)
	merged[path] = one
	d.known = merged
	for other := range merged {
		if _, err := os.Lstat(other); err != nil {
			delete(merged, other)
		}
	}
	if data, err := json.Marshal(merged); err == nil {
		_ = writeFile(d.path, data)
	}
}

func (d *digests) load() map[string]digest {
	known := make(map[string]digest)
	if data, err := readFile(d.path, maxDigests); err == nil {
		if json.Unmarshal(data, &known) != nil || known == nil {
			known = make(map[string]digest)
		}
	}
	return known
}
