package hooks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func edited(project, path string) string {
	return payload("PostToolUse", map[string]any{"cwd": project, "tool_name": "Edit",
		"tool_input": map[string]any{"file_path": path}, "tool_response": map[string]any{}})
}

func TestFormatAfterEditFormatsGoAndSaysSo(t *testing.T) {
	needs(t, "go", "gofmt")
	dir := t.TempDir()
	project := "TENTERHOOK_PROJECT_DIR=" + dir
	file := filepath.Join(dir, "pkg", "a.go")
	for _, name := range []string{file, "pkg/a.go"} {
		write(t, file, "package  a\nfunc f( ){}\n")
		a := run(t, "format-after-edit", "run.sh", edited(dir, name), project).parse(t)
		want := `gofmt has reformatted "pkg/a.go"; read it again before the next edit.`
		if a.HookSpecificOutput.HookEventName != "PostToolUse" || a.HookSpecificOutput.AdditionalContext != want {
			t.Errorf("%s: got %+v", name, a)
		}
		if text, _ := os.ReadFile(file); string(text) != "package a\n\nfunc f() {}\n" {
			t.Errorf("%s: the file is %q", name, text)
		}
	}
	if r := run(t, "format-after-edit", "run.sh", edited(dir, file), project); r != (reply{}) {
		t.Errorf("a file that is formatted: got %+v, want nothing", r)
	}
	write(t, file, "package a\nfunc {\n")
	a := run(t, "format-after-edit", "run.sh", edited(dir, file), project).parse(t)
	if c := a.HookSpecificOutput.AdditionalContext; !strings.Contains(c, "could not format") || !strings.Contains(c, "a.go:2") {
		t.Errorf("a syntax error: got %q", c)
	}
}

func TestFormatAfterEditLeavesAloneWhatIsNotTheProjects(t *testing.T) {
	needs(t, "go", "gofmt")
	const text = "package  a\n"
	root := t.TempDir()
	dir, outside := filepath.Join(root, "project"), filepath.Join(root, "project-2", "a.go")
	write(t, outside, text)
	write(t, filepath.Join(dir, "a.unknown"), text)
	link := filepath.Join(dir, "link.go")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{outside, link, "../project-2/a.go", "a.unknown", "missing.go", "", "."} {
		if r := run(t, "format-after-edit", "run.sh", edited(dir, name), "TENTERHOOK_PROJECT_DIR="+dir); r != (reply{}) {
			t.Errorf("%s: got %+v, want nothing", name, r)
		}
	}
	if got, _ := os.ReadFile(outside); string(got) != text {
		t.Errorf("a file outside of the project was changed to %q", got)
	}
}

// TestFormatAfterEditWantsTheProjectsConsent: a formatter that a project does
// not use would rewrite all of its files.
func TestFormatAfterEditWantsTheProjectsConsent(t *testing.T) {
	needs(t, "go", "sh")
	dir, bin := t.TempDir(), t.TempDir()
	write(t, filepath.Join(bin, "black"), "#!/bin/sh\nfor f; do :; done; echo formatted > \"$f\"\n")
	if err := os.Chmod(filepath.Join(bin, "black"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := []string{"TENTERHOOK_PROJECT_DIR=" + dir, "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}
	file := filepath.Join(dir, "src", "a b.py")
	write(t, file, "x\n")
	if r := run(t, "format-after-edit", "run.sh", edited(dir, file), env...); r != (reply{}) {
		t.Errorf("a project without a configuration: got %+v, want nothing", r)
	}
	write(t, filepath.Join(dir, "pyproject.toml"), "[tool.black]\n")
	a := run(t, "format-after-edit", "run.sh", edited(dir, file), env...).parse(t)
	if c := a.HookSpecificOutput.AdditionalContext; !strings.HasPrefix(c, `black has reformatted "src/a b.py"`) {
		t.Errorf("a project with one: got %q", c)
	}
}
