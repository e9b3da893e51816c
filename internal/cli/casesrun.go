package cli

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/hooktest"
	"github.com/tenterhook/tenterhook/internal/safefile"
	"github.com/tenterhook/tenterhook/registry"
)

const (
	maxCase       = 4 << 20 // bytes of one file
	progressEvery = 5 * time.Second
)

// The ways in which a case ends.
const (
	casePassed  = "passed"
	caseFailed  = "failed"
	caseUpdated = "updated"
	caseNotRun  = "not_run"
)

// caseResult is what came of one case, as --json prints it.
type caseResult struct {
	Hook        string   `json:"hook"`
	Case        string   `json:"case"`
	Path        string   `json:"path"`
	Status      string   `json:"status"`
	Differences []string `json:"differences"`
	ElapsedMS   float64  `json:"elapsed_ms"`

	prose string
}

// bench runs cases, each in a folder of its own.
type bench struct {
	dir    string
	shared []string // variables of all cases
	update bool

	running sync.WaitGroup
}

func newBench(update bool) (*bench, error) {
	dir, err := os.MkdirTemp("", "hook-cases-") // self-protection guards names like tenterhook-x
	if err != nil {
		return nil, err
	}
	shared := []string{"XDG_CACHE_HOME=" + filepath.Join(dir, "cache")} // a hook that builds itself does so once
	if cache := goBuildCache(); cache != "" {
		shared = append(shared, "GOCACHE="+cache)
	}
	return &bench{dir: dir, shared: shared, update: update}, nil
}

// engine runs the cases of a hook as the hook runs where it is loaded: in its sandbox.
func (b *bench) engine(h *testedHook) hooktest.Engine {
	return hooktest.Opened(tenterhook.Open, func(o *registry.Options) {
		o.Env = append(slices.Clip(b.shared), o.Env...)
		o.DirSandbox = h.box
	})
}

// goBuildCache is where Go keeps what it has built; "" = nowhere.
func goBuildCache() string {
	if dir := os.Getenv("GOCACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "go-build")
}

// close waits for the cases that run and removes their folders.
func (b *bench) close() {
	b.running.Wait()
	_ = os.RemoveAll(b.dir)
}

// start runs the cases of hooks side by side. Each result comes from its own
// channel, in order.
func (b *bench) start(ctx context.Context, hooks []*testedHook) []chan caseResult {
	var all []chan caseResult
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, h := range hooks {
		for _, file := range h.cases {
			came := make(chan caseResult, 1)
			all = append(all, came)
			b.running.Go(func() {
				places <- struct{}{}
				defer func() { <-places }()
				if ctx.Err() == nil {
					came <- b.run(ctx, h, file)
				}
			})
		}
	}
	return all
}

// run runs one case.
func (b *bench) run(ctx context.Context, h *testedHook, file string) caseResult {
	name := strings.TrimSuffix(path.Base(file), caseSuffix)
	r := caseResult{Hook: h.id, Case: name, Path: filepath.Join(h.dir, filepath.FromSlash(file)), Status: caseFailed}
	if h.why != "" {
		r.Status, r.Differences = caseNotRun, []string{h.why}
		return r
	}
	root, err := os.OpenRoot(h.runs)
	if err != nil {
		r.Differences = []string{err.Error()}
		return r
	}
	defer root.Close()
	start := time.Now()
	c, report, err := b.try(ctx, h, root, file)
	r.ElapsedMS = float64(time.Since(start).Microseconds()) / 1000
	if c != nil {
		r.prose = c.Prose
	}
	switch {
	case err != nil:
		r.Differences = []string{err.Error()}
	case len(report.Differences) == 0:
		r.Status = casePassed
	default:
		r.Differences = report.Differences
		if b.update && report.Updated != nil {
			if err := writeCase(h.dir, file, report.Updated); err != nil {
				r.Differences = append(r.Differences, err.Error())
			} else {
				r.Status = caseUpdated
			}
		}
	}
	return r
}

// try runs a case that is in a hook's folder.
func (b *bench) try(ctx context.Context, h *testedHook, root *os.Root, file string) (*hooktest.Case, *hooktest.Report, error) {
	f, err := safefile.OpenIn(root, file)
	if err != nil {
		return nil, nil, safefile.Named(file, err)
	}
	defer f.Close()
	data, err := safefile.ReadAll(f, maxCase)
	if err != nil {
		return nil, nil, safefile.Named(file, err)
	}
	return b.tryText(ctx, h, root, strings.TrimSuffix(path.Base(file), caseSuffix), data)
}

// tryText runs a case for the hook of a folder.
func (b *bench) tryText(ctx context.Context, h *testedHook, root *os.Root, name string, data []byte) (*hooktest.Case, *hooktest.Report, error) {
	c, err := hooktest.ParseCase(name, data)
	if err != nil {
		return nil, nil, err
	}
	c.Hooks = map[string]fs.FS{filepath.Base(h.dir): root.FS()}
	dir, err := os.MkdirTemp(b.dir, "case-")
	if err != nil {
		return c, nil, err
	}
	defer os.RemoveAll(dir)
	report, err := c.Try(ctx, b.engine(h), dir)
	return c, report, err
}

// writeCase puts a case into a hook's folder, whole or not at all. It follows no
// link out of the folder.
func writeCase(dir, file string, data []byte) error {
	if _, err := hooktest.ParseCase(path.Base(file), data); err != nil {
		return fmt.Errorf("the outcome cannot be written as a case: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(path.Dir(file), 0o755); err != nil {
		return err
	}
	fresh := file + ".new"
	_ = root.Remove(fresh) // of a run that was killed
	f, err := root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = root.Rename(fresh, file)
	}
	if err != nil {
		_ = root.Remove(fresh)
	}
	return err
}
