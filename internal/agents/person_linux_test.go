package agents

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tenterhook/tenterhook/internal/agents/loopback"
)

// somebody is a user who is not root, and whom no file of this machine belongs to.
const somebody = 47321

// canRead lets a process read what root alone may: the clients are in root's home.
const canRead = 2 // CAP_DAC_READ_SEARCH

func TestClientOfAUserWhoIsNotRootObeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "gemini")
	uid := os.Geteuid()
	w.hook("deny", onTouch("deny"), `echo "REASON-DENY of $(id -u)." >&2; exit 2`)
	if uid == 0 {
		uid = somebody
		w.giveAway()
	}
	w.install()
	s := w.prompt("run it", loopback.Conversation{Turns: []loopback.Turn{w.touch("x-deny"), w.touch("x-free"), {Text: "all done"}}})
	s.want("x-free", true)
	s.want("x-deny", false, fmt.Sprintf("REASON-DENY of %d.", uid))
	s.showed(triedPerson)
}

// giveAway makes the world that user's, who runs its commands from now on.
func (w *world) giveAway() {
	w.t.Helper()
	err := os.Chmod(filepath.Dir(w.dir), 0o711)
	for _, path := range append(files(w.t, w.dir), w.dir) {
		if !strings.HasPrefix(path, w.bin) {
			err = errors.Join(err, os.Lchown(path, somebody, somebody))
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.become = func(cmd *exec.Cmd) {
		if cmd.SysProcAttr == nil {
			cmd.SysProcAttr = &syscall.SysProcAttr{}
		}
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: somebody, Gid: somebody}
		cmd.SysProcAttr.AmbientCaps = []uintptr{canRead} // in effect for what env starts
		cmd.Path, cmd.Args = "/usr/bin/env", append([]string{"env", cmd.Path}, cmd.Args[1:]...)
	}
}
