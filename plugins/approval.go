package plugins

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/trust"
)

// approval says what of an executable may run: its bytes as they are now, if
// these were approved. Where none may, the process of the earlier bytes ends with
// its last call.
func (h *Host) approval(path string) (approval, *Problem) {
	a, p := h.allowed(path)
	if p != nil {
		h.mu.Lock()
		u := h.units[path]
		h.mu.Unlock()
		if u != nil {
			u.Withdraw()
		}
	}
	return a, p
}

// approvalWithin is the approval as it is now, of a process that is confined as
// before. A sandbox that was approved is another one where that changed.
func (h *Host) approvalWithin(path string, before approval) (approval, *Problem) {
	now, p := h.approval(path)
	if p != nil {
		return now, p
	}
	return now.confine(&hook.Hook{Sandbox: before.box}, before.project), nil
}

func (h *Host) allowed(path string) (approval, *Problem) {
	found, p := h.approvals(path)
	if len(found) == 0 { // it is not even read: it may be anything, of any size
		if wrong := checkAt(path); wrong != nil {
			return approval{}, wrong
		}
		return approval{}, cmp.Or(p, untrusted(path))
	}
	seal, p := h.seal(path)
	if p != nil {
		return approval{}, p
	}
	for _, a := range found {
		if digestOf(a.Folder) == digestOf(seal.Folder()) {
			return approval{digest: digestOf(a.Folder), seal: seal, terms: h.termsOf(path, a)}, nil
		}
	}
	return approval{}, notApproved(path, digestOf(seal.Folder()), digestOf(found[0].Folder))
}

// executable is what is known of an executable's bytes and of its approval.
type executable struct {
	key   trust.Key
	seal  *trust.Seal
	of    *trust.Approval // that terms are of
	terms terms
}

// subjectOf is what an approval of the executable at a path is about.
func subjectOf(path string) trust.Subject {
	dir := filepath.Dir(path)
	return trust.Subject{ID: idOf(path), Root: dir, Path: path, Dir: dir, Only: filepath.Base(path), Definition: []byte("[]")}
}

// idOf is what the executable at a path is approved by: plugin/PACKAGE/NAME.
func idOf(path string) string {
	return dialect.HookID(hook.ScopePlugin, filepath.Base(filepath.Dir(path)), nameIn(path))
}

// approvals are those of an executable, of whatever bytes, as they are now. The
// problem is why some cannot be relied on.
func (h *Host) approvals(path string) ([]*trust.Approval, *Problem) {
	h.mu.Lock()
	r := h.read[path]
	h.mu.Unlock()
	if r.seal == nil {
		var err error
		subject := subjectOf(path)
		if r.key, err = subject.Key(); err != nil {
			return nil, about(CodeMissing, filepath.Dir(path), err, "install the package again, or take its hooks out")
		}
	}
	var all []*trust.Approval
	var wrong *Problem
	for _, s := range h.stores() {
		found, err := s.Find(r.key)
		if err != nil {
			wrong = distrusted(err)
		}
		for _, a := range found {
			if digestOf(a.Folder) != "" {
				all = append(all, a)
			}
		}
	}
	return all, wrong
}

// seal is that of the executable's bytes as they are now, for a stat if they did
// not change. It also checks the file.
func (h *Host) seal(path string) (*trust.Seal, *Problem) {
	h.mu.Lock()
	r := h.read[path]
	h.mu.Unlock()
	if r.seal != nil {
		if intact, _ := r.seal.Intact(); intact {
			return r.seal, nil // it was checked then; its stamp has its mode, and a new owner makes it another
		}
	}
	if p := checkAt(path); p != nil {
		return nil, p
	}
	subject := subjectOf(path)
	seal, err := subject.Seal()
	if err == nil && len(seal.Folder()) == 0 {
		return nil, about(CodeMissing, path, os.ErrNotExist, "install the package again, or take its hooks out")
	}
	if err != nil {
		return nil, unsealed(path, err)
	}
	r.key, r.seal = keyOf(seal), seal
	h.mu.Lock()
	h.read[path] = r
	h.mu.Unlock()
	return seal, nil
}

func keyOf(seal *trust.Seal) trust.Key {
	a := seal.Approval()
	return a.Key()
}

// digestOf is the sha256 of the only file, "" = there is none.
func digestOf(files []trust.File) string {
	if len(files) != 1 {
		return ""
	}
	return files[0].SHA256
}

// terms are what an approval grants the process of a plugin.
type terms struct {
	env     []string      // variables of the host beside the usual ones
	granted *hook.Sandbox // nil = that of the hook counts
}

// termsOf reads what an approval grants.
func (h *Host) termsOf(path string, a *trust.Approval) terms {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.read[path]
	if r.of != a {
		r.of, r.terms = a, grantedBy(a.Definition)
		h.read[path] = r
	}
	return r.terms
}

