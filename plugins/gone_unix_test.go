//go:build unix

package plugins

import (
	"os"
	"path/filepath"
	"testing"
)

// Where something is approved, a plugin that is not, and is gone, has no hooks any more.
func TestPluginThatIsGoneAndNotApprovedHasNoHooks(t *testing.T) {
	b := newBench(t)
	b.install("one", "good")
	b.trust()
	two := b.install("two", "good")
	must(t, b.host.Learn(t.Context(), two), os.Remove(two))
	plugins, notes := b.open().Describe("guard", b.dir)
	if len(plugins) != 1 || len(plugins[0].Hooks) != 1 || plugins[0].Subject.ID != "plugin/guard/one" || len(notes) != 0 {
		t.Errorf("%+v, %v", plugins, notes)
	}
}

// Without approvals those that described themselves count, each in its own package.
func TestPluginThatIsGoneIsOfItsOwnPackage(t *testing.T) {
	b := newBench(t)
	path := b.install("one", "good")
	must(t, b.host.Learn(t.Context(), path))
	other := filepath.Join(filepath.Dir(b.dir), "other")
	must(t, os.Mkdir(other, 0o755))
	if plugins, notes := b.open().Describe("other", other); len(plugins) != 0 || len(notes) != 0 {
		t.Errorf("%+v, %v", plugins, notes)
	}
}
