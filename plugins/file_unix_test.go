//go:build !windows

package plugins

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// kinds are ways in which something at a path is not a file that this user alone
// can have written; good is one that is.
func kinds(t *testing.T, mode os.FileMode) map[string]string {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"good", "group", "world", "foreign"} {
		must(t, os.WriteFile(at(name), []byte("#!/bin/sh\n"), mode))
	}
	must(t, os.Chmod(at("group"), mode|0o020), os.Chmod(at("world"), mode|0o002), os.Mkdir(at("folder"), 0o700),
		os.Symlink("good", at("link")), syscall.Mkfifo(at("pipe"), uint32(mode)))
	all := map[string]string{}
	for _, name := range []string{"good", "group", "world", "folder", "link", "pipe", "gone"} {
		all[name] = at(name)
	}
	if os.Geteuid() == 0 {
		must(t, os.Chown(at("foreign"), 12345, 12345))
		all["foreign"] = at("foreign")
	}
	return all
}

func TestFileThatOthersCouldHaveWrittenIsNotRead(t *testing.T) {
	for name, path := range kinds(t, 0o600) {
		want := map[string]string{"good": "", "group": "others can write it", "world": "others can write it", "foreign": "it belongs to another user",
			"folder": "it is no regular file", "pipe": "it is no regular file", "link": "too many levels of symbolic links", "gone": "it does not exist"}[name]
		data, err := readFile(path, 10)
		if want == "" && (err != nil || string(data) != "#!/bin/sh\n") || want != "" && (err == nil || bare(err) != want) {
			t.Errorf("%s: %q, %v, want %q", name, data, err, want)
		}
		if _, err := readFile(path, 9); want == "" && (err == nil || err.Error() != "it is larger than 9 bytes") {
			t.Errorf("of one byte too many: %v", err)
		}
	}
}

func TestPluginIsAnExecutableOfThisUserAlone(t *testing.T) {
	check := func(name, path, want, hint string) {
		t.Helper()
		p := checkAt(path)
		switch {
		case want == "":
			if p != nil {
				t.Errorf("%s: %v", name, p)
			}
		case p == nil || !strings.Contains(p.Reason, want) || !strings.HasPrefix(p.Hint, hint) || p.Code != CodeUnsafe && name != "gone" || p.Path != path:
			t.Errorf("%s: %+v, want %q", name, p, want)
		}
	}
	for name, path := range kinds(t, 0o700) {
		want := map[string][2]string{"good": {}, "group": {"others can write it", "chown "}, "world": {"others can write it", "chown "}, "foreign": {"it belongs to another user", "chown "},
			"folder": {"it is no regular file", "put "}, "pipe": {"it is no regular file", "put "}, "link": {"it is a link", "put "}, "gone": {"it does not exist", "install "}}[name]
		check(name, path, want[0], want[1])
	}
	for mode, want := range map[os.FileMode]string{0o600: "it may not be executed", 0o100: "", 0o410: "", 0o401: "", 0o755: ""} {
		path := filepath.Join(t.TempDir(), "file")
		must(t, os.WriteFile(path, nil, 0o600), os.Chmod(path, mode))
		check(mode.String(), path, want, "chmod +x ")
	}
	path := filepath.Join(t.TempDir(), "folder", "file")
	must(t, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o700), os.Chmod(filepath.Dir(path), 0o777))
	check("a folder that others can write", path, "its folder: others can write it", "chown ")
	must(t, os.Chmod(filepath.Dir(path), 0o777|os.ModeSticky))
	check("a folder like /tmp", path, "", "")
}

func TestErrorSaysWithoutThePathWhatTheSystemSaid(t *testing.T) {
	for want, err := range map[string]error{
		"it does not exist": &os.PathError{Op: "open", Path: "/x", Err: os.ErrNotExist},
		"is a directory":    &os.PathError{Op: "read", Path: "/x", Err: syscall.EISDIR},
		"file exists":       &os.LinkError{Op: "rename", Old: "/x", New: "/y", Err: syscall.EEXIST},
		"odd":               errors.New("odd"),
	} {
		if got := bare(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return data
}

// What runs is a private copy of the bytes that were approved.
func TestCopyIsOfWhatWasApprovedOrThereIsNone(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(b *bench, src string)
		code  string
	}{
		"all is well":            {func(*bench, string) {}, ""},
		"the source changed":     {func(_ *bench, src string) { must(t, os.WriteFile(src, []byte("other"), 0o700)) }, CodeChanged},
		"the source is gone":     {func(_ *bench, src string) { must(t, os.Remove(src)) }, CodeMissing},
		"the source is a folder": {func(_ *bench, src string) { must(t, os.Remove(src), os.Mkdir(src, 0o700)) }, CodeUnsafe},
		"the source is a pipe":   {func(_ *bench, src string) { must(t, os.Remove(src), syscall.Mkfifo(src, 0o700)) }, CodeUnsafe},
		"the folder is a file":   {func(b *bench, _ string) { must(t, safefile.Put(filepath.Join(b.state, "snapshots"), nil)) }, CodeState},
		"others can write it": {func(b *bench, _ string) {
			dir := filepath.Join(b.state, "snapshots")
			must(t, os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o777))
		}, CodeState},
		"others can write state": {func(b *bench, _ string) { must(t, os.MkdirAll(b.state, 0o700), os.Chmod(b.state, 0o777)) }, CodeState},
	} {
		b := newBench(t)
		src := b.script("a", "")
		seal, p := b.host.seal(src)
		if p != nil {
			t.Fatal(p)
		}
		tc.spoil(b, src)
		path, p := b.host.copyOf(src, seal)
		if tc.code != "" {
			if p == nil || p.Code != tc.code || path != "" || p.Hint == "" {
				t.Errorf("%s: %s, %+v, want %s", name, path, p, tc.code)
			}
		} else if data := read(t, path); p != nil || string(data) != "#!/bin/sh\n" || filepath.Base(path) != filepath.Base(src) {
			t.Errorf("%s: %v, a copy of %q", name, p, data)
		} else if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o500 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		if left, _ := filepath.Glob(filepath.Join(b.state, "snapshots", "*.tmp")); len(left) > 0 {
			t.Errorf("%s: left are %v", name, left)
		}
	}
}
