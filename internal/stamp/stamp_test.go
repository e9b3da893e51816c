package stamp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/built"
)

func TestYoungIsWhatTheFileSystemsClockCannotTellApart(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	tests := []struct {
		name  string
		ctime time.Time
		after time.Duration
		young bool
	}{
		{"fine clock, at once", at.Add(time.Nanosecond), 0, true},
		{"fine clock, a tick later", at.Add(time.Nanosecond), 20 * time.Millisecond, true},
		{"fine clock, later", at.Add(time.Nanosecond), 200 * time.Millisecond, false},
		{"coarse clock, a second later", at, time.Second, true},
		{"coarse clock, later", at, 3 * time.Second, false},
		{"from the future", at.Add(time.Hour + 1), 0, true},
	}
	for _, test := range tests {
		s := Stamp{Ctime: test.ctime.UnixNano()}
		if got := s.Young(at.Add(test.after)); got != test.young {
			t.Errorf("%s: young %v", test.name, got)
		}
	}
}

func TestStampIsAnotherForAnotherFileAndForALink(t *testing.T) {
	built.NeedsLinks(t)
	dir := t.TempDir()
	name, link := filepath.Join(dir, "a"), filepath.Join(dir, "link")
	if err := os.WriteFile(name, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(name, link); err != nil {
		t.Skip("no links here, as on Windows:", err)
	}
	of := func(path string, follow bool) Stamp {
		t.Helper()
		s, err := Of(path, follow)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := of(name, true)
	if of(link, true) != first || of(link, false) == first {
		t.Error("a link's end has the file's stamp, and the link its own")
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if open, err := OfFile(file); err != nil || open != first {
		t.Errorf("the open file's stamp is %+v, %v, that of its name %+v", open, err, first)
	}
	if err := os.WriteFile(name, []byte("longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	if of(name, true) == first {
		t.Error("another content has the same stamp")
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if _, err := Of(name, true); err == nil {
		t.Error("a file that is gone has a stamp")
	}
}

func TestStampThatWasKeptIsTheSame(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(name, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	at, err := Of(name, true)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(at)
	if err != nil {
		t.Fatal(err)
	}
	var kept Stamp
	if err := json.Unmarshal(data, &kept); err != nil || kept != at {
		t.Errorf("%s was kept of %+v: %+v, %v", data, at, kept, err)
	}
}
