package hooktest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// Run holds an engine against every case of a folder, [Cases] for one, in
// parallel. A case whose options the engine lacks is skipped. On a Windows without
// sh on PATH all are: their hooks are written for it.
func Run(t *testing.T, engine Engine, fsys fs.FS) {
	t.Helper()
	cases, err := ReadCases(fsys)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("sh"); err != nil && runtime.GOOS == "windows" {
				t.Skip("the hooks of the cases are written for sh, which this Windows does not have on PATH")
			}
			if c.Unix != "" && runtime.GOOS == "windows" {
				t.Skip("Windows: the case holds on Unix alone: " + c.Unix)
			}
			err := c.Check(t.Context(), engine, t.TempDir())
			if errors.Is(err, errors.ErrUnsupported) {
				t.Skip(err)
			}
			if err != nil {
				t.Errorf("%s\nRule: %s\n\n%v", c.Prose, c.Rule, err)
			}
		})
	}
}

// Check holds an engine against the case, in an empty folder. The error tells
// every difference; it is errors.ErrUnsupported if the engine lacks an option.
func (c *Case) Check(ctx context.Context, engine Engine, dir string) error {
	r, err := c.Try(ctx, engine, dir)
	if err == nil && len(r.Differences) > 0 {
		err = errors.New(strings.Join(r.Differences, "\n"))
	}
	return err
}

// Report is what came of a case.
type Report struct {
	Differences []string // from what the case expects; empty = it holds
	// Updated is the case with what came of it in the place of each expectation
	// that does not hold; nil = all hold.
	Updated []byte
}

// Try holds an engine against the case, in an empty folder. The error says why
// that was not possible; it is errors.ErrUnsupported if the engine lacks an option.
func (c *Case) Try(ctx context.Context, engine Engine, dir string) (*Report, error) {
	w, err := c.lay(dir)
	if err != nil {
		return nil, err
	}
	session, err := engine.Open(ctx, w.setup)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	var wrong []string
	for i := range c.Steps {
		wrong = append(wrong, w.step(ctx, session, i)...)
	}
	background, err := session.Close()
	if err != nil {
		wrong = append(wrong, "close: "+err.Error())
	}
	if c.Background != nil && background != nil {
		wrong = append(wrong, w.compare("background", "background.json", c.Background, background)...)
	}
	for _, name := range slices.Sorted(maps.Keys(c.After)) {
		wrong = append(wrong, w.compareFile(name, c.After[name])...)
	}
	return &Report{wrong, w.updated()}, nil
}

// world is a case laid out on disk.
type world struct {
	c      *Case
	root   string
	setup  Setup
	places places
	now    map[string][]byte // files of the case that expect something else
}

// lay writes the case's files below root.
func (c *Case) lay(root string) (*world, error) {
	root, err := filepath.EvalSymlinks(root) // a hook's pwd is the real path
	if err != nil {
		return nil, err
	}
	w := &world{c: c, root: root, now: make(map[string][]byte)}
	under := func(name string) string { return filepath.Join(root, name) }
	w.setup = Setup{Workspace: under("project"), Home: under("home"), Schema: c.Schema, Options: c.Options,
		Env: append(systemEnv(under("home"), under("tmp")), "PATH="+os.Getenv("PATH"))}
	for _, dir := range []string{"hooks", "project", "home", "tmp"} {
		if err := os.MkdirAll(under(dir), 0o755); err != nil {
			return nil, err
		}
	}
	for name, folder := range c.Hooks {
		if err := copyHook(under("hooks/"+name), folder); err != nil {
			return nil, fmt.Errorf("copy the hook's folder: %w", err)
		}
	}
	tops := map[string]bool{"hooks": true}
	for name, data := range c.Files {
		if top, _, _ := strings.Cut(name, "/"); top != "project" {
			tops[top] = true
		}
		if err := write(under(name), data); err != nil {
			return nil, err
		}
	}
	pairs := []string{"$WORK", under("project"), "$HOME", under("home")}
	for _, top := range slices.Sorted(maps.Keys(tops)) {
		w.setup.Dirs = append(w.setup.Dirs, under(top))
		pairs = append([]string{"$DIR" + strings.TrimPrefix(top, "hooks"), under(top)}, pairs...)
	}
	w.places = newPlaces(root, pairs)
	if c.options != nil {
		if err := json.Unmarshal([]byte(w.places.quoted.Replace(string(c.options))), &w.setup.Options); err != nil {
			return nil, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(w.setup.Options.Env)) {
		w.setup.Env = append(w.setup.Env, key+"="+w.setup.Options.Env[key])
	}
	return w, nil
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if bytes.HasPrefix(data, []byte("#!")) {
		mode = 0o755
	}
	return os.WriteFile(path, data, mode)
}

// copyHook copies a hook's folder without its cases. Modes stay.
func copyHook(to string, folder fs.FS) error {
	if err := os.CopyFS(to, folder); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(to, "cases"))
}

