package safefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "example.json")
	if err := safefile.Write(path, []byte("{}\n"), 0o600); err != nil {
		panic(err)
	}
	f, err := safefile.Open(path)
	if err != nil {
		panic(err)
	}
	_ = f.Close()
	// Output:
}

func writers() map[string]func(path, text string) error {
	return map[string]func(path, text string) error{
		"Write": func(path, text string) error { return safefile.Write(path, []byte(text), 0o644) },
		"Put":   func(path, text string) error { return safefile.Put(path, []byte(text)) },
	}
}

func TestAFileIsReplacedWithItsMode(t *testing.T) {
	for name, write := range writers() {
		path := filepath.Join(t.TempDir(), "file")
		for _, text := range []string{"old", "new"} {
			if err := write(path, text); err != nil {
				t.Fatal(name, err)
			}
			if got, err := os.ReadFile(path); string(got) != text || err != nil {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
		want := map[string]fs.FileMode{"Write": 0o644, "Put": 0o600}[name]
		if info, err := os.Stat(path); err != nil || safefile.HasModes && info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	made := filepath.Join(t.TempDir(), "a", "b", "file")
	if err := safefile.Put(made, nil); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Dir(made)); err != nil || safefile.HasModes && info.Mode().Perm() != 0o700 {
		t.Errorf("its folder: %v, %v", info.Mode(), err)
	}
	for _, bad := range []string{filepath.Join(made, "below"), filepath.Join(filepath.Dir(made), strings.Repeat("x", 300))} {
		if err := safefile.Put(bad, nil); err == nil {
			t.Errorf("%s was written", bad)
		}
	}
}

// Windows replaces no file that another process reads: scanners and other tenterhooks do, for moments.
func TestAFileIsReplacedOnceItsReaderIsDone(t *testing.T) {
	for name, write := range writers() {
		path := filepath.Join(t.TempDir(), "file")
		if err := write(path, "old"); err != nil {
			t.Fatal(name, err)
		}
		reader, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		closed := make(chan error)
		go func() {
			time.Sleep(100 * time.Millisecond)
			closed <- reader.Close()
		}()
		err = write(path, "new")
		if closing := <-closed; err != nil || closing != nil {
			t.Fatal(name, err, closing)
		}
		if got, err := os.ReadFile(path); string(got) != "new" || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestWhatCannotBeReplacedStaysAlone(t *testing.T) {
	for name, write := range writers() {
		dir := t.TempDir()
		path := filepath.Join(dir, "folder")
		if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := write(path, "new"); err == nil {
			t.Errorf("%s replaced a folder that is not empty", name)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || !entries[0].IsDir() {
			t.Errorf("%s: %v %v", name, entries, err)
		}
	}
}

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := safefile.Put(filepath.Join(dir, "file"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func(string) (*os.File, error){
		"Open":    func(name string) (*os.File, error) { return safefile.Open(filepath.Join(dir, name)) },
		"Regular": func(name string) (*os.File, error) { return safefile.Regular(root.Open(name)) },
	} {
		f, err := open("file")
		if err != nil {
			t.Fatal(name, err)
		}
		_ = f.Close()
		if _, err := open("folder"); !errors.Is(err, safefile.ErrNotRegular) {
			t.Errorf("%s of a folder: %v", name, err)
		}
		if _, err := open("gone"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of nothing: %v", name, err)
		}
	}
}

func TestAFileIsReadUpToItsLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := safefile.Put(path, make([]byte, 2<<10)); err != nil {
		t.Fatal(err)
	}
	if data, err := safefile.Read(path, 2<<10); len(data) != 2<<10 || err != nil {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if data, err := safefile.Read(path, 1<<10); data != nil || err == nil || err.Error() != "it is larger than 1 KiB" {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if err := safefile.Put(path, []byte(strings.Repeat("x", 1<<20+1025))); err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int64]string{9: "9 bytes", 1<<10 + 1: "1025 bytes", 3 << 10: "3 KiB", 1 << 20: "1 MiB", 1<<20 + 1024: "1025 KiB"} {
		_, err := safefile.Read(path, most)
		if limit, ok := errors.AsType[safefile.TooLargeError](err); !ok || int64(limit) != most || err.Error() != "it is larger than "+want {
			t.Errorf("%d: %v, want %s", most, err, want)
		}
	}
}
