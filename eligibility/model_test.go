package eligibility_test

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenterhook/tenterhook/eligibility"
	"github.com/tenterhook/tenterhook/hook"
	"pgregory.net/rapid"
)

const secret = "hunter2"

// A model is a check beside what it should say: the naive answer of the last
// time that the contract demands a look, until it demands the next one.
type model struct {
	env   *environment
	dirs  []string // that PATH may name
	names []string // of programs

	requires hook.Requires
	check    *eligibility.Check

	looked bool // the fields below are set
	answer bool
	at     time.Time
	seen   map[string]string // the variables that count, as the contract sees them
}

// TestCachedVerdictAgreesWithUncachedReference changes files and environment at
// random. The model demands the naive answer after the TTL, after a change of
// the environment and after Invalidate, and the remembered one otherwise.
func TestCachedVerdictAgreesWithUncachedReference(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root) // so that "rel" is a relative element with programs in it
	dirs := []string{filepath.Join(root, "a"), filepath.Join(root, "b"), "rel"}
	names := []string{"x", "y", "z"}

	synctest.Test(t, func(t *testing.T) {
		// rapid asks a *testing.T for its deadline, which panics in a bubble.
		rapid.Check(struct{ rapid.TB }{t}, func(rt *rapid.T) {
			for _, dir := range dirs {
				if err := os.RemoveAll(dir); err != nil {
					rt.Fatal(err)
				}
			}
			some := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 2, rapid.ID)
			m := &model{
				env: newEnvironment("PATH", pathOf(dirs...)), dirs: dirs, names: names,
				requires: hook.Requires{
					Bins:    some.Draw(rt, "bins"),
					AnyBins: some.Draw(rt, "any bins"),
					Envs:    rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"U", "V"}), 0, 2, rapid.ID).Draw(rt, "envs"),
				},
			}
			if rapid.Bool().Draw(rt, "absolute") {
				m.requires.Bins = append(m.requires.Bins, m.file(dirs[0], names[0]))
			}
			m.check = m.env.checker().Prepare(m.requires)
			rt.Repeat(map[string]func(*rapid.T){
				"":           m.verdict,
				"program":    m.changeProgram,
				"path":       m.changePath,
				"variable":   m.changeVariable,
				"time":       m.wait,
				"invalidate": m.invalidate,
			})
		})
	})
}

func (m *model) verdict(t *rapid.T) {
	seen := m.look()
	expired := time.Since(m.at) >= eligibility.DefaultTTL
	if !m.looked || expired || !maps.Equal(seen, m.seen) {
		m.looked, m.answer, m.at, m.seen = true, m.reference(), time.Now(), seen
	}
	v := m.check.Verdict()
	if v.Eligible != m.answer {
		t.Fatalf("%q: got %+v, want eligible %v", m.requires, v, m.answer)
	}
	if v.Eligible != (v.Why == "") || strings.Contains(v.Why+v.Hint, secret) {
		t.Fatalf("%q: bad explanation in %+v", m.requires, v)
	}
}

func (m *model) changeProgram(t *rapid.T) {
	dir := rapid.SampledFrom(m.dirs).Draw(t, "dir")
	file := m.file(dir, rapid.SampledFrom(m.names).Draw(t, "name"))
	if err := os.RemoveAll(file); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	switch rapid.SampledFrom([]string{"program", "program", "plain", "folder", "gone"}).Draw(t, "becomes") {
	case "program":
		err = os.WriteFile(file, nil, 0o755)
	case "plain":
		err = os.WriteFile(file, nil, 0o644)
	case "folder":
		err = os.Mkdir(file, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (m *model) changePath(t *rapid.T) {
	m.env.set("PATH", pathOf(rapid.SliceOfNDistinct(rapid.SampledFrom(m.dirs), 0, 3, rapid.ID).Draw(t, "PATH")...))
}

func (m *model) changeVariable(t *rapid.T) {
	name := rapid.SampledFrom([]string{"U", "V"}).Draw(t, "name")
	switch rapid.SampledFrom([]string{"set", "empty", "unset"}).Draw(t, "becomes") {
	case "set":
		m.env.set(name, secret)
	case "empty":
		m.env.set(name, "")
	case "unset":
		m.env.unset(name)
	}
}

func (m *model) wait(t *rapid.T) {
	time.Sleep(rapid.SampledFrom([]time.Duration{1, eligibility.DefaultTTL / 3, eligibility.DefaultTTL}).Draw(t, "wait"))
}

func (m *model) invalidate(*rapid.T) {
	m.check.Invalidate()
	m.looked = false
}

// look returns what of the environment the contract says counts: PATH if it
// may be searched, and which variables are set.
func (m *model) look() map[string]string {
	seen := make(map[string]string)
	if slices.ContainsFunc(slices.Concat(m.requires.Bins, m.requires.AnyBins), func(name string) bool { return !filepath.IsAbs(name) }) {
		seen["PATH"], _ = m.env.lookup("PATH")
	}
	for _, name := range m.requires.Envs {
		if value, ok := m.env.lookup(name); ok {
			seen[name] = "empty"
			if value != "" {
				seen[name] = "set"
			}
		}
	}
	return seen
}

// reference is the naive answer, from the rules in the package's documentation.
func (m *model) reference() bool {
	path, _ := m.env.lookup("PATH")
	there := func(name string) bool {
		if filepath.IsAbs(name) {
			return executable(name)
		}
		for dir := range strings.SplitSeq(path, string(filepath.ListSeparator)) {
			if filepath.IsAbs(dir) && executable(m.file(dir, name)) {
				return true
			}
		}
		return false
	}
	for _, name := range m.requires.Bins {
		if !there(name) {
			return false
		}
	}
	for _, name := range m.requires.Envs {
		if value, _ := m.env.lookup(name); value == "" {
			return false
		}
	}
	return len(m.requires.AnyBins) == 0 || slices.ContainsFunc(m.requires.AnyBins, there)
}

func (m *model) file(dir, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}
