package jobs

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
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
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

// Job asks for one run of one hook of a pack. It names code by its digest, and holds
// none: a worker runs what its own settings name.
type Job struct {
	ID     string          `json:"id"` // the same event and hook have the same
	Queue  string          `json:"queue"`
	Digest string          `json:"digest"`   // of the pack
	File   string          `json:"manifest"` // of the hook in the pack, with slashes
	Event  hook.Event      `json:"event"`
	Input  json.RawMessage `json:"input"` // the event as hooks get it
}

// Local is what the machine keeps of a job for itself.
type Local struct {
	Run       string    `json:"run"` // of the journal; "" = nothing records
	Hook      string    `json:"hook"`
	Source    string    `json:"source,omitempty"` // file:line of its definition
	Workspace string    `json:"workspace,omitempty"`
	Tool      string    `json:"tool,omitempty"`
	Base      hook.Base `json:"base"`
	Time      time.Time `json:"time"` // when it was put there
}

// Waiting is a job in the spool.
type Waiting struct {
	Job   Job   `json:"job"`
	Local Local `json:"local"`
}

// Result is what a worker made of a job.
type Result struct {
	Job       string       `json:"job"`
	Worker    string       `json:"worker,omitempty"` // "" = the hub: no worker could do it
	Try       int          `json:"try"`              // from 1
	Status    hook.Status  `json:"status"`
	Failure   hook.Failure `json:"failure,omitempty"`
	Reason    string       `json:"reason,omitempty"`
	ExitCode  *int         `json:"exit_code,omitempty"`
	Stderr    string       `json:"stderr,omitempty"`
	ElapsedMS float64      `json:"elapsed_ms"`
	// What the hook says to the model and to a person. Nothing else of its output
	// counts: what it judged has happened.
	Context       string `json:"context,omitempty"`
	SystemMessage string `json:"system_message,omitempty"`
}

// Bounds of the spool, and of a job and a result in bytes.
const (
	MaxWaiting = 10_000
	MaxInput   = 1 << 20
	MaxResult  = 1 << 20
)

// maxText bounds each text of a result, in bytes.
const maxText = 64 << 10

// ErrFull is returned where too many jobs wait.
var ErrFull = fmt.Errorf("%d jobs wait already", MaxWaiting)

func validID(id string) bool { return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == "" }

// NewID names a job: the same parts give the same name.
func NewID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// Valid fails for a job that no machine would have made.
func (j *Job) Valid() error {
	switch {
	case !validID(j.ID):
		return fmt.Errorf("%q is no ID of a job", j.ID)
	case !hook.ValidQueue(j.Queue):
		return fmt.Errorf("%q cannot be a queue", j.Queue)
	case len(j.Input) > MaxInput:
		return fmt.Errorf("the event is larger than %d MiB, which a job may not be", MaxInput>>20)
	case !fs.ValidPath(j.File) || len(j.Digest) > 100 || !json.Valid(j.Input):
		return errors.New("it is no job")
	}
	return nil
}

// Of makes a result of how a hook ended.
func Of(job, worker string, try int, r *hook.Result) *Result {
	made := &Result{Job: job, Worker: worker, Try: try, Status: r.Status, Failure: r.Failure, Reason: clip(r.Reason), ExitCode: r.Report.ExitCode,
		Stderr: clip(r.Report.Stderr), ElapsedMS: float64(r.Elapsed.Microseconds()) / 1000}
	if r.Output != nil {
		made.Context, made.SystemMessage = clip(r.Output.Context), clip(r.Output.SystemMessage)
	}
	return made
}

// Hook is the result as the registry has it.
func (r *Result) Hook(h *hook.Hook) hook.Result {
	made := hook.Result{Hook: h, Status: r.Status, Failure: r.Failure, Reason: clip(r.Reason), Elapsed: time.Duration(r.ElapsedMS * float64(time.Millisecond)),
		Report: hook.Report{ExitCode: r.ExitCode, Stderr: clip(r.Stderr)}, Output: &hook.Output{Context: clip(r.Context), SystemMessage: clip(r.SystemMessage)}}
	switch made.Status {
	case hook.StatusSuccess, hook.StatusBlocked, hook.StatusFailed, hook.StatusSkipped:
	default:
		made.Status, made.Failure = hook.StatusFailed, cmp.Or(r.Failure, hook.FailureOutput)
	}
	return made
}

func clip(s string) string { return phrase.Bytes(s, maxText) }

// Spool are the jobs of a state directory. Several processes may use one.
type Spool struct{ dir string }

// The folders of a spool.
const (
	newFolder  = "new"
	sentFolder = "sent"
	doneFolder = "done"
)

// In returns the spool of a state directory.
func In(stateDir string) Spool { return Spool{filepath.Join(stateDir, "fleet", "jobs")} }

func (s Spool) file(folder, id string) string { return filepath.Join(s.dir, folder, id+".json") }

// Put adds a job, durably. A job that is there already stays.
func (s Spool) Put(w *Waiting) error {
	if err := w.Job.Valid(); err != nil {
		return err
	}
	for _, folder := range []string{newFolder, sentFolder, doneFolder} {
		if err := os.MkdirAll(filepath.Join(s.dir, folder), 0o700); err != nil {
			return err
		}
		if _, err := os.Lstat(s.file(folder, w.Job.ID)); err == nil {
			return nil
		}
	}
	if waiting, _ := s.Count(); waiting >= MaxWaiting {
		return ErrFull
	}
	return s.write(newFolder, w.Job.ID, w)
}

