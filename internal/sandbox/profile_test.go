package sandbox

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/internal/built"
)

// In a profile the last rule that fits counts: what is denied stands behind what is allowed, and a path cannot end
// the text that it stands in.
func TestProfileOfMacOSDeniesLast(t *testing.T) {
	built.NotOnWindows(t, "profiles are of macOS, and have its paths")
	odd := filepath.Join(t.TempDir(), `a"b`)
	text := (&Policy{Mode: Strict, Read: []string{t.TempDir()}, Deny: []string{filepath.Dir(odd)}, Write: []string{"/"}, Ports: []uint16{443}}).profile(t.TempDir())
	order := []string{"(allow default)", "(deny network*)", `(allow network-outbound (remote tcp "*:443")`, "(deny file-write*)", "(deny file-read-data)",
		`(allow file-read-data file-write* (subpath "/"))`, "(deny file-write-mode ", "(deny file-read-data (subpath "}
	at := 0
	for _, rule := range order {
		next := strings.Index(text[at:], rule)
		if next < 0 {
			t.Fatalf("%s is missing behind its predecessor:\n%s", rule, text)
		}
		at += next
	}
	if got := profileText(`a"b\`); got != `"a\"b\\"` {
		t.Error(got)
	}
	if text := (&Policy{Mode: ReadOnly}).profile(t.TempDir()); strings.Contains(text, "(deny network*)") || strings.Contains(text, "(deny file-read-data)") || !strings.Contains(text, "(deny file-write*)") {
		t.Errorf("read-only:\n%s", text)
	}
}
