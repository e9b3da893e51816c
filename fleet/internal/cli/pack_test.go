package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/built"

	"github.com/gofrs/flock"
	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/tenterhook/tenterhook/fleet/internal/cli"
)

// call runs a command line as a user does, in a home directory of its own.
func call(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = cli.Main(context.Background(), args, &o, &e)
	return code, o.String(), e.String()
}

// says runs a command that must end well, and returns its JSON.
func says(t *testing.T, args ...string) map[string]any {
	t.Helper()
	code, out, errs := call(t, append(args, "--json")...)
	var said map[string]any
	if err := json.Unmarshal([]byte(out), &said); code != 0 || err != nil {
		t.Fatalf("%v: exit code %d, %v\n%s%s", args, code, err, out, errs)
	}
	return said
}

// home gives the test a home directory, and returns the state directory.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("DOCKER_CONFIG", filepath.Join(dir, ".docker"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	return filepath.Join(dir, "state", "tenterhook")
}

const guard = "+++\nevent = \"PreToolUse\"\ncommand = \"./run.sh\"\n+++\n"

// folder makes a folder of hooks.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		mode := os.FileMode(0o640)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o750
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func hooks(t *testing.T) string {
	return folder(t, map[string]string{
		"guard/HOOK.md": guard, "guard/run.sh": "#!/bin/sh\nexit 2\n", "guard/" + strings.Repeat("long-", 30) + ".txt": "x",
		"audit/HOOK.md": guard, "audit/run.sh": "#!/bin/sh\n", "audit/ünï.txt": "", ".git/config": "no",
	})
}

// inMemory is a registry of this process.
func inMemory(t *testing.T) string {
	s := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// docker is Debian's docker-registry. A test skips where it is not installed.
func docker(t *testing.T) string {
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		t.Skip("docker-registry is not on PATH: a real registry is not tried")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := l.Addr().String()
	_ = l.Close()
	config := filepath.Join(t.TempDir(), "config.yml")
	text := "version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: " + t.TempDir() + "\nhttp:\n  addr: " + host + "\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.Command(program, "serve", config)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	for until := time.Now().Add(15 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", host); err == nil {
			_ = c.Close()
			return host
		}
	}
	t.Fatal("docker-registry does not listen")
	return ""
}

func TestAPackHasOneDigestEverywhere(t *testing.T) {
	want := ""
	for name, place := range map[string]func(t *testing.T) string{
		"layout":   func(t *testing.T) string { return "oci:" + filepath.Join(t.TempDir(), "guards") },
		"memory":   func(t *testing.T) string { return inMemory(t) + "/team/guards" },
		"docker's": func(t *testing.T) string { return docker(t) + "/team/guards" },
	} {
		t.Run(name, func(t *testing.T) {
			state, place := home(t), place(t)+":v1"
			dir := hooks(t) // each is another folder, of other times
			pushed := says(t, "pack", "push", dir, place)
			pulled := says(t, "pack", "pull", place)
			verified := says(t, "pack", "verify", place)
			listed := says(t, "pack", "list", place)
			for what, said := range map[string]map[string]any{"push": pushed, "pull": pulled, "verify": verified, "list": listed, "verify of the folder": says(t, "pack", "verify", dir)} {
				if digest := said["digest"].(string); want == "" {
					want = digest
				} else if digest != want {
					t.Errorf("%s says the digest %s, want %s", what, digest, want)
				}
				if what != "verify of the folder" && said["reference"] != pushed["reference"] {
					t.Errorf("%s says %v, push %v", what, said["reference"], pushed["reference"])
				}
			}
			if verified["stored"] != "intact" {
				t.Errorf("the store's copy is %v", verified["stored"])
			}
			if n := len(listed["files"].([]any)); n != 6 {
				t.Errorf("list shows %d files", n)
			}
			got, err := os.ReadFile(filepath.Join(pulled["folder"].(string), "files", "guard", "run.sh"))
			if err != nil || string(got) != "#!/bin/sh\nexit 2\n" || !strings.HasPrefix(pulled["folder"].(string), state) {
				t.Errorf("%q, %v in %v", got, err, pulled["folder"])
			}
			if info, err := os.Stat(filepath.Join(pulled["folder"].(string), "files", "guard", "run.sh")); err != nil || info.Mode()&0o100 == 0 && runtime.GOOS != "windows" {
				t.Errorf("run.sh cannot be executed: %v", err)
			}
		})
	}
}

