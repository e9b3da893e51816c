package load_test

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/tenterhook/tenterhook/internal/load"
)

// What a check opened it closes: a folder, and the root of a plugin whose manifest names
// more files.
func TestCheckingFoldersLeavesNoFileOpen(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which closes files that nothing holds
	dir := filepath.Join(reader(t).PluginsDir, "two")
	open := func() int {
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	before := 0
	for n := range 20 {
		definitions, notes, err := load.At(t.Context(), dir)
		if err != nil || len(notes) > 0 || len(definitions) != 2 || definitions[1].Hooks[0].Command.Line != "f" {
			t.Fatalf("%v %v %v", definitions, notes, err)
		}
		if n == 0 {
			before = open()
		}
	}
	if now := open(); now > before+5 {
		t.Errorf("%d files are open; after one check it was %d", now, before)
	}
}