// step asks about one event and fires it.
func (w *world) step(ctx context.Context, session Session, i int) (wrong []string) {
	s, at := w.c.Steps[i], ""
	if len(w.c.Steps) > 1 {
		at = fmt.Sprintf("event %d: ", i+1)
	}
	payload := []byte(w.places.quoted.Replace(string(s.Event)))
	if s.Selection != nil {
		got, err := session.Select(ctx, payload)
		if err != nil {
			wrong = append(wrong, at+"select: "+err.Error())
		} else {
			wrong = append(wrong, w.compare(at+"selection", w.c.fileOf("selection", i), s.Selection, got)...)
		}
	}
	if !s.Fire {
		return wrong
	}
	got, err := session.Dispatch(ctx, payload)
	switch {
	case err != nil:
		wrong = append(wrong, at+"dispatch: "+err.Error())
	case s.Outcome != nil:
		wrong = append(wrong, w.compare(at+"outcome", w.c.fileOf("outcome", i), s.Outcome, got)...)
	case w.c.nothing:
		wrong = append(wrong, at+"it expects nothing: add an "+w.c.fileOf("outcome", i))
		if v, err := decode(got); err == nil {
			w.now[w.c.fileOf("outcome", i)] = encode(w.named(brief(v)), "outcome")
		}
	}
	return wrong
}

// compare holds what was printed against what a file of the case expects.
func (w *world) compare(what, file string, want any, got []byte) []string {
	v, err := decode(got)
	if err != nil {
		return []string{fmt.Sprintf("%s: %v: %s", what, err, got)}
	}
	v = eachText(v, w.places.slashed)
	wrong := mismatches(what, w.places.placed(want), v)
	if len(wrong) > 0 {
		wrong = append(wrong, "all of it: "+show(v))
		shape := strings.TrimRight(strings.TrimSuffix(file, ".json"), "0123456789")
		w.now[file] = encode(w.merge(want, v, shape), shape)
	}
	return wrong
}

func (w *world) compareFile(name string, want []byte) []string {
	got, err := safefile.Read(filepath.Join(w.root, filepath.FromSlash(name)), safefile.MaxKept)
	if err != nil {
		return []string{fmt.Sprintf("%s in the end: %v", name, err)}
	}
	if !w.same(name, string(want), string(got)) {
		w.now["after/"+name] = []byte(w.places.named(string(got)))
		return []string{fmt.Sprintf("%s in the end: want\n%s\ngot\n%s", name, w.places.values.Replace(string(want)), got)}
	}
	return nil
}

// same compares texts, or JSON if the name says that it is.
func (w *world) same(name, want, got string) bool {
	if filepath.Ext(name) != ".json" {
		return w.places.slashed(w.places.values.Replace(want)) == w.places.slashed(got)
	}
	wantJSON, err1 := decode([]byte(w.places.quoted.Replace(want)))
	gotJSON, err2 := decode([]byte(got))
	return err1 == nil && err2 == nil && reflect.DeepEqual(eachText(wantJSON, w.places.slashed), eachText(gotJSON, w.places.slashed))
}
