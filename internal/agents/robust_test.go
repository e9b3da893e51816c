package agents

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	programs "github.com/tenterhook/tenterhook/internal/built"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/hook"
)

func TestPathsWithAnyCharactersAreInstalledInto(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	names := []string{"ünï–中 it's ‘so’", "$HOME `x` $(y)&^!", "%s"}
	if runtime.GOOS != "windows" {
		names = append(names, "a b", "-rf", "#x; exit 0", "new\nline", `quo"te's`, "[a]*?{b}", `back\slash`)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			e := Env{Getenv: func(string) string { return "" }, Home: filepath.Join(dir, "home"), Project: filepath.Join(dir, "project"),
				StateDir: filepath.Join(dir, "state"), Program: programs.Program(filepath.Join(dir, "bin"), "tenterhook-bridge"), Root: filepath.Join(dir, "root"), Where: []string{"HOME=" + dir},
				Windows: runtime.GOOS == "windows"}
			write(t, e.Program, []byte("#!/bin/sh\necho \"$*\"\n"))
			if err := os.Chmod(e.Program, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, a := range bridge.Agents() {
				for _, s := range []Scope{User, Project, Managed} {
					if a.Name == "kiro" {
						write(t, filepath.Join(e.Home, ".kiro/agents/a.json"), []byte("{}"))
						write(t, filepath.Join(e.Project, ".kiro/agents/[b].json"), []byte("{}"))
					}
					p, err := e.PlanInstall(a, s)
					if err != nil {
						if !strings.Contains(err.Error(), "configuration that tenterhook installs into") && e.known(a.Name) && !strings.Contains(dir, "%") {
							t.Errorf("%s %s: %v", a.Name, s, err)
						}
						continue
					}
					if err := e.Apply(p); err != nil {
						t.Fatalf("%s %s: %v", a.Name, s, err)
					}
					again, err := e.PlanInstall(a, s)
					if err != nil || !again.Same() {
						t.Errorf("%s %s: installing again would change it, %v", a.Name, s, err)
					}
					uninstall(t, e, a, s)
				}
			}
			if e.Windows {
				return // line_test.go runs lines there
			}
			a := agent(t, "claude")
			out, err := shellOutput(e.caller("claude").line(a, "PreToolUse"))
			if err != nil || out != "--env HOME="+dir+" claude PreToolUse\n" {
				t.Errorf("the line runs %q, %v", out, err)
			}
		})
	}
}

func TestPathsThatJSONCannotHoldAreRefused(t *testing.T) {
	e := testEnv(t)
	e.Home = filepath.Join(e.Home, "\xff")
	for _, a := range bridge.Agents() {
		if _, err := e.PlanInstall(a, User); err == nil || !strings.Contains(err.Error(), "not UTF-8") && !strings.Contains(err.Error(), "no user configuration") {
			t.Errorf("%s: %v", a.Name, err)
		}
	}
}

func TestAProjectsLinksLeadNoEntryOutOfIt(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	programs.NeedsLinks(t)
	for _, a := range bridge.Agents() {
		where := places[a.Name]
		if !testEnv(t).known(a.Name) {
			continue
		}
		for _, link := range []string{where.project, filepath.Join(where.project, "hooks"), filepath.Join(where.project, "settings.json"),
			filepath.Join(where.project, "hooks.json"), filepath.Join(where.project, "agents"), filepath.Join(where.project, "plugin"),
			filepath.Join(where.project, "extensions")} {
			e := testEnv(t)
			outside := filepath.Join(e.Home, "outside")
			write(t, filepath.Join(outside, "agents/a.json"), []byte("{}"))
			target := outside
			if filepath.Ext(link) == ".json" {
				target = filepath.Join(outside, "agents/a.json")
			}
			path := filepath.Join(e.Project, link)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(target, path)); err != nil {
				t.Fatal(err)
			}
			before := fmt.Sprint(files(t, outside))
			p, err := e.PlanInstall(a, Project)
			if err == nil {
				err = e.Apply(p)
			}
			if after := fmt.Sprint(files(t, outside)); after != before || string(read(t, outside+"/agents/a.json")) != "{}" {
				t.Errorf("%s through %s: %v is now %v", a.Name, link, before, after)
			}
			if err != nil && !strings.Contains(err.Error(), "leads out of the project") && !strings.Contains(err.Error(), "no file here that holds hooks") {
				t.Errorf("%s through %s: %v", a.Name, link, err)
			}
		}
		// A link that stays in the project is followed.
		e := testEnv(t)
		write(t, filepath.Join(e.Project, "config/agents/a.json"), []byte("{}"))
		if err := os.Symlink("config", filepath.Join(e.Project, where.project)); err != nil {
			t.Fatal(err)
		}
		install(t, e, a, Project)
		uninstall(t, e, a, Project)
	}
}