func TestATagThatMovedIsTold(t *testing.T) {
	home(t)
	for name, place := range map[string]string{"layout": filepath.Join(t.TempDir(), "g"), "registry": inMemory(t) + "/team/g"} {
		tagged := place + ":v1"
		if name == "layout" {
			tagged = "oci:" + tagged
		}
		first := says(t, "pack", "push", hooks(t), tagged)
		other := folder(t, map[string]string{"hooks/guard/HOOK.md": guard})
		second := says(t, "pack", "push", other, tagged)
		if second["before"] != first["digest"] || second["digest"] == first["digest"] {
			t.Errorf("%s: pushed %v over %v, told %v", name, second["digest"], first["digest"], second["before"])
		}
		old := says(t, "pack", "pull", first["reference"].(string))
		if old["digest"] != first["digest"] {
			t.Errorf("%s: the older digest gives %v", name, old["digest"])
		}
		tags, _ := says(t, "pack", "list", place)["tags"].([]any)
		if len(tags) != 1 || tags[0].(map[string]any)["digest"] != second["digest"] {
			t.Errorf("%s: tags %v", name, tags)
		}
		if code, _, errs := call(t, "pack", "push", other, tagged+"@"+first["digest"].(string)); code != 1 || !strings.Contains(errs, "has the digest") {
			t.Errorf("%s: another digest: exit code %d, %s", name, code, errs)
		}
	}
}

func TestAPackInTheStoreNeedsNoNetworkAndIsRestored(t *testing.T) {
	home(t)
	layout := filepath.Join(t.TempDir(), "g")
	pushed := says(t, "pack", "push", hooks(t), "oci:"+layout+":v1")
	ref := pushed["reference"].(string)
	files := filepath.Join(says(t, "pack", "pull", ref)["folder"].(string), "files")
	script := filepath.Join(files, "guard", "run.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexit 0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := call(t, "pack", "verify", ref); code != 1 || !strings.Contains(errs, "run.sh changed; fetch it again: tenterhook pack pull") {
		t.Errorf("verify of a changed copy: exit code %d, %s", code, errs)
	}
	says(t, "pack", "pull", ref)
	if got, err := os.ReadFile(script); err != nil || string(got) != "#!/bin/sh\nexit 2\n" {
		t.Errorf("the changed copy was not replaced: %q, %v", got, err)
	}
	if err := os.RemoveAll(layout); err != nil {
		t.Fatal(err)
	}
	says(t, "pack", "pull", ref)
	if left, _ := filepath.Glob(filepath.Join(files, "..", "..", ".new-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestPushesAtTheSameTimeKeepTheirTags(t *testing.T) {
	home(t)
	layout := filepath.Join(t.TempDir(), "g")
	dir := hooks(t)
	done := make(chan int)
	tags := []string{"a", "b", "c", "d", "e"}
	for _, tag := range tags {
		go func() {
			done <- cli.Main(context.Background(), []string{"pack", "push", dir, "oci:" + layout + ":" + tag}, io.Discard, io.Discard)
		}()
	}
	for range tags {
		if code := <-done; code != 0 {
			t.Error("a push failed")
		}
	}
	if got := says(t, "pack", "list", layout)["tags"].([]any); len(got) != len(tags) {
		t.Errorf("tags %v, want %v", got, tags)
	}
}

func TestAPushThatWaitsForAnotherEnds(t *testing.T) {
	home(t)
	layout := filepath.Join(t.TempDir(), "g")
	dir := hooks(t)
	says(t, "pack", "push", dir, "oci:"+layout+":a")
	other := flock.New(filepath.Join(layout, "oci-layout"))
	if err := other.Lock(); err != nil {
		t.Fatal(err)
	}
	interrupted, interrupt := context.WithCancel(context.Background())
	interrupt()
	for want, ctx := range map[string]context.Context{"it takes longer than 100ms": context.Background(), "it was interrupted": interrupted} {
		ended := make(chan string, 1)
		go func() {
			var errs bytes.Buffer
			cli.Main(ctx, []string{"pack", "push", dir, "oci:" + layout + ":b", "--timeout", "100ms"}, io.Discard, &errs)
			ended <- errs.String()
		}()
		select {
		case errs := <-ended:
			if !strings.Contains(errs, want) {
				t.Errorf("%s, want %q", errs, want)
			}
		case <-time.After(15 * time.Second):
			t.Errorf("it still waits; want %q", want)
		}
	}
	if err := other.Unlock(); err != nil {
		t.Fatal(err)
	}
	says(t, "pack", "push", dir, "oci:"+layout+":c")
}

func TestDockersConfigurationThatCannotBeReadIsAnError(t *testing.T) {
	home(t)
	host := locked(t)
	file := filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"{", `{"auths":{"` + host + `":{"auth":"?"}}}`, `{"credsStore":"there-is-none"}`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"pull", host + "/g:v1"}, {"list", host + "/g"}, {"push", hooks(t), host + "/g:v1"}} {
			code, out, errs := call(t, append([]string{"pack", "--json"}, args...)...)
			if code != 1 || !strings.Contains(out, `"docker_config"`) || !strings.Contains(out, "DOCKER_CONFIG") {
				t.Errorf("%s: %v: exit code %d\n%s%s", text, args, code, out, errs)
			}
		}
	}
	t.Setenv("HOME", "")
	t.Setenv("DOCKER_CONFIG", "")
	if code, _, errs := call(t, "pack", "push", hooks(t), inMemory(t)+"/g:v1"); code != 0 {
		t.Errorf("without a home directory: exit code %d, %s", code, errs)
	}
}

