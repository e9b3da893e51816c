package registry_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Where the system has no more watches to give, Watch says so. The process of the test
// is started anew among users of its own, who have limits of their own.
func TestWatchSaysThatTheSystemHasNoMoreWatches(t *testing.T) {
	const limited = "TENTERHOOK_TEST_NO_WATCHES"
	limits := map[string]string{"max_inotify_watches": "raise the system's limit of watches", "max_inotify_instances": "watch hooks: "}
	if limit := os.Getenv(limited); limit != "" {
		if err := os.WriteFile("/proc/sys/user/"+limit, []byte("1"), 0); err != nil {
			t.Skip(err)
		}
		if limit == "max_inotify_instances" { // the only one
			fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC)
			if err != nil {
				t.Skip(err)
			}
			defer syscall.Close(fd)
		}
		opts := machine(t, "")
		write(t, filepath.Join(opts.UserDir, "hooks", "a", "HOOK.md"), "+++\nevent = \"Stop\"\ncommand = \"true\"\n+++\n")
		if err := open(t, opts).Watch(t.Context(), nil); err == nil || !strings.Contains(err.Error(), limits[limit]) {
			t.Errorf("%v", err)
		}
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for limit := range limits {
		cmd := exec.Command(program, "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), limited+"="+limit)
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
		out, err := cmd.CombinedOutput()
		switch {
		case strings.Contains(string(out), "--- SKIP"), err != nil && len(out) == 0:
			t.Skipf("no limit of its own: %v", err)
		case err != nil:
			t.Errorf("%s: %v\n%s", limit, err, out)
		}
	}
}
