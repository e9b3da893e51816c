package cli

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/source"
	"github.com/tenterhook/tenterhook/manifest"
	"github.com/tenterhook/tenterhook/trust"
)

// brought is a hook of a source as it would be loaded.
type brought struct {
	hook       *hook.Hook
	definition []byte
	folder     []trust.File
	files      map[string]source.File
}

// read parses a hook that is to be written to dir. A broken hook is refused:
// it would be invalid at every event.
func (a *app) readBrought(f *source.Fetched, h *source.Hook, dir string) (*brought, error) {
	path := filepath.Join(dir, h.Name, "HOOK.md")
	src := manifest.Source{Scope: a.scopeOf(dir), Folder: h.Name, Source: hook.Source{Path: path, Dir: filepath.Dir(path), Root: dir}}
	declared, notes := manifest.Parse(src, h.Files["HOOK.md"].Data)
	for _, n := range notes {
		if n.Severity == hook.SeverityError {
			return nil, &located{n.Code, fmt.Sprintf("%s: %s:%d: %s", f.Spec, filepath.Join(h.Folder, "HOOK.md"), n.Line, n.Message), "nothing was changed; have the source corrected"}
		}
	}
	definition, err := trust.Define(declared...)
	if err != nil {
		return nil, err
	}
	b := &brought{hook: declared[0], definition: definition, files: h.Files}
	for _, name := range slices.Sorted(maps.Keys(h.Files)) {
		file := h.Files[name]
		sum := sha256.Sum256(file.Data)
		b.folder = append(b.folder, trust.File{Name: name, Size: int64(len(file.Data)), SHA256: hex.EncodeToString(sum[:]), Exec: file.Exec})
	}
	return b, nil
}

// scopeOf is the scope that the hooks of a folder have.
func (a *app) scopeOf(dir string) hook.Scope {
	switch {
	case a.inProject(dir):
		return hook.ScopeProject
	case dir == filepath.Join(discovery.DefaultUserDir(), "hooks"):
		return hook.ScopeUser
	}
	return hook.ScopeDir
}

// text is a file's text, where it has one.
func (b *brought) text(f trust.File) ([]byte, bool) { return textOf(b.files[f.Name]) }

// textOf is the text of a file that can be shown as such.
func textOf(f source.File) ([]byte, bool) {
	const most = 64 << 10
	return f.Data, len(f.Data) <= most && utf8.Valid(f.Data) && !bytes.ContainsRune(f.Data, 0)
}

// showBrought prints what an approval shows of a hook: each fact that decides what
// runs, its files and their texts. Of a quiet one it only looks whether it is in
// order.
func (a *app) showBrought(f *source.Fetched, h *source.Hook, dir string, answers *bufio.Scanner, quiet bool) error {
	b, err := a.readBrought(f, h, dir)
	if err != nil || quiet {
		return err
	}
	p := a.newPage(answers)
	p.line(p.style.bold(factText(b.hook.ID)))
	p.fact("source", f.Spec.String())
	if f.Commit != "" {
		p.fact(commitWord(f.Spec), f.Commit)
	}
	p.fact("digest", h.Digest())
	for _, one := range facts(b.definition) {
		p.fact(one.name, one.value)
	}
	p.startsIn(b.hook)
	p.files(b.definition, nil, b.folder, b.text)
	p.runs(b.hook.ID, b.definition)
	p.end()
	return nil
}

// showUpdate prints the difference between a hook as it is and as it would be.
func (a *app) showUpdate(f *source.Fetched, h *source.Hook, was source.Locked, now source.State, dir string, answers *bufio.Scanner) error {
	b, err := a.readBrought(f, h, dir)
	if err != nil {
		return err
	}
	p := a.newPage(answers)
	p.line(p.style.bold(factText(b.hook.ID)))
	p.fact("source", fmt.Sprintf("%s, now %s", was.Spec, f.Spec))
	if f.Commit != was.Commit {
		p.fact(commitWord(f.Spec), fmt.Sprintf("%s, now %s", was.Commit, f.Commit))
		if f.Spec == was.Spec && fixed(f.Spec) {
			p.line("  " + p.style.yellow(factText("the tag "+f.Ref+" was moved to another "+commitWord(f.Spec))))
		}
	}
	names := slices.Collect(maps.Keys(now.Files))
	for name := range h.Files {
		if _, both := now.Files[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		p.fileDiff(name, now.Files, h.Files)
	}
	for _, name := range now.Edited {
		p.line("  " + p.style.yellow(factText("edited here: "+name)))
	}
	p.runs(b.hook.ID, b.definition)
	p.end()
	return nil
}

// commitWord says what Commit is of a source.
func commitWord(s source.Spec) string {
	if s.Kind == source.KindPack {
		return "pack"
	}
	return "commit"
}

// fixed reports whether the ref of a source names something that should stay: a
// version, or any tag of a pack.
func fixed(s source.Spec) bool { return s.Kind == source.KindPack || source.IsVersion(s.Ref) }

// fileDiff prints how a file changes.
func (p *page) fileDiff(name string, before, after map[string]source.File) {
	old, was := before[name]
	now, is := after[name]
	switch {
	case was && is && old.Exec == now.Exec && bytes.Equal(old.Data, now.Data):
		return
	case !was:
		p.line("  " + p.style.yellow(factText(name+" is added")))
	case !is:
		p.line("  " + p.style.yellow(factText(name+" is removed")))
	default:
		p.line("  " + p.style.yellow(factText(name+" changes")))
	}
	if was && is && old.Exec != now.Exec {
		p.fact("executable", fmt.Sprintf("%v, now %v", old.Exec, now.Exec))
	}
	from, ok := textOf(old)
	to, okNow := textOf(now)
	if !ok || !okNow {
		p.fact("bytes", fmt.Sprintf("%d, now %d; it is not shown", len(old.Data), len(now.Data)))
		return
	}
	p.text(trust.UnifiedDiff(name, from, to), "    ")
}
