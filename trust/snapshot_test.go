package trust_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/trust"
)

func snapshots(t testing.TB) (*trust.Snapshots, string) {
	t.Helper()
	dir := filepath.Join(stateDir(t), "snapshots")
	t.Cleanup(func() { // folders of copies cannot be written
		_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				err = os.Chmod(path, 0o700)
			}
			return err
		})
	})
	return trust.NewSnapshots(dir), dir
}

// tree lists what is in a folder: mode, name, and content or target.
func tree(t testing.TB, dir string) []string {
	t.Helper()
	var list []string
	must(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		must(t, err)
		info, err := e.Info()
		must(t, err)
		rel, _ := filepath.Rel(dir, path)
		what := ""
		switch {
		case e.Type() == os.ModeSymlink:
			target, err := os.Readlink(path)
			must(t, err)
			list = append(list, "link "+rel+" "+target)
			return nil
		case !e.IsDir():
			data, err := os.ReadFile(path)
			must(t, err)
			what = " " + string(data)
		}
		list = append(list, info.Mode().String()+" "+filepath.ToSlash(rel)+what)
		return nil
	}))
	return list
}

func TestSnapshotHoldsTheFolder(t *testing.T) {
	if windows {
		t.Skip("modes look different on Windows")
	}
	w := newWorkspace(t)
	w.write("lib/x.sh", "x", 0o664)
	w.write("run.sh", "run", 0o4777)
	w.write("/.tenterhook/sibling.sh", "sibling", 0o755)
	w.link("run.sh", "alias")
	w.link("lib", "folder")
	w.link("gone", "nowhere")
	w.link("../../sibling.sh", "sibling.sh")
	s, dir := snapshots(t)
	sealed := w.seal()
	got, err := s.Dir(sealed)
	must(t, err)
	if !strings.HasPrefix(got, dir) {
		t.Errorf("%s does not lie in %s", got, dir)
	}
	want := []string{"dr-x------ .", "-r-------- HOOK.md " + manifest, "link alias run.sh", "link folder lib", "dr-x------ lib", "-r-------- lib/x.sh x",
		"link nowhere gone", "-r-x------ run.sh run", "-r-x------ sibling.sh sibling"}
	if diff := cmp.Diff(want, tree(t, got)); diff != "" {
		t.Error(diff)
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 2 { // the copy and the lock
		t.Errorf("left behind: %v", entries)
	}
	for name, other := range map[string]*trust.Snapshots{"of this process": s, "of another process": trust.NewSnapshots(dir)} {
		if again, err := other.Dir(sealed); again != got || err != nil {
			t.Errorf("%s: %s, %v", name, again, err)
		}
	}
	if again, err := s.Dir(newWorkspace(t).seal()); again == got || err != nil {
		t.Errorf("other content in the same copy: %v", err)
	}
}

func TestF3OldBytesRunOrNothingDoes(t *testing.T) {
	if windows {
		t.Skip("its script is one for Unix, and this is Windows")
	}
	w := newWorkspace(t)
	const old, evil = "#!/bin/sh\n. ./lib.sh\necho old\n", "#!/bin/sh\n. ./lib.sh\necho evil\n"
	w.write("run.sh", old, 0o755)
	w.write("lib.sh", "echo old\n", 0o644)
	w.write("/old.sh", old, 0o755)
	w.write("/evil.sh", evil, 0o755)
	store := trust.Memory()
	approve(t, store, w.seal())
	g := trust.NewGuard(w.subject(), store)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			from := w.path([]string{"/evil.sh", "/old.sh"}[i%2])
			_ = os.Link(from, w.path("/next"))
			_ = os.Rename(w.path("/next"), w.path("run.sh"))
			_ = os.Remove(w.path("/next"))
			_ = os.WriteFile(w.path("lib.sh"), []byte([]string{"echo evil\n", "echo old\n"}[i%2]), 0o644)
			time.Sleep(time.Duration(i%5) * time.Millisecond)
		}
	}()
	ran := 0
	s, _ := snapshots(t)
	for end := time.Now().Add(20 * time.Second); ran < 20 && time.Now().Before(end); {
		v := g.Check(nil)
		if !v.Approved {
			continue
		}
		dir, err := s.Dir(v.Seal)
		if err != nil {
			continue
		}
		cmd := exec.Command(filepath.Join(dir, "run.sh"))
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != "old\nold\n" {
			t.Errorf("%v: ran %q", err, out)
		}
		ran++
	}
	close(stop)
	<-done
	if ran == 0 {
		t.Error("nothing ever ran")
	}
}

