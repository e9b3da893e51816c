package registry_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/pack"
	"github.com/tenterhook/tenterhook/internal/pack/packtest"
	"github.com/tenterhook/tenterhook/registry"
)

const ruled = "+++\nevent = \"PreToolUse\"\ntype = \"rule\"\ndecision = \"deny\"\nreason = \"no\"\n%s+++\n"

// packs is a settings line that names packs.
func packs(name string, files ...map[string]string) string {
	var refs []string
	for _, f := range files {
		refs = append(refs, fmt.Sprintf("%q", "registry.example.com/team/"+name+"@"+packtest.Digest(f)))
	}
	return "packs = [" + strings.Join(refs, ", ") + "]\n"
}

func verdict(t *testing.T, reg *registry.Registry) hook.Verdict {
	t.Helper()
	return dispatch(t, reg, bash("ls")).Verdict
}

func TestWhoNamesAPackSaysWhoSwitchesItOff(t *testing.T) {
	needsRoot(t)
	files := map[string]string{"deny/HOOK.md": fmt.Sprintf(ruled, "")}
	for name, off := range map[string]string{"all": "disable_all_hooks = true\n", "one": "disabled = [\"plugin/guards/deny\"]\n", "none": ""} {
		for _, scope := range []hook.Scope{hook.ScopeManaged, hook.ScopeUser, hook.ScopeDir, hook.ScopeProject, hook.ScopeLocal} {
			settings := map[hook.Scope]string{hook.ScopeUser: off}
			settings[scope] += packs("guards", files)
			opts := everywhere(t, settings)
			packtest.Put(t, opts.StateDir, files)
			want := hook.Deny
			if scope == hook.ScopeProject || scope == hook.ScopeLocal || off != "" && scope != hook.ScopeManaged {
				want = hook.NoOpinion
			}
			reg := open(t, opts)
			if named := reg.Packs(); scope != hook.ScopeProject && scope != hook.ScopeLocal && (len(named) != 1 || !strings.HasSuffix(named[0], packtest.Digest(files))) {
				t.Errorf("named by %s: %v", scope, named)
			}
			if got := verdict(t, reg); got != want {
				t.Errorf("named by %s, switched off by the user: %s: %v, want %v", scope, name, got, want)
			}
		}
	}
	opts := everywhere(t, map[hook.Scope]string{hook.ScopeManaged: "allow_managed_hooks_only = true\n" + packs("guards", files)})
	packtest.Put(t, opts.StateDir, files)
	opts.NoHooks = true
	if got := verdict(t, open(t, opts)); got != hook.Deny {
		t.Errorf("a pack of the managed settings is off with --no-hooks: %v", got)
	}
}

func TestGuardsOfAPackThatGoesWhileItIsLoadedBlock(t *testing.T) {
	for name, spoil := range map[string]func(folder string) error{
		"removed": os.RemoveAll,
		"emptied": func(folder string) error { return os.RemoveAll(filepath.Join(folder, pack.FilesFolder)) },
		"changed": func(folder string) error {
			return os.WriteFile(filepath.Join(folder, pack.FilesFolder, "deny", "HOOK.md"), []byte(fmt.Sprintf(ruled, "enabled = false\n")), 0o600)
		},
		"another manifest": func(folder string) error {
			return os.WriteFile(filepath.Join(folder, pack.ManifestFile), []byte("{}"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"deny/HOOK.md": fmt.Sprintf(ruled, "on_failure = \"block\"\nif = \"Bash(curl *)\"\n")}
			opts := machine(t, "")
			write(t, filepath.Join(opts.UserDir, "settings.toml"), packs("guards", files))
			folder := filepath.Dir(packtest.Put(t, opts.StateDir, files))
			reg := open(t, opts)
			curl := bash("curl x")
			if out := dispatch(t, reg, curl); out.Verdict != hook.Deny || out.Reason == "" {
				t.Fatalf("intact: %v %q", out.Verdict, out.Reason)
			}
			if err := spoil(folder); err != nil {
				t.Fatal(err)
			}
			for _, when := range []string{"before a reload", "after one", "after two"} {
				out := dispatch(t, reg, curl)
				intact := name == "another manifest" // what was loaded is there as it was
				if out.Verdict != hook.Deny || (out.Results[0].Status == hook.StatusBlocked) != intact {
					t.Errorf("%s: %v, %+v", when, out.Verdict, out.Results[0])
				}
				changed := reload(t, reg)
				if when == "after one" && changed.Any() {
					t.Errorf("a second reload changes %s", summary(changed))
				}
			}
			var codes []string
			for _, d := range reg.Diagnostics() {
				codes = append(codes, d.Code)
				if strings.HasPrefix(d.Code, "pack_") && !strings.HasPrefix(d.Hint, "tenterhook pack pull registry.example.com/team/guards@sha256:") {
					t.Errorf("hint %q", d.Hint)
				}
			}
			if text := strings.Join(codes, " "); !strings.Contains(text, "pack_missing") && !strings.Contains(text, "pack_changed") {
				t.Errorf("diagnostics %q", codes)
			}
			if err := os.RemoveAll(folder); err != nil {
				t.Fatal(err)
			}
			packtest.Put(t, opts.StateDir, files)
			reload(t, reg)
			if out := dispatch(t, reg, curl); out.Verdict != hook.Deny || out.Results[0].Status != hook.StatusBlocked {
				t.Errorf("restored: %v, %+v", out.Verdict, out.Results[0])
			}
			if got := verdict(t, reg); got != hook.NoOpinion {
				t.Errorf("restored, of another call: %v", got)
			}
		})
	}
}

