package plugins

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/plugins/proto"
)

func TestWhatCannotBeKeptIsAnError(t *testing.T) {
	h := &Host{options: Options{StateDir: t.TempDir()}}
	for _, place := range []string{h.descriptionPath(someDigest), h.describedFile("/p")} {
		if err := os.MkdirAll(filepath.Join(place, "in the way"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.keepDescription(someDigest, &proto.DescribeResponse{}); err == nil {
		t.Error("a description was kept in a folder")
	}
	if err := h.keepDescribed("/p", someDigest); err == nil {
		t.Error("a digest was kept in a folder")
	}
}

func TestPluginsThatDescribedThemselvesAreKnownByTheirPaths(t *testing.T) {
	h := &Host{options: Options{StateDir: t.TempDir()}}
	if got := h.describedPaths(); len(got) != 0 {
		t.Errorf("before any did: %q", got)
	}
	for _, path := range []string{"/b", "/a"} {
		must(t, h.keepDescribed(path, someDigest))
	}
	dir := filepath.Dir(h.describedFile(""))
	must(t, os.WriteFile(filepath.Join(dir, "torn.json"), []byte(`{"path": "/c`), 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "folder.json"), 0o700))
	if got := h.describedPaths(); !slices.Equal(got, []string{"/a", "/b"}) {
		t.Errorf("got %q", got)
	}
	if got := h.lastDescribed("/a"); got != someDigest {
		t.Errorf("got %q", got)
	}
	const most = 64 << 10
	for size, want := range map[int]string{most: someDigest, most + 1: ""} {
		text := fmt.Sprintf(`{"path": "/long", "sha256": %q}`, someDigest)
		must(t, os.WriteFile(h.describedFile("/long"), []byte(text+strings.Repeat(" ", size-len(text))), 0o600))
		if got := h.lastDescribed("/long"); got != want {
			t.Errorf("of %d bytes: %q, want %q", size, got, want)
		}
	}
	must(t, os.Rename(h.describedFile("/b"), h.describedFile("/d")))
	if got := h.lastDescribed("/d"); got != "" {
		t.Errorf("what another plugin said counts: %q", got)
	}
}

func TestADescriptionOfALaterVersionIsReadAsFarAsItIsKnown(t *testing.T) {
	d, err := parseDescription([]byte(`{"version": "7", "later": {"a": 1}, "hooks": [{"name": "a", "event": "Stop", "later": 2}]}`))
	if err != nil || d.GetVersion() != "7" || len(d.GetHooks()) != 1 || d.GetHooks()[0].GetName() != "a" {
		t.Errorf("%v, %v", d, err)
	}
	if _, err := parseDescription([]byte(`{"version": `)); err == nil {
		t.Error("half a description is one")
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