func TestF3SnapshotOfWhatIsThereNoMoreIsNotMade(t *testing.T) {
	for name, change := range map[string]func(w *workspace){
		"edited":  func(w *workspace) { w.write("run.sh", "#!/bin/sh\necho odl\n", 0o755) },
		"longer":  func(w *workspace) { w.write("run.sh", "#!/bin/sh\necho old\n\n", 0o755) },
		"removed": func(w *workspace) { w.remove("run.sh") },
		"a link":  func(w *workspace) { w.remove("run.sh"); w.link("/bin/sh", "run.sh") },
		"linked to what changed": func(w *workspace) {
			w.write("/sibling.sh", "new", 0o755)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			w.write("/sibling.sh", "old", 0o755)
			w.link("../../../sibling.sh", "sibling.sh")
			sealed := w.seal()
			change(w)
			s, dir := snapshots(t)
			if got, err := s.Dir(sealed); code(t, err) == "" {
				t.Errorf("made %s", got)
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
				t.Errorf("left behind: %v %v", entries, err)
			}
		})
	}
}

func TestSnapshotStaysWhenTheOriginalGoes(t *testing.T) {
	w := newWorkspace(t)
	s, _ := snapshots(t)
	sealed := w.seal()
	dir, err := s.Dir(sealed)
	must(t, err)
	before := tree(t, dir)
	w.write("run.sh", "evil", 0o755)
	w.remove("HOOK.md")
	again, err := s.Dir(sealed)
	must(t, err)
	if diff := cmp.Diff(before, tree(t, again)); diff != "" {
		t.Error(diff)
	}
}

func TestSnapshotThatWasTamperedWithIsMadeAnew(t *testing.T) {
	for name, tamper := range map[string]func(t *testing.T, dir string){
		"edited": func(t *testing.T, dir string) {
			path := filepath.Join(dir, "run.sh")
			must(t, os.Chmod(path, 0o700))
			must(t, os.WriteFile(path, []byte("#!/bin/sh\necho odl\n"), 0o700))
			must(t, os.Chmod(path, 0o500))
		},
		"removed":      func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "run.sh"))) },
		"removed all":  func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) },
		"not run":      func(t *testing.T, dir string) { must(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o400)) },
		"a file of it": func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)); must(t, os.WriteFile(dir, nil, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			s, parent := snapshots(t)
			sealed := w.seal()
			dir, err := s.Dir(sealed)
			must(t, err)
			want := tree(t, dir)
			must(t, os.Chmod(dir, 0o700))
			tamper(t, dir)
			for who, s := range map[string]*trust.Snapshots{"this process": s, "another": trust.NewSnapshots(parent)} {
				again, err := s.Dir(sealed)
				must(t, err)
				if diff := cmp.Diff(want[1:], tree(t, again)[1:]); diff != "" { // the folder itself can have got another mode
					t.Error(who, diff)
				}
			}
		})
	}
}

func TestWhatAHookOfRootsWritesIntoItsSnapshotIsLeftAlone(t *testing.T) {
	w := newWorkspace(t)
	s, _ := snapshots(t)
	sealed := w.seal()
	dir, err := s.Dir(sealed)
	must(t, err)
	must(t, os.Chmod(dir, 0o700)) // root may write there as it is
	cache := filepath.Join(dir, "__pycache__", "lib.pyc")
	must(t, os.Mkdir(filepath.Dir(cache), 0o755))
	must(t, os.WriteFile(cache, []byte("x"), 0o644))
	again, err := s.Dir(sealed)
	must(t, err)
	if _, err := os.Stat(cache); err != nil || again != dir {
		t.Errorf("%s: %v", again, err)
	}
}

