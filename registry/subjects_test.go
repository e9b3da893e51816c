package registry_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/registry"
	"github.com/tenterhook/tenterhook/trust"
)

// pluginsOf describes the plugins of a package.
type pluginsOf func(pkg, dir string) ([]trust.Plugin, []hook.Diagnostic)

func (pluginsOf) Handle(context.Context, *hook.Call) (*hook.Output, error) { return nil, nil }

func (f pluginsOf) Describe(pkg, dir string) ([]trust.Plugin, []hook.Diagnostic) { return f(pkg, dir) }

// A plugin needs an approval before anybody knows which hooks it has.
func TestSubjectsAreAllThatNeedsAnApproval(t *testing.T) {
	const hooks = "+++\nevent = \"Stop\"\ncommand = \"true\"\n+++\n"
	opts := machine(t, "-- w/.tenterhook/hooks/a/HOOK.md --\n"+hooks+"-- w/.tenterhook/hooks/b/HOOK.md --\n"+hooks+"-- plugins/one/binary --\n-- plugins/two/binary --\n")
	installed, notes := "", []hook.Diagnostic(nil)
	told := []*hook.Hook{{Name: "told", Event: hook.EventStop, Kind: hook.KindPlugin, State: hook.StateReady, Source: hook.Source{Path: filepath.Join(opts.PluginsDir, "two", "binary"), Dir: filepath.Join(opts.PluginsDir, "two")}}}
	opts.Handlers = map[hook.Kind]hook.Handler{hook.KindPlugin: pluginsOf(func(pkg, dir string) ([]trust.Plugin, []hook.Diagnostic) {
		if !strings.Contains(installed, pkg) {
			return nil, notes
		}
		var hooks []*hook.Hook
		if pkg == "two" {
			hooks = told
		}
		return []trust.Plugin{{Hooks: hooks, Subject: trust.Subject{ID: "plugin/" + pkg + "/binary", Root: dir, Path: filepath.Join(dir, "binary"), Dir: dir, Only: "binary", Definition: []byte("[]")}}}, nil
	})}
	reg := open(t, opts)
	asked := func() (list []string) {
		for _, s := range reg.Subjects() {
			id := s.ID()
			if s.Plugin {
				id += " plugin"
			}
			for _, h := range s.Hooks {
				id += " " + h.Name
			}
			if s.Verdict.Approved || s.Path() == "" || s.Root() == "" {
				t.Errorf("%+v", s)
			}
			list = append(list, id)
		}
		return list
	}
	for _, step := range []struct {
		installed string
		want      []string
	}{
		{"", []string{"project/a a", "project/b b"}},
		{"one two", []string{"project/a a", "project/b b", "plugin/one/binary plugin", "plugin/two/binary plugin told"}},
		{"two", []string{"project/a a", "project/b b", "plugin/two/binary plugin told"}},
	} {
		installed = step.installed
		reload(t, reg)
		if diff := cmp.Diff(step.want, asked()); diff != "" {
			t.Errorf("%q is installed: -want +got:\n%s", installed, diff)
		}
	}
	notes = []hook.Diagnostic{{Severity: hook.SeverityWarning, Code: "odd_plugin", Path: opts.PluginsDir, Message: "it is odd", Hint: "look at it"}}
	if changed := reload(t, reg); changed.Any() || !has(changed.Diagnostics, "odd_plugin", "") || !has(reg.Diagnostics(), "odd_plugin", "") {
		t.Errorf("after a reload: %s %+v", summary(changed), reg.Diagnostics())
	}
	approve(t, reg)
	for _, s := range reg.Subjects() {
		if !s.Verdict.Approved {
			t.Errorf("%s: %+v", s.ID(), s.Verdict)
		}
	}
}

// A function of the host that describes plugins may panic: the hooks of all other
// packages and scopes are loaded.
func TestPackageWhosePluginsCannotBeDescribedIsReported(t *testing.T) {
	opts := machine(t, "-- plugins/bad/binary --\n-- plugins/good/hooks/a/HOOK.md --\n+++\nevent = \"Stop\"\ncommand = \"true\"\n+++\n")
	opts.Handlers = map[hook.Kind]hook.Handler{hook.KindPlugin: pluginsOf(func(pkg, dir string) ([]trust.Plugin, []hook.Diagnostic) {
		if pkg == "bad" {
			panic("no")
		}
		return nil, nil
	})}
	reg := open(t, opts)
	said := false
	for _, d := range reg.Diagnostics() {
		said = said || d.Path == filepath.Join(opts.PluginsDir, "bad") && strings.Contains(d.Message, "Describe") && d.Severity != ""
	}
	if !said {
		t.Errorf("%+v", reg.Diagnostics())
	}
	if l := state(t, reg, "plugin/good/a"); l.State != hook.StateUntrusted {
		t.Errorf("%+v", l)
	}
}