// locked is a registry that wants credentials.
func locked(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="packs"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func TestFoldersThatCannotBePacksAreRefused(t *testing.T) {
	built.NeedsLinks(t)
	home(t)
	linked := hooks(t)
	if err := os.Symlink("/etc/passwd", filepath.Join(linked, "guard", "link")); err != nil {
		t.Skip(err)
	}
	for want, dir := range map[string]string{
		"link is no regular file": linked,
		"holds no hooks":          folder(t, map[string]string{"guard/hook.sh": ""}),
		"z/HOOK.md would not be":  folder(t, map[string]string{"a/HOOK.md": guard, "x/y/z/HOOK.md": guard}),
		"b/HOOK.md would not be":  folder(t, map[string]string{"hooks/a/HOOK.md": guard, "b/HOOK.md": guard}),
		"HOOK.md would not be":    folder(t, map[string]string{"HOOK.md": guard}),
		"holds no files":          t.TempDir(),
		"no such file":            filepath.Join(t.TempDir(), "none"),
		"is there twice":          folder(t, map[string]string{"a/HOOK.md": guard, "a/hook.md": ""}),
		"device on Windows":       folder(t, map[string]string{"a/HOOK.md": guard, "a/aux.txt": ""}),
		"do not run from packs":   folder(t, map[string]string{"a/HOOK.md": "+++\nevent = \"PreToolUse\"\ntype = \"plugin\"\nhook = \"x\"\n+++\n"}),
		"not allowed":             folder(t, map[string]string{"a/HOOK.md": guard, "a/x:y": ""}),
	} {
		for _, args := range [][]string{{"pack", "verify", dir}, {"pack", "push", dir, filepath.Join(t.TempDir(), "l")}} {
			if args[1] == "verify" && want == "no such file" {
				continue // it is taken for a reference
			}
			if code, out, errs := call(t, args...); code != 1 || !strings.Contains(errs, want) || out != "" {
				t.Errorf("%v: exit code %d, %s%s; want %q", args, code, out, errs, want)
			}
		}
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	home(t)
	host := inMemory(t)
	full := folder(t, map[string]string{"x": ""})
	closed := "127.0.0.1:1"
	for _, test := range []struct {
		args []string
		code string
		hint string
	}{
		{[]string{"pack", "pull", host + "/team/none:v1"}, "not_found", "shows the tags"},
		{[]string{"pack", "pull", "oci:" + filepath.Join(t.TempDir(), "none") + ":v1"}, "no_layout", "name another"},
		{[]string{"pack", "pull", "guards"}, "bad_reference", "pack --help"},
		{[]string{"pack", "pull", host + "/UPPER:v1"}, "bad_reference", "pack --help"},
		{[]string{"pack", "pull", host + "/g@sha256:12"}, "bad_reference", "pack --help"},
		{[]string{"pack", "pull", host + "/g"}, "no_version", "shows the tags"},
		{[]string{"pack", "push", hooks(t), full}, "no_layout", "empty"},
		{[]string{"pack", "pull", closed + "/g:v1", "--timeout", "15s"}, "unreachable", "try again"},
		{[]string{"pack", "push", hooks(t), "oci:" + filepath.Join(full, "x", "y") + ":v1"}, "local_files", "disk is full"},
		{[]string{"pack", "pul"}, "unknown_subcommand", "did you mean 'tenterhook pack pull'"},
	} {
		code, out, errs := call(t, append(test.args, "--json")...)
		var said struct {
			Diagnostics []struct{ Code, Hint string }
		}
		if err := json.Unmarshal([]byte(out), &said); err != nil || code == 0 || len(said.Diagnostics) != 1 ||
			said.Diagnostics[0].Code != test.code || !strings.Contains(said.Diagnostics[0].Hint, test.hint) {
			t.Errorf("%v: exit code %d, %v\n%s%s", test.args, code, err, out, errs)
		}
	}
}

func TestEachCommandHasAnExample(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"pack", "--help"}, {"pack", "push", "--help"}, {"pack", "pull", "--help"}, {"pack", "verify", "--help"}, {"pack", "list", "--help"}} {
		if code, out, _ := call(t, args...); code != 0 || !strings.Contains(out, "Examples:\n  tenterhook pack ") {
			t.Errorf("%v: exit code %d\n%s", args, code, out)
		}
	}
}

