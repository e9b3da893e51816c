package source_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/tenterhook/tenterhook/internal/pack"
	"github.com/tenterhook/tenterhook/internal/source"
)

const manifest = "+++\nevent = \"PreToolUse\"\ncommand = \"./run.sh\"\n+++\n"

// item is an entry of an archive or a folder.
type item struct {
	name, text string
	mode       fs.FileMode // with a type; 0 = a plain file
	flag       byte        // of tar, in place of what mode says
}

func tarFile(t *testing.T, items ...item) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, i := range items {
		h := &tar.Header{Name: i.name, Size: int64(len(i.text)), Mode: int64(i.mode.Perm() | 0o644), Typeflag: tar.TypeReg}
		switch {
		case i.flag != 0:
			h.Typeflag, h.Linkname, h.Size = i.flag, i.text, 0
		case i.mode&fs.ModeSymlink != 0:
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, i.text, 0
		case i.mode.IsDir():
			h.Typeflag, h.Size = tar.TypeDir, 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write([]byte(i.text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return save(t, "hooks.tar.gz", b.Bytes())
}

func zipFile(t *testing.T, items ...item) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, i := range items {
		h := &zip.FileHeader{Name: i.name, Method: zip.Deflate}
		mode := i.mode
		switch i.flag {
		case tar.TypeChar:
			mode |= fs.ModeCharDevice | fs.ModeDevice
		case tar.TypeFifo:
			mode |= fs.ModeNamedPipe
		case tar.TypeLink:
			mode |= fs.ModeIrregular
		}
		h.SetMode(mode | 0o644)
		w, err := z.CreateHeader(h)
		if err == nil && !mode.IsDir() {
			_, err = w.Write([]byte(i.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return save(t, "hooks.zip", b.Bytes())
}

func save(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func get(t *testing.T, text string) (*source.Fetched, error) {
	t.Helper()
	spec, err := source.Parse(text, "")
	if err != nil {
		return nil, err
	}
	return source.Get(t.Context(), spec, nil, t.TempDir())
}

func TestHostileArchivesAreRefused(t *testing.T) {
	t.Parallel()
	good := item{name: "guard/HOOK.md", text: manifest}
	link := func(name, target string) item { return item{name: name, text: target, mode: fs.ModeSymlink} }
	for name, test := range map[string]struct {
		items []item
		want  string
	}{
		"parent":             {[]item{good, {name: "../evil", text: "x"}}, "no name of a file below it"},
		"inner parent":       {[]item{good, {name: "guard/../../evil", text: "x"}}, "no name of a file below it"},
		"absolute":           {[]item{good, {name: "/etc/evil", text: "x"}}, "no name of a file below it"},
		"backslash":          {[]item{good, {name: `guard\..\evil`, text: "x"}}, "not a name that every system can have"},
		"drive":              {[]item{good, {name: "C:/evil", text: "x"}}, "not a name that every system can have"},
		"device name":        {[]item{good, {name: "guard/NUL.txt", text: "x"}}, "not a name that every system can have"},
		"git folder":         {[]item{good, {name: "guard/.GIT/config", text: "x"}}, "not a name that every system can have"},
		"stream":             {[]item{good, {name: "guard/run.sh:x", text: "x"}}, "not a name that every system can have"},
		"control":            {[]item{good, {name: "guard/a\x1b[2Jb", text: "x"}}, "characters that do not show"},
		"turned text":        {[]item{good, {name: "guard/a\u202eb", text: "x"}}, "characters that do not show"},
		"long name":          {[]item{good, {name: strings.Repeat("a/", 300) + "b", text: "x"}}, "longer than 512 bytes"},
		"parent folder":      {[]item{good, {name: "../evil/", mode: fs.ModeDir}}, "no name of a file below it"},
		"link out":           {[]item{good, link("guard/run.sh", "../../../etc/passwd")}, "must lead to files of its own folder"},
		"absolute link":      {[]item{good, link("guard/run.sh", "/etc/passwd")}, "must lead to files of its own folder"},
		"link to a link":     {[]item{good, link("guard/a", "b"), link("guard/b", "HOOK.md")}, "must lead to files of its own folder"},
		"link to itself":     {[]item{good, link("guard/a", "a")}, "must lead to files of its own folder"},
		"link to a folder":   {[]item{good, link("guard/a", "."), link("guard/a/b", "x")}, "must lead to files of its own folder"},
		"link to another":    {[]item{good, {name: "other/HOOK.md", text: manifest}, link("guard/a", "../other/HOOK.md")}, "must lead to files of its own folder"},
		"device":             {[]item{good, {name: "guard/tty", flag: tar.TypeChar}}, "neither a file, a folder nor a symbolic link"},
		"pipe":               {[]item{good, {name: "guard/pipe", flag: tar.TypeFifo}}, "neither a file, a folder nor a symbolic link"},
		"hard link":          {[]item{good, {name: "guard/hard", flag: tar.TypeLink, text: "/etc/passwd"}}, "neither a file, a folder nor a symbolic link"},
		"case":               {[]item{good, {name: "guard/hook.md", text: "x"}}, "differ in case alone"},
		"case of folders":    {[]item{good, {name: "Guard/HOOK.md", text: manifest}}, "differ in case alone"},
		"twice":              {[]item{good, good}, "stands in it twice"},
		"no hooks":           {[]item{{name: "README.md", text: "x"}}, "no hooks were found"},
		"a name with spaces": {[]item{{name: "my guard/HOOK.md", text: manifest}}, "cannot be a hook's name"},
		"kept elsewhere":     {[]item{good, {name: "guard/big", text: "version https://git-lfs.github.com/spec/v1\noid"}}, "kept in Git LFS"},
	} {
		for kind, path := range map[string]string{"tar": tarFile(t, test.items...), "zip": zipFile(t, test.items...)} {
			if name == "hard link" && kind == "zip" {
				continue // zip has none
			}
			if f, err := get(t, path); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s, %s: got %v, %v, want %q", name, kind, f, err, test.want)
			}
		}
	}
}

func TestBombsAreRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	t.Parallel()
	zeros := strings.Repeat("\x00", 17<<20)
	var many []item
	for i := range 20_001 {
		many = append(many, item{name: fmt.Sprintf("f%d", i)})
	}
	one := []item{{name: "guard/HOOK.md", text: manifest}, {name: "guard/big", text: zeros}}
	all := []item{{name: "guard/HOOK.md", text: manifest}, {name: "a", text: zeros}, {name: "b", text: zeros}, {name: "c", text: zeros}, {name: "d", text: zeros}}
	var hooks []item
	for i := range 201 {
		hooks = append(hooks, item{name: fmt.Sprintf("h%d/HOOK.md", i), text: manifest})
	}
	for want, items := range map[string][]item{"more than 20000 entries": many, "at most 16 MiB a file": one, "more than 64 MiB": all, "more than 200": hooks} {
		for _, path := range []string{tarFile(t, items...), zipFile(t, items...)} {
			if _, err := get(t, path); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", filepath.Base(path), err, want)
			}
		}
	}
	large := filepath.Join(t.TempDir(), "large.zip")
	if err := errors.Join(os.WriteFile(large, []byte("PK\x03\x04"), 0o644), os.Truncate(large, 65<<20)); err != nil {
		t.Fatal(err)
	}
	if _, err := get(t, large); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Error(err)
	}
	for name, data := range map[string][]byte{"cut short": {0x1f, 0x8b, 8, 0}, "no archive": []byte("hello"), "empty": {}, "cut zip": []byte("PK\x03\x04")} {
		if _, err := get(t, save(t, "x.tar.gz", data)); err == nil {
			t.Errorf("%s is taken for an archive", name)
		}
	}
}

func TestHooksAreFoundWhereSourcesHaveThem(t *testing.T) {
	script := item{name: "guard/run.sh", text: "#!/bin/sh\n", mode: 0o755}
	in := func(folder string, items ...item) (list []item) {
		for _, i := range items {
			i.name = folder + i.name
			list = append(list, i)
		}
		return list
	}
	hook := []item{{name: "guard/HOOK.md", text: manifest}, script, {name: "guard/link.sh", text: "run.sh", mode: fs.ModeSymlink}}
	for name, items := range map[string][]item{
		"folders": hook, "dotted": in("./", hook...), "hooks": append(in("hooks/", hook...), item{name: "README.md"}), "project": in(".tenterhook/hooks/", hook...),
		"one folder around it all": in("repo-1.0/hooks/", hook...),
		"elsewhere as well":        append(slices.Clone(hook), item{name: "docs/deep/in/HOOK.md", text: "no hook"}, item{name: "out", text: "/etc", mode: fs.ModeSymlink}),
	} {
		for _, path := range []string{tarFile(t, items...), zipFile(t, items...)} {
			f, err := get(t, path)
			if err != nil || len(f.Hooks) != 1 || f.Hooks[0].Name != "guard" {
				t.Errorf("%s: %+v, %v", name, f, err)
				continue
			}
			h := f.Hooks[0]
			if want := []string{"HOOK.md", "link.sh", "run.sh"}; !slices.Equal(h.Names(), want) || !h.Files["run.sh"].Exec || h.Files["HOOK.md"].Exec || string(h.Files["link.sh"].Data) != "#!/bin/sh\n" {
				t.Errorf("%s: %+v", name, h.Files)
			}
		}
	}
	if f, err := get(t, tarFile(t, item{name: "HOOK.md", text: manifest}, item{name: "sub/HOOK.md", text: manifest})); err != nil || len(f.Hooks) != 1 || f.Hooks[0].Name != "hooks" {
		t.Errorf("a source that is a hook itself: %+v, %v", f, err)
	}
}

func TestDigestTellsNamesModesAndBytesApart(t *testing.T) {
	seen := make(map[string]string)
	for name, items := range map[string][]item{
		"plain":   {{name: "g/HOOK.md", text: manifest}, {name: "g/a", text: "1"}},
		"bytes":   {{name: "g/HOOK.md", text: manifest}, {name: "g/a", text: "2"}},
		"name":    {{name: "g/HOOK.md", text: manifest}, {name: "g/b", text: "1"}},
		"mode":    {{name: "g/HOOK.md", text: manifest}, {name: "g/a", text: "1", mode: 0o755}},
		"another": {{name: "g/HOOK.md", text: manifest}, {name: "g/a", text: "1"}, {name: "g/b"}},
	} {
		f, err := get(t, tarFile(t, items...))
		if err != nil {
			t.Fatal(err)
		}
		if other, taken := seen[f.Hooks[0].Digest()]; taken {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[f.Hooks[0].Digest()] = name
	}
}

func TestSourcesThatWouldRunProgramsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"ext::sh -c id":                               "run a program",
		"fd::17":                                      "run a program",
		"http://example.com/x.git@v1":                 "not by http",
		"git://example.com/x.git@v1":                  "not by git",
		"https://user:pw@example.com/x@v1":            "would be written down",
		"https://token@example.com/x.git@v1":          "would be written down",
		"https://example.com/x.tgz?token=1":           "holds token, which would be written down",
		"https://example.com/x?private_token=1":       "private_token",
		"https://example.com/x.tgz?X-Amz-Signature=1": "X-Amz-Signature",
		"https://example.com/x.tgz?se=1&sig=2":        "holds sig",
		"https://example.com/x.tgz?Key=1":             "holds Key",
		"https://example.com/x.tgz?apiKey=1":          "apiKey",
		"https://example.com/x.tgz#access_token=1":    "access_token",
		"https://example.com/x.git@--upload":          "cannot be a tag",
		"https://example.com/x.git@a..b":              "cannot be a tag",
		"https://example.com/x.git@a:b":               "cannot be a tag",
		"ssh://-oProxyCommand=id/x@v1":                "names no host",
		"https:///x@v1":                               "names no host",
		"-u@v1":                                       "no such file",
		"/nowhere@v1":                                 "no such file",
		os.TempDir() + "@v1":                          "is no git repository",
	} {
		if spec, err := source.Parse(text, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, %v, want %q", text, spec, err, want)
		}
	}
	for text, want := range map[string]source.Spec{
		"https://example.com/team/hooks.git@v1.2.0":        {Kind: source.KindGit, At: "https://example.com/team/hooks.git", Ref: "v1.2.0"},
		"https://example.com/team/hooks":                   {Kind: source.KindGit, At: "https://example.com/team/hooks"},
		"ssh://git@example.com:22/team/hooks@release/2026": {Kind: source.KindGit, At: "ssh://git@example.com:22/team/hooks", Ref: "release/2026"},
		"ssh://git@example.com/team/hooks":                 {Kind: source.KindGit, At: "ssh://git@example.com/team/hooks"},
		"git@example.com:team/hooks.git@4f2a91c":           {Kind: source.KindGit, At: "git@example.com:team/hooks.git", Ref: "4f2a91c"},
		"https://example.com/x.tgz?sha=main&keyword=a":     {Kind: source.KindArchive, At: "https://example.com/x.tgz?sha=main&keyword=a"},
		"git@example.com:team/hooks.git":                   {Kind: source.KindGit, At: "git@example.com:team/hooks.git"},
	} {
		got, err := source.Parse(text, "")
		if err != nil || got != want || got.Check() != nil {
			t.Errorf("%s: got %+v, %v, %v, want %+v", text, got, err, got.Check(), want)
		}
	}
	if _, err := source.Parse("https://example.com/x@v1", "../up"); err == nil {
		t.Error("a path out of the source is taken")
	}
}

func TestLockFileThatParseCannotHaveWrittenIsRefused(t *testing.T) {
	for _, entry := range []string{
		`"guard": {"kind": "git", "source": "ext::sh -c id"}`, `"guard": {"kind": "git", "source": "relative/repo"}`, `"guard": {"kind": "git", "source": "-u"}`,
		`"guard": {"kind": "git", "source": "https://example.com/x", "ref": "--upload-pack=id"}`, `"guard": {"kind": "folder", "source": "x", "path": "../.."}`,
		`"../guard": {"kind": "catalogue", "source": "no-verify"}`, `"guard": {"kind": "catalogue", "source": "no-verify", "files": {"../x": "y"}}`,
		`"guard": {"kind": "other", "source": "/x"}`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, source.LockName), []byte(`{"version": 1, "hooks": {`+entry+`}}`), 0o644); err != nil {
			t.Fatal(err)
		}
		if lock, err := source.ReadLock(dir); err == nil {
			t.Errorf("%s is taken: %+v", entry, lock)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, source.LockName), []byte(`{"version": 2}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := source.ReadLock(dir); err == nil || !strings.Contains(err.Error(), "use a newer tenterhook") {
		t.Error(err)
	}
}

func TestChangeThatWaitsEndsWithItsContext(t *testing.T) {
	state := t.TempDir()
	other := flock.New(filepath.Join(state, "sources.lock"))
	if err := other.Lock(); err != nil {
		t.Fatal(err)
	}
	edits := 0
	edit := func(*source.Place) error { edits++; return nil }
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := source.Change(ctx, t.TempDir(), state, edit); !errors.Is(err, context.DeadlineExceeded) || edits != 0 {
		t.Errorf("got %v and %d edits, want that the time is over", err, edits)
	}
	if err := other.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := source.Change(t.Context(), t.TempDir(), state, edit); err != nil || edits != 1 {
		t.Errorf("got %v and %d edits", err, edits)
	}
}

// An error names the file once, wherever it came from.
func TestAFileOfAPackThatCannotBeReadIsNamed(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "guard", "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "guard", "HOOK.md"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	hook := pack.File{Name: "guard/HOOK.md", Size: int64(len(manifest)), SHA256: strings.TrimPrefix(pack.Digest([]byte(manifest)), "sha256:")}
	for name, want := range map[string]string{"guard/folder": "guard/folder: it is no regular file", "guard/gone": "guard/gone"} {
		p := &pack.Pack{Dir: dir, Config: pack.Config{Files: []pack.File{hook, {Name: name}}}}
		_, err := source.FromPack(source.Spec{Kind: source.KindPack}, p, nil)
		if err == nil || strings.Count(filepath.ToSlash(err.Error()), want) != 1 || strings.Count(filepath.ToSlash(err.Error()), name) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