// write makes a file that is whole or not there.
func (s Spool) write(folder, id string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return safefile.Write(s.file(folder, id), data, 0o600)
}

// read reads a file of the spool; fs.ErrNotExist = it is not there.
func (s Spool) read(folder, id string, v any) error {
	err := safefile.ReadJSON(s.file(folder, id), v)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; remove it", err)
	}
	return err
}

// New are the jobs that wait to be carried, the oldest first. A file that cannot be
// read is an error beside the others.
func (s Spool) New() ([]Waiting, error) { return s.list(newFolder) }

// Sent are the jobs that the hub has, the oldest first.
func (s Spool) Sent() ([]Waiting, error) { return s.list(sentFolder) }

// Count says how many jobs wait to be carried, and how many the hub has.
func (s Spool) Count() (waiting, sent int) { return len(s.ids(newFolder)), len(s.ids(sentFolder)) }

// Since says how long jobs wait: when the oldest of the waiting was put,
// and the oldest at the hub; zero = there is none.
func (s Spool) Since() (waiting, sent time.Time) { return s.oldest(newFolder), s.oldest(sentFolder) }

func (s Spool) oldest(folder string) (at time.Time) {
	for _, id := range s.ids(folder) {
		if info, err := os.Lstat(s.file(folder, id)); err == nil && (at.IsZero() || info.ModTime().Before(at)) {
			at = info.ModTime()
		}
	}
	return at
}

func (s Spool) list(folder string) (list []Waiting, err error) {
	for _, id := range s.ids(folder) {
		var w Waiting
		bad := s.read(folder, id, &w)
		if errors.Is(bad, fs.ErrNotExist) {
			continue // another process was faster
		}
		if bad == nil && w.Job.ID != id {
			bad = fmt.Errorf("%s is the job of another name; remove it", s.file(folder, id))
		}
		if bad != nil {
			err = errors.Join(err, bad)
			continue
		}
		list = append(list, w)
	}
	slices.SortStableFunc(list, func(a, b Waiting) int { return a.Local.Time.Compare(b.Local.Time) })
	return list, err
}

func (s Spool) ids(folder string) (ids []string) {
	entries, _ := os.ReadDir(filepath.Join(s.dir, folder)) // nothing, or not yet
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok && validID(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Carried notes that the hub has a job.
func (s Spool) Carried(id string) error {
	return os.Rename(s.file(newFolder, id), s.file(sentFolder, id))
}

// Finish keeps the first result of a job until it is taken. That of a job that this
// machine does not wait for is dropped.
func (s Spool) Finish(r *Result) error {
	if !validID(r.Job) || s.known(r.Job) == nil {
		return nil
	}
	if _, err := os.Lstat(s.file(doneFolder, r.Job)); err == nil {
		return nil
	}
	return s.write(doneFolder, r.Job, r)
}

// known returns a job that waits for its result.
func (s Spool) known(id string) *Waiting {
	for _, folder := range []string{sentFolder, newFolder} {
		var w Waiting
		if s.read(folder, id, &w) == nil {
			return &w
		}
	}
	return nil
}

// Done are the IDs of jobs whose results were there before a time, and were not taken.
func (s Spool) Done(before time.Time) (ids []string) {
	s.putBack(before)
	for _, id := range s.ids(doneFolder) {
		if info, err := os.Lstat(s.file(doneFolder, id)); err == nil && info.ModTime().Before(before) {
			ids = append(ids, id)
		}
	}
	return ids
}

// takenName begins the name of a result that is being taken.
const takenName = ".taken-"

// putBack gives back the results that a process was taking when it died, before a
// time.
func (s Spool) putBack(before time.Time) {
	entries, _ := os.ReadDir(s.dir) // nothing, or not yet
	for _, e := range entries {
		id, ours := strings.CutPrefix(e.Name(), takenName)
		if info, err := e.Info(); err == nil && ours && validID(id) && info.ModTime().Before(before) {
			_ = os.Rename(filepath.Join(s.dir, e.Name()), s.file(doneFolder, id)) // it is tried again
		}
	}
}

// Take returns the result of a job, and the job, to one caller alone, and removes
// both. ok is false where there is none.
func (s Spool) Take(id string) (r *Result, w *Waiting, ok bool) {
	from := s.file(doneFolder, id)
	taken := filepath.Join(s.dir, takenName+id)
	now := time.Now()
	if err := os.Chtimes(from, now, now); err != nil || os.Rename(from, taken) != nil { // the time is when it was taken
		return nil, nil, false
	}
	defer os.Remove(taken)
	w = s.known(id)
	_, _ = os.Remove(s.file(sentFolder, id)), os.Remove(s.file(newFolder, id))
	r = &Result{}
	if safefile.ReadJSON(taken, r) != nil || r.Job != id {
		r = &Result{Job: id, Status: hook.StatusFailed, Failure: hook.FailureOutput, Reason: "its result cannot be read"}
	}
	return r, w, true
}
