package trust_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/built"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/trust"
)

func approvalsFile(dir string) string { return filepath.Join(dir, "approvals.json") }

func TestApprovalsOutliveTheProcess(t *testing.T) {
	w, dir := newWorkspace(t), stateDir(t)
	approve(t, open(t, dir), w.seal())
	if v := open(t, dir).Judge(w.seal()); !v.Approved {
		t.Error(v.Why)
	}
}

func TestStoreIsTheUsersAlone(t *testing.T) {
	w, dir := newWorkspace(t), stateDir(t)
	approve(t, open(t, dir), w.seal())
	want := map[string]os.FileMode{".": 0o700 | os.ModeDir, "approvals.json": 0o600, "approvals.lock": 0o600, "texts": 0o700 | os.ModeDir,
		"texts/" + sha(manifest): 0o600}
	for name, mode := range want {
		info, err := os.Lstat(filepath.Join(dir, name))
		must(t, err)
		if info.Mode() != mode && !windows {
			t.Errorf("%s has mode %v, want %v", name, info.Mode(), mode)
		}
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 3 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestApprovalsOfOtherProcessesAreNoticed(t *testing.T) {
	w, dir := newWorkspace(t), stateDir(t)
	sealed := w.seal()
	long := open(t, dir)
	if long.Judge(sealed).Approved {
		t.Fatal("approved by nobody")
	}
	other := open(t, dir)
	approve(t, other, sealed)
	if v := long.Judge(sealed); !v.Approved {
		t.Error("an approval was not noticed:", v.Why)
	}
	as := list(t, other)
	_, err := other.Revoke(as[0].Key())
	must(t, err)
	if long.Judge(sealed).Approved {
		t.Error("a revocation was not noticed")
	}
}

func TestApprovingKeepsTheOthers(t *testing.T) {
	one, two, dir := newWorkspace(t), newWorkspace(t), stateDir(t)
	store := open(t, dir)
	approve(t, store, one.seal())
	approve(t, open(t, dir), two.seal())
	one.write("run.sh", "changed", 0o755)
	two.write("run.sh", "changed", 0o755)
	approve(t, store, one.seal(), two.seal(), one.seal())
	if n := len(list(t, store)); n != 2 {
		t.Errorf("%d approvals, want 2", n)
	}
	for _, w := range []*workspace{one, two} {
		if v := store.Judge(w.seal()); !v.Approved {
			t.Error(v.Why)
		}
	}
	as := list(t, store)
	if n, err := store.Revoke(as[0].Key(), trust.Key{ID: "none"}); n != 1 || err != nil {
		t.Error(n, err)
	}
	if rest := list(t, store); len(rest) != 1 || rest[0].Root != as[1].Root {
		t.Errorf("left: %v", rest)
	}
}

func TestStoreThatCannotBeReliedOnApprovesNothingAndIsLeftAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	good := func(t *testing.T, w *workspace, dir string) string {
		approve(t, open(t, dir), w.seal())
		data, err := os.ReadFile(approvalsFile(dir))
		must(t, err)
		return string(data)
	}
	replace := func(old, new string) func(string) string {
		return func(s string) string {
			if !strings.Contains(s, old) {
				panic("no " + old)
			}
			return strings.Replace(s, old, new, 1)
		}
	}
	tests := []struct {
		name string
		edit func(data string) string
		code string
	}{
		{"empty", func(string) string { return "" }, trust.CodeDamaged},
		{"cut off", func(s string) string { return s[:len(s)/2] }, trust.CodeDamaged},
		{"zeroes", func(s string) string { return strings.Repeat("\x00", len(s)) }, trust.CodeDamaged},
		{"bytes behind it", func(s string) string { return s + "{}" }, trust.CodeDamaged},
		{"another document", func(string) string { return `{"version":1}` }, trust.CodeDamaged},
		{"another type", replace(`"version":1`, `"version":"1"`), trust.CodeDamaged},
		{"a list", func(string) string { return `[]` }, trust.CodeDamaged},
		{"no definition", replace(`"definition":`, `"definition":null,"more":`), trust.CodeDamaged},
		{"no version", replace(`"version":1,`, ``), trust.CodeDamaged},
		{"a later version", replace(`"version":1`, `"version":2,"more":3`), trust.CodeNewer},
		{"an unknown key", replace(`"id":`, `"note": 1, "id":`), trust.CodeDamaged},
		{"a key twice", replace(`"id":`, `"id": "project/other", "id":`), trust.CodeDamaged},
		{"a key in other letters", replace(`"id":`, `"ID":`), trust.CodeDamaged},
		{"a key that only looks different", replace(`"sha256":`, "\"\u017fha256\":"), trust.CodeDamaged},
		{"a relative root", replace(`"root":"/`, `"root":"`), trust.CodeDamaged},
		{"no ID", replace(`"project/guard"`, `""`), trust.CodeDamaged},
		{"a digest that is a path", replace(`"sha256":"`, `"sha256":"../`), trust.CodeDamaged},
		{"files in disorder", replace(`"HOOK.md",`, `"zzz",`), trust.CodeDamaged},
		{"an approval twice", func(s string) string {
			from, to := strings.Index(s, "[")+1, strings.LastIndex(s, "]")
			return s[:to] + "," + s[from:to] + s[to:]
		}, trust.CodeDamaged},
		{"a huge file", func(s string) string { return s + strings.Repeat(" ", 33<<20) }, trust.CodeDamaged},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if windows && strings.Contains(test.name, "root") {
				t.Skip("roots look different on Windows")
			}
			w, dir := newWorkspace(t), stateDir(t)
			bad := test.edit(good(t, w, dir))
			must(t, os.WriteFile(approvalsFile(dir), []byte(bad), 0o600))
			store, err := trust.Open(dir)
			if got := code(t, err); got != test.code {
				t.Errorf("code %q, want %q: %v", got, test.code, err)
			}
			sealed := w.seal()
			v := store.Judge(sealed)
			if v.Seal != sealed {
				t.Error("the verdict does not say what was judged")
			}
			if v.Approved || v.Hint == "" || !strings.Contains(v.Why, "approvals.json") {
				t.Errorf("verdict %+v", v)
			}
			if got := code(t, store.Approve(w.seal())); got != test.code {
				t.Errorf("approve: code %q", got)
			}
			if _, err := store.Revoke(trust.Key{}); code(t, err) != test.code {
				t.Errorf("revoke: %v", err)
			}
			if _, err := store.List(); code(t, err) != test.code {
				t.Errorf("list: %v", err)
			}
			if now, err := os.ReadFile(approvalsFile(dir)); err != nil || string(now) != bad {
				t.Error("a damaged store was written to")
			}
		})
	}
}

