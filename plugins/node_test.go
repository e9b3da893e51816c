package plugins

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
)

const nodeExample = "../examples/plugins/node-secrets"

// buildNodePlugin bundles the Node example as its README says, and returns the
// one file. Its packages are looked for beside it, or in the folder that
// PLUGINS_TEST_NODE names, which then must have them.
func buildNodePlugin(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a script is no program on Windows")
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program, "is not installed")
		}
	}
	named := os.Getenv("PLUGINS_TEST_NODE")
	packages := named
	if packages == "" {
		packages = nodeExample
	}
	modules, err := filepath.Abs(filepath.Join(packages, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, "esbuild")); err != nil && named == "" {
		t.Skip("the example's packages are not installed: run npm ci --ignore-scripts in examples/plugins/node-secrets")
	} else if err != nil {
		t.Fatal("PLUGINS_TEST_NODE:", err)
	}
	dir := t.TempDir()
	for _, name := range []string{"hook.proto", "package.json", "secrets.js"} {
		data, err := os.ReadFile(filepath.Join(nodeExample, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "npm", "run", "build")
	build.Dir = dir
	build.Env = append(os.Environ(), "HOME="+dir, "npm_config_update_notifier=false", "npm_config_offline=true")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "tenterhook-plugin-secrets")
}

// installFile copies a plugin into a package's folder.
func installFile(t *testing.T, path, into string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(into, filepath.Base(path)), data, 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestPluginInNodeDenies(t *testing.T) {
	bundle := buildNodePlugin(t)
	b := newBench(t)
	installFile(t, bundle, b.dir)
	b.trust()
	hooks, notes := described(b.host, b.dir)
	if len(hooks) != 1 || len(notes) != 0 {
		t.Fatal(hooks, notes)
	}
	for content, want := range map[string]hook.Verdict{
		"AKIA0123456789ABCDEF":               hook.Deny,
		"-----BEGIN RSA PRIVATE KEY-----":    hook.Deny,
		"the key is in the environment, ünï": hook.NoOpinion,
	} {
		raw, err := json.Marshal(map[string]string{"content": content})
		if err != nil {
			t.Fatal(err)
		}
		in := hook.PreToolUse{ToolName: "Write", ToolInput: raw}
		payload, err := hook.Encode(in, in.Base)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 { // with unknown fields in every other one
			out, err := b.host.Handle(t.Context(), &hook.Call{Hook: hooks[0], Input: in, Payload: payload})
			got := hook.NoOpinion
			if out != nil {
				got = out.Verdict
			}
			if err != nil || got != want {
				t.Fatalf("%s: got %v, %v, want %v\n%s", content, got, err, want, b.log)
			}
		}
	}
}

func TestExampleHasTheContract(t *testing.T) {
	want, err := os.ReadFile("proto/hook.proto")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(nodeExample, "hook.proto")); err != nil || string(got) != string(want) {
		t.Errorf("the example's hook.proto is another one: copy plugins/proto/hook.proto there (%v)", err)
	}
}
