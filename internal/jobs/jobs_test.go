package jobs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/jobs"
)

func job(n int) *jobs.Waiting {
	return &jobs.Waiting{
		Job:   jobs.Job{ID: jobs.NewID(fmt.Sprint(n)), Queue: "q", Digest: "sha256:x", File: "a/HOOK.md", Event: "Stop", Input: json.RawMessage(`{}`)},
		Local: jobs.Local{Run: fmt.Sprint(n), Time: time.Now().Add(time.Duration(n) * time.Millisecond)},
	}
}

func TestAJobGoesFromStepToStepOnce(t *testing.T) {
	s := jobs.In(t.TempDir())
	for n := range 3 {
		for range 2 { // twice is once
			if err := s.Put(job(n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	waiting, err := s.New()
	if err != nil || len(waiting) != 3 || waiting[0].Local.Run != "0" || waiting[2].Local.Run != "2" {
		t.Fatalf("%+v, %v", waiting, err)
	}
	id := waiting[1].Job.ID
	if err := s.Carried(id); err != nil {
		t.Fatal(err)
	}
	if sent, err := s.Sent(); err != nil || len(sent) != 1 || sent[0].Job.ID != id {
		t.Fatalf("%+v, %v", sent, err)
	}
	if _, _, ok := s.Take(id); ok {
		t.Error("a job without a result was taken")
	}
	if err := s.Finish(&jobs.Result{Job: id, Status: hook.StatusSuccess, Context: "c"}); err != nil {
		t.Fatal(err)
	}
	if got := s.Done(time.Now().Add(time.Minute)); len(got) != 1 || len(s.Done(time.Now().Add(-time.Minute))) != 0 {
		t.Errorf("done %v", got)
	}
	if err := s.Put(job(1)); err != nil { // again, while its result is there
		t.Fatal(err)
	}
	r, w, ok := s.Take(id)
	if !ok || r.Context != "c" || w == nil || w.Local.Run != "1" {
		t.Errorf("%+v, %+v, %v", r, w, ok)
	}
	if _, _, ok := s.Take(id); ok {
		t.Error("a result was taken twice")
	}
	if waiting, _ := s.New(); len(waiting) != 2 {
		t.Errorf("%d wait", len(waiting))
	}
}

// A process that dies while it takes a result does not keep the job waiting for ever.
func TestAResultWhoseTakerDiedIsTakenAgain(t *testing.T) {
	dir := t.TempDir()
	s := jobs.In(dir)
	w := job(1)
	id := w.Job.ID
	if err := errors.Join(s.Put(w), s.Carried(id), s.Finish(&jobs.Result{Job: id, Status: hook.StatusSuccess, Context: "c"})); err != nil {
		t.Fatal(err)
	}
	spool := filepath.Join(dir, "fleet", "jobs")
	taken, then := filepath.Join(spool, ".taken-"+id), time.Now().Add(-time.Hour)
	if err := errors.Join(os.Rename(filepath.Join(spool, "done", id+".json"), taken), os.Chtimes(taken, then, then)); err != nil {
		t.Fatal(err)
	}
	if got := s.Done(then.Add(-time.Minute)); len(got) != 0 {
		t.Errorf("%v is put back while it is taken", got)
	}
	if got := s.Done(time.Now()); len(got) != 1 || got[0] != id {
		t.Fatalf("done %v", got)
	}
	if r, w, ok := s.Take(id); !ok || r.Context != "c" || w == nil {
		t.Errorf("%+v, %+v, %v", r, w, ok)
	}
	if entries, err := os.ReadDir(spool); err != nil || len(entries) != 3 {
		t.Errorf("%v is left, %v", entries, err)
	}
}

func TestResultsOfStrangersAreDropped(t *testing.T) {
	dir := t.TempDir()
	s := jobs.In(dir)
	if err := s.Put(job(1)); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{jobs.NewID("2"), "", "../../x", strings.Repeat("A", 32)} {
		if err := s.Finish(&jobs.Result{Job: id}); err != nil {
			t.Errorf("%q: %v", id, err)
		}
		if _, _, ok := s.Take(id); ok {
			t.Errorf("%q was taken", id)
		}
	}
	if got := s.Done(time.Now().Add(time.Minute)); len(got) != 0 {
		t.Errorf("kept %v", got)
	}
	// A status that ends nothing, and texts without bounds, are not handed on.
	r := (&jobs.Result{Status: "async", Context: strings.Repeat("x", 1<<20)}).Hook(&hook.Hook{})
	if r.Status != hook.StatusFailed || r.Failure == "" || len(r.Output.Context) > 1<<17 || r.Output.Verdict != hook.NoOpinion {
		t.Errorf("%v %v, %d bytes", r.Status, r.Failure, len(r.Output.Context))
	}
}

func TestJobsThatNoMachineMakesAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(*jobs.Job){
		"an ID that is a path":      func(j *jobs.Job) { j.ID = "../../../../../../etc/cron.d/x" },
		"no ID":                     func(j *jobs.Job) { j.ID = "" },
		"a queue that is a subject": func(j *jobs.Job) { j.Queue = "a.>" },
		"a queue that is a star":    func(j *jobs.Job) { j.Queue = "*" },
		"no queue":                  func(j *jobs.Job) { j.Queue = "" },
		"a file that leads out":     func(j *jobs.Job) { j.File = "../x" },
		"an absolute file":          func(j *jobs.Job) { j.File = "/etc/passwd" },
		"an event that is no JSON":  func(j *jobs.Job) { j.Input = json.RawMessage("x") },
		"an event without bounds":   func(j *jobs.Job) { j.Input = json.RawMessage(`"` + strings.Repeat("x", jobs.MaxInput) + `"`) },
		"a digest without bounds":   func(j *jobs.Job) { j.Digest = strings.Repeat("x", 1000) },
	} {
		w := job(1)
		spoil(&w.Job)
		if err := jobs.In(t.TempDir()).Put(w); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestAFileThatIsNoJobHidesNoOther(t *testing.T) {
	dir := t.TempDir()
	s := jobs.In(dir)
	if err := s.Put(job(1)); err != nil {
		t.Fatal(err)
	}
	within := filepath.Join(dir, "fleet", "jobs", "new")
	text, err := os.ReadFile(filepath.Join(within, jobs.NewID("1")+".json"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{jobs.NewID("2"): "{", jobs.NewID("3"): string(text)} { // broken, and under another name
		if err := os.WriteFile(filepath.Join(within, name+".json"), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.New()
	if len(list) != 1 || err == nil || !strings.Contains(err.Error(), jobs.NewID("2")) || !strings.Contains(err.Error(), jobs.NewID("3")) {
		t.Errorf("%d jobs, %v", len(list), err)
	}
}

func TestTooManyJobsAreAnError(t *testing.T) {
	dir := t.TempDir()
	s := jobs.In(dir)
	if err := s.Put(job(0)); err != nil {
		t.Fatal(err)
	}
	fill := func(suffix string) {
		for n := range jobs.MaxWaiting {
			if err := os.WriteFile(filepath.Join(dir, "fleet", "jobs", "new", jobs.NewID(fmt.Sprint("many", n))+suffix), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill(".json.1.tmp") // of processes that were killed while they wrote
	if err := s.Put(job(2)); err != nil {
		t.Error(err)
	}
	fill(".json")
	if err := s.Put(job(1)); !errors.Is(err, jobs.ErrFull) {
		t.Errorf("%v", err)
	}
}
