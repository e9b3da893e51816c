package load

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/pack"
	"github.com/tenterhook/tenterhook/trust"
)

// Codes of diagnostics about packs.
const (
	packReference = "pack_reference" // what the settings name is no reference with a digest
	packMissing   = "pack_missing"   // it is not in the store
	packChanged   = "pack_changed"   // what is in the store is not what the digest says
	packName      = "pack_name"      // another pack has the same name
)

// namedPack is a pack as settings name it.
type namedPack struct {
	text   string // the reference
	config *ConfigFile
}

// namedPacks are the packs of all settings that may name one, each once: that of
// the managed settings before that of others.
func namedPacks(configs []*ConfigFile) (named []namedPack) {
	ordered := slices.Clone(configs)
	slices.SortStableFunc(ordered, func(a, b *ConfigFile) int { return layerRank(a.scope.Scope) - layerRank(b.scope.Scope) })
	for _, c := range ordered {
		switch c.scope.Scope {
		case hook.ScopeManaged, hook.ScopeUser, hook.ScopeDir:
		default:
			continue // it has no say, and the diagnostic reports it
		}
		if c.untrusted != "" {
			continue
		}
		for _, text := range c.settings.Packs {
			if !slices.ContainsFunc(named, func(n namedPack) bool { return n.text == text }) {
				named = append(named, namedPack{text, c})
			}
		}
	}
	return named
}

// PackRefs are the references of the packs that settings name, as they have them.
func PackRefs(configs []*ConfigFile) []string {
	var refs []string
	for _, n := range namedPacks(configs) {
		refs = append(refs, n.text)
	}
	return refs
}

// loadPacks loads the hooks of the packs that the settings name, from the store.
// Whatever is wrong with a pack, hooks stand for it, so that it does not
// look like a pack without objections.
func (r *Reader) loadPacks(ctx context.Context, last *Memory, l *Loaded) error {
	var seen []pack.Reference // the same pack of two places is one
	for _, n := range namedPacks(l.Configs) {
		s := discovery.Scope{Scope: hook.ScopePlugin, Pack: n.text, PackBy: n.config.scope.Scope, Aside: n.config.scope.Aside}
		problem := func(code, message, hint string) *hook.Diagnostic {
			return &hook.Diagnostic{Severity: hook.SeverityError, Code: code, Path: n.config.path, Message: "packs: " + message, Hint: hint}
		}
		ref, err := pack.Pinned(n.text)
		if err != nil {
			s.Package = "unknown"
			withoutPack(last, s, problem(packReference, err.Error(), "`tenterhook pack pull` prints the line"), l)
			continue
		}
		if slices.ContainsFunc(seen, func(s pack.Reference) bool { return s.Digest == ref.Digest && s.Name() == ref.Name() }) {
			continue
		}
		if i := slices.IndexFunc(seen, func(s pack.Reference) bool { return s.Name() == ref.Name() }); i >= 0 {
			twin := problem(packName, fmt.Sprintf("%s and %s have the same name, so IDs of their hooks are the same", seen[i], n.text),
				"leave one of them out, or push one under another name")
			twin.Severity = hook.SeverityWarning
			l.Notes = append(l.Notes, *twin)
		}
		seen = append(seen, ref)
		state := r.StateDir
		s.Package = ref.Name()
		s.Dir = filepath.Join(pack.Folder(state, ref.Digest), pack.FilesFolder)
		s.DataDir = pack.DataDir(state, ref)
		hint := "tenterhook pack pull " + n.text
		p, err := pack.Open(state, ref.Digest)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			withoutPack(last, s, problem(packMissing, n.text+" is not in the store of this machine", hint), l)
		case err != nil:
			withoutPack(last, s, problem(packChanged, n.text+": "+err.Error(), hint), l)
		default:
			if err := r.loadPack(ctx, last, s, p, problem, hint, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// lostPack reports whether a pack cannot be read that blocks then: a pack
// that is there, or a pack that the managed settings name. Who removes the latter must not
// switch it off.
func lostPack(s discovery.Scope, bad *hook.Diagnostic) bool {
	return bad.Code == packChanged || bad.Code == packMissing && s.PackBy == hook.ScopeManaged
}

// withoutPack puts in the place of a pack what it last held, or a hook that is
// invalid. That blocks if the pack is lost, or if default_on_failure says so. For
// one of the managed settings that is gone it stands in each process.
func withoutPack(last *Memory, s discovery.Scope, bad *hook.Diagnostic, l *Loaded) {
	l.Notes = append(l.Notes, *bad)
	gone := bad.Code == packMissing && lostPack(s, bad)
	if kept := last.unseenPack(s.Pack, nil); len(kept) > 0 && !gone {
		l.Definitions = append(l.Definitions, kept...)
		return
	}
	l.Definitions = append(l.Definitions, last.standIn(s, s.Package, bad.Path, bad))
}

// loadPack loads the hooks of a pack that is in the store. The digest must name
// each manifest; every other file is judged when a hook is to run.
func (r *Reader) loadPack(ctx context.Context, last *Memory, s discovery.Scope, p *pack.Pack, problem func(code, message, hint string) *hook.Diagnostic, hint string, l *Loaded) error {
	changed := p.Changed()
	if changed != "" {
		l.Notes = append(l.Notes, *problem(packChanged, s.Pack+": "+changed, hint))
	}
	s.HooksDir = filepath.Join(s.Dir, p.HooksDir())
	content := contentOf(p, hint)
	definitions, notes, err := discovery.Walk(ctx, nil, []discovery.Scope{s},
		func(path string) (*Definition, bool) { return last.folder(sourceOf(s, "", path)) },
		func(f *discovery.Found) *Definition {
			if d := last.sameFolder(f, nil); d != nil {
				return d
			}
			d := define(f)
			d.Content = content
			r.needApproval(d)
			return d
		})
	if changed == "" {
		l.Notes = append(l.Notes, notes...)
	}
	byPath := make(map[string]*Definition, len(definitions))
	for _, d := range definitions {
		byPath[d.Path] = d
	}
	for _, name := range p.Hooks() { // what is there besides is no part of the pack
		path := filepath.Join(s.Dir, filepath.FromSlash(name))
		want, _ := p.File(name)
		d := byPath[path]
		if d == nil || pack.Digest(d.data) != "sha256:"+want.SHA256 {
			bad := problem(packChanged, fmt.Sprintf("%s: %s is gone or changed", s.Pack, name), hint)
			d = last.standIn(s, filepath.Base(filepath.Dir(path)), path, bad)
		}
		l.Definitions, l.Notes = append(l.Definitions, d), append(l.Notes, d.Notes...)
	}
	return err
}

// contentOf is what the digest of a pack says of its files.
func contentOf(p *pack.Pack, remedy string) *trust.Content {
	files := make([]trust.File, len(p.Files))
	for i, f := range p.Files {
		files[i] = trust.File{Name: f.Name, Size: f.Size, SHA256: f.SHA256, Exec: f.Exec}
	}
	return trust.NewContent("the digest of its pack", remedy, files)
}
