package tenterhook_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/internal/built"
)

// step is one numbered step of a recipe in docs/architecture.md: where in a file
// its lines go.
var step = regexp.MustCompile("(?m)^\\d+\\. `([^`]+)`, (above|below|at the end|new)(?: `([^`]+)`)?:\n\n((?:       .*\n|\n)+)")

// follow makes the edits of a recipe, and returns the files with them, by path.
func follow(t *testing.T, recipe string, edited map[string]string) (files []string) {
	t.Helper()
	for _, m := range step.FindAllStringSubmatch(recipe, -1) {
		file, where, anchor := m[1], m[2], m[3]
		lines := strings.TrimRight(strings.ReplaceAll(strings.TrimPrefix(m[4], "       "), "\n       ", "\n"), "\n") + "\n"
		if _, known := edited[file]; !known {
			data, err := os.ReadFile(file)
			if err != nil && !(where == "new" && errors.Is(err, os.ErrNotExist)) {
				t.Fatal(err)
			}
			edited[file] = string(data)
		}
		files = append(files, file)
		text := edited[file]
		at := len(text)
		if anchor != "" {
			if at = strings.Index(text, anchor); at < 0 {
				t.Fatalf("%s has no %q", file, anchor)
			}
			at = strings.LastIndexByte(text[:at], '\n') + 1
			if where == "below" {
				at += strings.IndexByte(text[at:], '\n') + 1
			}
		}
		edited[file] = text[:at] + lines + text[at:]
	}
	return files
}

// followAll follows the recipes below a heading of a document.
func followAll(t *testing.T, document, heading string, edited map[string]string) {
	t.Helper()
	doc, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	_, recipes, _ := strings.Cut(string(doc), heading)
	recipes, _, _ = strings.Cut(recipes, "\n## ")
	for title, most := range map[string]int{"An event": 2, "A product": 2, "A kind of hook": 5} {
		_, recipe, _ := strings.Cut(recipes, "### "+title+"\n")
		recipe, _, _ = strings.Cut(recipe, "\n### ")
		files := make(map[string]bool)
		for _, file := range follow(t, recipe, edited) {
			files[file] = true
		}
		if len(files) == 0 || len(files) > most {
			t.Errorf("%s: %s: %d files are edited by hand, want at most %d: %v", document, title, len(files), most, files)
		}
	}
}

