package agents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// Receipt says what an installation changed.
type Receipt struct {
	Agent   string        `json:"agent"`
	Scope   Scope         `json:"scope"`
	Project string        `json:"project,omitempty"`
	Program string        `json:"program"`        // the bridge that the entries name
	HTTP    bool          `json:"http,omitempty"` // the entries ask over HTTP where they can
	Time    time.Time     `json:"time"`
	Files   []FileReceipt `json:"files"`
	Trust   *FileReceipt  `json:"trust,omitempty"` // the file in which the agent keeps its trust of our entries
}

// FileReceipt is the change of one file.
type FileReceipt struct {
	Path    string   `json:"path"` // with links resolved
	Existed bool     `json:"existed"`
	Before  string   `json:"before,omitempty"`  // SHA-256
	After   string   `json:"after"`             // SHA-256
	Backup  string   `json:"backup,omitempty"`  // a file with the bytes as they were
	Dirs    []string `json:"dirs,omitempty"`    // directories that were made, outermost first
	Created []string `json:"created,omitempty"` // keys that were made for our entries
}

// lockTime is how long an installation waits for another one.
const lockTime = time.Minute

// Lock keeps other installations of this user from changing anything until the
// returned function is called. It waits for an installation that is under way, for a minute.
func (e Env) Lock(ctx context.Context) (unlock func(), err error) {
	path := filepath.Join(e.receiptDir(), "install.lock")
	if _, err := makeDirs(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	lock := safefile.Lock(path)
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		return nil, fmt.Errorf("another 'tenterhook install' or 'uninstall' holds %s: %w; wait until it ends", path, err)
	}
	who, err := heir(filepath.Dir(path))
	if err == nil {
		err = who.give(path)
	}
	if err != nil {
		_ = lock.Unlock() // nothing was changed
		return nil, err
	}
	return func() { _ = lock.Unlock() }, nil // the end of the process unlocks it too
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (e Env) receiptDir() string { return filepath.Join(e.StateDir, "agents") }

func (e Env) receiptPath(agent string, s Scope) string {
	name := agent + "-" + string(s)
	if s == Project {
		name += "-" + digest([]byte(e.Project))[:16]
	}
	return filepath.Join(e.receiptDir(), name+".json")
}

// receipt reads the receipt of an installation, nil if there is none.
func (e Env) receipt(agent string, s Scope) (*Receipt, error) {
	var r Receipt
	switch err := safefile.ReadJSON(e.receiptPath(agent, s), &r); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%w; delete it, and uninstall removes what it recognizes", err)
	}
	return &r, nil
}

func (r *Receipt) file(path string) *FileReceipt {
	if r == nil {
		return nil
	}
	for i := range r.Files {
		if r.Files[i].Path == path {
			return &r.Files[i]
		}
	}
	return nil
}

func (e Env) writeReceipt(r *Receipt) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return writePrivate(e.receiptPath(r.Agent, r.Scope), append(data, '\n'))
}

// backup keeps the bytes of a file, under a name that its content gives.
func (e Env) backup(path string, data []byte) (string, error) {
	name := strings.TrimLeft(filepath.Base(path), ".") + "-" + digest(append([]byte(path+"\x00"), data...))[:16]
	kept := filepath.Join(e.receiptDir(), "backups", name)
	return kept, writePrivate(kept, data)
}
