package discovery_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
)

// configs returns the names of the files found below dir, with their content or
// the code of their problem.
func configs(t *testing.T, fsys afero.Fs, place discovery.ConfigPlace) []string {
	t.Helper()
	found, _, err := discovery.WalkConfigs(context.Background(), fsys, []discovery.ConfigPlace{place}, nil, func(f *discovery.ConfigFile) string {
		name, _ := filepath.Rel(place.Scope.Dir, f.Path)
		name = filepath.ToSlash(name)
		if f.Problem != nil {
			return name + ": " + f.Problem.Code
		}
		return name + "=" + string(f.Data)
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func place(dir string, names ...string) discovery.ConfigPlace {
	return discovery.ConfigPlace{Scope: discovery.Scope{Scope: hook.ScopeProject, Dir: dir}, Names: names, MaxSize: 100}
}

func TestConfigFilesAreFoundByNameAndByPattern(t *testing.T) {
	files := map[string]string{
		".x/settings.json": "1", ".x/settings.toml": "2", ".x/hooks/b.json": "b", ".x/hooks/a.json": "a", ".x/hooks/a.txt": "no",
	}
	want := []string{".x/hooks/a.json=a", ".x/hooks/b.json=b", ".x/settings.json=1", ".x/settings.toml=2"}
	wanted := []string{".x/settings.*", ".x/settings.json", ".x/hooks/*.json", ".y/none.json"}
	dir := tempDir(t)
	for name, data := range files {
		write(t, filepath.Join(dir, name), data)
	}
	if diff := cmp.Diff(want, configs(t, nil, place(dir, wanted...))); diff != "" {
		t.Error("on disk", diff)
	}
	inMemory := make(map[string]string)
	for name, data := range files {
		inMemory["/d/"+name] = data
	}
	if diff := cmp.Diff(want, configs(t, memory(t, inMemory), place(filepath.FromSlash("/d"), wanted...))); diff != "" {
		t.Error("in memory", diff)
	}
}

func TestF2ConfigFilesAreNotReadThroughLinksOutOfTheirPlace(t *testing.T) {
	dir, outside := tempDir(t), tempDir(t)
	write(t, filepath.Join(outside, "secret.json"), "secret")
	write(t, filepath.Join(dir, "inside.json"), "fine")
	link(t, filepath.Join(outside, "secret.json"), filepath.Join(dir, "a.json"))
	link(t, "inside.json", filepath.Join(dir, "b.json"))
	link(t, "nowhere", filepath.Join(dir, "c.json"))
	link(t, outside, filepath.Join(dir, "folder"))
	want := []string{"a.json: link_escapes", "b.json=fine", "c.json: link_broken", "folder/secret.json: link_escapes"}
	if diff := cmp.Diff(want, configs(t, nil, place(dir, "a.json", "b.json", "c.json", "folder/secret.json"))); diff != "" {
		t.Error(diff)
	}
}

func TestF1ConfigFilesThatAreNoneAreProblems(t *testing.T) {
	dir := tempDir(t)
	write(t, filepath.Join(dir, "big.json"), strings.Repeat("x", 101))
	write(t, filepath.Join(dir, "folder.json", "x"), "")
	want := []string{"big.json: too_large", "folder.json: not_a_file"}
	if diff := cmp.Diff(want, configs(t, nil, place(dir, "*.json"))); diff != "" {
		t.Error(diff)
	}
	if found := configs(t, nil, place(filepath.Join(dir, "none"), "*.json")); len(found) > 0 {
		t.Errorf("found %q in a place that is not there", found)
	}
}

func TestKnownFilesAreNotRead(t *testing.T) {
	dir := tempDir(t)
	write(t, filepath.Join(dir, "settings.json"), "1")
	write(t, filepath.Join(dir, "hooks", "a", "HOOK.md"), text)
	known := func(path string) (string, bool) { return "known " + filepath.Base(path), true }
	files, _, err := discovery.WalkConfigs(context.Background(), nil, []discovery.ConfigPlace{place(dir, "settings.json")}, known,
		func(f *discovery.ConfigFile) string { return "read " + f.Path })
	if diff := cmp.Diff([]string{"known settings.json"}, files); diff != "" || err != nil {
		t.Error(diff, err)
	}
	folders, _, err := discovery.Walk(context.Background(), nil, userScope(dir), known,
		func(f *discovery.Found) string { return "read " + f.Path })
	if diff := cmp.Diff([]string{"known HOOK.md"}, folders); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// A folder that is looked through and cannot be read is not taken for an empty
// one; one that is not there is.
func TestF9FolderOfConfigFilesThatCannotBeReadIsTold(t *testing.T) {
	dir, outside := tempDir(t), tempDir(t)
	write(t, filepath.Join(dir, "good", "a.json"), "a")
	write(t, filepath.Join(dir, "file"), "")
	write(t, filepath.Join(outside, "b.json"), "b")
	link(t, "loop", filepath.Join(dir, "loop"))
	link(t, outside, filepath.Join(dir, "outside"))
	link(t, "nowhere", filepath.Join(dir, "dangles"))
	onDisk := place(dir, "good/*.json", "file/*.json", "loop/*.json", "loop/*.toml", "outside/*.json", "dangles/*.json", "gone/*.json", "*/*.json")
	inMemory := place(filepath.FromSlash("/d"), "good/*.json", "shut/*.json", "gone/*.json", "*/*.json")
	fsys := failing{memory(t, map[string]string{"/d/good/a.json": "a", "/d/shut/b.json": "b", "/d/x": ""}), map[string]error{"/d/shut": os.ErrPermission}}
	for _, test := range []struct {
		fsys  afero.Fs
		place discovery.ConfigPlace
		want  []string
	}{
		{nil, onDisk, []string{"dangles: link_broken", "file: not_a_folder", "loop: unreadable", "outside: link_escapes"}},
		{fsys, inMemory, []string{"shut: unreadable"}},
	} {
		found, notes, err := discovery.WalkConfigs(context.Background(), test.fsys, []discovery.ConfigPlace{test.place}, nil, func(f *discovery.ConfigFile) string { return string(f.Data) })
		if diff := cmp.Diff([]string{"a"}, found); diff != "" || err != nil {
			t.Error(diff, err)
		}
		var told []string
		for _, d := range notes {
			if d.Hint == "" || d.Severity != hook.SeverityError {
				t.Errorf("incomplete diagnostic %+v", d)
			}
			name, _ := filepath.Rel(test.place.Scope.Dir, d.Path)
			told = append(told, name+": "+d.Code)
		}
		slices.Sort(told)
		if diff := cmp.Diff(test.want, told); diff != "" {
			t.Error(diff)
		}
	}
}