func TestAPackThatNeverWasThereBlocksWhereFailuresDo(t *testing.T) {
	files := map[string]string{"deny/HOOK.md": fmt.Sprintf(ruled, "")}
	opts := machine(t, "")
	write(t, filepath.Join(opts.UserDir, "settings.toml"), packs("guards", files))
	reg := open(t, opts)
	out := dispatch(t, reg, bash("ls"))
	if out.Verdict != hook.NoOpinion || len(out.Results) != 1 || out.Results[0].Failure != hook.FailureInvalid {
		t.Errorf("%v, %+v", out.Verdict, out.Results)
	}
	if changed := reload(t, reg); changed.Any() {
		t.Errorf("a reload changes %s", summary(changed))
	}
	strict := opts
	strict.Dirs = []string{t.TempDir()}
	write(t, filepath.Join(strict.Dirs[0], "settings.toml"), "default_on_failure = \"block\"\n")
	if got := verdict(t, open(t, strict)); got != hook.Deny {
		t.Errorf("with default_on_failure = \"block\": %v", got)
	}
	packtest.Put(t, opts.StateDir, files)
	if changed := reload(t, reg); !changed.Any() || verdict(t, reg) != hook.Deny {
		t.Errorf("pulled: %s, %v", summary(changed), verdict(t, reg))
	}
}

func TestWhatAPackNamesOutsideOfItIsUnbound(t *testing.T) {
	command := func(line string) string { return "+++\nevent = \"PreToolUse\"\ncommand = '" + line + "'\n+++\n" }
	files := map[string]string{
		"hooks/own/HOOK.md":     command("./run.sh"),
		"hooks/own/run.sh":      "#!/bin/sh\n",
		"hooks/shared/HOOK.md":  command(`"$CLAUDE_PLUGIN_ROOT"/lib/shared.sh`),
		"hooks/project/HOOK.md": command(`"$CLAUDE_PROJECT_DIR"/x.sh`),
		"lib/shared.sh":         "#!/bin/sh\n",
	}
	opts := machine(t, "")
	write(t, filepath.Join(opts.UserDir, "settings.toml"), packs("guards", files))
	folder := packtest.Put(t, opts.StateDir, files)
	reg := open(t, opts)
	for id, unbound := range map[string]bool{"own": false, "shared": false, "project": true} {
		if l := state(t, reg, "plugin/guards/"+id); (l.Unbound != "") != unbound || l.State == hook.StateUntrusted {
			t.Errorf("%s: %s %q, unbound %q", id, l.State, l.Why, l.Unbound)
		}
	}
	if subjects := reg.Subjects(); len(subjects) > 0 {
		t.Errorf("%d hooks of a pack ask for an approval", len(subjects))
	}
	write(t, filepath.Join(folder, "lib", "shared.sh"), "#!/bin/sh\nexit 2\n")
	if l := state(t, reg, "plugin/guards/shared"); l.State != hook.StateUntrusted || !strings.Contains(l.Why, "lib/shared.sh changed") {
		t.Errorf("shared.sh changed: %s %q", l.State, l.Why)
	}
	if l := state(t, reg, "plugin/guards/own"); l.State != hook.StateReady {
		t.Errorf("own: %s %q", l.State, l.Why)
	}
}

func TestOnePackOfTwoPlacesIsOne(t *testing.T) {
	files := map[string]string{"deny/HOOK.md": fmt.Sprintf(ruled, "")}
	opts := machine(t, "")
	digest := packtest.Digest(files)
	write(t, filepath.Join(opts.UserDir, "settings.toml"), `packs = ["a.example.com/guards@`+digest+`", "oci:/srv/guards:v1@`+digest+`"]`)
	packtest.Put(t, opts.StateDir, files)
	if results := dispatch(t, open(t, opts), bash("ls")).Results; len(results) != 1 {
		t.Errorf("%d results, want 1", len(results))
	}
}

func TestPacksOfGuardDirsOnlyRefuse(t *testing.T) {
	files := map[string]string{
		"deny/HOOK.md":  fmt.Sprintf(ruled, "if = \"Bash(ls)\"\n"),
		"allow/HOOK.md": "+++\nevent = \"PreToolUse\"\ntype = \"rule\"\ndecision = \"allow\"\nif = \"Bash(pwd)\"\nreason = \"fine\"\n+++\n",
	}
	opts := machine(t, "")
	opts.GuardDirs = []string{t.TempDir()}
	write(t, filepath.Join(opts.GuardDirs[0], "settings.toml"), packs("guards", files))
	packtest.Put(t, opts.StateDir, files)
	reg := open(t, opts)
	if got := verdict(t, reg); got != hook.Deny {
		t.Errorf("a guard of a pack: %v", got)
	}
	if got := dispatch(t, reg, bash("pwd")).Verdict; got != hook.NoOpinion {
		t.Errorf("an approval of a pack: %v", got)
	}
}