// The recipes of docs/architecture.md give an event, a product and a kind that work
// from the command line. The copy in which they are followed is an overlay: the
// files of the repository stay as they are.
func TestEachRecipeWorksFromTheCommandLine(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the command anew")
	}
	dir, edited := t.TempDir(), make(map[string]string)
	followAll(t, "docs/architecture.md", "\n## Recipes\n", edited)
	followAll(t, "testdata/siblings.md", "", edited)
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not on PATH, as under Wine: ", err)
	}
	bin := buildOverlay(t, dir, edited)

	project := filepath.Join(dir, "project")
	put(t, filepath.Join(project, "hooks", "tea", "HOOK.md"), "+++\nevent = \"TeaReady\"\nmatcher = \"green\"\ntype = \"rule\"\ndecision = \"deny\"\nreason = \"too hot\"\n+++\n")
	put(t, filepath.Join(project, "hooks", "word", "HOOK.md"), "+++\nevent = \"PreToolUse\"\ntype = \"word\"\nforbidden = \"secret\"\n+++\n")
	put(t, filepath.Join(project, "hooks", "slip", "HOOK.md"), "+++\nevent = \"TeaRedy\"\ntype = \"word\"\nforbiden = \"x\"\n+++\n")
	put(t, filepath.Join(project, ".kettle", "settings.json"), `{"hooks": {"beforePour": [{"command": "true", "timeout": 2000}]}}`)
	run := func(want int, args ...string) string {
		t.Helper()
		cmd := exec.Command(bin, args...)
		cmd.Dir, cmd.Env = project, append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir, "NO_COLOR=1")
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Fatalf("%v: exit code %d, want %d (%v)\n%s", args, code, want, err, out)
		}
		return string(out)
	}
	has := func(out string, words ...string) {
		t.Helper()
		for _, word := range words {
			if !strings.Contains(out, word) {
				t.Errorf("no %q in\n%s", word, out)
			}
		}
	}
	has(run(0, "events", "TeaReady"), "TeaReady", "sort", "the tea is ready")
	has(run(2, "run", "TeaReady", "--dir", "hooks", "--set", `sort="green"`), "too hot")
	run(0, "run", "TeaReady", "--dir", "hooks", "--set", `sort="black"`)

	has(run(2, "run", "PreToolUse", "--dir", "hooks", "--tool", "Bash", "--input", `{"command": "a secret"}`), "the word secret")
	run(0, "run", "PreToolUse", "--dir", "hooks", "--tool", "Bash", "--input", `{"command": "tea"}`)
	has(run(0, "check", filepath.Join("hooks", "word")), "nothing wrong")
	has(run(1, "check", filepath.Join("hooks", "slip")), "did you mean TeaReady?", "did you mean forbidden?", "needs a forbidden")
	has(run(0, "schema", "hook"), `"forbidden"`, `"TeaReady"`)

	// The siblings: a tool call with rules and a rewrite, an observer, a matcher of a number.
	put(t, filepath.Join(project, "more", "deploy", "HOOK.md"), "+++\nevent = \"PreDeploy\"\nif = \"Bash(rm *)\"\ntype = \"rule\"\ndecision = \"deny\"\nreason = \"no rm\"\n+++\n")
	put(t, filepath.Join(project, "more", "list", "HOOK.md"), "+++\nevent = \"PreDeploy\"\nif = \"Bash(ls *)\"\ntype = \"rule\"\ndecision = \"rewrite\"\n[set]\ncommand = \"'ls -l'\"\n+++\n")
	put(t, filepath.Join(project, "more", "seen", "HOOK.md"), "+++\nevent = \"BrewSeen\"\ntype = \"gauge\"\ngauge = \"brews\"\n+++\n")
	put(t, filepath.Join(project, "more", "cup", "HOOK.md"), "+++\nevent = \"CupFilled\"\nmatcher = \"12\"\ntype = \"rule\"\nwhen = \"level > 10 && notes.a == 'b'\"\ndecision = \"deny\"\nreason = \"too full\"\n+++\n")
	has(run(2, "run", "PreDeploy", "--dir", "more", "--tool", "Bash", "--input", `{"command": "rm x"}`), "no rm")
	has(run(0, "run", "PreDeploy", "--dir", "more", "--tool", "Bash", "--input", `{"command": "ls x"}`), "ls -l")
	has(run(0, "run", "BrewSeen", "--dir", "more"), "dir/seen")
	has(run(2, "run", "CupFilled", "--dir", "more", "--set", "level=12", "--set", `notes={"a": "b"}`), "too full")
	run(0, "run", "CupFilled", "--dir", "more", "--set", "level=13", "--set", `notes={"a": "b"}`)
	has(run(1, "run", "CupFilled", "--dir", "more", "--set", "level=-1"), "want a number")
	has(run(0, "new", "full", "--event", "CupFilled", "--matcher", "12", "--dir", "made"), "--set level=12")

	put(t, filepath.Join(project, "kinds", "script", "HOOK.md"), "+++\nevent = \"PreToolUse\"\ntype = \"program\"\nsandbox = \"none\"\nscript = \"echo it is bad; exit 1\"\n+++\n")
	put(t, filepath.Join(project, "kinds", "confirm", "HOOK.md"), "+++\nevent = \"PostToolUse\"\ntype = \"confirm\"\nquestion = \"sure?\"\n+++\n")
	put(t, filepath.Join(project, "kinds", "gauge", "HOOK.md"), "+++\nevent = \"PreToolUse\"\ntype = \"gauge\"\ngauge = \"x\"\nlimit = 7\npause = \"5s\"\ncapacity = \"1MiB\"\nlevel = \"high\"\n+++\n")
	put(t, filepath.Join(project, "wrong", "gauge", "HOOK.md"), "+++\nevent = \"PreToolUse\"\ntype = \"gauge\"\nsandbox = \"none\"\nlimit = \"7\"\npause = \"soon\"\ncapacity = \"much\"\nlevel = \"hih\"\n+++\n")
	has(run(0, "check", "kinds"), "nothing wrong")
	has(run(2, "run", "PreToolUse", "--dir", "kinds", "--tool", "Bash"), "it is bad", "over the limit")
	has(run(1, "check", "wrong"), "needs a gauge", "limit: want an integer", "pause: want seconds", "capacity: want a size", `did you mean "high"?`, "sandbox: has no effect on a gauge hook")
	has(run(0, "list", "--dir", "kinds", "--json"), `"kind": "script"`, `"kind": "confirm"`)

	put(t, filepath.Join(project, ".samovar", "config.yaml"), "automation:\n  hooks:\n    beforePour:\n      - tools: Bash # a list of groups\n        steps:\n          - type: command\n            cmd: echo hot >&2; exit 2\n            wait: 3\n")
	put(t, filepath.Join(project, ".teapot", "hooks.toml"), "[[hook]]\non = [\"beforePour\", \"closed\"]\nrun = \"echo full >&2; exit 2\"\n")
	put(t, filepath.Join(project, ".mug", "settings.jsonc"), "{\n  // one command\n  \"triggers\": {\"beforePour\": \"echo empty >&2; exit 2\"},\n}\n")
	for product, file := range map[string]string{"samovar": "config.yaml", "teapot": "hooks.toml", "mug": "settings.jsonc"} {
		has(run(0, "check", filepath.Join("."+product, file)), "1 file", "nothing wrong")
		has(run(0, "list", "--compat", product), "project/"+product+"/"+file, "PreToolUse", "Bash")
	}
	has(run(0, "trust", "--compat", "samovar,teapot,mug", "--all", "--yes"), "samovar")
	has(run(2, "run", "PreToolUse", "--compat", "samovar,teapot,mug", "--tool", "Bash", "--input", `{"command": "ls"}`), "hot", "full", "empty")

	has(run(0, "list", "--compat", "kettle"), "project/kettle/settings.json", "PreToolUse", "Bash")
	has(run(0, "check", filepath.Join(".kettle", "settings.json")), "1 hook")
}

// buildOverlay builds the command with other texts in the place of files.
func buildOverlay(t *testing.T, dir string, edited map[string]string) (bin string) {
	t.Helper()
	replace := make(map[string]string, len(edited))
	for file, text := range edited {
		real, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		replace[real] = filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		put(t, replace[real], text)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "overlay.json"), string(overlay))
	bin = filepath.Join(dir, "tenterhook.exe")
	if out, err := exec.Command("go", "build", "-ldflags", built.NoAccount, "-overlay", filepath.Join(dir, "overlay.json"), "-o", bin, "./cmd/tenterhook").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}