// define is the definition that an approval of a plugin binds: what its process
// is granted, and then its hooks.
func define(t terms, hooks []*hook.Hook) ([]byte, error) {
	self := &hook.Hook{Kind: hook.KindPlugin, Sandbox: t.granted}
	if len(t.env) > 0 {
		raw, err := json.Marshal(t.env)
		if err != nil {
			return nil, err
		}
		self.Params = hook.Params{"env": raw}
	}
	return trust.Define(append([]*hook.Hook{self}, hooks...)...)
}

// grantedBy reads the terms of a definition.
func grantedBy(definition []byte) terms {
	var entries []struct {
		Params  struct{ Env []string }
		Sandbox *hook.Sandbox
	}
	if json.Unmarshal(definition, &entries) != nil || len(entries) == 0 || wrongBox(entries[0].Sandbox) != "" {
		return terms{granted: &hook.Sandbox{Mode: hook.SandboxStrict}} // no plugin was approved so
	}
	return terms{entries[0].Params.Env, entries[0].Sandbox}
}

// isBinary reports whether a path is that of a plugin in a package's folder.
func isBinary(path, dir string) bool {
	name := filepath.Base(path)
	return filepath.Dir(path) == dir && binaryName(nameIn(path)) == name
}

// approvedIn lists the plugins of a package's folder that are approved, whether or
// not they are there. They are not known if some approvals cannot be relied on, or
// if there are none of anything.
func (h *Host) approvedIn(dir string) (paths []string, known bool, wrong *Problem) {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		root = dir
	}
	for _, s := range h.stores() {
		list, err := s.List()
		if err != nil {
			wrong = distrusted(err)
		}
		known = known || len(list) > 0
		for i := range list {
			path := filepath.Join(dir, filepath.FromSlash(list[i].Path))
			of := list[i].Root == "" || list[i].Root == root
			if of && isBinary(path, dir) && list[i].ID == idOf(path) && digestOf(list[i].Folder) != "" && !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	slices.Sort(paths)
	return paths, known && wrong == nil, wrong
}

// distrusted is why approvals cannot be relied on.
func distrusted(err error) *Problem {
	var p *trust.Problem
	if errors.As(err, &p) {
		return &Problem{Code: CodeApprovals, Path: p.Path, Reason: p.Reason, Hint: p.Remedy, Err: err}
	}
	return &Problem{Code: CodeApprovals, Reason: err.Error(), Err: err}
}

// unsealed is why the bytes of an executable cannot be read.
func unsealed(path string, err error) *Problem {
	var p *trust.Problem
	if !errors.As(err, &p) {
		return about(CodeUnsafe, path, err, "make it readable for this user")
	}
	return &Problem{Code: CodeUnsafe, Path: path, Reason: "it " + p.Reason, Hint: p.Remedy, Err: err}
}

// copyOf returns a private copy of approved bytes. Its digest is taken of the
// bytes that are copied, and of the copy before it is executed, so there is no
// time to swap a plugin between its check and its start.
func (h *Host) copyOf(path string, seal *trust.Seal) (string, *Problem) {
	dir, err := h.snapshots.Dir(seal)
	if err == nil {
		return filepath.Join(dir, filepath.Base(path)), nil
	}
	if wrong := checkAt(path); wrong != nil {
		return "", wrong
	}
	var p *trust.Problem
	if errors.As(err, &p) && p.Path == path {
		if now, wrong := h.seal(path); wrong == nil && digestOf(now.Folder()) != digestOf(seal.Folder()) {
			return "", notApproved(path, digestOf(now.Folder()), digestOf(seal.Folder()))
		}
		return "", unsealed(path, err)
	}
	if p != nil {
		return "", &Problem{Code: CodeState, Path: p.Path, Reason: "it " + p.Reason, Hint: p.Remedy, Err: err}
	}
	return "", about(CodeState, h.options.StateDir, err, "make it yours alone, or name another state folder")
}

func notApproved(path, have, want string) *Problem {
	return &Problem{Code: CodeChanged, Path: path,
		Reason: fmt.Sprintf("its sha256 is %s, approved is %s", have, want),
		Hint:   again(path)}
}

func untrusted(path string) *Problem {
	return &Problem{Code: CodeUntrusted, Path: path, Reason: "it is not approved",
		Hint: "look at where it comes from, then approve it: tenterhook trust " + idOf(path)}
}

func again(path string) string {
	return "find out who changed it; if it is meant, approve it: tenterhook trust " + idOf(path)
}

// differ says of a plugin whose plugin.toml asks for something else than these
// terms.
func (t terms) differ(path string, file packageFile) *Problem {
	what := "sandbox"
	if !slices.Equal(t.env, file.Env) {
		what = "env"
	} else {
		granted, _ := json.Marshal(t.granted) // a sandbox cannot fail, and was read from JSON
		asked, _ := json.Marshal(file.box)
		if bytes.Equal(granted, asked) {
			return nil
		}
	}
	return &Problem{Code: CodeChanged, Path: path, Reason: fmt.Sprintf("the %s that %s asks for is not what was approved", what, manifestName), Hint: again(path)}
}
