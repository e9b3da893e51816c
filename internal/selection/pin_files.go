package selection

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/resolve"
	"github.com/tenterhook/tenterhook/trust"
)

// sealGuard reads the files that a guard's command comes to: those of its folder,
// and the files that the command names elsewhere. It returns nil for a guard without
// a command, and where they cannot be read.
func (r *Hooks) sealGuard(h *hook.Hook) *trust.Seal {
	if h.Command == nil {
		return nil
	}
	s := trust.Subject{ID: h.ID, Root: filepath.Dir(h.Source.Path), Path: h.Source.Path, Dir: h.Source.Dir, Definition: []byte("[]")}
	if s.Dir != "" {
		s.Root, s.Path = s.Dir, filepath.Join(s.Dir, filepath.Base(s.Path))
	}
	environ := resolve.NewEnviron(h, r.Env, r.Workspace)
	program, _ := resolve.Command(h, &environ, resolve.Place{Project: r.Workspace}) // what cannot start has files all the same
	seal, err := s.With(program).Seal()
	if err != nil {
		return nil
	}
	return seal
}

// digestOf is that of the files of a seal but for the manifest, which may be
// another now: the guard is kept as it was declared.
func digestOf(s *trust.Seal) string {
	files := s.Approval()
	sum := sha256.New()
	for _, f := range append(files.Folder, files.Files...) {
		if f.Name != "HOOK.md" {
			fmt.Fprintf(sum, "%q %s %v %q %v\n", f.Name, f.SHA256, f.Exec, f.Link, f.Missing)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
