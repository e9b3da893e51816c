package plugins

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/internal/wire"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// Describe lists the hooks of a package's plugins, as they were learnt, and
// starts nothing. pkg is the package's name, dir its folder.
//
// What was approved counts: a plugin that is gone, was changed, or cannot be run
// still has its hooks, and their calls fail and say why. One that nobody asked
// yet has none, and a diagnostic with the code not_described.
func (h *Host) Describe(pkg, dir string) ([]*hook.Hook, []hook.Diagnostic) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, []hook.Diagnostic{about(CodeMissing, dir, err, "").Diagnostic()}
	}
	found, err := binaries(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, []hook.Diagnostic{about(CodeMissing, dir, err, "make the folder readable").Diagnostic()}
	}
	var hooks []*hook.Hook
	var notes []hook.Diagnostic
	lock, p := h.pins.now()
	if p != nil {
		notes, lock = append(notes, p.Diagnostic()), noLock
	}
	here := make(map[string]bool)
	for _, one := range found {
		here[one.path] = true
	}
	gone := lock.Binaries()
	if lock == noLock { // a lock that is lost has not unlocked anything
		gone = h.describedPaths()
	}
	for _, path := range gone {
		if filepath.Dir(path) == dir && !here[path] {
			found = append(found, binary{nameIn(path), path}) // it is gone, and its hooks are not
		}
	}
	for _, one := range found {
		more, p := h.described(pkg, one, lock)
		hooks = append(hooks, more...)
		notes = append(notes, strangeEvents(more)...)
		if p != nil {
			notes = append(notes, p.Diagnostic())
		}
	}
	return hooks, notes
}

// strangeEvents warns of events that nobody knows and that are no misspellings:
// the host may fire them.
func strangeEvents(hooks []*hook.Hook) []hook.Diagnostic {
	var notes []hook.Diagnostic
	for _, hk := range hooks {
		if _, known := hook.Lookup(hk.Event); !known && hk.State != hook.StateInvalid {
			notes = append(notes, hook.Diagnostic{Severity: hook.SeverityWarning, Code: "unknown_event", Hook: hk.ID, Path: hk.Source.Path,
				Message: fmt.Sprintf("no event %q is known", hk.Event), Hint: "the hook runs if the host fires an event of that name"})
		}
	}
	return notes
}

// described are the hooks of one plugin, and what keeps it from running.
func (h *Host) described(pkg string, one binary, lock *Lock) ([]*hook.Hook, *Problem) {
	_, wrong := h.approval(one.path)
	sum, _ := h.digests.of(one.path)
	pin, locked := lock.Pin(one.path)
	if locked {
		sum = pin.SHA256
	}
	d, p := h.recall(one.path, sum)
	if p != nil { // other bytes, or none: a guard that was there has not vanished
		if last, unknown := h.recall(one.path, h.lastDescribed(one.path)); unknown == nil {
			d, wrong, p = last, cmp.Or(wrong, p), nil
		}
	}
	if p != nil {
		if wrong != nil && wrong.Code != CodeUnlocked { // the graver trouble
			p = wrong
		}
		if p.Code == CodeNew {
			p.Reason = fmt.Sprintf("the plugin of package %s was not asked yet which hooks it has", wire.FirstLine(pkg))
		}
		if locked || p.Err != nil || wrong != nil && wrong.Code == CodeLock {
			return []*hook.Hook{unknownHooks(one, p)}, p
		}
		return nil, p
	}
	hooks, err := wire.Hooks(one.name, d)
	if err != nil {
		p := undescribed(one.path, err)
		return []*hook.Hook{unknownHooks(one, p)}, p
	}
	for _, hk := range hooks {
		hk.Scope = hook.ScopePlugin
		hk.ID = hk.Scope.String() + "/" + hk.Name
		dir := filepath.Dir(one.path)
		hk.Source = hook.Source{Path: one.path, Dir: dir, Root: dir}
		hk.Sandbox = pin.Sandbox
	}
	return hooks, wrong
}

// unknownHooks stands for the hooks of a plugin that has some, or may have, and
// of which nothing can be read: it blocks what it could have blocked.
func unknownHooks(one binary, p *Problem) *hook.Hook {
	dir := filepath.Dir(one.path)
	return &hook.Hook{Name: one.name, Kind: hook.KindPlugin, State: hook.StateInvalid, OnFailure: hook.FailureBlock,
		Why:    "which hooks it has is unknown, so it blocks: " + p.Reason,
		Source: hook.Source{Path: one.path, Dir: dir, Root: dir}}
}

// Learn starts the plugins of a package's folder, asks what hooks they have, and
// keeps the answers. It runs what nobody may have approved yet: that is for its
// caller to have asked. The plugins get none of the variables that a lock file
// grants.
func (h *Host) Learn(ctx context.Context, dir string) error {
	_, err := h.learn(ctx, dir)
	return err
}

// learnt is what was asked of one plugin, and of which bytes.
type learnt struct {
	binary
	digest      string
	description *proto.DescribeResponse
}

func (h *Host) learn(ctx context.Context, dir string) ([]learnt, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	found, err := binaries(dir)
	if err != nil {
		return nil, about(CodeMissing, dir, err, "name the folder of a package")
	}
	if len(found) == 0 {
		return nil, noPlugin(dir)
	}
	var all []learnt
	var errs []error
	for _, one := range found {
		sum, p := h.digests.of(one.path)
		if p != nil {
			errs = append(errs, p)
			continue
		}
		d, p := h.ask(ctx, one, sum)
		if p != nil {
			errs = append(errs, p)
			continue
		}
		all = append(all, learnt{one, sum, d})
	}
	return all, errors.Join(errs...)
}

