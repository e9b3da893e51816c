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
	"github.com/tenterhook/tenterhook/internal/safefile"
	"github.com/tenterhook/tenterhook/plugins/internal/wire"
	"github.com/tenterhook/tenterhook/plugins/proto"
	"github.com/tenterhook/tenterhook/trust"
)

// Describe lists the plugins of a package with their hooks, as they were learnt,
// and starts nothing. pkg is the package's name, dir its folder.
//
// What was approved counts: a plugin that is gone, was changed, or cannot be run
// still has its hooks, and their calls fail and say why. A plugin that was not asked
// yet has none, and a diagnostic with the code not_described.
func (h *Host) Describe(pkg, dir string) ([]trust.Plugin, []hook.Diagnostic) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, []hook.Diagnostic{about(CodeMissing, dir, err, "").Diagnostic()}
	}
	found, err := binaries(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, []hook.Diagnostic{about(CodeMissing, dir, err, "make the folder readable").Diagnostic()}
	}
	var plugins []trust.Plugin
	var notes []hook.Diagnostic
	gone, known, p := h.approvedIn(dir)
	if p != nil {
		notes = append(notes, p.Diagnostic())
	}
	if !known { // approvals that are lost have not taken anything back
		gone = append(gone, h.describedPaths()...)
	}
	for _, path := range gone {
		if one := (binary{nameIn(path), path}); filepath.Dir(path) == dir && !slices.Contains(found, one) {
			found = append(found, one) // it is gone, and its hooks are not
		}
	}
	file, wrong := readPackageFile(filepath.Join(dir, manifestName))
	if len(found) > 0 {
		notes = append(notes, wrong...)
	}
	for _, one := range found {
		hooks, p := h.described(pkg, one, file)
		notes = append(notes, strangeEvents(hooks)...)
		if p != nil {
			notes = append(notes, p.Diagnostic())
		}
		plugins = append(plugins, trust.Plugin{Subject: h.subject(one, file, wrong), Hooks: hooks})
	}
	return plugins, notes
}

// subject is what would be approved of a plugin: its bytes, what plugin.toml asks
// for, and the hooks that it described last.
func (h *Host) subject(one binary, file packageFile, wrong []hook.Diagnostic) trust.Subject {
	s := subjectOf(one.path)
	s.Definition = nil // as long as it is unknown, nothing can be approved
	if hook.HasErrors(wrong) {
		return s
	}
	var hooks []*hook.Hook
	if d, p := h.recall(one.path, h.lastDescribed(one.path)); p == nil {
		hooks, _ = wire.Hooks(one.name, d)
	}
	s.Definition, _ = define(terms{file.Env, file.box}, hooks)
	return s
}

// strangeEvents warns of unknown events that are no misspellings:
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