func TestTheVersionIsForPeopleAndForScripts(t *testing.T) {
	if code, out, errs := call(t, "--version"); code != 0 || !strings.HasPrefix(out, "tenterhook-fleet ") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if says(t, "--version")["version"] == "" {
		t.Error("--json has no version")
	}
}

func TestPruneRemovesWhatNoSettingsName(t *testing.T) {
	state := home(t)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(filepath.Dir(state), "config"))
	layout := "oci:" + filepath.Join(t.TempDir(), "g")
	push := func(files map[string]string) (ref, folderOf string) {
		ref = says(t, "pack", "push", folder(t, files), layout+":v1")["reference"].(string)
		return ref, says(t, "pack", "pull", ref)["folder"].(string)
	}
	used, usedIn := push(map[string]string{"a/HOOK.md": guard})
	dirs, dirsIn := push(map[string]string{"b/HOOK.md": guard})
	_, oldIn := push(map[string]string{"c/HOOK.md": guard})
	settings := filepath.Join(filepath.Dir(state), "config", "tenterhook", "settings.toml")
	other := folder(t, map[string]string{"settings.toml": fmt.Sprintf("packs = [%q]\n", dirs)})
	if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	there := func(folder string) bool { _, err := os.Stat(folder); return err == nil }
	if err := os.Mkdir(filepath.Join(state, "packs", ".new-killed"), 0o700); err != nil {
		t.Fatal(err)
	}

	write("packs = 3\n")
	if code, _, errs := call(t, "pack", "prune", "--yes"); code != 1 || !strings.Contains(errs, "settings.toml") || !there(oldIn) {
		t.Errorf("with broken settings: exit code %d, %s", code, errs)
	}
	write(fmt.Sprintf("packs = [%q]\n", used))
	if said := says(t, "pack", "prune", "--dir", other); len(said["packs"].([]any)) != 1 || said["removed"] != false || !there(oldIn) {
		t.Errorf("without --yes: %v", said)
	}
	if said := says(t, "pack", "prune", "--dir", other, "--yes"); len(said["packs"].([]any)) != 1 || said["removed"] != true {
		t.Errorf("with --yes: %v", said)
	}
	if !there(usedIn) || !there(dirsIn) || there(oldIn) || there(filepath.Join(state, "packs", ".new-killed")) {
		t.Errorf("named by the user: %v, by --dir: %v, by none: %v", there(usedIn), there(dirsIn), there(oldIn))
	}
}

func TestAPullRemovesWhatAKilledOneLeft(t *testing.T) {
	state := home(t)
	layout := "oci:" + filepath.Join(t.TempDir(), "g") + ":v1"
	says(t, "pack", "push", hooks(t), layout)
	left := filepath.Join(state, "packs", ".new-killed")
	if err := os.MkdirAll(filepath.Join(left, "files"), 0o700); err != nil {
		t.Fatal(err)
	}
	busy := flock.New(filepath.Join(state, "packs.lock"))
	if _, err := busy.TryRLock(); err != nil { // another pull is under way
		t.Fatal(err)
	}
	says(t, "pack", "pull", layout)
	if _, err := os.Stat(left); err != nil {
		t.Errorf("what another process may be pulling is gone: %v", err)
	}
	if err := busy.Close(); err != nil {
		t.Fatal(err)
	}
	says(t, "pack", "push", folder(t, map[string]string{"a/HOOK.md": guard}), layout)
	says(t, "pack", "pull", layout)
	if _, err := os.Stat(left); err == nil {
		t.Error("what a killed pull left is still there")
	}
}