func TestTheHomeDirectoryIsNoProject(t *testing.T) {
	e := testEnv(t)
	e.Project = e.Home
	if _, err := e.PlanInstall(agent(t, "claude"), Project); err == nil || !strings.Contains(err.Error(), "leave out --project") {
		t.Errorf("got %v", err)
	}
}

// switchTexts are files of the user's directory that switch hooks off.
var switchTexts = map[string]string{
	"settings.json": `{"disableAllHooks": true, "hooksConfig": {"enabled": false}, "extensions": ["-extensions/tenterhook.ts"]}`,
	"config.toml":   "[features]\nhooks = false\n",
}

// codesOf are the codes of diagnostics.
func codesOf(found []hook.Diagnostic) string {
	var codes []string
	for _, d := range found {
		codes = append(codes, d.Code)
	}
	return strings.Join(codes, " ")
}

func TestTheClientsOwnVariablesSayWhereItsFilesAre(t *testing.T) {
	for name, where := range places {
		if where.home.variable == "" {
			continue
		}
		e, a := testEnv(t), agent(t, name)
		dir := filepath.Join(e.Home, "elsewhere")
		set := map[string]string{where.home.variable: dir}
		e.Getenv = func(name string) string { return set[name] }
		own := filepath.Join(dir, where.home.below)
		install(t, e, a, User)
		for _, path := range files(t, e.Home) {
			if path != dir && !inside(path, dir) {
				t.Errorf("%s: %s was written", name, path)
			}
		}
		if by, ok := e.present(name); !ok || by != own {
			t.Errorf("%s: here by %q", name, by)
		}
		// What is switched off there is found there, and not in the usual place.
		for _, s := range switchFiles[name] {
			text := switchTexts[s.path]
			if s.in != ownDir || text == "" {
				continue
			}
			write(t, filepath.Join(e.Home, where.home.standard, s.path), []byte(text))
			if codes := codesOf(e.Verify(e.State(a), User)); strings.Contains(codes, "switched_off") {
				t.Errorf("%s: %s of the usual place counts", name, s.path)
			}
			kept, _ := os.ReadFile(filepath.Join(own, s.path)) // it may hold the entries
			write(t, filepath.Join(own, s.path), []byte(text))
			if codes := codesOf(e.Verify(e.State(a), User)); !strings.Contains(codes, "switched_off") {
				t.Errorf("%s: %s is not found: %s", name, s.path, codes)
			}
			write(t, filepath.Join(own, s.path), kept)
			if kept == nil {
				_ = os.Remove(filepath.Join(own, s.path))
			}
		}
		// Uninstalling finds the files although the variable is not set any more.
		set = nil
		write(t, filepath.Join(dir, "kept"), nil)
		uninstall(t, e, a, User)
		for _, path := range files(t, e.Home) {
			if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte("tenterhook-bridge")) {
				t.Errorf("%s: %s is left", name, path)
			}
		}
		set = map[string]string{where.home.variable: "relative/dir"}
		if _, err := e.PlanInstall(a, User); err == nil || !strings.Contains(err.Error(), where.home.variable+"=relative/dir is no absolute path") {
			t.Errorf("%s: a relative %s: %v", name, where.home.variable, err)
		}
		set = map[string]string{where.home.variable: "~/tilde"}
		if dir, err := e.homeOf(name); where.home.tilde != (err == nil && dir == filepath.Join(e.Home, "tilde")) {
			t.Errorf("%s: ~ gives %q, %v", name, dir, err)
		}
	}
}

