package resolve

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

func TestFilesOfTheFolderThatACommandNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my hook")
	outside := filepath.Join(filepath.Dir(dir), "outside.py")
	if err := os.MkdirAll(filepath.Join(dir, "lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{outside, filepath.Join(dir, "a.py"), filepath.Join(dir, "b c.json"), filepath.Join(dir, "lib", "d.py")} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := Environ{list: []string{"HOOK_DIR=" + dir, "NAME=b"}}
	for line, want := range map[string][]string{
		"python3 a.py --rules 'b c.json' lib":                      {"a.py", "b c.json"},
		`exec python3 "$HOOK_DIR/a.py" <"${HOOK_DIR}/b c.json"`:    {"a.py", "b c.json"},
		`cd lib && python3 -u "$HOOK_DIR"/lib/d.py "$(cat a.py)"`:  {"lib/d.py", "a.py"},
		`if [ -e lib/d.py ]; then python3 lib/d.py "$NAME c.json"`: {"lib/d.py"}, // no POSIX shell's line
		"python3 ../outside.py " + outside + " missing.py a.p*":    nil,
		"python3 " + filepath.Join(dir, "lib", "d.py"):             nil, // its space ends the word
		"": nil,
	} {
		files := Watched(&hook.Command{Line: line}, &hook.Program{Path: "/bin/sh", Argv: []string{"sh", "-c", line}, Shell: true, Dir: dir}, &env)
		for i, name := range want {
			want[i] = filepath.Join(dir, filepath.FromSlash(name))
		}
		if diff := cmp.Diff(append([]string{"/bin/sh"}, want...), files); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
	direct := &hook.Program{Path: filepath.Join(dir, "a.py"), Argv: []string{"./a.py", "b c.json", "a.py"}, Dir: dir}
	got := Watched(&hook.Command{}, direct, &env)
	if want := []string{direct.Path, filepath.Join(dir, "b c.json")}; !slices.Equal(got, want) {
		t.Errorf("without a shell: got %q, want %q", got, want)
	}
}
