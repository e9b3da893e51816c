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
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Run holds an engine against every case of a folder, [Cases] for one, in
// parallel. A case whose options the engine lacks is skipped. All cases are
// skipped on Windows: their hooks are written for sh.
func Run(t *testing.T, engine Engine, fsys fs.FS) {
	t.Helper()
	cases, err := ReadCases(fsys)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" {
				t.Skip("the hooks of the cases are written for sh")
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
	w, err := c.lay(dir)
	if err != nil {
		return err
	}
	session, err := engine.Open(ctx, w.setup)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	var wrong []string
	for i, s := range c.Steps {
		at := ""
		if len(c.Steps) > 1 {
			at = fmt.Sprintf("event %d: ", i+1)
		}
		wrong = append(wrong, w.step(ctx, session, s, at)...)
	}
	background, err := session.Close()
	if err != nil {
		wrong = append(wrong, "close: "+err.Error())
	}
	if c.Background != nil && background != nil {
		wrong = append(wrong, w.compare("background", c.Background, background)...)
	}
	for _, name := range slices.Sorted(maps.Keys(c.After)) {
		wrong = append(wrong, w.compareFile(name, c.After[name])...)
	}
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "\n"))
	}
	return nil
}

// world is a case laid out on disk.
type world struct {
	root   string
	setup  Setup
	places *strings.Replacer // $DIR and the like to what they stand for
}

// lay writes the case's files below root.
func (c *Case) lay(root string) (*world, error) {
	root, err := filepath.EvalSymlinks(root) // a hook's pwd is the real path
	if err != nil {
		return nil, err
	}
	w := &world{root: root}
	under := func(name string) string { return filepath.Join(root, name) }
	w.setup = Setup{Workspace: under("project"), Home: under("home"), Schema: c.Schema, Options: c.Options,
		Env: []string{"HOME=" + under("home"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + under("tmp")}}
	for _, dir := range []string{"hooks", "project", "home", "tmp"} {
		if err := os.MkdirAll(under(dir), 0o755); err != nil {
			return nil, err
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
	w.places = strings.NewReplacer(pairs...)
	if c.options != nil {
		if err := json.Unmarshal([]byte(w.places.Replace(string(c.options))), &w.setup.Options); err != nil {
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

// step asks about one event and fires it.
func (w *world) step(ctx context.Context, session Session, s Step, at string) (wrong []string) {
	payload := []byte(w.places.Replace(string(s.Event)))
	if s.Selection != nil {
		got, err := session.Select(ctx, payload)
		if err != nil {
			wrong = append(wrong, at+"select: "+err.Error())
		} else {
			wrong = append(wrong, w.compare(at+"selection", s.Selection, got)...)
		}
	}
	if s.Fire {
		got, err := session.Dispatch(ctx, payload)
		if err != nil {
			wrong = append(wrong, at+"dispatch: "+err.Error())
		} else if s.Outcome != nil {
			wrong = append(wrong, w.compare(at+"outcome", s.Outcome, got)...)
		}
	}
	return wrong
}

func (w *world) compare(what string, want any, got []byte) []string {
	v, err := decode(got)
	if err != nil {
		return []string{fmt.Sprintf("%s: %v: %s", what, err, got)}
	}
	wrong := mismatches(what, w.placed(want), v)
	if len(wrong) > 0 {
		wrong = append(wrong, "all of it: "+show(v))
	}
	return wrong
}

// placed puts the case's folders in the place of $DIR and the like.
func (w *world) placed(v any) any {
	switch v := v.(type) {
	case string:
		return w.places.Replace(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = w.placed(v[i])
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for key := range v {
			object[key] = w.placed(v[key])
		}
		return object
	}
	return v
}

func (w *world) compareFile(name string, want []byte) []string {
	got, err := os.ReadFile(filepath.Join(w.root, filepath.FromSlash(name)))
	if err != nil {
		return []string{fmt.Sprintf("%s in the end: %v", name, err)}
	}
	differ := []string{fmt.Sprintf("%s in the end: want\n%s\ngot\n%s", name, w.places.Replace(string(want)), got)}
	if filepath.Ext(name) != ".json" {
		if string(got) != w.places.Replace(string(want)) {
			return differ
		}
		return nil
	}
	wantJSON, err1 := decode([]byte(w.places.Replace(string(want))))
	gotJSON, err2 := decode(got)
	if err1 != nil || err2 != nil || !reflect.DeepEqual(wantJSON, gotJSON) {
		return differ
	}
	return nil
}