// ask starts a plugin once, for its description, and keeps that.
func (h *Host) ask(ctx context.Context, one binary, sum string) (*proto.DescribeResponse, *Problem) {
	if !h.enter() {
		return nil, closedProblem()
	}
	defer h.work.Done()
	ctx, cancel := context.WithTimeout(ctx, h.options.StartTimeout)
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer context.AfterFunc(h.ctx, func() { end(errClosed) })()
	in, p := h.launch(ctx, one.path, approval{digest: sum, confines: h.unasked(one.path)})
	if p != nil {
		if p.Path == "" {
			p.Path = one.path
		}
		return nil, p
	}
	defer in.stop()
	r := &proto.DescribeRequest{}
	wire.Grease(r)
	d, err := in.client.Describe(ctx, r, grpc.MaxCallRecvMsgSize(maxDescription))
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errClosed):
		return nil, closedProblem()
	case err != nil:
		return nil, undescribed(one.path, err)
	}
	if _, err := wire.Hooks(one.name, d); err != nil {
		return nil, undescribed(one.path, err)
	}
	if err := errors.Join(h.keepDescription(sum, d), h.keepDescribed(one.path, sum)); err != nil {
		return nil, about(CodeState, h.descriptionPath(sum), err, "make the state folder writable for this user")
	}
	return d, nil
}

// unasked confines a plugin that is asked for its hooks for the first time: to what its plugin.toml asks for,
// else strictly. Where the machine cannot enforce that, it runs uncontained, as its caller asked for the run.
func (h *Host) unasked(path string) confines {
	box := hook.Sandbox{Mode: hook.SandboxStrict}
	if file, _ := readPackageFile(filepath.Join(filepath.Dir(path), manifestName)); file.box != nil {
		box = *file.box
	}
	box.Optional = true
	if warning, _ := enforced(&box); warning != "" && h.options.Logger != nil {
		h.options.Logger.Warn("a plugin is asked for its hooks", "plugin", path, "problem", warning)
	}
	return confines{box: &box}
}

// What a plugin says of itself is bounded, in bytes; as JSON a byte takes up to
// six.
const (
	maxDescription = 4 << 20
	maxKept        = 8 * maxDescription
)

func (h *Host) keepDescription(sum string, d *proto.DescribeResponse) error {
	data, err := protojson.Marshal(d)
	if err != nil {
		return err
	}
	return writeFile(h.descriptionPath(sum), data)
}

// describedAt says which bytes of a plugin described themselves last.
type describedAt struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

func (h *Host) keepDescribed(path, sum string) error {
	data, err := json.Marshal(describedAt{path, sum})
	if err != nil {
		return err
	}
	return writeFile(h.describedFile(path), data)
}

// lastDescribed is the digest of the plugin's bytes that described themselves
// last, "" = none did.
func (h *Host) lastDescribed(path string) string {
	at, err := readDescribed(h.describedFile(path))
	if err != nil || at.Path != path {
		return ""
	}
	return at.SHA256
}

// describedPaths are the plugins that ever described themselves, in order.
func (h *Host) describedPaths() []string {
	dir := filepath.Dir(h.describedFile(""))
	files, _ := os.ReadDir(dir) // without it nothing is known of any
	var paths []string
	for _, f := range files {
		if at, err := readDescribed(filepath.Join(dir, f.Name())); err == nil {
			paths = append(paths, at.Path)
		}
	}
	slices.Sort(paths)
	return paths
}

func readDescribed(file string) (at describedAt, err error) {
	const most = 64 << 10
	data, err := readFile(file, most)
	if err != nil {
		return at, err
	}
	return at, json.Unmarshal(data, &at)
}

func (h *Host) describedFile(path string) string {
	return filepath.Join(h.options.StateDir, "plugins", "describe", "paths", fmt.Sprintf("%x.json", sha256.Sum256([]byte(path))))
}

// recall is what the plugin with this digest said of itself.
func (h *Host) recall(path, sum string) (*proto.DescribeResponse, *Problem) {
	fresh := &Problem{Code: CodeNew, Path: path, Reason: "it was not asked yet which hooks it has", Hint: "run: tenterhook plugin lock"}
	if sum == "" {
		return nil, fresh
	}
	data, err := readFile(h.descriptionPath(sum), maxKept)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			fresh.Err, fresh.Reason = err, "what it said of itself cannot be read: "+bare(err)
		}
		return nil, fresh
	}
	d, err := parseDescription(data)
	if err != nil {
		fresh.Err, fresh.Reason = err, "what it said of itself cannot be read any more"
		return nil, fresh
	}
	return d, nil
}

// parseDescription reads what keepDescription wrote.
func parseDescription(data []byte) (*proto.DescribeResponse, error) {
	d := &proto.DescribeResponse{}
	return d, (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, d)
}

func (h *Host) descriptionPath(sum string) string {
	return filepath.Join(h.options.StateDir, "plugins", "describe", sum+".json")
}

func undescribed(path string, err error) *Problem {
	return &Problem{Code: CodeDescribe, Path: path, Reason: "what it says of itself cannot be used: " + wire.FirstLine(err.Error()),
		Hint: "fix the plugin's Describe call", Err: err}
}
