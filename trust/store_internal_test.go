package trust

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What is read as approvals is written the same again, and judging by it does
// not fail.
func FuzzDecode(f *testing.F) {
	at := time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)
	sum := "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	for _, list := range [][]Approval{nil, {
		{ID: "plugin/p/x", Path: "HOOK.md", Approved: at, Definition: json.RawMessage(`[{"events":["Stop"],"type":"http"}]`)},
		{Root: "/w", ID: "project/x", Path: ".tenterhook/hooks/x/HOOK.md", Approved: at, Definition: json.RawMessage(`[]`),
			Folder: []File{{Name: "HOOK.md", Size: 4, SHA256: sum}, {Name: "l", Link: "run"}, {Name: "run", Exec: true, SHA256: sum, Link: "../x"}},
			Files:  []File{{Name: "tools/<x> \u2028", Missing: true}}},
	}} {
		data, err := encode(list)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"version":1,"approvals":null}`))
	f.Add([]byte(`{"version":2}`))
	f.Add([]byte(`{"version":1,"approvals":[{"id":"x","Id":"y"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, problem := decode("x", data)
		if problem != nil {
			if problem.Reason == "" || problem.Remedy == "" || problem.Code == "" || list != nil {
				t.Errorf("incomplete problem %+v", problem)
			}
			return
		}
		again, err := encode(list)
		if err != nil {
			t.Fatal(err)
		}
		twice, problem := decode("x", again)
		if problem != nil {
			t.Fatalf("what was read cannot be written and read again: %v\n%s", problem, again)
		}
		if len(list) > 0 {
			if diff := cmp.Diff(list, twice); diff != "" {
				t.Error(diff)
			}
		}
		b := newBook(list)
		for i := range b.approvals {
			a := &b.approvals[i]
			seal := &Seal{key: a.Key(), definition: a.Definition, folder: a.Folder, files: a.Files}
			found := b.find(seal.key)
			same := false
			for _, candidate := range found {
				same = same || candidate.same(seal)
				changes(candidate, &Seal{})
				changes(&Approval{}, seal)
			}
			if !same {
				t.Errorf("an approval does not hold for what it binds: %+v", a)
			}
		}
	})
}

func TestWriterWaitsForAnotherWithinBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(path, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_, err = lock(path, 50*time.Millisecond)
	p, ok := err.(*Problem)
	if !ok || p.Code != CodeBusy || p.Remedy == "" || time.Since(start) < 50*time.Millisecond {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	done := make(chan error)
	go func() {
		again, err := lock(path, 20*time.Second)
		if err == nil {
			again()
		}
		done <- err
	}()
	time.Sleep(10 * time.Millisecond)
	unlock()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
