package hooks_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"

	hooks "github.com/tenterhook/tenterhook/examples/hooks"
	"github.com/tenterhook/tenterhook/handler/rule"
	"github.com/tenterhook/tenterhook/handler/rule/expr"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/hooktest"
	"github.com/tenterhook/tenterhook/registry"
)

// Each case beside a hook of the catalogue is fired at the real dispatcher, with
// that hook alone.
func TestHooksOfTheCatalogueDecideAsTheirCasesSay(t *testing.T) {
	for _, name := range hooks.Names() {
		folder, err := hooks.Folder(name)
		if err != nil {
			t.Fatal(err)
		}
		sub, err := fs.Sub(folder, "cases")
		if err != nil {
			t.Fatal(err)
		}
		cases, err := hooktest.ReadCases(sub)
		if err != nil {
			if !guards[name] {
				t.Errorf("%s has no cases: %v", name, err)
			}
			continue
		}
		for _, c := range cases {
			t.Run(name+"/"+c.Name, func(t *testing.T) {
				t.Parallel()
				if builds[name] {
					needsGo(t)
				}
				c.Hooks = map[string]fs.FS{name: os.DirFS(name)}
				if err := c.Check(t.Context(), engine(), t.TempDir()); errors.Is(err, errors.ErrUnsupported) {
					t.Skip(err)
				} else if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// builds are the programs in Go whose cases see them at work.
var builds = map[string]bool{"format-after-edit": true, "tests-before-stop": true}

// needsGo skips where no program can be built.
func needsGo(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not on PATH; Wine has none")
	}
}

// guards are held by lists of commands.
var guards = map[string]bool{"guard-destructive": true, "protect-secrets": true, "ask-before-network": true, "ask-before-push": true}

// engine is the registry with every kind of rule.
func engine() hooktest.Engine {
	return hooktest.Registry(func(o *registry.Options) {
		o.Env = append(o.Env, "GOCACHE="+goCache(), "XDG_CACHE_HOME="+cacheHome)
		o.Handlers = map[hook.Kind]hook.Handler{hook.KindRule: rule.New(rule.Options{Compile: expr.Compile})}
	})
}

func TestCatalogueHasEveryHookThatItNames(t *testing.T) {
	for _, name := range hooks.Names() {
		declared, err := hooks.Declared(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, h := range declared {
			if h.Name != name || h.Description == "" {
				t.Errorf("%s declares %q: %q", name, h.Name, h.Description)
			}
		}
	}
	if _, err := hooks.Declared("guard-destructve"); err == nil || !strings.Contains(err.Error(), "did you mean guard-destructive?") {
		t.Errorf("a name that is none: %v", err)
	}
}

func TestSelfProtectionIsMadeOfRules(t *testing.T) {
	for _, name := range hooks.SelfProtection {
		declared, err := hooks.Declared(name)
		if err != nil || len(declared) != 1 || declared[0].Kind != hook.KindRule || declared[0].OnFailure != hook.FailureBlock {
			t.Errorf("%s: %v %+v", name, err, declared)
		}
	}
}
