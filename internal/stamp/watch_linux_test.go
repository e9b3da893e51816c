package stamp_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tenterhook/tenterhook/internal/stamp"
)

// grove is a folder to watch, reached by a link, with a file that has a second name
// and a link that leads out.
type grove struct {
	t                       *testing.T
	base, tree, file, other string
	watch                   *stamp.Watch
}

func newGrove(t *testing.T) *grove {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := &grove{t: t, base: base, tree: filepath.Join(base, "link", "scope"), file: filepath.Join(base, "real/scope/hooks/a/HOOK.md"), other: filepath.Join(base, "elsewhere/other-name")}
	for _, dir := range []string{"real/scope/hooks/a", "real2/scope/hooks/b", "elsewhere/linked"} {
		g.must(os.MkdirAll(filepath.Join(base, dir), 0o700))
	}
	g.write(g.file, "one")
	g.write(filepath.Join(base, "elsewhere/linked/f"), "one")
	g.must(os.Link(g.file, g.other))
	g.must(os.Symlink("real", filepath.Join(base, "link")))
	g.must(os.Symlink("../../../elsewhere/linked", filepath.Join(base, "real/scope/hooks/l")))
	if g.watch, err = stamp.NewWatch(); err == nil {
		t.Cleanup(g.watch.Close)
		err = g.watch.Arm(g.tree)
	}
	if errors.Is(err, stamp.ErrBlind) {
		t.Skipf("changes are not reported here: %v", err)
	}
	g.must(err)
	g.quiet("after an Arm", func() {})
	return g
}

// quiet fails if nothing can be done without a report. Another program may mount
// something meanwhile, which is reported whatever it is.
func (g *grove) quiet(when string, do func()) {
	g.t.Helper()
	for range 20 {
		g.must(g.watch.Arm(g.tree, g.at("later/scope")))
		if do(); g.watch.Quiet() {
			return
		}
	}
	g.t.Fatalf("it is not quiet %s", when)
}

func (g *grove) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

func (g *grove) write(path, text string) {
	g.t.Helper()
	g.must(os.WriteFile(path, []byte(text), 0o600))
}

func (g *grove) at(path string) string { return filepath.Join(g.base, path) }

// changes are what a Watch of a grove must report.
var changes = map[string]func(g *grove){
	"a write": func(g *grove) { g.write(g.file, "two") },
	"an edit of the same size and time": func(g *grove) {
		info, err := os.Stat(g.file)
		g.must(err)
		f, err := os.OpenFile(g.file, os.O_WRONLY, 0)
		g.must(err)
		_, err = f.WriteString("two")
		g.must(errors.Join(err, f.Close(), os.Chtimes(g.file, info.ModTime(), info.ModTime())))
	},
	"a write by another name": func(g *grove) { g.write(g.other, "two") },
	"a mode by another name":  func(g *grove) { g.must(os.Chmod(g.other, 0o666)) },
	"a file in its place": func(g *grove) {
		g.write(g.at("fresh"), "two")
		g.must(os.Rename(g.at("fresh"), g.file))
	},
	"a new file":     func(g *grove) { g.write(filepath.Join(filepath.Dir(g.file), "x"), "") },
	"a new folder":   func(g *grove) { g.must(os.Mkdir(g.at("real/scope/hooks/c"), 0o700)) },
	"a removed file": func(g *grove) { g.must(os.Remove(g.file)) },
	"a removed tree": func(g *grove) { g.must(os.RemoveAll(g.at("real/scope"))) },
	"a removed and new tree": func(g *grove) {
		g.must(os.RemoveAll(g.at("real/scope")))
		g.must(os.MkdirAll(g.at("real/scope/hooks"), 0o700))
	},
	"a mode of a folder on the way": func(g *grove) { g.must(os.Chmod(g.at("real"), 0o777)) },
	"a renamed folder on the way":   func(g *grove) { g.must(os.Rename(g.at("real"), g.at("was"))) },
	"a link on the way that leads elsewhere": func(g *grove) {
		g.must(os.Symlink("real2", g.at("new")))
		g.must(os.Rename(g.at("new"), g.at("link")))
	},
	"a write where a link leads":    func(g *grove) { g.write(g.at("elsewhere/linked/f"), "two") },
	"a new file where a link leads": func(g *grove) { g.write(g.at("elsewhere/linked/x"), "") },
	"another folder where a link leads": func(g *grove) {
		g.must(os.Rename(g.at("elsewhere/linked"), g.at("elsewhere/gone")))
		g.must(os.Mkdir(g.at("elsewhere/linked"), 0o700))
	},
	"a folder that appears": func(g *grove) { g.must(os.MkdirAll(g.at("later/scope"), 0o700)) },
	"a mapping that is closed": func(g *grove) {
		f, err := os.OpenFile(g.file, os.O_RDWR, 0)
		g.must(err)
		data, err := unix.Mmap(int(f.Fd()), 0, 3, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		g.must(err)
		copy(data, "two")
		g.must(errors.Join(unix.Munmap(data), f.Close()))
	},
}

// Each change is reported, and after another Arm each further change: the watch
// follows what it watches.
func TestAWatchReportsEachChange(t *testing.T) {
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			g := newGrove(t)
			change(g)
			if g.watch.Quiet() {
				t.Fatal("it is quiet")
			}
			if g.watch.Quiet() {
				t.Fatal("it is quiet again, without an Arm")
			}
			g.quiet("after another Arm", func() {})
			g.must(os.MkdirAll(g.at("real"), 0o700)) // the link on the way leads nowhere without it
			g.must(os.MkdirAll(g.tree, 0o700))
			g.write(filepath.Join(g.tree, "more"), "x")
			if g.watch.Quiet() {
				t.Fatal("it does not follow")
			}
		})
	}
}

