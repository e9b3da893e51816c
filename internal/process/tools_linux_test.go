//go:build amd64 || arm64

package process_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/internal/process"
	"github.com/tenterhook/tenterhook/internal/sandbox"
)

// TestToolsThatHooksAreMadeOf holds the table of docs/containment.md.
func TestToolsThatHooksAreMadeOf(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	needSandbox(t)
	project := t.TempDir()
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-C", project, "-c", "user.name=n", "-c", "user.email=e"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(project, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, "go.mod"), []byte("module m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("git"); err == nil {
		git("init", "-q")
		git("add", ".")
		git("commit", "-q", "-m", "one")
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output() // one that is filled
	if err != nil {
		t.Fatal(err)
	}
	goCache := strings.TrimSpace(string(cache))
	const both, only, neither = "both", "read-only", "neither"
	for _, c := range []struct{ needs, line, works string }{
		{"sh", `printf 'a b\n' | grep -q a && seq 2000 | sort -R | xargs -P4 -n 100 echo | sed s/1/2/ | awk '{n++} END {exit n<1}'`, both},
		{"sh", `f=$(mktemp) && cat > "$f" <<E
x
E
grep -q x "$f" && rm "$f"`, both},
		{"bash", `bash -c 'diff <(echo a) <(echo a)'`, both},
		{"jq", `echo '{"a":1}' | jq -e .a`, both},
		{"python3", `echo '{}' | python3 -c 'import json,sys,subprocess,tempfile; json.load(sys.stdin); subprocess.check_output(["echo"]); tempfile.TemporaryFile()'`, both},
		{"python3", `python3 -c '
import asyncio
async def f():
    p = await asyncio.create_subprocess_exec("echo", stdout=-1); await p.communicate()
asyncio.run(f())'`, both},
		{"python3", `python3 -c 'import multiprocessing as m; m.Pool(2).map(abs,[1,-2])'`, neither},
		{"python3", `python3 -c 'import shutil,os; shutil.copy("/etc/hostname", os.environ["TMPDIR"]+"/c")'`, only},
		{"python3", `python3 -c 'import shutil,os; shutil.copyfile("/etc/hostname", os.environ["TMPDIR"]+"/c")'`, both},
		{"node", `node -e 'require("child_process").execSync("echo"); require("child_process").spawn("echo").on("exit", c => process.exit(c))'`, both},
		{"node", `node -e 'require("fs").copyFileSync("/etc/hostname", process.env.TMPDIR + "/d")'`, only},
		{"perl", `perl -e 'print 1'`, both},
		{"git", `cd "$PROJECT" && git -c safe.directory='*' status --short && git -c safe.directory='*' log -1 && git -c safe.directory='*' diff`, both},
		{"go", `cd "$PROJECT" && go build -o "$TMPDIR/m" .`, both},
		{"cp", `cp -p /etc/hostname "$TMPDIR/e"`, only},
		{"tar", `cd "$TMPDIR" && echo x > f && tar cf t.tar f && rm f && tar xf t.tar`, only},
		{"touch", `echo x > "$TMPDIR/f" && touch "$TMPDIR/f"`, only},
		{"flock", `cd "$TMPDIR" && flock l true && ln -s a b && mkfifo p`, both},
		{"timeout", `timeout 5 nice true`, both},
		{"ps", `ps -e > /dev/null`, both},
		{"bash", `bash -c ': < /dev/tcp/127.0.0.1/1' 2>&1 | grep -q refused`, only},
	} {
		if _, err := exec.LookPath(c.needs); err != nil {
			t.Logf("%s is not installed: %s", c.needs, c.line)
			continue
		}
		for _, mode := range []sandbox.Mode{sandbox.ReadOnly, sandbox.Strict} {
			s := shell(c.line)
			s.Env = append(s.Env, "PROJECT="+project, "GIT_CONFIG_GLOBAL=/dev/null", "GOCACHE="+goCache, "GOFLAGS=")
			s.Sandbox = &sandbox.Policy{Mode: mode, Read: []string{project, home(), "/usr/local"}, Write: []string{goCache}}
			res, err := process.Run(t.Context(), s)
			want := c.works == both || c.works == only && mode == sandbox.ReadOnly
			if err != nil || res.OK() != want {
				t.Errorf("%s: works = %v, want %v: %s\n%v %s", mode, res.OK(), want, c.line, err, strings.TrimSpace(string(res.Stderr)))
			}
		}
	}
}

// home is where a machine may have its own builds of tools.
func home() string { dir, _ := os.UserHomeDir(); return dir }
