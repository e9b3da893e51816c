package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/registry"
	"github.com/tenterhook/tenterhook/trust"
)

// approvals are those of a workspace, and of what is loaded there.
type approvals struct {
	store     *trust.Store
	workspace string
	subjects  func() []registry.Subject // as they are approved now
	here      func(root string) bool
}

// goneFolders are a workspace that is gone and the folders above it that are gone
// too, the workspace first, without the links on the way; none if it is there.
func goneFolders(workspace string) (gone []string) {
	dir, err := filepath.Abs(workspace)
	if err != nil {
		return nil
	}
	for {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		gone = append(gone, dir)
		dir = filepath.Dir(dir)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) { // a link that leads nowhere is there
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			for i, path := range gone {
				gone[i] = filepath.Join(real, path[len(dir):])
			}
			break
		}
	}
	return gone
}

// approvedRoot is the first of the folders that has approvals, else the first one.
func approvedRoot(store *trust.Store, folders []string) string {
	list, _ := store.List() // revoke reports what cannot be read
	for _, dir := range folders {
		if slices.ContainsFunc(list, func(x trust.Approval) bool { return x.Root == dir }) {
			return dir
		}
	}
	return folders[0]
}

// revoke takes back the approvals of a workspace and of the packages that
// bear an ID, wherever the hook was declared and whether or not it is there.
func (a *app) revoke(of approvals, ids []string, f trustFlags) error {
	meant, subjects := make([]string, len(ids)), of.subjects()
	for i, id := range ids {
		meant[i] = approvedAs(subjects, id)
	}
	removed, err := of.store.RevokeWhere(func(x *trust.Approval) bool {
		return (f.all || slices.Contains(meant, x.ID)) && of.here(x.Root)
	})
	if err != nil {
		return err
	}
	if a.json {
		if err := a.printJSON(map[string]any{"revoked": len(removed)}); err != nil {
			return err
		}
	} else if len(removed) > 0 {
		fmt.Fprintf(a.Out, "revoked %s\n", phrase.Count(len(removed), "approval"))
	}
	for i, id := range ids {
		if !slices.ContainsFunc(removed, func(x trust.Approval) bool { return x.ID == meant[i] }) {
			a.failed("no approval of %s was found for %s: nothing was revoked%s", id, of.workspace, of.meant(id))
		}
	}
	if len(removed) == 0 && f.all {
		a.failed("no approval was found for %s: nothing was revoked", of.workspace)
	}
	for _, s := range of.subjects() {
		if id := s.ID(); s.Verdict.Approved && (f.all || slices.Contains(meant, id)) {
			a.failed("%s is still approved, by a file that --approvals hands in", id)
		}
	}
	return nil
}

// meant suggests the approved hook that an ID without an approval was to name.
func (of approvals) meant(id string) string {
	list, _ := of.store.List() // what cannot be read was reported
	var ids []string
	for i := range list {
		if of.here(list[i].Root) {
			ids = append(ids, list[i].ID)
		}
	}
	if near := nearestID(id, ids); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// roots reports whether approvals of a root are this workspace's or a package's.
func (a *app) roots(reg *registry.Registry) func(string) bool {
	var exact []string
	add := func(dir string) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			exact = append(exact, real)
		}
	}
	add(reg.Workspace())
	for _, s := range reg.Subjects() {
		add(s.Root())
	}
	packages := a.pluginsDir()
	if real, err := filepath.EvalSymlinks(packages); err == nil {
		packages = real
	}
	return func(root string) bool {
		rel, err := filepath.Rel(packages, root)
		return slices.Contains(exact, root) || err == nil && rel != "." && filepath.IsLocal(rel)
	}
}
