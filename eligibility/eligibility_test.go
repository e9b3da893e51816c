package eligibility_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tenterhook/tenterhook/eligibility"
	"github.com/tenterhook/tenterhook/hook"
)

// thisSystem is the name of this system in a manifest.
func thisSystem() string {
	if runtime.GOOS == "darwin" {
		return "macos"
	}
	return runtime.GOOS
}

func TestVerdictSaysWhatIsMissing(t *testing.T) {
	dir, second := t.TempDir(), t.TempDir()
	tool := program(t, dir, "tool")
	program(t, second, "other")
	program(t, second, "folder")
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "onlyfolder"), 0o755); err != nil {
		t.Fatal(err)
	}
	nowhere := filepath.VolumeName(dir) + filepath.FromSlash("/no-such-folder/tool") // short: names are cut
	env := newEnvironment("PATH", pathOf(dir, second), "SET", "s3cret", "EMPTY", "")

	for _, c := range []struct {
		name string
		in   hook.Requires
		why  string // "" = eligible
	}{
		{"nothing", hook.Requires{}, ""},
		{"a bin", hook.Requires{Bins: []string{"tool"}}, ""},
		{"a bin of a later element", hook.Requires{Bins: []string{"other"}}, ""},
		{"a folder does not hide a later bin", hook.Requires{Bins: []string{"folder"}}, ""},
		{"a folder is no bin", hook.Requires{Bins: []string{"onlyfolder"}},
			"needs onlyfolder on PATH: not found"},
		{"one of two bins", hook.Requires{Bins: []string{"tool", "jq"}},
			"needs jq on PATH: not found"},
		{"a bin named twice", hook.Requires{Bins: []string{"jq", "jq"}},
			"needs jq on PATH: not found"},
		{"any bin", hook.Requires{AnyBins: []string{"rg", "tool"}}, ""},
		{"no any bin", hook.Requires{AnyBins: []string{"rg", "grep"}},
			"needs one of rg, grep on PATH"},
		{"a single any bin", hook.Requires{AnyBins: []string{"rg"}},
			"needs rg on PATH: not found"},
		{"an any bin with a trouble of its own", hook.Requires{AnyBins: []string{"./rg", "grep"}},
			"needs one of ./rg, grep on PATH (./rg: a relative path depends on the current directory and is not used)"},
		{"no any bin of those that are named by their paths", hook.Requires{AnyBins: []string{nowhere, nowhere + "2"}},
			"needs one of " + nowhere + ", " + nowhere + "2"},
		{"a long name", hook.Requires{Bins: []string{strings.Repeat("x", 79) + "\a"}},
			`needs "` + strings.Repeat("x", 79) + `\a" on PATH: not found`},
		{"a longer name", hook.Requires{Bins: []string{strings.Repeat("x", 80) + "\a"}},
			`needs "` + strings.Repeat("x", 80) + `"… on PATH: not found`},
		{"an absolute bin", hook.Requires{Bins: []string{tool}}, ""},
		{"no absolute bin", hook.Requires{Bins: []string{nowhere}},
			"needs " + nowhere + ": not found"},
		{"an absolute folder", hook.Requires{Bins: []string{dir}},
			"needs " + dir + ": it is a directory"},
		{"a relative bin", hook.Requires{Bins: []string{"./tool"}},
			"needs ./tool: a relative path depends on the current directory and is not used"},
		{"an empty bin", hook.Requires{Bins: []string{""}},
			`needs "": this is not a program's name`},
		{"the folder as a bin", hook.Requires{Bins: []string{".."}},
			"needs ..: this is not a program's name"},
		{"a NUL in a bin", hook.Requires{Bins: []string{"to\x00ol"}},
			`needs "to\x00ol" on PATH: not found`},
		{"an escape in a bin", hook.Requires{Bins: []string{"\x1b]52;c;x\a"}},
			`needs "\x1b]52;c;x\a" on PATH: not found`},
		{"a variable", hook.Requires{Envs: []string{"SET"}}, ""},
		{"no variable", hook.Requires{Envs: []string{"SET", "GITHUB_TOKEN"}},
			"needs GITHUB_TOKEN set"},
		{"an empty variable", hook.Requires{Envs: []string{"EMPTY"}},
			"needs EMPTY set: it is empty"},
		{"a variable's value in the manifest", hook.Requires{Envs: []string{"TOKEN=s3cret"}},
			"needs TOKEN=… set: this is not a variable's name"},
		{"this system", hook.Requires{OS: []string{"plan9", thisSystem()}}, ""},
		{"another system", hook.Requires{OS: []string{"plan9"}},
			"runs on plan9 only, this is " + thisSystem()},
		{"another system hides the rest", hook.Requires{OS: []string{"plan9"}, Bins: []string{"jq"}},
			"runs on plan9 only, this is " + thisSystem()},
		{"several", hook.Requires{Bins: []string{"jq"}, AnyBins: []string{"rg", "grep"}, Envs: []string{"GITHUB_TOKEN"}},
			"needs jq on PATH: not found; needs one of rg, grep on PATH; needs GITHUB_TOKEN set"},
		{"many", hook.Requires{Envs: []string{"A", "B", "C", "D", "E", "F"}},
			"needs A set; needs B set; needs C set; needs D set; and 2 more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := env.checker().Prepare(c.in).Verdict()
			if diff := cmp.Diff(c.why, v.Why); diff != "" {
				t.Errorf("why (-want +got):\n%s", diff)
			}
			if v.Eligible != (c.why == "") {
				t.Errorf("eligible is %v", v.Eligible)
			}
			if v.Eligible != (v.Hint == "") {
				t.Errorf("the hint is %q", v.Hint)
			}
			if strings.Contains(v.Why+v.Hint, "s3cret") {
				t.Errorf("a value is shown: %+v", v)
			}
		})
	}
}

