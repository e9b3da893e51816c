package discovery_test

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/tenterhook/tenterhook/discovery"
)

// The project's hooks come before those of a folder that the operator named.
func Example() {
	fsys := afero.NewMemMapFs()
	for _, path := range []string{"/ws/.tenterhook/hooks/guard/HOOK.md", "/named/audit/HOOK.md"} {
		path, _ = filepath.Abs(path)
		_ = afero.WriteFile(fsys, path, []byte("+++\n"), 0o644)
	}
	scopes, _ := discovery.Scopes(discovery.Options{FS: fsys, Workspace: "/ws", Dirs: []string{"/named", "/missing"}})
	found, notes, err := discovery.Find(context.Background(), fsys, scopes)
	for _, f := range found {
		fmt.Println(f.Scope.Scope, f.Name, len(f.Data), "bytes")
	}
	for _, d := range notes {
		fmt.Println(d.Code, d.Message)
	}
	fmt.Println(err)
	// Output:
	// project guard 4 bytes
	// dir audit 4 bytes
	// dir_missing there is no such folder
	// <nil>
}
