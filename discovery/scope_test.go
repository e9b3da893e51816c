package discovery_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
)

func TestScopesComeInOrder(t *testing.T) {
	root := tempDir(t)
	in := func(path string) string { return filepath.Join(root, filepath.FromSlash(path)) }
	write(t, in("plugins/zeta/hooks/x/HOOK.md"), text)
	write(t, in("plugins/alpha/plugin"), "")
	write(t, in("plugins/a file"), "")
	scopes, notes := discovery.Scopes(discovery.Options{
		Workspace: in("ws"), ManagedDir: in("managed"), UserDir: in("user"), PluginsDir: in("plugins"),
		Dirs: []string{in("b"), in("a"), in("b/"), in("ws/../a")},
	})
	want := []discovery.Scope{
		{Scope: hook.ScopeManaged, Dir: in("managed"), HooksDir: in("managed/hooks")},
		{Scope: hook.ScopeUser, Dir: in("user"), HooksDir: in("user/hooks")},
		{Scope: hook.ScopeProject, Dir: in("ws/.tenterhook"), HooksDir: in("ws/.tenterhook/hooks"), Base: in("ws")},
		{Scope: hook.ScopeLocal, Dir: in("ws/.tenterhook/local"), HooksDir: in("ws/.tenterhook/local/hooks"), Base: in("ws")},
		{Scope: hook.ScopePlugin, Dir: in("plugins/alpha"), HooksDir: in("plugins/alpha/hooks"), Package: "alpha", DataDir: in("plugin-data/alpha")},
		{Scope: hook.ScopePlugin, Dir: in("plugins/zeta"), HooksDir: in("plugins/zeta/hooks"), Package: "zeta", DataDir: in("plugin-data/zeta")},
		{Scope: hook.ScopeDir, Dir: in("b"), HooksDir: in("b")},
		{Scope: hook.ScopeDir, Dir: in("a"), HooksDir: in("a")},
	}
	if diff := cmp.Diff(want, scopes); diff != "" {
		t.Error(diff)
	}
	if len(notes) != 0 {
		t.Error(notes)
	}
}

func TestScopesOfTheZeroOptionsFollowTheEnvironment(t *testing.T) {
	for _, home := range []string{tempDir(t), tempDir(t)} {
		t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
		t.Setenv("XDG_DATA_HOME", filepath.Join(home, "data"))
		write(t, filepath.Join(home, "data/tenterhook/plugins/p/x"), "")
		scopes, notes := discovery.Scopes(discovery.Options{})
		var dirs []string
		for _, s := range scopes {
			dirs = append(dirs, s.Dir)
		}
		want := []string{
			discovery.DefaultManagedDir(), filepath.Join(home, "config/tenterhook"), filepath.Join(home, "data/tenterhook/plugins/p"),
		}
		if diff := cmp.Diff(want, dirs); diff != "" || len(notes) != 0 {
			t.Error(diff, notes)
		}
	}
}

// What tenterhook keeps for itself would be read as misplaced hooks of the user.
func TestTheUsersHooksAreApartFromTheState(t *testing.T) {
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, "")
	}
	user, state := discovery.DefaultUserDir(), discovery.DefaultStateDir()
	if user == "" || user == state || user == filepath.Dir(discovery.DefaultPluginsDir()) {
		t.Errorf("hooks in %q, state in %q, plugins in %q", user, state, discovery.DefaultPluginsDir())
	}
}

func TestRelativeHomeGivesNoUserScope(t *testing.T) {
	if os.Getenv("HOME") == "" {
		t.Skip("Windows: homes are not told by HOME")
	}
	t.Chdir(tempDir(t))
	t.Setenv("HOME", "here")
	t.Setenv("XDG_CONFIG_HOME", "config")
	t.Setenv("XDG_DATA_HOME", "data")
	scopes, notes := discovery.Scopes(discovery.Options{})
	if len(scopes) != 1 || scopes[0].Scope != hook.ScopeManaged {
		t.Errorf("scopes %v, want the managed one", scopes)
	}
	if len(notes) != 2 || notes[0].Code != "no_home" || notes[1].Code != "no_home" {
		t.Errorf("diagnostics %v", notes)
	}
}

func TestRelativePathsAreMadeAbsolute(t *testing.T) {
	dir := tempDir(t)
	t.Chdir(dir)
	scopes, _ := discovery.Scopes(discovery.Options{ManagedDir: "m", UserDir: "u", PluginsDir: "p", Workspace: ".", Dirs: []string{"d"}})
	for _, s := range scopes {
		if !filepath.IsAbs(s.Dir) || !filepath.IsAbs(s.HooksDir) {
			t.Errorf("%v is relative", s)
		}
	}
	if want := filepath.Join(dir, ".tenterhook", "hooks"); scopes[2].HooksDir != want {
		t.Errorf("project hooks in %s, want %s", scopes[2].HooksDir, want)
	}
}

func TestPluginPackagesComeFromTheGivenFileSystem(t *testing.T) {
	manifest, _ := filepath.Abs("/p/one/hooks/x/HOOK.md")
	fsys := memory(t, map[string]string{manifest: text})
	scopes, notes := discovery.Scopes(discovery.Options{FS: fsys, ManagedDir: "/m", UserDir: "/u", PluginsDir: "/p"})
	if len(scopes) != 3 || scopes[2].Package != "one" || len(notes) != 0 {
		t.Errorf("scopes %v, diagnostics %v", scopes, notes)
	}
}

func TestFolderOfPluginPackagesThatCannotBeReadIsTold(t *testing.T) {
	dir := tempDir(t)
	write(t, filepath.Join(dir, "file"), "")
	link(t, "loop", filepath.Join(dir, "loop"))
	manifest, _ := filepath.Abs("/p/one/hooks/x/HOOK.md")
	shut := failing{memory(t, map[string]string{manifest: text}), map[string]error{filepath.ToSlash(filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(manifest))))): os.ErrPermission}}
	for path, test := range map[string]struct {
		fsys afero.Fs
		want string
	}{
		filepath.Join(dir, "file"): {nil, "not_a_folder"},
		filepath.Join(dir, "loop"): {nil, "unreadable"},
		"/p":                       {shut, "unreadable"},
	} {
		_, notes := discovery.Scopes(discovery.Options{FS: test.fsys, ManagedDir: "/m", UserDir: "/u", PluginsDir: path})
		if len(notes) != 1 || notes[0].Code != test.want || notes[0].Hint == "" || notes[0].Severity != hook.SeverityError {
			t.Errorf("%s: %+v, want %s", path, notes, test.want)
		}
	}
}
