package fleetpolicy

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/account"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/safefile"
	"github.com/tenterhook/tenterhook/trust"
)

// The files of a store: a document a channel, what was accepted at last, and the
// documents of before.
const (
	floorFile   = "floor.json"
	lockFile    = "lock"
	historyDir  = "history"
	keptHistory = 32 // a channel
)

// Store is where the documents in force of one machine and one fleet lie. Its
// folder is not trusted beyond what it remembers of versions: a document counts
// by its signatures. It is safe for concurrent use, by several processes too.
type Store struct {
	Roots *Roots
	Dir   string
}

// DirOf is where a fleet's documents lie: where the settings say, or below the
// home directory of this account whatever the environment says. "" = nowhere.
func DirOf(s dialect.FleetSettings) string {
	dir := s.Dir
	if home := account.Home(); dir == "" && home != "" {
		dir = filepath.Join(home, ".local", "state", "tenterhook", "policy")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, s.Name)
}

// Path is the file of a channel's document.
func (s *Store) Path(channel string) string { return filepath.Join(s.Dir, channel+".json") }

// Files are the files that say what is in force.
func (s *Store) Files() []string {
	files := []string{filepath.Join(s.Dir, floorFile)}
	for _, c := range dialect.PolicyChannels {
		files = append(files, s.Path(c))
	}
	return files
}

// mark is what was accepted at last in a channel.
type mark struct {
	Version int64  `json:"version"` // 0 = nothing was
	Digest  string `json:"sha256,omitempty"`
}

