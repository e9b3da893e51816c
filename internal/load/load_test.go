package load_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/load"
	"github.com/tenterhook/tenterhook/internal/pack/packtest"
)

// put writes the files of an archive to a folder.
func put(t testing.TB, dir, archive string) {
	t.Helper()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, f.Data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// reader has a hook of each source that ends when its context does.
func reader(t testing.TB) *load.Reader {
	t.Helper()
	dir := t.TempDir()
	stop := func(name string) string {
		return "-- " + name + "/HOOK.md --\n+++\nevent = \"Stop\"\ncommand = \"true\"\n+++\n"
	}
	ofPack := map[string]string{"p/HOOK.md": "+++\nevent = \"Stop\"\ncommand = \"true\"\n+++\n"}
	state := filepath.Join(dir, "state")
	packtest.Put(t, state, ofPack)
	put(t, dir, stop("user/hooks/a")+stop("w/.tenterhook/hooks/b")+stop("plugins/one/hooks/c")+
		"-- user/settings.toml --\npacks = [\"registry.example.com/team@"+packtest.Digest(ofPack)+"\"]\n[[hooks.Stop]]\ncommand = \"d\"\n"+
		"-- w/.tenterhook/settings.json --\n{\"hooks\": {\"Stop\": [{\"command\": \"e\"}]}}\n"+
		"-- plugins/two/.claude-plugin/plugin.json --\n{\"name\": \"two\", \"hooks\": \"./more.json\"}\n"+
		"-- plugins/two/more.json --\n{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"f\"}]}]}}\n")
	return &load.Reader{Options: discovery.Options{Workspace: filepath.Join(dir, "w"), UserDir: filepath.Join(dir, "user"), ManagedDir: filepath.Join(dir, "managed"),
		PluginsDir: filepath.Join(dir, "plugins")}, Compat: []string{"claude"}, Home: dir, StateDir: state, Env: []string{}}
}

func ids(l *load.Loaded) string {
	var list []string
	for _, d := range l.Definitions {
		h := d.Hooks[0]
		if h.State == hook.StateInvalid {
			list = append(list, h.ID+" ("+h.Why+")")
			continue
		}
		list = append(list, h.ID)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// ending is a context that ends after it was asked some times.
type ending struct {
	context.Context
	left atomic.Int64
}

func (c *ending) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A load is whole, or it fails: wherever its context ends, it does not leave hooks out.
func TestLoadWhoseContextEndsFailsOrIsWhole(t *testing.T) {
	r := reader(t)
	whole, err := r.Load(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = "plugin/one/c plugin/team/p plugin/two/more.json:Stop[0].0 project/b project/settings.json:Stop[0] user/a user/settings.toml:Stop[0]"
	if got := ids(whole); got != want {
		t.Fatalf("got %s", got)
	}
	failed := 0
	for n := int64(0); ; n++ {
		ctx := &ending{Context: context.Background()}
		ctx.left.Store(n)
		l, err := r.Load(ctx, nil)
		switch {
		case err != nil && !errors.Is(err, context.Canceled):
			t.Fatalf("after %d: %v", n, err)
		case err != nil:
			failed++
		case ids(l) != want:
			t.Fatalf("after %d no error, and %s", n, ids(l))
		}
		if ctx.left.Load() > 0 {
			break
		}
	}
	if failed < 7 {
		t.Errorf("it failed %d times", failed)
	}
}