func TestAPackOfTheManagedSettingsThatIsNotThereBlocks(t *testing.T) {
	needsRoot(t)
	files := map[string]string{"deny/HOOK.md": fmt.Sprintf(ruled, "if = \"Bash(curl *)\"\n")}
	opts := everywhere(t, map[hook.Scope]string{hook.ScopeManaged: packs("guards", files), hook.ScopeUser: packs("guards", files)})
	folder := filepath.Dir(packtest.Put(t, opts.StateDir, files))
	before := open(t, opts)
	if got := verdict(t, before); got != hook.NoOpinion {
		t.Fatalf("intact, of another call: %v", got)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	reload(t, before)
	elsewhere := opts
	elsewhere.StateDir = t.TempDir()
	for name, reg := range map[string]*registry.Registry{"loaded before": before, "removed": open(t, opts), "another state directory": open(t, elsewhere)} {
		if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Deny || !slices.ContainsFunc(out.Results, func(r hook.Result) bool { return r.Failure == hook.FailureInvalid }) {
			t.Errorf("%s: %v, %+v", name, out.Verdict, out.Results)
		}
		if changed := reload(t, reg); changed.Any() {
			t.Errorf("%s: a reload changes %s", name, summary(changed))
		}
		if d := withCode(reg, "pack_missing"); len(d) != 1 || !strings.HasPrefix(d[0].Hint, "tenterhook pack pull registry.example.com/team/guards@sha256:") {
			t.Errorf("%s: diagnostics %+v", name, d)
		}
	}
	packtest.Put(t, opts.StateDir, files)
	reload(t, before)
	if got := verdict(t, before); got != hook.NoOpinion {
		t.Errorf("pulled again, of another call: %v", got)
	}
	if got := dispatch(t, before, bash("curl x")).Verdict; got != hook.Deny {
		t.Errorf("pulled again: %v", got)
	}
}

func TestPacksOfOneNameShareNoDataAndAreTold(t *testing.T) {
	files := func(version int) map[string]string {
		return map[string]string{fmt.Sprintf("own%d/HOOK.md", version): "+++\nevent = \"PreToolUse\"\ncommand = \"true\"\n+++\n"}
	}
	refs := []string{"a.example.com/team/guards", "b.example.com/team/guards:v1", "a.example.com/guards", "oci:/srv/guards", "A.example.com:443/team/guards"}
	data := make(map[string]string)
	for i, ref := range refs {
		opts := machine(t, "")
		opts.StateDir = filepath.Join(t.TempDir(), "state")
		packtest.Put(t, opts.StateDir, files(i))
		write(t, filepath.Join(opts.UserDir, "settings.toml"), fmt.Sprintf("packs = [%q]\n", ref+"@"+packtest.Digest(files(i))))
		var dir string
		opts.Handlers = map[hook.Kind]hook.Handler{hook.KindCommand: hook.HandlerFunc(func(_ context.Context, c *hook.Call) (*hook.Output, error) {
			dir = c.Hook.Source.Data
			return nil, nil
		})}
		reg := open(t, opts)
		dispatch(t, reg, bash("ls"))
		rel, err := filepath.Rel(opts.StateDir, dir)
		if other, ok := data[rel]; ok || err != nil || !filepath.IsLocal(rel) {
			t.Errorf("%s and %s have the data directory %s, %v", ref, other, rel, err)
		}
		data[rel] = ref
		if d := withCode(reg, "pack_name"); len(d) > 0 {
			t.Errorf("alone: %+v", d)
		}
	}
	opts := machine(t, "")
	var lines []string
	for i := range 2 {
		packtest.Put(t, opts.StateDir, files(i))
		lines = append(lines, fmt.Sprintf("%q", refs[i]+"@"+packtest.Digest(files(i))))
	}
	write(t, filepath.Join(opts.UserDir, "settings.toml"), "packs = ["+strings.Join(lines, ", ")+"]\n")
	reg := open(t, opts)
	d := withCode(reg, "pack_name")
	if len(d) != 1 || !strings.Contains(d[0].Message, refs[0]) || !strings.Contains(d[0].Message, refs[1]) || d[0].Hint == "" {
		t.Errorf("diagnostics %+v", d)
	}
	if results := dispatch(t, reg, bash("ls")).Results; len(results) != 2 {
		t.Errorf("%d results, want those of both", len(results))
	}
}

func withCode(reg *registry.Registry, code string) (found []hook.Diagnostic) {
	for _, d := range reg.Diagnostics() {
		if d.Code == code {
			found = append(found, d)
		}
	}
	return found
}