func TestSnapshotsAreMadeByMany(t *testing.T) {
	w := newWorkspace(t)
	sealed := w.seal()
	_, parent := snapshots(t)
	made := make(chan os.FileInfo, 16)
	var wg sync.WaitGroup
	for range 4 { // as many processes
		s := trust.NewSnapshots(parent)
		for range 4 {
			wg.Go(func() {
				dir, err := s.Dir(sealed)
				if err != nil {
					t.Error(err)
					return
				}
				if data, err := os.ReadFile(filepath.Join(dir, "HOOK.md")); err != nil || string(data) != manifest {
					t.Errorf("%q %v", data, err)
				}
				if info, err := os.Stat(dir); err == nil {
					made <- info
				}
			})
		}
	}
	wg.Wait()
	close(made)
	first := <-made
	for info := range made {
		if !os.SameFile(first, info) {
			t.Error("a copy was replaced while somebody may have run in it")
		}
	}
}

func TestSnapshotsThatNobodyUsesAreSwept(t *testing.T) {
	w := newWorkspace(t)
	s, parent := snapshots(t)
	var dirs []string
	for _, text := range []string{"a", "b", "c"} {
		w.write("run.sh", text, 0o755)
		if text == "c" { // the others were last used long ago, b is used once more
			long := time.Now().AddDate(0, -2, 0)
			for _, dir := range dirs {
				must(t, os.Chtimes(dir, long, long))
			}
			w.write("run.sh", "b", 0o755)
			_, err := trust.NewSnapshots(parent).Dir(w.seal())
			must(t, err)
			w.write("run.sh", "c", 0o755)
		}
		dir, err := s.Dir(w.seal())
		must(t, err)
		dirs = append(dirs, dir)
	}
	for i, want := range []bool{false, true, true} {
		if _, err := os.Stat(dirs[i]); (err == nil) != want {
			t.Errorf("copy %d is there: %v", i, err == nil)
		}
	}
}

func TestASnapshotIsKeptForThirtyDays(t *testing.T) {
	const day = 24 * time.Hour
	for age, want := range map[time.Duration]bool{30*day - 12*time.Hour: true, 30*day + 12*time.Hour: false} {
		w := newWorkspace(t)
		_, parent := snapshots(t)
		old, err := trust.NewSnapshots(parent).Dir(w.seal())
		must(t, err)
		used := time.Now().Add(-age)
		must(t, os.Chtimes(old, used, used))
		w.write("run.sh", "new", 0o755)
		_, err = trust.NewSnapshots(parent).Dir(w.seal())
		must(t, err)
		if _, err := os.Stat(old); (err == nil) != want {
			t.Errorf("after %v it is there: %v", age, err == nil)
		}
	}
}

// A name may be too long where the copy is to lie.
func TestASnapshotWithoutEachFileIsNone(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other lengths are too long on Windows and macOS")
	}
	w := newWorkspace(t)
	long := strings.Repeat("n", 250)
	w.write(long, "", 0o644)
	sealed := w.seal()
	_, parent := snapshots(t)
	for len(parent) < 4096-420 {
		parent = filepath.Join(parent, strings.Repeat("d", 100))
	}
	parent = filepath.Join(parent, strings.Repeat("d", max(1, 4096-260-len(parent))))
	if dir, err := trust.NewSnapshots(parent).Dir(sealed); err == nil {
		t.Errorf("a copy without a file: %.40s", dir)
	}
	w.remove(long)
	if _, err := trust.NewSnapshots(parent).Dir(w.seal()); err != nil {
		t.Errorf("the place itself: %v", err)
	}
}

func TestSnapshotsNeedAPlaceOfTheirOwn(t *testing.T) {
	w := newWorkspace(t)
	if _, err := trust.NewSnapshots("relative").Dir(w.seal()); code(t, err) == "" {
		t.Error("a relative place is taken")
	}
	if windows {
		return
	}
	_, dir := snapshots(t)
	must(t, os.MkdirAll(dir, 0o700))
	must(t, os.Chmod(dir, 0o777))
	if _, err := trust.NewSnapshots(dir).Dir(w.seal()); code(t, err) != trust.CodeNotOwned {
		t.Errorf("a place that others can write: %v", err)
	}
}

func TestSubjectWithoutAFolderHasNoSnapshot(t *testing.T) {
	w := newWorkspace(t)
	subject := w.subject()
	subject.Dir, subject.Files = "", []string{w.path("run.sh")}
	s, parent := snapshots(t)
	if dir, err := s.Dir(seal(t, subject)); dir != "" || err != nil {
		t.Error(dir, err)
	}
	if _, err := os.Stat(parent); err == nil {
		t.Error("a folder was made for nothing")
	}
}