// Plugins that cannot be described are no change at each reload, whatever is wrong with
// them, and a change of what is wrong is one.
func TestPackageThatStaysUndescribedIsNoChange(t *testing.T) {
	opts := machine(t, "-- plugins/bad/binary --\n")
	dir := filepath.Join(opts.PluginsDir, "bad")
	why := "no"
	for name, describe := range map[string]func() ([]trust.Plugin, []hook.Diagnostic){
		"a panic": func() ([]trust.Plugin, []hook.Diagnostic) { panic(why) },
		"an error": func() ([]trust.Plugin, []hook.Diagnostic) {
			return nil, []hook.Diagnostic{{Severity: hook.SeverityError, Code: "plugin_missing", Path: dir, Message: why}}
		},
	} {
		asked := 0
		opts.Handlers = map[hook.Kind]hook.Handler{hook.KindPlugin: pluginsOf(func(string, string) ([]trust.Plugin, []hook.Diagnostic) { asked++; return describe() })}
		reg := open(t, opts)
		for range 3 {
			if changed := reload(t, reg); changed.Any() {
				t.Errorf("%s: %s", name, summary(changed))
			}
		}
		if l := reg.List(); asked != 4 || len(l) != 1 || l[0].State != hook.StateInvalid || !strings.Contains(l[0].Why, why) {
			t.Errorf("%s: asked %d times, %+v", name, asked, l)
		}
		why = "not yet"
		if changed := reload(t, reg); len(changed.Changed) != 1 || !strings.Contains(reg.List()[0].Why, why) {
			t.Errorf("%s, another reason: %s %+v", name, summary(changed), reg.List())
		}
		why = "no"
	}
}

// A package whose Describe hangs is waited for once, however often hooks are loaded, and
// list says what is wrong. Other packages are described meanwhile.
func TestPackageThatHangsIsWaitedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := machine(t, "-- plugins/bad/binary --\n-- plugins/good/binary --\n")
		release := make(chan struct{})
		var bad, good atomic.Int32
		opts.Handlers = map[hook.Kind]hook.Handler{hook.KindPlugin: pluginsOf(func(pkg, dir string) ([]trust.Plugin, []hook.Diagnostic) {
			if pkg == "good" {
				good.Add(1)
				return nil, nil
			}
			bad.Add(1)
			<-release
			return nil, nil
		})}
		start := time.Now()
		reg := open(t, opts)
		opened := time.Since(start)
		for range 3 {
			if changed := reload(t, reg); changed.Any() {
				t.Error(summary(changed))
			}
		}
		if again := time.Since(start) - opened; opened > time.Minute || again != 0 || bad.Load() != 1 || good.Load() != 4 {
			t.Errorf("%s, and again %s: asked %d and %d times", opened, again, bad.Load(), good.Load())
		}
		if l := reg.List(); len(l) != 1 || l[0].State != hook.StateInvalid || !strings.Contains(l[0].Why, "Describe did not return in time") {
			t.Errorf("%+v", l)
		}
		close(release)
		synctest.Wait()
		if reload(t, reg); len(reg.List()) != 0 || bad.Load() != 2 {
			t.Errorf("once it returned: %+v, asked %d times", reg.List(), bad.Load())
		}
	})
}

// hangingContainer hangs in Configure and Sandbox until it is released.
type hangingContainer struct {
	hook.HandlerFunc
	release chan struct{}
	asked   atomic.Int32
}

func (c *hangingContainer) Configure(dialect.Settings) []hook.Diagnostic { c.hang(); return nil }
func (c *hangingContainer) Sandbox(*hook.Hook) *hook.Sandbox             { c.hang(); return nil }
func (c *hangingContainer) hang()                                        { c.asked.Add(1); <-c.release }

func TestAHandlerThatHangsIsAskedOnceAboutAllItsHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tool = "event = \"Stop\"\ntype = \"mcp_tool\"\nserver = \"s\"\ntool = \"t\"\n"
		opts := machine(t, "-- home/.config/tenterhook/hooks/a/HOOK.md --\n+++\n"+tool+"+++\n-- home/.config/tenterhook/hooks/b/HOOK.md --\n+++\n"+tool+"+++\n")
		c := &hangingContainer{release: make(chan struct{})}
		defer close(c.release)
		opts.Handlers = map[hook.Kind]hook.Handler{hook.KindMCP: c}
		start := time.Now()
		reg := open(t, opts)
		write(t, filepath.Join(opts.UserDir, "settings.json"), `{"journal": {"record": "results"}}`)
		reload(t, reg)
		if d := time.Since(start); d > 30*time.Second || c.asked.Load() != 2 || len(reg.List()) != 2 {
			t.Errorf("%s: asked %d times, %v", d, c.asked.Load(), reg.List())
		}
	})
}

var _ registry.Describer = pluginsOf(nil)
