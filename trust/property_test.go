package trust_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/trust"
)

// TestApprovedIffNothingThatIsBoundChanged changes a hook's folder at random,
// beside a model of what is bound in it. Store and guard must say of each state
// whether it is the one that was approved last.
func TestApprovedIffNothingThatIsBoundChanged(t *testing.T) {
	if testing.Short() {
		t.Skip("long: tries thousands of changes")
	}
	if built.UnderWine() { // where one change takes 100 ms
		checks := flag.Lookup("rapid.checks").Value
		before := checks.String()
		_ = checks.Set("10")
		t.Cleanup(func() { _ = checks.Set(before) })
	}
	names := []string{"a", "b", "lib/a", "lib/deep/c"}
	dir := tempDir(t)
	state := open(t, stateDir(t))
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		m := &folder{t: t, dir: filepath.Join(dir, fmt.Sprint(round)), holds: make(map[string]string)}
		check(t, os.Mkdir(m.dir, 0o755))
		defer os.RemoveAll(m.dir)
		subject := trust.Subject{ID: "project/x", Root: m.dir, Path: m.dir, Dir: m.dir, Definition: []byte(`[{"timeout":"1s"}]`)}
		guard := trust.NewGuard(subject, state)
		var approved map[string]string
		name := rapid.SampledFrom(names)
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				m.write(name.Draw(t, "name"), rapid.SampledFrom([]string{"", "x", "y", "longer"}).Draw(t, "text"), rapid.Bool().Draw(t, "exec"))
			},
			"link": func(t *rapid.T) {
				m.link(name.Draw(t, "name"), rapid.SampledFrom([]string{"lib", "gone", "."}).Draw(t, "target"))
			},
			"remove": func(t *rapid.T) { m.remove(name.Draw(t, "name")) },
			"rename": func(t *rapid.T) { m.rename(name.Draw(t, "from"), name.Draw(t, "to")) },
			"touch":  func(t *rapid.T) { _ = os.Chtimes(m.path(name.Draw(t, "name")), time.Time{}, time.Now()) },
			"mkdir":  func(t *rapid.T) { check(t, os.MkdirAll(m.path("empty/folder"), 0o755)) },
			"approve": func(t *rapid.T) {
				seal, err := subject.Seal()
				check(t, err)
				check(t, state.Approve(seal))
				approved = maps.Clone(m.holds)
			},
			"": func(t *rapid.T) {
				seal, err := subject.Seal()
				check(t, err)
				want := approved != nil && maps.Equal(approved, m.holds)
				judged, guarded := state.Judge(seal), guard.Check(nil)
				if judged.Approved != want || guarded.Approved != want {
					t.Fatalf("judge %v %q, guard %v %q, want %v\napproved %v\nnow %v",
						judged.Approved, judged.Why, guarded.Approved, guarded.Why, want, approved, m.holds)
				}
				if want != (len(judged.Changes) == 0) {
					t.Fatalf("approved %v with changes %v", want, judged.Changes)
				}
			},
		})
	})
}

// folder is a folder with a model of what an approval binds in it.
type folder struct {
	t     *rapid.T
	dir   string
	holds map[string]string // name → mode and content
}

func check(t *rapid.T, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

func (m *folder) path(name string) string { return filepath.Join(m.dir, filepath.FromSlash(name)) }

func (m *folder) write(name, text string, exec bool) {
	m.remove(name)
	check(m.t, os.MkdirAll(filepath.Dir(m.path(name)), 0o755))
	mode := os.FileMode(0o644)
	if exec && !windows {
		mode = 0o755
	}
	check(m.t, os.WriteFile(m.path(name), []byte(text), mode))
	m.holds[name] = fmt.Sprintf("%v %s", mode, text)
}

func (m *folder) link(name, target string) {
	if windows {
		return
	}
	m.remove(name)
	check(m.t, os.MkdirAll(filepath.Dir(m.path(name)), 0o755))
	check(m.t, os.Symlink(target, m.path(name)))
	m.holds[name] = "→ " + target
}

func (m *folder) remove(name string) {
	_ = os.Remove(m.path(name))
	delete(m.holds, name)
}

func (m *folder) rename(from, to string) {
	what, ok := m.holds[from]
	if !ok || from == to {
		return
	}
	m.remove(to)
	check(m.t, os.MkdirAll(filepath.Dir(m.path(to)), 0o755))
	check(m.t, os.Rename(m.path(from), m.path(to)))
	delete(m.holds, from)
	m.holds[to] = what
}
