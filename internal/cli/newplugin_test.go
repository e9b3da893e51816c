package cli

import (
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/internal/built"
)

const repository = "../.."

func TestNewPluginDependsOnWhatThisProgramWasBuiltFrom(t *testing.T) {
	checkout, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	info := func(path, version, sum string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: path, Version: version, Sum: sum}}
	}
	for name, c := range map[string]struct {
		info   *debug.BuildInfo
		folder string
		want   dependency
	}{
		"a published version":        {info(module, "v1.2.3", "h1:x"), "/no/such/folder", dependency{Version: "v1.2.3"}},
		"a checkout at a version":    {info(module, "v1.2.3", ""), checkout, dependency{"v0.0.0", checkout}},
		"no build information":       {nil, checkout, dependency{"v0.0.0", checkout}},
		"another module":             {info("example.com/x", "v1.2.3", "h1:x"), checkout, dependency{"v0.0.0", checkout}},
		"a checkout that is gone":    {info(module, "(devel)", ""), filepath.Join(checkout, "gone"), dependency{}},
		"a folder of something else": {info(module, "(devel)", ""), t.TempDir(), dependency{}},
		"paths that were trimmed":    {info(module, "(devel)", ""), repository, dependency{}},
	} {
		if diff := cmp.Diff(c.want, dependencyOf(c.info, c.folder)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	t.Run("this test", func(t *testing.T) {
		built.NotUnderWine(t, "the tests are built on another system")
		if diff := cmp.Diff(dependency{"v0.0.0", checkout}, ownDependency()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestNewPluginWithoutAKnownSourceSaysHowToGetIt(t *testing.T) {
	next := (&app{}).nextCommands("/src/x", newPlugin{Name: "x"})
	if len(next) < 3 || !regexp.MustCompile(`^go get .*@latest .*-replace`).MatchString(next[1]) {
		t.Errorf("got %q", next)
	}
}

func TestGoModOfANewPlugin(t *testing.T) {
	const head = "module tenterhook-plugin-x\n\ngo " + moduleGo + "\n"
	for want, from := range map[string]dependency{
		head: {},
		head + "\nrequire " + module + " v1.2.3\n":                                                 {Version: "v1.2.3"},
		head + "\nrequire " + module + " v0.0.0\n\nreplace " + module + " => /src/tenterhook\n":    {"v0.0.0", "/src/tenterhook"},
		head + "\nrequire " + module + " v0.0.0\n\nreplace " + module + " => \"/my src/x, (y)\"\n": {"v0.0.0", "/my src/x, (y)"},
	} {
		path := filepath.Join(t.TempDir(), "go.mod")
		if err := fillTemplate(path, "templates/plugin/go.mod.tmpl", newPlugin{Name: "x", Module: module, Go: moduleGo, dependency: from}); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestNewPluginHasThisModulesGoLine(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(repository, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(mod); m == nil || string(m[1]) != moduleGo {
		t.Errorf("go.mod says %q, new plugins %q", m, moduleGo)
	}
}

func TestNewPluginIsFormatted(t *testing.T) {
	files, err := writeTemplates(filepath.Join(t.TempDir(), "x"), []string{"templates/plugin/*.go.tmpl"}, newPlugin{Name: "x", Hook: "y"})
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		formatted, err := format.Source(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(formatted), string(text)); diff != "" {
			t.Error(diff)
		}
	}
}
