package spill

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/built"
)

func TestTextsAreKeptForADay(t *testing.T) {
	built.NotOnWindows(t, "files have no modes")
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	young, err := Text("context", "young")
	if err != nil {
		t.Fatal(err)
	}
	old, err := Text("context", "old")
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other.txt")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, age := range map[string]time.Duration{young: MaxAge - time.Hour, old: MaxAge + time.Hour, other: 1000 * time.Hour} {
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	now, err := Text("context", "now")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{young: true, old: false, other: true, now: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: there %t, want %t", path, err == nil, want)
		}
	}
	if text, err := os.ReadFile(now); err != nil || string(text) != "now" {
		t.Errorf("%q %v", text, err)
	}
	if info, err := os.Stat(now); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}