func TestInstallationsWaitForEachOther(t *testing.T) {
	e := testEnv(t)
	list := []*bridge.Agent{agent(t, "claude"), agent(t, "qwen"), agent(t, "cursor"), agent(t, "gemini")}
	for _, name := range []string{".claude/settings.json", ".qwen/settings.json", ".cursor/hooks.json"} {
		write(t, filepath.Join(e.Home, name), []byte("{}"))
	}
	before := snapshot(t, e.Home)
	change := func(plan func(*bridge.Agent, Scope) (*Plan, error), a *bridge.Agent) error {
		unlock, err := e.Lock(t.Context())
		if err != nil {
			return err
		}
		defer unlock()
		p, err := plan(a, User)
		if err != nil {
			return err
		}
		return e.Apply(p)
	}
	var all sync.WaitGroup
	for range 5 {
		for _, a := range list {
			all.Go(func() {
				if err := change(e.PlanInstall, a); err != nil {
					t.Errorf("%s: %v", a.Name, err)
				}
			})
		}
	}
	all.Wait()
	for _, a := range list {
		if a.Version() != "" {
			if found := e.Verify(e.State(a), User); len(found) > 0 {
				t.Errorf("%s: %v", a.Name, found)
			}
		}
		if err := change(e.PlanUninstall, a); err != nil {
			t.Errorf("%s: %v", a.Name, err)
		}
	}
	if after := snapshot(t, e.Home); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("it was %v and is %v", before, after)
	}
}

func TestHugeAndEndlessFilesAreNoTrouble(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	e, a := testEnv(t), agent(t, "claude")
	path := filepath.Join(e.Home, ".claude/settings.json")
	var b strings.Builder
	b.WriteString("{\n  \"env\": {\n    \"FIRST\": \"\"")
	for i := 0; b.Len() < 10<<20; i++ {
		fmt.Fprintf(&b, ",\n    \"LARGE_%d\": %q", i, strings.Repeat("value ", 500))
	}
	b.WriteString("\n  }\n}\n")
	write(t, path, []byte(b.String()))
	install(t, e, a, User)
	write(t, path, append(read(t, path), '\n'))
	uninstall(t, e, a, User)
	if got := string(read(t, path)); got != b.String()+"\n" {
		t.Error("a large file has other bytes")
	}

	for name, text := range map[string]string{"deep": strings.Repeat("[", 5<<20), "deep behind a comment": `{"a":// "` + "\n" + strings.Repeat("[", 5<<20)} {
		write(t, path, []byte(text))
		if _, err := e.PlanInstall(a, User); err == nil || !strings.Contains(err.Error(), "lie within each other") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if f, err := os.Create(path); err != nil || errors.Join(f.Truncate(maxFile+1), f.Close()) != nil {
		t.Fatal(err)
	}
	if _, err := e.PlanInstall(a, User); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("a huge file: %v", err)
	}

	// What a repository can put in the place of a file does not stop verify.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	install(t, e, a, User)
	local := filepath.Join(e.Project, ".claude/settings.local.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(local), 0o755), makeFIFO(local), os.Symlink("/dev/zero", filepath.Join(e.Project, ".claude/settings.json"))); err != nil {
		t.Skipf("Windows: no pipe is a file there (%v)", err)
	}
	done := make(chan string, 1)
	go func() { done <- codesOf(e.Verify(e.State(a), User)) }()
	select {
	case codes := <-done:
		if strings.Count(codes, "unreadable") != 2 {
			t.Errorf("found %s", codes)
		}
	case <-time.After(30 * time.Second):
		t.Error("verify waits for a pipe")
	}
}
