package eligibility

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tenterhook/tenterhook/hook"
)

func TestSystemsGoByManyNames(t *testing.T) {
	for _, c := range []struct {
		systems []string
		goos    string
		why     string // "" = it runs there
	}{
		{nil, "linux", ""},
		{[]string{"linux"}, "linux", ""},
		{[]string{"Linux"}, "linux", ""},
		{[]string{"macos"}, "darwin", ""},
		{[]string{"macOS"}, "darwin", ""},
		{[]string{"darwin"}, "darwin", ""},
		{[]string{"osx"}, "darwin", ""},
		{[]string{"mac"}, "darwin", ""},
		{[]string{"windows"}, "windows", ""},
		{[]string{"win32"}, "windows", ""},
		{[]string{"win"}, "windows", ""},
		{[]string{"sunos"}, "solaris", ""},
		{[]string{"freebsd"}, "freebsd", ""},
		{[]string{"macos", "linux"}, "linux", ""},
		{[]string{"macos"}, "linux", "runs on macos only, this is linux"},
		{[]string{"darwin", "osx"}, "linux", "runs on macos only, this is linux"},
		{[]string{"win32", "linux"}, "darwin", "runs on windows, linux only, this is macos"},
		{[]string{"linus"}, "linux", "runs on linus only, this is linux"},
		{[]string{""}, "linux", `runs on "" only, this is linux`},
		{[]string{"a\x1bb"}, "linux", `runs on "a\x1bb" only, this is linux`},
	} {
		p, foreign := foreignSystem(c.systems, c.goos)
		if diff := cmp.Diff(c.why, p.Message); diff != "" {
			t.Errorf("%q on %s (-want +got):\n%s", c.systems, c.goos, diff)
		}
		if foreign != (c.why != "") {
			t.Errorf("%q on %s: foreign is %v", c.systems, c.goos, foreign)
		}
	}
}

func TestCandidatesFollowPathExt(t *testing.T) {
	for _, c := range []struct {
		path, pathExt string
		want          []string
	}{
		{`C:\bin\jq`, "", []string{`C:\bin\jq.com`, `C:\bin\jq.exe`, `C:\bin\jq.bat`, `C:\bin\jq.cmd`}},
		{`C:\bin\jq`, ".EXE;PS1;;", []string{`C:\bin\jq.exe`, `C:\bin\jq.ps1`}},
		{`C:\bin\jq.exe`, ".exe", []string{`C:\bin\jq.exe`, `C:\bin\jq.exe.exe`}},
		{`C:\bin\jq.1.7`, ".exe", []string{`C:\bin\jq.1.7`, `C:\bin\jq.1.7.exe`}},
		{`C:\v1.2\jq`, ".exe", []string{`C:\v1.2\jq.exe`}},
	} {
		if diff := cmp.Diff(c.want, candidates(c.path, parsePathExt(c.pathExt))); diff != "" {
			t.Errorf("%s with PATHEXT=%s (-want +got):\n%s", c.path, c.pathExt, diff)
		}
	}
	if diff := cmp.Diff([]string{"/bin/jq"}, candidates("/bin/jq", nil)); diff != "" {
		t.Errorf("without PATHEXT (-want +got):\n%s", diff)
	}
}

func TestFirstCandidateThatWorksIsTakenAndElseTheFirstTroubleSaid(t *testing.T) {
	if onWindows {
		t.Skip("Windows: files have no execute permission")
	}
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"plain.a": 0o644, "plain.b": 0o600, "tool.b": 0o755, "tool.c": 0o755, "late.c": 0o755, "late.a": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "plain.c"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := search{extensions: []string{".a", ".b", ".c"}}
	for name, want := range map[string]struct {
		file    string
		trouble trouble
	}{
		"tool": {"tool.b", fine}, "late": {"late.c", fine}, "plain": {"plain.a", notExecutable}, "gone": {"gone", notFound}, "tool.c": {"tool.c", fine},
	} {
		file, trouble := s.inspect(filepath.Join(dir, name))
		if file != filepath.Join(dir, want.file) || trouble != want.trouble {
			t.Errorf("%s: %s, %v", name, file, trouble)
		}
	}
}

func TestNamesAreShownSafely(t *testing.T) {
	for name, want := range map[string]string{
		"jq":                          "jq",
		"":                            `""`,
		"two words":                   `"two words"`,
		"a, b":                        `"a, b"`,
		"größe":                       "größe",
		"a\u202eb":                    `"a\u202eb"`,
		"\xff":                        `"\xff"`,
		"a" + strings.Repeat("é", 60): `"a` + strings.Repeat("é", 39) + `"…`, // not within a rune
	} {
		if got := show(name); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// FuzzExplanation holds that whatever a manifest requires and PATH contains,
// the explanation is one printable line of bounded length.
func FuzzExplanation(f *testing.F) {
	f.Add("jq", "GITHUB_TOKEN", "macos", "/bin")
	f.Add("", "", "", "")
	f.Add("./a\nb", "A=b", "\x1b[31m", ".:")
	f.Add("\u202ejq", "\xff\xfe", "ſ", "bin:\x00")
	f.Add(strings.Repeat("é", 500), strings.Repeat("x", 500), strings.Repeat(" ", 500), strings.Repeat("a:", 500))
	f.Add("/", "PATH", "linux", "/")
	f.Fuzz(func(t *testing.T, bin, env, system, path string) {
		checker := New(Options{LookupEnv: func(name string) (string, bool) { return path, name == "PATH" }})
		for _, r := range []hook.Requires{
			{Bins: []string{bin}},
			{Bins: []string{bin, bin + "1", bin + "2", bin + "3", bin + "4", bin + "5"}},
			{AnyBins: []string{bin, env, system}},
			{Envs: []string{env}},
			{OS: []string{system}},
		} {
			v := checker.Prepare(r).Verdict()
			if v.Eligible != (v.Why == "") || v.Eligible != (v.Hint == "") {
				t.Errorf("%q: %+v explains nothing, or too much", r, v)
			}
			for _, line := range []string{v.Why, v.Hint} {
				if len(line) > 4096 || !utf8.ValidString(line) ||
					strings.ContainsFunc(line, func(c rune) bool { return !unicode.IsPrint(c) }) {
					t.Errorf("%q: %q is not one short, printable line", r, line)
				}
			}
		}
	})
}