// Read returns the document in force of a channel. nil without an error says that
// none was ever accepted. An error is a [*Refusal]: something was, and it is not
// what the store has.
func (s *Store) Read(channel string) (*Signed, error) {
	marks, err := s.floor()
	if err != nil {
		return nil, refuse(CodeChanged, s.remedy(channel), "%s: %v", filepath.Join(s.Dir, floorFile), err)
	}
	raw, err := s.readFile(s.Path(channel))
	last, known := marks[channel]
	if err == nil && !known { // the first one may just have come
		if marks, err := s.floor(); err == nil {
			last, known = marks[channel]
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && last.Version == 0:
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, refuse(CodeMissing, s.remedy(channel), "version %d of the channel %s was in force, and %s is gone", last.Version, channel, s.Path(channel))
	case err != nil:
		return nil, refuse(CodeChanged, s.remedy(channel), "%s: %v", s.Path(channel), err)
	case !known:
		return nil, refuse(CodeChanged, s.remedy(channel), "%s lies there, and %s does not say that it was accepted", s.Path(channel), floorFile)
	}
	d, err := s.Roots.Verify(raw)
	if err != nil {
		var bad *Refusal
		errors.As(err, &bad)
		return nil, refuse(bad.Code, s.remedy(channel), "%s does not count: %s", s.Path(channel), bad.Message)
	}
	switch {
	case d.Channel != channel:
		return nil, refuse(CodeChanged, s.remedy(channel), "%s holds a document of the channel %s", s.Path(channel), d.Channel)
	case d.Version < last.Version:
		return nil, refuse(CodeOlder, s.remedy(channel), "%s is version %d, and version %d was accepted", s.Path(channel), d.Version, last.Version)
	case d.Version == last.Version && d.Digest != last.Digest:
		return nil, refuse(CodeReplaced, s.remedy(channel), "%s is another version %d than the one that was accepted", s.Path(channel), d.Version)
	}
	return d, nil
}

// Accepted is the newest version that was accepted in a channel; 0 = none was.
func (s *Store) Accepted(channel string) (int64, error) {
	marks, err := s.floor()
	return marks[channel].Version, err
}

func (s *Store) remedy(channel string) string {
	return "put the newest document of the channel " + channel + " there: tenterhook fleet policy set --here FILE"
}

// floor reads what was accepted. No file says that nothing was.
func (s *Store) floor() (map[string]mark, error) {
	text, err := s.readFile(filepath.Join(s.Dir, floorFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	marks := make(map[string]mark)
	if err := strict(text, &marks); err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	return marks, nil
}

// readFile reads a regular file that only this user, or root, could have written.
func (s *Store) readFile(path string) ([]byte, error) {
	f, err := safefile.Regular(os.OpenFile(path, os.O_RDONLY|safefile.NonBlock|safefile.NoFollow, 0))
	if err != nil {
		if info, statErr := os.Lstat(path); statErr == nil && info.Mode().Type() == fs.ModeSymlink {
			return nil, errors.New("it is a link") // also a dangling link
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, s.gone()
		}
		return nil, err
	}
	defer f.Close()
	if err := trust.Owned(trust.OwnerOf(hook.ScopeUser), path); err != nil {
		return nil, err
	}
	return safefile.ReadAll(f, MaxSize)
}

// gone is why a file is not there: the store may be none, which is an error.
func (s *Store) gone() error {
	info, err := os.Stat(s.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(s.Dir); err == nil {
			return fmt.Errorf("%s is a link that leads nowhere", s.Dir)
		}
		return fs.ErrNotExist
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no folder", s.Dir)
	}
	return fs.ErrNotExist
}

// Judge says whether Apply would take a document, and changes nothing. changed is
// false for the document that is in force already. An error that is a [*Refusal] is
// about the document, any other about the disk.
func (s *Store) Judge(raw []byte) (d *Signed, changed bool, err error) {
	d, err = s.Roots.Verify(raw)
	if err != nil {
		return nil, false, err
	}
	marks, err := s.floor()
	if err == nil {
		changed, err = s.judge(d, marks)
	}
	if err != nil {
		return nil, false, err
	}
	return d, changed, nil
}

// judge holds a document against what was accepted before.
func (s *Store) judge(d *Signed, marks map[string]mark) (changed bool, err error) {
	last, now := marks[d.Channel], time.Now()
	have, err := s.Read(d.Channel)
	if err == nil && have != nil {
		now = have.Clock(now)
		if have.Version > last.Version { // a crash kept its mark from the disk
			last = mark{have.Version, have.Digest}
		}
	}
	same := d.Version == last.Version && d.Digest == last.Digest
	switch {
	case d.Version < last.Version:
		return false, refuse(CodeOlder, "to go back, sign its content as a newer version: tenterhook fleet policy rollback", "it is version %d of the channel %s, and version %d was accepted", d.Version, d.Channel, last.Version)
	case d.Version == last.Version && !same:
		return false, refuse(CodeReplaced, "sign it as a newer version", "another version %d of the channel %s was accepted", d.Version, d.Channel)
	case !same && !now.Before(d.Expires):
		return false, refuse(CodeExpired, "sign it anew; or is this machine's clock wrong?", "it expired at %s", d.Expires.Format(time.RFC3339))
	}
	return !same || have == nil || string(have.Raw) != string(d.Raw), nil
}

// Apply puts a document in force if it may be believed and is newer than what was
// accepted before. It is on the disk before Apply returns. changed and err are as
// those of Judge; an error changes nothing.
func (s *Store) Apply(raw []byte) (d *Signed, changed bool, err error) {
	if d, err = s.Roots.Verify(raw); err != nil {
		return nil, false, err
	}
	if err := trust.Owned(trust.OwnerOf(hook.ScopeUser), filepath.Join(s.Dir, floorFile)); err != nil { // before anything is put there, which its user could not use
		return nil, false, err
	}
	if err := os.MkdirAll(filepath.Join(s.Dir, historyDir), 0o755); err != nil {
		return nil, false, err
	}
	lock := safefile.Lock(filepath.Join(s.Dir, lockFile))
	if err := lock.Lock(); err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	marks, err := s.floor()
	if err != nil { // what it said must not be lowered unseen
		return nil, false, fmt.Errorf("%s: %w; remove it, and put the newest document of each channel there anew", filepath.Join(s.Dir, floorFile), err)
	}
	if changed, err = s.judge(d, marks); err != nil || !changed {
		return d, false, err
	}
	return d, true, s.write(d, marks)
}

// write puts a document in the place of the one before. Whatever write is the
// last one before a crash, Read finds either of them: a document may be newer
// than its mark, but not without one.
func (s *Store) write(d *Signed, marks map[string]mark) error {
	if marks == nil {
		marks = make(map[string]mark)
	}
	if _, known := marks[d.Channel]; !known {
		marks[d.Channel] = mark{}
		if err := s.writeFloor(marks); err != nil {
			return err
		}
	}
	if err := replace(s.Path(d.Channel), d.Raw); err != nil {
		return err
	}
	marks[d.Channel] = mark{d.Version, d.Digest}
	if err := s.writeFloor(marks); err != nil {
		return err
	}
	// What goes wrong here does not keep a machine from obeying: rollback has one version less.
	_ = replace(s.historyPath(d.Channel, d.Version), d.Raw)
	s.prune(d.Channel)
	return nil
}

func (s *Store) writeFloor(marks map[string]mark) error {
	text, err := json.Marshal(marks)
	if err != nil {
		return err
	}
	return replace(filepath.Join(s.Dir, floorFile), append(text, '\n'))
}

// replace writes a file that agents of other users read too, if root keeps it.
func replace(path string, text []byte) error { return safefile.Write(path, text, 0o644) }

func (s *Store) historyPath(channel string, version int64) string {
	return filepath.Join(s.Dir, historyDir, fmt.Sprintf("%s-%020d.json", channel, version))
}

// Versions are those of a channel that are kept, the newest first.
func (s *Store) Versions(channel string) ([]int64, error) {
	entries, err := os.ReadDir(filepath.Join(s.Dir, historyDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var versions []int64
	for _, e := range entries {
		var v int64
		number, ours := strings.CutPrefix(e.Name(), channel+"-")
		if _, err := fmt.Sscanf(number, "%020d.json", &v); ours && err == nil && e.Name() == filepath.Base(s.historyPath(channel, v)) {
			versions = append(versions, v)
		}
	}
	slices.SortFunc(versions, func(a, b int64) int { return cmp.Compare(b, a) })
	return versions, err
}

// Version returns an earlier document of a channel, whose signatures hold.
func (s *Store) Version(channel string, version int64) (*Signed, error) {
	raw, err := s.readFile(s.historyPath(channel, version))
	if err != nil {
		return nil, err
	}
	d, err := s.Roots.Verify(raw)
	if err == nil && (d.Channel != channel || d.Version != version) {
		err = refuse(CodeChanged, "", "%s holds version %d of the channel %s", s.historyPath(channel, version), d.Version, d.Channel)
	}
	return d, err
}

func (s *Store) prune(channel string) {
	versions, _ := s.Versions(channel)
	for _, v := range versions[min(len(versions), keptHistory):] {
		_ = os.Remove(s.historyPath(channel, v)) // it is tried again
	}
}
