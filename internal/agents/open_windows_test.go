package agents

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

// Wine lets no program replace a file that is open, Windows where the other program allows it, as Node does.
func TestAFileThatAnotherProgramHoldsOpenIsReplacedOrLeftWhole(t *testing.T) {
	for name, share := range map[string]uint32{
		"which others may replace": windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE,
		"which others may read":    windows.FILE_SHARE_READ,
	} {
		t.Run(name, func(t *testing.T) {
			e, a := testEnv(t), agent(t, "claude")
			path := filepath.Join(e.Home, ".claude", "settings.json")
			write(t, path, []byte("{}"))
			name, err := windows.UTF16PtrFromString(path)
			if err != nil {
				t.Fatal(err)
			}
			held, err := windows.CreateFile(name, windows.GENERIC_READ, share, nil, windows.OPEN_EXISTING, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			p, err := e.PlanInstall(a, User)
			if err == nil {
				err = e.Apply(p)
			}
			now := string(read(t, path))
			if err != nil && (!strings.Contains(err.Error(), "another program has it open") || now != "{}") {
				t.Errorf("%v, and the file is %.40q", err, now)
			}
			if err == nil && !strings.Contains(now, "PreToolUse") {
				t.Errorf("it is installed, and the file is %.40q", now)
			}
			if err := windows.CloseHandle(held); err != nil {
				t.Fatal(err)
			}
			install(t, e, a, User)
			uninstall(t, e, a, User)
			if now := string(read(t, path)); now != "{}" {
				t.Errorf("after uninstall: %.40q", now)
			}
		})
	}
}

// What a file alone allows stays, though a new file takes its place.
func TestTheAccessListOfAFileStays(t *testing.T) {
	e, a := testEnv(t), agent(t, "claude")
	path := filepath.Join(e.Home, ".claude", "settings.json")
	write(t, path, []byte("{}"))
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		t.Fatal(err)
	}
	sd, err := windows.SecurityDescriptorFromString("D:P(A;;FA;;;" + user.User.Sid.String() + ")")
	if err != nil {
		t.Fatal(err)
	}
	if err := (owner{sd}).give(path); err != nil {
		t.Fatal(err)
	}
	before := ownerOf(path, nil).String()
	neighbour := filepath.Join(e.Home, ".claude", "other")
	write(t, neighbour, nil)
	if others := ownerOf(neighbour, nil).String(); before == others {
		t.Skip("Wine: a file has no access list of its own: " + others)
	}
	install(t, e, a, User)
	if now := ownerOf(path, nil).String(); now != before {
		t.Errorf("it was %s and is %s", before, now)
	}
	uninstall(t, e, a, User)
	if now := ownerOf(path, nil).String(); now != before {
		t.Errorf("after uninstall it was %s and is %s", before, now)
	}
}