// described are the hooks of one plugin, and what keeps it from running, as far as
// that shows without reading the executable.
func (h *Host) described(pkg string, one binary, file packageFile) ([]*hook.Hook, *Problem) {
	found, lost := h.approvals(one.path)
	wrong := h.glance(one.path, found, file)
	var box *hook.Sandbox
	sum := h.lastDescribed(one.path)
	if len(found) > 0 {
		likely := h.likely(one.path, found)
		sum, box = digestOf(likely.Folder), h.termsOf(one.path, likely).granted
	} else if lost != nil && (wrong == nil || wrong.Code == CodeUntrusted) {
		wrong = lost
	}
	d, p := h.recall(one.path, sum)
	if p != nil { // other bytes, or none: a guard that was there has not vanished
		if last, unknown := h.recall(one.path, h.lastDescribed(one.path)); unknown == nil {
			d, wrong, p = last, cmp.Or(wrong, p), nil
		}
	}
	if p != nil {
		if wrong != nil && wrong.Code != CodeUntrusted { // the graver trouble
			p = wrong
		}
		if p.Code == CodeNew && p.Err == nil {
			p.Reason = fmt.Sprintf("the plugin of package %s was not asked yet which hooks it has", wire.FirstLine(pkg))
		}
		if len(found) > 0 || p.Err != nil && p.Code != CodeMissing || lost != nil {
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
		hk.Sandbox = box
	}
	return hooks, wrong
}

// glance says what keeps a plugin from running, as far as a stat and plugin.toml
// tell: to read every executable would make loading slow.
func (h *Host) glance(path string, found []*trust.Approval, file packageFile) *Problem {
	if p := checkAt(path); p != nil {
		return p
	}
	if len(found) == 0 {
		return untrusted(path)
	}
	a := h.likely(path, found)
	if info, err := os.Lstat(path); err == nil && info.Size() != a.Folder[0].Size {
		return &Problem{Code: CodeChanged, Path: path, Reason: fmt.Sprintf("it has %d bytes, what was approved has %d", info.Size(), a.Folder[0].Size), Hint: again(path)}
	}
	return h.termsOf(path, a).differ(path, file)
}

// likely is the approval that is most likely of the executable at a path: the
// first one of a file of its size.
func (h *Host) likely(path string, found []*trust.Approval) *trust.Approval {
	if info, err := os.Lstat(path); err == nil {
		for _, a := range found {
			if a.Folder[0].Size == info.Size() {
				return a
			}
		}
	}
	return found[0]
}

// unknownHooks stands for the hooks of a plugin that has some, or may have, and
// of which nothing can be read: it blocks what it could have blocked.
func unknownHooks(one binary, p *Problem) *hook.Hook {
	dir := filepath.Dir(one.path)
	return &hook.Hook{Name: one.name, Kind: hook.KindPlugin, State: hook.StateInvalid, OnFailure: hook.FailureBlock,
		Why:    "which hooks it has is unknown, so it blocks: " + p.Reason,
		Source: hook.Source{Path: one.path, Dir: dir, Root: dir}}
}

// Learn starts plugins, asks what hooks they have, and keeps the answers: the
// plugin at path, or all of the package in that folder. It runs what may not
// be approved yet: its caller has to ask first. The plugins get none of
// the variables that an approval would grant.
func (h *Host) Learn(ctx context.Context, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	found := []binary{{nameIn(path), path}}
	if !isBinary(path, filepath.Dir(path)) {
		if found, err = binaries(path); err != nil {
			return about(CodeMissing, path, err, "name the folder of a package")
		}
		if len(found) == 0 {
			return noPlugin(path)
		}
	}
	var errs []error
	for _, one := range found {
		seal, p := h.seal(one.path)
		if p == nil {
			p = h.ask(ctx, one, seal)
		}
		if p != nil {
			errs = append(errs, p)
		}
	}
	return errors.Join(errs...)
}

// Described reports whether the plugin at path was asked which hooks it has, and is
// still as it was then. seal is of the plugin as it is now.
func (h *Host) Described(path string, seal *trust.Seal) bool {
	sum := digestOf(seal.Folder())
	_, unknown := h.recall(path, sum)
	return unknown == nil && h.lastDescribed(path) == sum
}

// Asking is the sandbox that the plugin at path is asked in which hooks it has.
func (h *Host) Asking(path string) *hook.Sandbox { return h.unasked(path).box }

// ask starts a plugin once, for its description, and keeps that.
func (h *Host) ask(ctx context.Context, one binary, seal *trust.Seal) *Problem {
	if !h.enter() {
		return closedProblem()
	}
	defer h.work.Done()
	ctx, cancel := context.WithTimeout(ctx, h.options.StartTimeout)
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer context.AfterFunc(h.ctx, func() { end(errClosed) })()
	sum := digestOf(seal.Folder())
	box := h.unasked(one.path)
	if warning, _ := enforced(box.box); warning != "" && h.options.Logger != nil {
		h.options.Logger.Warn("a plugin is asked for its hooks", "plugin", one.path, "problem", warning)
	}
	in, p := h.launch(ctx, one.path, approval{digest: sum, seal: seal, confines: box})
	if p != nil {
		if p.Path == "" {
			p.Path = one.path
		}
		return p
	}
	defer in.Stop()
	r := &proto.DescribeRequest{}
	wire.Grease(r)
	d, err := in.client.Describe(ctx, r, grpc.MaxCallRecvMsgSize(maxDescription))
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errClosed):
		return closedProblem()
	case err != nil:
		return undescribed(one.path, err)
	}
	if _, err := wire.Hooks(one.name, d); err != nil {
		return undescribed(one.path, err)
	}
	if err := errors.Join(h.keepDescription(sum, d), h.keepDescribed(one.path, sum)); err != nil {
		return about(CodeState, h.descriptionPath(sum), err, "make the state folder writable for this user")
	}
	return nil
}

// unasked confines a plugin that is asked for its hooks for the first time: to what its plugin.toml asks for,
// else strictly. Where the machine cannot enforce that, it runs uncontained, as its caller asked for the run.
func (h *Host) unasked(path string) confines {
	box := hook.Sandbox{Mode: hook.SandboxStrict}
	if file, _ := readPackageFile(filepath.Join(filepath.Dir(path), manifestName)); file.box != nil {
		box = *file.box
	}
	box.Optional = true
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
	return safefile.Put(h.descriptionPath(sum), data)
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
	return safefile.Put(h.describedFile(path), data)
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
	fresh := &Problem{Code: CodeNew, Path: path, Reason: "it was not asked yet which hooks it has", Hint: "run: tenterhook trust " + idOf(path)}
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
