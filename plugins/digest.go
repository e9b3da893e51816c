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

	"github.com/tenterhook/tenterhook/internal/stamp"
)

// digests knows the sha256 of files. That of a file that did not change costs a
// stat, across processes too: it is kept by the file's identity.
type digests struct {
	path string // the file that keeps them

	mu    sync.Mutex
	known map[string]digest // by path; nil = not loaded
}

type digest struct {
	Stamp  stamp.Stamp `json:"stamp"`
	SHA256 string      `json:"sha256"` // hex
}

// maxDigests bounds the file that keeps them, in bytes.
const maxDigests = 4 << 20

// of returns the digest of an executable, which it also checks.
func (d *digests) of(path string) (string, *Problem) {
	s, err := stampOf(path)
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
		return have.SHA256, nil // it was checked then; its stamp has its mode, and a new owner makes it another
	}
	if p := checkAt(path); p != nil {
		return "", p
	}
	f, err := openFile(path)
	if err != nil {
		return "", about(CodeUnsafe, path, err, "make it readable for this user")
	}
	defer f.Close()
	opened, err := stamp.OfFile(f)
	if err != nil {
		return "", about(CodeUnsafe, path, err, "")
	}
	now := time.Now()
	sum, err := digestOf(f)
	if err != nil {
		return "", about(CodeUnsafe, path, err, "")
	}
	// What was checked, what was read and what is there now are one file.
	if after, err := stampOf(path); err == nil && opened == s && after == s && !s.Young(now) {
		d.keep(path, digest{s, sum})
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
	data, err := readFile(d.path, maxDigests)
	if err != nil {
		return make(map[string]digest)
	}
	return parseDigests(data)
}

// parseDigests reads the file that keeps digests. It is a memory and no more:
// what is wrong with it costs another reading of the executables.
func parseDigests(data []byte) map[string]digest {
	known := make(map[string]digest)
	if json.Unmarshal(data, &known) != nil || known == nil {
		return make(map[string]digest)
	}
	maps.DeleteFunc(known, func(_ string, one digest) bool { return !isDigest(one.SHA256) })
	return known
}
