package trust_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/trust"
)

func TestGuardFollowsFilesAndStore(t *testing.T) {
	w, dir := newWorkspace(t), stateDir(t)
	g := trust.NewGuard(w.subject(), open(t, dir))
	check := func(step, why string) {
		t.Helper()
		for range 2 {
			v := g.Check(nil)
			if v.Approved != (why == "") || !strings.HasPrefix(v.Why, why) {
				t.Errorf("%s: approved %v, %q, want %q", step, v.Approved, v.Why, why)
			}
		}
	}
	check("at first", "it is not approved")
	approve(t, open(t, dir), w.seal()) // as another process would
	check("approved", "")
	must(t, os.Chtimes(w.path("run.sh"), time.Time{}, time.Now()))
	check("touched", "")
	w.write("run.sh", "#!/bin/sh\necho new\n", 0o755)
	check("edited", "run.sh changed")
	w.write("run.sh", "#!/bin/sh\necho old\n", 0o755)
	check("mended", "")
	w.write("x", "", 0o644)
	check("a file more", "x was added")
	w.remove("x")
	check("without it", "")
	store := open(t, dir)
	as := list(t, store)
	_, err := store.Revoke(as[0].Key())
	must(t, err)
	check("revoked", "it is not approved")
}

func TestF4ManifestEditedAndApprovedStaysUntrustedUntilItIsLoadedAnew(t *testing.T) {
	w, store := newWorkspace(t), trust.Memory()
	approve(t, store, w.seal())
	g := trust.NewGuard(w.subject(), store)
	if !g.Check(nil).Approved {
		t.Fatal("not approved")
	}
	w.write("HOOK.md", strings.Replace(manifest, "./run.sh", "./sun.sh", 1), 0o644)
	h := guardHook()
	h.Command.Line = "./sun.sh"
	s := w.subject()
	s.Definition = define(t, h)
	approve(t, store, seal(t, s))
	if v := g.Check(nil); v.Approved || !strings.HasPrefix(v.Why, "its command changed") {
		t.Errorf("the old definition runs under the approval of the next: %+v", v)
	}
}

func TestF8NothingIsReadThatNobodyApproved(t *testing.T) {
	w := newWorkspace(t)
	s := w.subject()
	s.Dir = w.path("nowhere") // reading it would fail
	if v := trust.NewGuard(s, trust.Memory()).Check(nil); v.Why != "it is not approved" || v.Seal != nil {
		t.Errorf("%+v", v)
	}
	if v := trust.NewGuard(s).Check(nil); v.Approved || v.Why != "it is not approved" {
		t.Errorf("without stores: %+v", v)
	}
}

func TestGuardSaysWhyItCannotRead(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	w, store := newWorkspace(t), trust.Memory()
	approve(t, store, w.seal())
	g := trust.NewGuard(w.subject(), store)
	w.link("/etc/passwd", "x")
	for range 2 { // it is not read again at once
		if v := g.Check(nil); v.Approved || !strings.Contains(v.Why, "is a link out of") || v.Hint == "" {
			t.Errorf("%+v", v)
		}
	}
	w.remove("x")
	time.Sleep(1100 * time.Millisecond) // it is left alone for a second
	if v := g.Check(nil); !v.Approved {
		t.Error(v.Why)
	}
}

func TestGuardAsksEveryStore(t *testing.T) {
	w := newWorkspace(t)
	first := trust.Memory()
	approve(t, first, w.seal())
	w.write("run.sh", "later", 0o755)
	w.write("more", "", 0o644)
	second := trust.Memory()
	approve(t, second, w.seal())
	w.remove("more")
	own := trust.Memory()
	approve(t, own, w.seal())
	var exported bytes.Buffer
	must(t, trust.Export(&exported, list(t, own)))
	file := filepath.Join(tempDir(t), "approvals.json")
	must(t, os.WriteFile(file, exported.Bytes(), 0o600))
	handed, err := trust.OpenFile(file)
	must(t, err)
	broken, err := trust.OpenFile(file + ".none")
	if err == nil {
		t.Fatal("no error")
	}
	for name, test := range map[string]struct {
		stores   []*trust.Store
		approved bool
		why      string
	}{
		"an earlier state":                      {[]*trust.Store{first}, false, "run.sh changed"},
		"an earlier state, then this":           {[]*trust.Store{first, handed}, true, ""},
		"nothing, then this":                    {[]*trust.Store{trust.Memory(), handed}, true, ""},
		"nothing, then an earlier state":        {[]*trust.Store{trust.Memory(), first}, false, "run.sh changed"},
		"an earlier state, then nothing":        {[]*trust.Store{first, trust.Memory()}, false, "run.sh changed"},
		"two earlier states":                    {[]*trust.Store{first, second}, false, "run.sh changed"},
		"two earlier states, the other first":   {[]*trust.Store{second, first}, false, "more was removed"},
		"an earlier state between two":          {[]*trust.Store{trust.Memory(), first, trust.Memory()}, false, "run.sh changed"},
		"a broken one, then this":               {[]*trust.Store{broken, handed}, true, ""},
		"a broken one, then nothing":            {[]*trust.Store{broken, trust.Memory()}, false, file + ".none"},
		"nothing, then a broken one":            {[]*trust.Store{trust.Memory(), broken}, false, file + ".none"},
		"a broken one, then an earlier state":   {[]*trust.Store{broken, first}, false, "run.sh changed"},
		"a file of the workspace, by its guard": {[]*trust.Store{inside(t, w, exported.String())}, false, w.path("/approvals.json")},
	} {
		t.Run(name, func(t *testing.T) {
			v := trust.NewGuard(w.subject(), test.stores...).Check(nil)
			if v.Approved != test.approved || !strings.HasPrefix(v.Why, test.why) {
				t.Errorf("approved %v, %q, want %q", v.Approved, v.Why, test.why)
			}
		})
	}
}

func inside(t *testing.T, w *workspace, data string) *trust.Store {
	w.write("/approvals.json", data, 0o600)
	s, err := trust.OpenFile(w.path("/approvals.json"))
	must(t, err)
	return s
}

func TestGuardIsCheckedFromManyGoroutines(t *testing.T) {
	built.NotUnderWine(t, "a folder is read more slowly than this one changes")
	w, store := newWorkspace(t), open(t, stateDir(t))
	approve(t, store, w.seal())
	g := trust.NewGuard(w.subject(), store)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if v := g.Check(nil); !v.Approved {
					t.Error(v.Why)
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	for range 20 {
		must(t, os.Chtimes(w.path("run.sh"), time.Time{}, time.Now()))
		time.Sleep(20 * time.Millisecond) // one that changes all the time cannot be read
	}
	wg.Wait()
}
