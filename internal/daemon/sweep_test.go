package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// A process that is killed while it writes leaves an unfinished file, which goes soon.
func TestUnfinishedFilesOfSessionsGoSoon(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	for name, age := range map[string]time.Duration{"s-1.json": 2 * time.Hour, "s-1.json.1" + safefile.TempSuffix: 2 * time.Hour, "s-2.json.1" + safefile.TempSuffix: time.Minute} {
		path := filepath.Join(dir, name)
		if err := safefile.Put(path, nil); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	sweep(dir, now)
	var left []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{".swept", "s-1.json", "s-2.json.1" + safefile.TempSuffix}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left are %v, want %v; %v", left, want, err)
	}
}
