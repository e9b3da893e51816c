//go:build unix

package agents

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRootLeavesFilesToTheirOwners(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const uid, gid = 54321, 54322
	e, a := testEnv(t), agent(t, "claude")
	path := filepath.Join(e.Home, ".claude/settings.json")
	write(t, path, []byte("{}"))
	for _, p := range []string{e.Home, filepath.Dir(path), path} {
		if err := os.Chown(p, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	e.StateDir = filepath.Join(e.Home, ".local/state/tenterhook")
	unlock, err := e.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	install(t, e, a, User)
	install(t, e, agent(t, "gemini"), User) // files and directories that are made
	unlock()
	for _, p := range files(t, e.Home) {
		info, err := os.Lstat(p)
		if err != nil {
			t.Fatal(err)
		}
		if who := ownerOf("", info); who.uid != uid || who.gid != gid {
			t.Errorf("%s belongs to %d:%d", p, who.uid, who.gid)
		}
	}
	uninstall(t, e, a, User)
	if info, err := os.Stat(path); err != nil || ownerOf("", info).uid != uid {
		t.Errorf("after uninstall: %v", err)
	}
}
