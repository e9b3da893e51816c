package plugins

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/plugins/proto"
)

// The names of files are anybody's words.
func TestPackageWithSeveralPluginsIsToldInAShortLine(t *testing.T) {
	dir := t.TempDir()
	add := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, proto.BinaryPrefix+name), nil, 0o700); err != nil {
			t.Skip("Windows has no such names:", err)
		}
	}
	add("a\x1b[2J\nb")
	add("b" + strings.Repeat("x", 200))
	if _, p := single(dir); p == nil || !strings.HasPrefix(p.Reason, "it has several plugins: a [2J, bxx") || strings.ContainsAny(p.Reason, "\x1b\n") {
		t.Fatalf("%+v", p)
	}
	for i := range 100 {
		add(fmt.Sprint("c", i))
		if _, p := single(dir); i < 7 && (p == nil || strings.HasSuffix(p.Reason, " and 1 more") != (i == 6) || strings.HasSuffix(p.Reason, " more") != (i == 6)) {
			t.Errorf("with %d: %+v", i+3, p)
		}
	}
	if _, p := single(dir); p == nil || !strings.HasSuffix(p.Reason, " and 94 more") || len(p.Reason) > 2000 {
		t.Fatalf("%+v", p)
	}
}