func TestAWatchIsQuietAboutWhatIsBesideItsTrees(t *testing.T) {
	g := newGrove(t)
	g.quiet("about what is beside its trees", func() {
		g.write(g.at("beside"), "x")
		g.write(g.at("real/beside"), "x")
		g.write(g.at("elsewhere/beside"), "x")
		g.must(os.MkdirAll(g.at("real2/scope/more"), 0o700))
		_, err := os.ReadFile(g.file)
		g.must(err)
	})
	g.write(g.file, "two")
	if g.watch.Quiet() {
		t.Fatal("it is quiet about its own")
	}
}

func TestAWatchThatLostReportsIsNotQuiet(t *testing.T) {
	g := newGrove(t)
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	g.must(err)
	var limit int
	if _, err := fmt.Sscan(string(text), &limit); err != nil || limit > 1<<16 {
		t.Skipf("the queue takes %q events", strings.TrimSpace(string(text)))
	}
	for _, name := range []string{"x", "y"} {
		g.write(g.at(name), "")
	}
	for i := range limit/2 + 2 { // beside the tree; in turns, for equal reports in a row are one
		g.must(os.Chmod(g.at("x"), os.FileMode(0o600+i%2)))
		g.must(os.Chmod(g.at("y"), os.FileMode(0o600+i%2)))
	}
	if g.watch.Quiet() {
		t.Fatal("it is quiet although reports were lost")
	}
	g.quiet("after another Arm", func() {})
}

func TestAWatchReportsWhatIsMountedOverATree(t *testing.T) {
	g := newGrove(t)
	if err := unix.Mount(g.at("real2"), g.at("real"), "", unix.MS_BIND, ""); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(g.at("real"), unix.MNT_DETACH) })
	if g.watch.Quiet() {
		t.Fatal("it is quiet")
	}
	g.must(g.watch.Arm(g.tree))
	g.write(filepath.Join(g.tree, "more"), "x")
	if g.watch.Quiet() {
		t.Fatal("it does not follow")
	}
}

func TestAWatchRefusesWhatItCannotSee(t *testing.T) {
	g := newGrove(t)
	large := g.at("large")
	g.must(os.Mkdir(large, 0o700))
	for i := range 4096 { // with the way to it one too many
		g.write(filepath.Join(large, fmt.Sprint(i)), "")
	}
	fresh, err := stamp.NewWatch()
	g.must(err)
	defer fresh.Close()
	for name, path := range map[string]string{"another kind of file system": "/proc/self", "a tree that is too large": large} {
		if err := fresh.Arm(path); !errors.Is(err, stamp.ErrBlind) {
			t.Errorf("%s: %v", name, err)
		}
		if fresh.Quiet() {
			t.Errorf("%s: it is quiet", name)
		}
	}
}

func BenchmarkQuiet(b *testing.B) {
	w, err := stamp.NewWatch()
	if err == nil {
		defer w.Close()
		err = w.Arm(b.TempDir())
	}
	if err != nil {
		b.Skip(err)
	}
	for b.Loop() {
		if !w.Quiet() {
			b.Fatal("it is not quiet")
		}
	}
}
