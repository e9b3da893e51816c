package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/built"
)

func TestTheExampleOfAFleetShowsWhatItsReadmeSays(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if testing.Short() || err != nil {
		t.Skip("long, and needs bash on PATH: a hub, a worker and three machines")
	}
	bin := filepath.Dir(programs(t))
	if err := built.Into(bin, "cmd/tenterhook"); err != nil {
		t.Fatal(err)
	}
	port := func() string { return strings.TrimPrefix(freePort(t), "127.0.0.1:") }
	run := exec.Command(bash, "../../../examples/fleet/run.sh")
	run.Env = append(os.Environ(), "FLEET_BIN="+bin, "TMPDIR="+t.TempDir(), "HUB_PORT="+port(), "ENROLL_PORT="+port())
	var said bytes.Buffer
	run.Stdout, run.Stderr = &said, &said
	run.WaitDelay = time.Minute // what it leaves behind would keep the pipe
	if err := run.Run(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	decided := func(machine, command, verdict string) int {
		n := 0
		for line := range strings.Lines(said.String()) {
			if fields := strings.Fields(line); len(fields) > 2 && fields[0] == machine && strings.HasPrefix(strings.Join(fields[1:], " "), command+" "+verdict) {
				n++
			}
		}
		return n
	}
	for _, machine := range []string{"ada", "bob", "ci-1"} {
		for _, want := range []struct {
			command, verdict string
			times            int
		}{{"git push --force origin main", "none", 1}, {"git push --force origin main", "deny The fleet's policy: no push by force.", 1}, {"ls", "none", 2}, {"ls", "deny incident 7", 1}} {
			if got := decided(machine, want.command, want.verdict); got != want.times {
				t.Errorf("%s decided %q of %q %d times, want %d", machine, want.verdict, want.command, got, want.times)
			}
		}
	}
	if !strings.Contains(said.String(), "success  plugin/guards/review") {
		t.Error("no worker reviewed anything")
	}
	if t.Failed() {
		t.Log(said.String())
	}
}
