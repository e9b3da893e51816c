package registry_test

import (
	"fmt"
	"os"
	"path/filepath"
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
				intact := name == "another manifest" // what was loaded lies there as it was
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