func TestStoreThatWasMendedIsReliedOnAgain(t *testing.T) {
	w, dir := newWorkspace(t), stateDir(t)
	approve(t, open(t, dir), w.seal())
	must(t, os.Rename(approvalsFile(dir), approvalsFile(dir)+".good"))
	must(t, os.Mkdir(approvalsFile(dir), 0o700))
	store, err := trust.Open(dir)
	if err == nil {
		t.Fatal("a folder was read as approvals")
	}
	must(t, os.Remove(approvalsFile(dir)))
	must(t, os.Rename(approvalsFile(dir)+".good", approvalsFile(dir)))
	if v := store.Judge(w.seal()); !v.Approved {
		t.Error(v.Why)
	}
}

func TestRelativeStoreIsRefused(t *testing.T) {
	t.Chdir(tempDir(t))
	w := newWorkspace(t)
	store, err := trust.Open("state")
	if code(t, err) == "" || store.Judge(w.seal()).Approved || store.Approve(w.seal()) == nil {
		t.Error("a store whose place depends on the working directory is taken")
	}
	if _, err := os.Lstat("state"); err == nil {
		t.Error("it was made")
	}
}

func TestConcurrentApprovalsLoseNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	const writers, each = 8, 10
	dir, top := stateDir(t), tempDir(t)
	var wg sync.WaitGroup
	for i := range writers {
		var roots []string
		for j := range each {
			root := filepath.Join(top, fmt.Sprintf("%d-%d", i, j))
			must(t, os.Mkdir(root, 0o755))
			roots = append(roots, root)
		}
		wg.Go(func() {
			if i%2 == 0 {
				if err := approveAll(dir, roots); err != nil {
					t.Error(err)
				}
				return
			}
			cmd := exec.Command(os.Args[0], roots...)
			cmd.Env = append(os.Environ(), approverEnv+"="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	if n := len(list(t, open(t, dir))); n != writers*each {
		t.Errorf("%d approvals, want %d", n, writers*each)
	}
}

func TestOneStoreServesManyGoroutines(t *testing.T) {
	w, dir := newWorkspace(t), stateDir(t)
	store, sealed := open(t, dir), w.seal()
	approve(t, store, sealed)
	var wg sync.WaitGroup
	for i := range 8 {
		root := tempDir(t)
		wg.Go(func() {
			if i%4 == 0 {
				if err := approveAll(dir, []string{root}); err != nil {
					t.Error(err)
				}
			}
			for range 100 {
				if v := store.Judge(sealed); !v.Approved {
					t.Error(v.Why)
				}
			}
		})
	}
	wg.Wait()
}

func TestFailedWriteLosesNothing(t *testing.T) {
	w, dir := newWorkspace(t), stateDir(t)
	store := open(t, dir)
	approve(t, store, w.seal())
	before, err := os.ReadFile(approvalsFile(dir))
	must(t, err)
	must(t, os.RemoveAll(filepath.Join(dir, "texts")))
	must(t, os.WriteFile(filepath.Join(dir, "texts"), nil, 0o600)) // texts cannot be kept there
	other := newWorkspace(t)
	if err := store.Approve(other.seal()); code(t, err) != trust.CodeUnreadable {
		t.Errorf("approve: %v", err)
	}
	after, err := os.ReadFile(approvalsFile(dir))
	must(t, err)
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Error(diff)
	}
	if !store.Judge(w.seal()).Approved || store.Judge(other.seal()).Approved {
		t.Error("a failed write changed what is approved")
	}
}

func TestApprovalThatCannotBeWrittenIsSaidAndChangesNothing(t *testing.T) {
	w, dir := newWorkspace(t), stateDir(t)
	store := open(t, dir)
	approve(t, store, w.seal())
	must(t, os.Remove(approvalsFile(dir)))
	must(t, os.MkdirAll(filepath.Join(approvalsFile(dir), "in"), 0o755)) // no file can take its place
	if err := store.Approve(w.seal()); code(t, err) == "" {
		t.Error("an approval that was not written is no error")
	}
	if store.Judge(w.seal()).Approved {
		t.Error("it counts, though it was not written")
	}
}

func TestWhatAKilledWriterLeftIsSweptAway(t *testing.T) {
	w, dir := newWorkspace(t), stateDir(t)
	store := open(t, dir)
	approve(t, store, w.seal())
	left := approvalsFile(dir) + ".123.tmp"
	must(t, os.WriteFile(left, []byte("{"), 0o600))
	approve(t, store, w.seal())
	if _, err := os.Lstat(left); err == nil {
		t.Error("it is still there")
	}
}

func TestExportHoldsWhereverTheContentIs(t *testing.T) {
	here, there := newWorkspace(t), newWorkspace(t)
	store := open(t, stateDir(t))
	approve(t, store, here.seal(), there.seal())
	var exported bytes.Buffer
	must(t, trust.Export(&exported, list(t, store)))
	if n := strings.Count(exported.String(), `"id"`); n != 1 {
		t.Errorf("the same approval stands there %d times", n)
	}
	if strings.Contains(exported.String(), here.root) {
		t.Error("it names the workspace")
	}
	file := filepath.Join(tempDir(t), "approvals.json")
	must(t, os.WriteFile(file, exported.Bytes(), 0o644))
	ci, err := trust.OpenFile(file)
	must(t, err)
	elsewhere := newWorkspace(t)
	if v := ci.Judge(elsewhere.seal()); !v.Approved {
		t.Error(v.Why)
	}
	elsewhere.write("run.sh", "evil", 0o755)
	if v := ci.Judge(elsewhere.seal()); v.Approved || !strings.HasPrefix(v.Why, "run.sh changed") {
		t.Errorf("%+v", v)
	}
	if got := code(t, ci.Approve(elsewhere.seal())); got != trust.CodeReadOnly {
		t.Errorf("approve: code %q", got)
	}
	here.write("run.sh", "later", 0o755)
	approve(t, store, here.seal())
	exported.Reset()
	must(t, trust.Export(&exported, list(t, store)))
	must(t, os.WriteFile(file, exported.Bytes(), 0o644))
	if !ci.Judge(there.seal()).Approved || !ci.Judge(here.seal()).Approved {
		t.Error("two states of one hook, both approved, and not both taken")
	}
}

func TestF7ApprovalsWithinTheWorkspaceAreRefused(t *testing.T) {
	built.NeedsLinks(t)
	w := newWorkspace(t)
	store := trust.Memory()
	approve(t, store, w.seal())
	var exported bytes.Buffer
	must(t, trust.Export(&exported, list(t, store)))
	w.write("/ci/approvals.json", exported.String(), 0o644)
	link := filepath.Join(tempDir(t), "link.json")
	if err := os.Symlink(w.path("/ci/approvals.json"), link); err != nil {
		t.Skip("no links here, as on Windows:", err)
	}
	for _, path := range []string{w.path("/ci/approvals.json"), link} {
		ci, err := trust.OpenFile(path)
		must(t, err)
		if v := ci.Judge(w.seal()); v.Approved || !strings.Contains(v.Why, "workspace") || v.Hint == "" {
			t.Errorf("%+v", v)
		}
		if v := ci.Judge(newWorkspace(t).seal()); !v.Approved {
			t.Error("refused in another workspace:", v.Why)
		}
	}
}

func TestF7ApprovalsFileThatBecomesALinkIntoTheWorkspaceIsRefused(t *testing.T) {
	built.NeedsLinks(t)
	w := newWorkspace(t)
	store := trust.Memory()
	approve(t, store, w.seal())
	var exported bytes.Buffer
	must(t, trust.Export(&exported, list(t, store)))
	w.write("/approvals.json", exported.String(), 0o644)
	path := filepath.Join(tempDir(t), "approvals.json")
	must(t, os.WriteFile(path, exported.Bytes(), 0o644))
	ci, err := trust.OpenFile(path)
	must(t, err)
	if v := ci.Judge(w.seal()); !v.Approved {
		t.Fatal(v.Why)
	}
	must(t, os.Remove(path))
	if err := os.Symlink(w.path("/approvals.json"), path); err != nil {
		t.Skip("no links here, as on Windows:", err)
	}
	if v := ci.Judge(w.seal()); v.Approved {
		t.Error("approved by a file of the workspace")
	}
}

func TestMissingApprovalsFileIsSaid(t *testing.T) {
	path := filepath.Join(tempDir(t), "none.json")
	store, err := trust.OpenFile(path)
	if code(t, err) != trust.CodeUnreadable {
		t.Error(err)
	}
	if v := store.Judge(newWorkspace(t).seal()); v.Approved || !strings.Contains(v.Why, "none.json") {
		t.Errorf("%+v", v)
	}
}

func TestApprovalTellsWhen(t *testing.T) {
	w, store := newWorkspace(t), trust.Memory()
	approve(t, store, w.seal())
	if at := list(t, store)[0].Approved; time.Since(at) > time.Hour || at.Location() != time.UTC {
		t.Errorf("approved at %v", at)
	}
}

func TestFindSaysWhichApprovalsCanBeAboutAHook(t *testing.T) {
	w, dir := newWorkspace(t), stateDir(t)
	own := open(t, dir)
	approve(t, own, w.seal(), newWorkspace(t).seal())
	s := w.subject()
	key, err := s.Key()
	must(t, err)
	other := key
	other.ID = "project/other"
	var exported bytes.Buffer
	must(t, trust.Export(&exported, list(t, own)))
	file := filepath.Join(tempDir(t), "approvals.json")
	must(t, os.WriteFile(file, exported.Bytes(), 0o600))
	handed, err := trust.OpenFile(file)
	must(t, err)
	broken, _ := trust.OpenFile(file + ".none")
	for name, test := range map[string]struct {
		store *trust.Store
		key   trust.Key
		root  string // of the approval that is found; "-" = none
		code  string
	}{
		"one's own":                    {own, key, w.root, ""},
		"none of one's own":            {own, other, "-", ""},
		"one that was handed in":       {handed, key, "", ""},
		"none that was handed in":      {handed, other, "-", ""},
		"one of the workspace":         {inside(t, w, exported.String()), key, "-", trust.CodeInWorkspace},
		"none of the workspace":        {inside(t, w, exported.String()), other, "-", ""},
		"one that cannot be relied on": {broken, key, "-", trust.CodeUnreadable},
	} {
		found, err := test.store.Find(test.key)
		if code(t, err) != test.code || (len(found) == 0) != (test.root == "-") || len(found) > 0 && found[0].Root != test.root {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}

// A person's home can be a workspace, and the store lies there.
func TestOnesOwnStoreMayLieInTheWorkspace(t *testing.T) {
	w := newWorkspace(t)
	store := open(t, w.path("/.local/state/tenterhook"))
	approve(t, store, w.seal())
	if v := store.Judge(w.seal()); !v.Approved {
		t.Error(v.Why)
	}
}

// An approval is the same one until the file changes: that is read once.
func TestAStoreThatDidNotChangeIsNotReadAgain(t *testing.T) {
	w, dir := newWorkspace(t), stateDir(t)
	approve(t, open(t, dir), w.seal())
	sealed, store := w.seal(), open(t, dir)
	first := store.Judge(sealed).Approval
	if first == nil || store.Judge(sealed).Approval != first {
		t.Error("it was read again")
	}
	approve(t, open(t, dir), newWorkspace(t).seal())
	next := store.Judge(sealed).Approval
	if next == nil || next == first || store.Judge(sealed).Approval != next {
		t.Error("a change was not read, or twice")
	}
}

func TestStoreIsReadUpToItsBound(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	const most = 32 << 20
	for size, want := range map[int64]string{most: "invalid character", most + 1: "it is larger than 32 MiB"} {
		dir := stateDir(t)
		must(t, os.MkdirAll(dir, 0o700))
		must(t, os.WriteFile(approvalsFile(dir), nil, 0o600))
		must(t, os.Truncate(approvalsFile(dir), size))
		if _, err := trust.Open(dir); code(t, err) != trust.CodeDamaged || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	w, dir := newWorkspace(t), stateDir(t)
	s := w.subject()
	s.Definition = []byte(`["` + strings.Repeat("a", most) + `"]`)
	if err := open(t, dir).Approve(seal(t, s)); code(t, err) != trust.CodeTooLarge || !strings.Contains(err.Error(), "would be larger than 32 MiB") {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 { // the lock
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// A file that was handed in is the same one wherever the process goes.
func TestApprovalsByARelativePathAreFoundFromElsewhere(t *testing.T) {
	dir := tempDir(t)
	t.Chdir(dir)
	var exported bytes.Buffer
	must(t, trust.Export(&exported, nil))
	must(t, os.WriteFile("approvals.json", exported.Bytes(), 0o600))
	store, err := trust.OpenFile("approvals.json")
	must(t, err)
	t.Chdir(tempDir(t))
	if _, err := store.List(); err != nil {
		t.Error(err)
	}
}
