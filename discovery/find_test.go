package discovery_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
)

func TestFoundSaysWhereAHookLies(t *testing.T) {
	fsys := memory(t, map[string]string{"/u/hooks/b/HOOK.md": text, "/u/hooks/b/run.sh": "", "/u/hooks/a/HOOK.md": text, "/d/c/HOOK.md": text})
	scopes := append(dirScope(filepath.FromSlash("/d")), userScope(filepath.FromSlash("/u"))...)
	found, notes, err := discovery.Find(context.Background(), fsys, scopes)
	if err != nil || len(notes) != 0 {
		t.Fatal(err, notes)
	}
	var got []string
	for _, f := range found {
		got = append(got, strings.Join([]string{f.Scope.Scope.String(), f.Name, filepath.ToSlash(f.Dir), filepath.ToSlash(f.Path)}, " "))
	}
	want := []string{"dir c /d/c /d/c/HOOK.md", "user a /u/hooks/a /u/hooks/a/HOOK.md", "user b /u/hooks/b /u/hooks/b/HOOK.md"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	files := found[2].Files()
	slices.Sort(files)
	if diff := cmp.Diff([]string{"HOOK.md", "run.sh"}, files); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNoHookIsPassedOver(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"folder without a manifest": {"/u/hooks/lib/x.sh": ""},
		"file beside the folders":   {"/u/hooks/README.md": ""},
		"manifest far too deep":     {"/u/hooks/x/y/z/HOOK.md": text},
		"packages of a script":      {"/u/hooks/node_modules/y/HOOK.md": text, "/u/node_modules/HOOK.md": text, "/u/.git/HOOK.md": text},
		"files of a script":         {"/u/hooks/lib/hook.sh": "", "/u/hooks/lib/hooks.go": "", "/u/hooks/lib/HOOK.md.bak": ""},
		"scope without hooks":       {"/u/settings.toml": ""},
		"no scope":                  {"/elsewhere/x": ""},
	} {
		t.Run(name, func(t *testing.T) {
			if names, codes := find(t, memory(t, files), userScope(filepath.FromSlash("/u"))); len(names)+len(codes) != 0 {
				t.Errorf("found %q, diagnostics %q", names, codes)
			}
		})
	}
}

func TestMisplacedAndMisnamedManifestsAreTold(t *testing.T) {
	fsys := memory(t, map[string]string{"/u/hooks/HOOK.md": text, "/u/hooks/a/Hook.MD": text, "/u/hooks/b/HOOK.md": text})
	names, codes := find(t, fsys, userScope(filepath.FromSlash("/u")))
	if diff := cmp.Diff([]string{"b"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"misplaced_manifest", "misnamed_manifest"}, codes); diff != "" {
		t.Error(diff)
	}
}

// A file that looks like a hook and that nothing reads is reported, with its path
// and where it belongs.
func TestFilesThatNothingReadsAreTold(t *testing.T) {
	user := []discovery.Scope{{Scope: hook.ScopeUser, Dir: "/u", HooksDir: "/u/hooks"}}
	project := []discovery.Scope{{Scope: hook.ScopeProject, Dir: "/u", HooksDir: "/u/hooks"}}
	named := []discovery.Scope{{Scope: hook.ScopeDir, Dir: "/u", HooksDir: "/u"}}
	pkg := []discovery.Scope{{Scope: hook.ScopePlugin, Package: "u", Dir: "/u", HooksDir: "/u/hooks"}}
	for _, tc := range []struct {
		file, code, hint string
		scopes           [][]discovery.Scope
	}{
		{"/u/oops/HOOK.md", "misplaced_manifest", "/u/hooks/oops/HOOK.md", [][]discovery.Scope{user, project, pkg}},
		{"/u/HOOK.md", "misplaced_manifest", "/u/hooks/<name>/HOOK.md", [][]discovery.Scope{user, project, pkg}},
		{"/u/hook/x/HOOK.md", "misplaced_manifest", "/u/hooks/x/HOOK.md", [][]discovery.Scope{user, project, pkg}},
		{"/u/hooks/HOOK.md", "misplaced_manifest", "hooks/<name>/HOOK.md", [][]discovery.Scope{user, project, pkg}},
		{"/u/hooks/a/x/HOOK.md", "misplaced_manifest", "/u/hooks/x/HOOK.md", [][]discovery.Scope{user, project, pkg}},
		{"/u/a/x/HOOK.md", "misplaced_manifest", "/u/x/HOOK.md", [][]discovery.Scope{named}},
		{"/u/oops/HOOK.toml", "misnamed_manifest", "HOOK.md", [][]discovery.Scope{user, project, pkg, named}},
		{"/u/hooks/oops/HOOK.toml", "misnamed_manifest", "HOOK.md", [][]discovery.Scope{user, project, pkg, named}},
		{"/u/hooks/oops/hook.md", "misnamed_manifest", "HOOK.md", [][]discovery.Scope{user, project, pkg, named}},
		{"/u/hooks/oops/HOOK.MD", "misnamed_manifest", "HOOK.md", [][]discovery.Scope{user, project, pkg, named}},
		{"/u/hooks/oops/HOOKS.md", "misnamed_manifest", "HOOK.md", [][]discovery.Scope{user, project, pkg, named}},
		{"/u/hooks/oops/HOOK.yaml", "misnamed_manifest", "HOOK.md", [][]discovery.Scope{user, project, pkg, named}},
		{"/u/hooks/oops/HOOK.yml", "misnamed_manifest", "HOOK.md", [][]discovery.Scope{user, project, pkg, named}},
		{"/u/hooks/oops/HOOK.json", "misnamed_manifest", "HOOK.md", [][]discovery.Scope{user, project, pkg, named}},
		{"/u/hooks/oops/HOOK", "misnamed_manifest", "HOOK.md", [][]discovery.Scope{user, project, pkg, named}},
		{"/u/hooks/oops/HOOK.md.txt", "misnamed_manifest", "HOOK.md", [][]discovery.Scope{user, project, pkg, named}},
		{"/u/hooks/oops/hook.markdown", "misnamed_manifest", "HOOK.md", [][]discovery.Scope{user, project, pkg, named}},
		{"/u/hooks/HOOK.toml", "misnamed_manifest", "HOOK.md", [][]discovery.Scope{user, project, pkg}},
		{"/u/HOOK.toml", "misnamed_manifest", "HOOK.md", [][]discovery.Scope{user, project, named}},
		{"/u/settings.yaml", "misnamed_settings", "rename", [][]discovery.Scope{user, project}},
		{"/u/Settings.toml", "misnamed_settings", "rename", [][]discovery.Scope{user, project}},
		{"/u/setting.json", "misnamed_settings", "rename", [][]discovery.Scope{user, project}},
		{"/u/hooks.json", "misnamed_settings", "rename", [][]discovery.Scope{user, project}},
	} {
		for _, scopes := range tc.scopes {
			_, notes, err := discovery.Find(t.Context(), memory(t, map[string]string{tc.file: text, "/u/hooks/good/HOOK.md": text}), scopes)
			if err != nil || len(notes) != 1 || notes[0].Code != tc.code || filepath.ToSlash(notes[0].Path) != tc.file || !strings.Contains(filepath.ToSlash(notes[0].Hint), tc.hint) {
				t.Errorf("%s in scope %s: %v, %v; want %s for it", tc.file, scopes[0].Scope, notes, err, tc.code)
			}
		}
	}
}

func TestFilesOfAScopeThatAreNoHooksAreNoDiagnostics(t *testing.T) {
	fsys := memory(t, map[string]string{"/u/hooks/hooks.json": "{}", "/u/plugin.json": "{}", "/u/hooks.toml": "", "/u/config.json": "", "/u/lib/a.md": ""})
	_, notes, err := discovery.Find(t.Context(), fsys, []discovery.Scope{{Scope: hook.ScopePlugin, Package: "u", Dir: "/u", HooksDir: "/u/hooks"}})
	if err != nil || len(notes) > 0 {
		t.Errorf("of a package: %v, %v", notes, err)
	}
	fsys = memory(t, map[string]string{"/u/local/HOOK.md": text, "/u/local/hooks/a/HOOK.md": text, "/u/settings.toml": "", "/u/settings.json": "", "/u/README.md": ""})
	_, notes, err = discovery.Find(t.Context(), fsys, []discovery.Scope{{Scope: hook.ScopeProject, Dir: "/u", HooksDir: "/u/hooks"}})
	if err != nil || len(notes) > 0 {
		t.Errorf("of a project: %v, %v", notes, err)
	}
}

func TestNamedFolder(t *testing.T) {
	tests := []struct {
		name         string
		files        []string
		names, codes []string
	}{
		{"holds hook folders", []string{"d/a/HOOK.md", "d/b/HOOK.md"}, []string{"a", "b"}, nil},
		{"is a hook's own folder", []string{"d/HOOK.md", "d/lib/x"}, []string{"d"}, nil},
		{"is a scope", []string{"d/hooks/b/HOOK.md", "d/hooks/a/HOOK.md", "d/settings.toml"}, []string{"a", "b"}, nil},
		{"is everything at once", []string{"d/HOOK.md", "d/z/HOOK.md", "d/hooks/HOOK.md", "d/hooks/a/HOOK.md"}, []string{"a", "d", "hooks", "z"}, nil},
		{"is empty", []string{"d/x"}, nil, nil},
		{"is missing", []string{"e/x"}, nil, []string{"dir_missing"}},
		{"is a file", []string{"d"}, nil, []string{"not_a_folder"}},
	}
	for _, test := range tests {
		files := make(map[string]string)
		root := tempDir(t)
		for _, f := range test.files {
			files["/"+f] = text
			write(t, filepath.Join(root, filepath.FromSlash(f)), text)
		}
		for where, run := range map[string]func() ([]string, []string){
			"memory": func() ([]string, []string) {
				return find(t, memory(t, files), dirScope(filepath.FromSlash("/d")))
			},
			"disk": func() ([]string, []string) { return find(t, nil, dirScope(filepath.Join(root, "d"))) },
		} {
			t.Run(test.name+"/"+where, func(t *testing.T) {
				names, codes := run()
				if diff := cmp.Diff(test.names, names); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff(test.codes, codes); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestF9StrangeNamesAreFound(t *testing.T) {
	want := []string{" lead", "..", "a b", "a..b", "...", "[x]", "new\nline", "tab\t", "ünï", "🪝", "-rf", "%s", "$(id)", "hooks\x1b[2J", ".hidden"}
	want = slices.DeleteFunc(want, func(n string) bool { return n == ".." })
	slices.Sort(want)
	dir := tempDir(t)
	for _, name := range want {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Skipf("%q is no name here, as on Windows: %v", name, err)
		}
		write(t, filepath.Join(dir, name, "HOOK.md"), text)
	}
	names, codes := find(t, nil, dirScope(dir))
	if diff := cmp.Diff(want, names); diff != "" || len(codes) != 0 {
		t.Error(diff, codes)
	}
}

func TestF9TenThousandFoldersAreFound(t *testing.T) {
	built.NotOnWindows(t, "Wine takes minutes for so many folders")
	if testing.Short() {
		t.Skip("long: makes ten thousand folders")
	}
	dir := tempDir(t)
	for i := range 10_000 {
		folder := filepath.Join(dir, fmt.Sprintf("h%05d", i))
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "HOOK.md"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	names, codes := find(t, nil, dirScope(dir))
	if len(names) != 10_000 || len(codes) != 0 || !slices.IsSorted(names) {
		t.Errorf("%d hooks, diagnostics %q", len(names), codes)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

// failing is a file system where some paths cannot be opened.
type failing struct {
	afero.Fs
	paths map[string]error
}

func (f failing) Open(name string) (afero.File, error) { return f.OpenFile(name, os.O_RDONLY, 0) }

func (f failing) OpenFile(name string, flag int, mode os.FileMode) (afero.File, error) {
	if err := f.paths[filepath.ToSlash(name)]; err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return f.Fs.OpenFile(name, flag, mode)
}

func TestF9OneUnreadableEntryHidesNoOther(t *testing.T) {
	fsys := failing{
		memory(t, map[string]string{"/u/hooks/a/HOOK.md": text, "/u/hooks/b/HOOK.md": text, "/u/hooks/c/HOOK.md": text, "/v/hooks/x/HOOK.md": text}),
		map[string]error{"/u/hooks/b/HOOK.md": os.ErrPermission, "/v/hooks": errors.New("disk on fire")},
	}
	scopes := append(userScope(filepath.FromSlash("/v")), userScope(filepath.FromSlash("/u"))...)
	names, codes := find(t, fsys, scopes)
	if diff := cmp.Diff([]string{"a", "!b", "c"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"unreadable", "unreadable"}, codes); diff != "" {
		t.Error(diff)
	}
}

func TestF9FoldersThatComeAndGoDuringTheScan(t *testing.T) {
	dir := tempDir(t)
	write(t, filepath.Join(dir, "stays", "HOOK.md"), text)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			folder := filepath.Join(dir, fmt.Sprintf("goes%d", i%50))
			if os.Mkdir(folder, 0o755) == nil {
				_ = os.WriteFile(filepath.Join(folder, "HOOK.md"), []byte(text), 0o644)
			} else {
				_ = os.RemoveAll(folder)
			}
		}
	}()
	for range 100 {
		found, _, err := discovery.Find(context.Background(), nil, dirScope(dir))
		if err != nil {
			t.Error(err)
		}
		if !slices.ContainsFunc(found, func(f discovery.Found) bool { return f.Name == "stays" && string(f.Data) == text }) {
			t.Error("a hook that stays was not found")
		}
	}
	close(stop)
	<-done
}

func TestF10FoldersOfOneNameInTwoScopesAreBothFound(t *testing.T) {
	fsys := memory(t, map[string]string{"/u/hooks/guard/HOOK.md": text, "/d/guard/HOOK.md": text})
	names, codes := find(t, fsys, append(userScope(filepath.FromSlash("/u")), dirScope(filepath.FromSlash("/d"))...))
	if diff := cmp.Diff([]string{"guard", "guard"}, names); diff != "" || len(codes) != 0 {
		t.Error(diff, codes)
	}
}

func TestWalkKeepsTheOrderWhateverEachVisitTakes(t *testing.T) {
	files := make(map[string]string)
	var want []string
	for i := range 200 {
		name := fmt.Sprintf("h%03d", i)
		files["/d/"+name+"/HOOK.md"] = text
		want = append(want, name)
	}
	got, _, err := discovery.Walk(context.Background(), memory(t, files), dirScope(filepath.FromSlash("/d")), nil, func(f *discovery.Found) string {
		if len(f.Name)%2 == 0 {
			time.Sleep(time.Millisecond)
		}
		return f.Name
	})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestWalkEndsWithItsContext(t *testing.T) {
	files := make(map[string]string)
	for i := range 1000 {
		files[fmt.Sprintf("/d/h%d/HOOK.md", i)] = text
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	scopes := append(dirScope(filepath.FromSlash("/d")), dirScope(filepath.FromSlash("/d"))...)
	got, _, err := discovery.Walk(ctx, memory(t, files), scopes, nil, func(*discovery.Found) int {
		cancel(cause)
		return 1
	})
	if !errors.Is(err, cause) || len(got) == 0 || len(got) > 100 {
		t.Errorf("%d visits, error %v", len(got), err)
	}
}

func TestFileReadsTheManifestThatWasNamed(t *testing.T) {
	root, err := filepath.Abs("/x") // on Windows of the drive that the test runs on
	if err != nil {
		t.Fatal(err)
	}
	guard := filepath.Join(root, "guard", "HOOK.md")
	fsys := memory(t, map[string]string{guard: text, root + "/guard/sub/x": "", root + "/big/HOOK.md": strings.Repeat("x", discovery.MaxManifest+1)})
	f := discovery.File(fsys, guard)
	if f.Problem != nil || string(f.Data) != text || f.Name != "guard" || f.Scope.Scope != hook.ScopeDir || f.Scope.Dir != root {
		t.Errorf("%+v", f)
	}
	for path, code := range map[string]string{"none/HOOK.md": "missing", "guard/sub": "not_a_file", "big/HOOK.md": "too_large"} {
		if f := discovery.File(fsys, filepath.Join(root, path)); f.Problem == nil || f.Problem.Code != code {
			t.Errorf("%s: %v, want %s", path, f.Problem, code)
		}
	}
}

// TestFindFindsWhatIsThere holds Find against a plain model of a folder.
func TestFindFindsWhatIsThere(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		names := rapid.SliceOfDistinct(rapid.StringMatching(`[a-zA-Z0-9 ._-]{0,10}[a-z]`), rapid.ID[string]).Draw(r, "names")
		fsys := afero.NewMemMapFs()
		_ = fsys.MkdirAll(filepath.FromSlash("/d"), 0o755)
		var want []string
		for _, name := range names {
			if name == "hooks" {
				continue
			}
			size := rapid.SampledFrom([]int{-1, 0, 10, discovery.MaxManifest, discovery.MaxManifest + 1}).Draw(r, "size")
			folder := filepath.Join(filepath.FromSlash("/d"), name)
			if size < 0 {
				_ = fsys.Mkdir(folder, 0o755)
				continue
			}
			_ = afero.WriteFile(fsys, filepath.Join(folder, "HOOK.md"), make([]byte, size), 0o644)
			if size > discovery.MaxManifest {
				size = -1
			}
			want = append(want, fmt.Sprint(name, " ", size))
		}
		slices.Sort(want)
		found, notes, err := discovery.Find(context.Background(), fsys, dirScope(filepath.FromSlash("/d")))
		var got []string
		problems := 0
		for _, f := range found {
			if f.Problem != nil {
				problems++
				got = append(got, fmt.Sprint(f.Name, " ", -1))
				continue
			}
			got = append(got, fmt.Sprint(f.Name, " ", len(f.Data)))
		}
		if !slices.IsSortedFunc(found, func(a, b discovery.Found) int { return strings.Compare(a.Name, b.Name) }) {
			r.Fatal("not sorted")
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || err != nil || len(notes) != problems {
			r.Fatal(diff, err, notes)
		}
	})
}
