package hooks_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What starts a script for sh needs one; Windows has none of its own. Every other kind of hook needs no program.
func TestTheTableSaysWhatEachExampleNeedsOnWindows(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	manifests, _ := filepath.Glob("*/HOOK.md")
	if len(manifests) < 15 {
		t.Fatalf("only %d examples", len(manifests))
	}
	command, script := regexp.MustCompile(`(?m)^command( =|:)`), regexp.MustCompile(`(?m)^command( =|:) "?\./\w+\.sh"?\r?$`)
	for _, file := range manifests {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := "yes"
		if script.Match(text) {
			want = "with Git for Windows"
		} else if command.Match(text) {
			t.Errorf("%s: say in this test what its command needs on Windows", file)
		}
		row := regexp.MustCompile(`(?m)^.*\(hooks/` + regexp.QuoteMeta(filepath.ToSlash(file)) + `\).*$`).FindString(string(readme))
		if !strings.HasSuffix(row, "| "+want+" |") {
			t.Errorf("../README.md: the row of %s is %q, want it to end with %q", file, row, want)
		}
	}
}