func TestNonExecutableFileDoesNotCount(t *testing.T) {
	needsModes(t)
	dir, second := t.TempDir(), t.TempDir()
	plain := write(t, dir, "tool", 0o644)
	write(t, second, "tool", 0o644)
	env := newEnvironment("PATH", pathOf(dir, second))

	want := eligibility.Verdict{
		Why:  "needs tool on PATH: " + plain + " is not executable",
		Hint: "make " + plain + " executable",
	}
	got := env.checker().Prepare(hook.Requires{Bins: []string{"tool"}}).Verdict()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	if err := os.Chmod(filepath.Join(second, "tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	if v := env.checker().Prepare(hook.Requires{Bins: []string{"tool"}}).Verdict(); !v.Eligible {
		t.Errorf("it hides the program after it: %s", v.Why)
	}
}

func TestSymlinkCountsAsItsTarget(t *testing.T) {
	needsModes(t)
	dir := t.TempDir()
	for name, target := range map[string]string{
		"good":     program(t, t.TempDir(), "tool"),
		"dangling": filepath.Join(dir, "gone"),
		"loop":     filepath.Join(dir, "loop"),
		"device":   os.DevNull,
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	checker := newEnvironment("PATH", dir).checker()
	for name, want := range map[string]string{
		"good":                       "",
		"dangling":                   "needs dangling on PATH: not found",
		"loop":                       "needs loop on PATH: not found",
		"device":                     "needs device on PATH: not found",
		filepath.Join(dir, "device"): "needs " + filepath.Join(dir, "device") + ": it is not a regular file",
	} {
		if got := checker.Prepare(hook.Requires{Bins: []string{name}}).Verdict().Why; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPathWithoutElementsIsSaid(t *testing.T) {
	for name, env := range map[string]*environment{
		"unset": newEnvironment(),
		"empty": newEnvironment("PATH", ""),
	} {
		t.Run(name, func(t *testing.T) {
			want := eligibility.Verdict{Why: "needs jq on PATH: PATH is empty", Hint: "set PATH"}
			got := env.checker().Prepare(hook.Requires{Bins: []string{"jq"}}).Verdict()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A workspace that contains git must not be where git is found.
func TestF6RelativePathElementIsNotUsed(t *testing.T) {
	workspace, real := t.TempDir(), t.TempDir()
	program(t, workspace, "git")
	program(t, filepath.Join(workspace, "bin"), "git")
	program(t, real, "git")
	t.Chdir(workspace)
	t.Setenv("PATH", "") // the machine's own git has no part in this

	for _, c := range []struct {
		path, why string
	}{
		{".", `found only in ".", and relative elements of PATH are not used`},
		{"bin", `found only in "bin", and relative elements of PATH are not used`},
		{pathOf("", t.TempDir()), `found only in "", and relative elements of PATH are not used`},
		{pathOf(t.TempDir(), ""), `found only in "", and relative elements of PATH are not used`},
		{pathOf("gone", "."), `found only in ".", and relative elements of PATH are not used`},
		{"gone", "not found"},
		{t.TempDir(), "not found"},
		{pathOf(".", "bin", real), ""},
	} {
		t.Run(c.path, func(t *testing.T) {
			v := newEnvironment("PATH", c.path).checker().Prepare(hook.Requires{Bins: []string{"git"}}).Verdict()
			want := ""
			if c.why != "" {
				want = "needs git on PATH: " + c.why
			}
			if diff := cmp.Diff(want, v.Why); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if v.Eligible != (want == "") {
				t.Errorf("eligible is %v", v.Eligible)
			}
		})
	}
}

// Two folders may declare hooks of one name: what they require is the key.
func TestF10EqualNamesDoNotShareAVerdict(t *testing.T) {
	dir := t.TempDir()
	program(t, dir, "jq")
	checker := newEnvironment("PATH", dir).checker()
	hooks := []hook.Hook{
		{ID: "user/guard", Name: "guard", Requires: hook.Requires{Bins: []string{"jq"}}},
		{ID: "project/guard", Name: "guard", Requires: hook.Requires{Bins: []string{"yq"}}},
	}
	var got []bool
	for range 2 { // cold and warm
		for _, h := range hooks {
			got = append(got, checker.Prepare(h.Requires).Verdict().Eligible)
		}
	}
	if diff := cmp.Diff([]bool{true, false, true, false}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEqualRequirementsShareACheckAndOthersDoNot(t *testing.T) {
	checker := newEnvironment().checker()
	sets := []hook.Requires{
		{Bins: []string{"a"}},
		{Bins: []string{"a b"}},
		{Bins: []string{"a", "b"}},
		{Bins: []string{`a" "b`}},
		{AnyBins: []string{"a"}},
		{Envs: []string{"a"}},
		{Bins: []string{"a"}, Envs: []string{"a"}},
		{Bins: []string{"\xff"}},
		{Bins: []string{"\xfe"}},
		{Bins: []string{`\xff`}},
		{OS: []string{"plan9"}},
		{},
	}
	seen := make(map[*eligibility.Check]int)
	for i, r := range sets {
		check := checker.Prepare(r)
		if j, ok := seen[check]; ok {
			t.Errorf("%q and %q share a check", sets[j], r)
		}
		seen[check] = i
	}
	same := hook.Requires{Bins: []string{"a", "a"}, OS: []string{thisSystem()}}
	if i, ok := seen[checker.Prepare(same)]; !ok || i != 0 {
		t.Errorf("%q has a check of its own", same)
	}
}

func TestPrepareKeepsNoReference(t *testing.T) {
	dir := t.TempDir()
	program(t, dir, "tool")
	r := hook.Requires{Bins: []string{"tool"}}
	check := newEnvironment("PATH", dir).checker().Prepare(r)
	r.Bins[0] = "jq"
	if v := check.Verdict(); !v.Eligible {
		t.Error(v.Why)
	}
}

func TestZeroOptionsAreThisProcess(t *testing.T) {
	dir := t.TempDir()
	program(t, dir, "tool")
	t.Setenv("PATH", dir)
	check := eligibility.New(eligibility.Options{}).Prepare(hook.Requires{Bins: []string{"tool"}})
	if v := check.Verdict(); !v.Eligible {
		t.Error(v.Why)
	}
	t.Setenv("PATH", t.TempDir())
	if check.Verdict().Eligible {
		t.Error("eligible after PATH has changed")
	}
}

func TestZeroVerdictIsNotEligible(t *testing.T) {
	if (eligibility.Verdict{}).Eligible {
		t.Error("eligible")
	}
}

func TestHintSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	checker := newEnvironment("PATH", dir).checker()
	for _, c := range []struct {
		in   hook.Requires
		hint string
	}{
		{hook.Requires{Bins: []string{"jq"}}, "install jq, or add its folder to PATH"},
		{hook.Requires{Bins: []string{filepath.Join(dir, "jq")}}, "install it there, or name a program on PATH"},
		{hook.Requires{Bins: []string{dir}}, "name the file of a program"},
		{hook.Requires{Bins: []string{"./jq", "./yq"}}, "name a program on PATH, or an absolute path"}, // once
		{hook.Requires{AnyBins: []string{"rg", "grep"}}, "install one of them"},
		{hook.Requires{AnyBins: []string{"rg", "./grep"}}, "install one of them, or name a program on PATH, or an absolute path"},
		{hook.Requires{Envs: []string{"TOKEN"}}, "set TOKEN in the environment of the agent"},
		{hook.Requires{Envs: []string{"TOKEN=x"}}, "list names without values in requires.envs"},
		{hook.Requires{OS: []string{"plan9"}}, `if the hook works here, add "` + thisSystem() + `" to requires.os`},
	} {
		if diff := cmp.Diff(c.hint, checker.Prepare(c.in).Verdict().Hint); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.in, diff)
		}
	}
}
