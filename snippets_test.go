package tenterhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/journal"
	"github.com/tenterhook/tenterhook/plugins/serve"
	"github.com/tenterhook/tenterhook/registry"
)

// The functions below hold the Go code of the documents as it stands there.
// TestGoCodeOfDocumentsIsRunHere compares the two, and the tests run it.

// refused is what the snippets' refuse returns.
type refused struct {
	out *hook.Outcome
	err error
}

func (r *refused) Error() string { return "refused" }

func refuse(out *hook.Outcome, err error) error { return &refused{out, err} }

// asREADME is an agent that asks about a call, and acts.
func asREADME(ctx context.Context, input json.RawMessage, act func(json.RawMessage)) error {
	reg, err := tenterhook.Open(ctx, tenterhook.Options{Workspace: "."})
	if err != nil {
		return err
	}
	defer reg.Close()

	out, err := reg.Dispatch(ctx, hook.PreToolUse{ToolName: "Bash", ToolInput: input})
	if err != nil || !out.MayProceed() {
		return refuse(out, err) // out.Reason says why, out.Results what each hook did
	}
	if out.UpdatedInput != nil {
		input = out.UpdatedInput // what the hooks judged: act on it alone
	}
	act(input)
	return nil
}

func asEmbedding(ctx context.Context, reg *registry.Registry, input json.RawMessage, act func(json.RawMessage)) error {
	out, err := reg.Dispatch(ctx, hook.PreToolUse{ToolName: "Bash", ToolInput: input})
	if err != nil || !out.MayProceed() {
		return refuse(out, err)
	}
	if out.UpdatedInput != nil {
		input = out.UpdatedInput // hooks rewrote the call, and have judged this input
	}
	act(input)
	return nil
}

func asOperating(ctx context.Context, dir string, input json.RawMessage, act func(json.RawMessage)) error {
	rec, err := journal.NewRecorder(dir, journal.Options{Env: os.Environ()})
	if err != nil {
		return err
	}
	defer rec.Close()
	reg, err := tenterhook.Open(ctx, tenterhook.Options{Workspace: ".", Recorder: rec})
	if err != nil {
		return err
	}
	defer reg.Close()
	return asEmbedding(ctx, reg, input, act)
}

// guardPlugin is run by the tests of what 'tenterhook new --plugin' writes.
var _ = func() {
	s := serve.New("guard", "1.0.0")
	serve.On(s, "no-rm", func(ctx context.Context, in hook.PreToolUse) (*hook.Output, error) {
		if bytes.Contains(in.ToolInput, []byte("rm -rf")) {
			return hook.Denied("rm -rf is not for agents"), nil
		}
		return nil, nil // no opinion
	}, func(h *hook.Hook) { h.Matcher, h.OnFailure = "Bash", hook.FailureBlock })
	s.Main()
}

// An indented block of a document is Go code if it declares something or is a
// function.
var (
	indented = regexp.MustCompile(`(?m)(?:^(?:    .*)?\n)*^    .*\n`)
	isGo     = regexp.MustCompile(`(?m)^\s*(func |\w+(, \w+)? := )`)
)

func linesOf(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestGoCodeOfDocumentsIsRunHere(t *testing.T) {
	source, err := os.ReadFile("snippets_test.go")
	if err != nil {
		t.Fatal(err)
	}
	code := "\n" + strings.Join(linesOf(string(source)), "\n") + "\n"
	documents := []string{"README.md"}
	_ = filepath.WalkDir("docs", func(path string, d fs.DirEntry, err error) error {
		recipes := filepath.ToSlash(path) == "docs/architecture.md" // TestEachRecipeWorksFromTheCommandLine builds their code
		if err == nil && strings.HasSuffix(path, ".md") && !recipes {
			documents = append(documents, path)
		}
		return err
	})
	var with []string
	for _, path := range documents {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range indented.FindAllString(string(text), -1) {
			if !isGo.MatchString(block) {
				continue
			}
			with = append(with, filepath.ToSlash(path))
			lines := linesOf(block)
			if lines[0] == "func main() {" {
				lines = lines[1:]
			}
			if !strings.Contains(code, "\n"+strings.Join(lines, "\n")+"\n") {
				t.Errorf("%s: this code is not in snippets_test.go, so nothing shows that it compiles and is right:\n%s", path, block)
			}
		}
	}
	if want := []string{"README.md", "docs/embedding.md", "docs/operating.md", "docs/plugins.md"}; !slices.Equal(slices.Compact(slices.Sorted(slices.Values(with))), want) {
		t.Errorf("documents with Go code: %v, want %v", with, want)
	}
}

// An agent that does as the documents say acts on what its hooks judged, and on
// nothing that they refuse, ask a person about or could not judge.
func TestAgentsOfTheDocumentsActOnlyOnWhatWasJudged(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, home)
	}
	t.Chdir(t.TempDir())
	put := func(rule string) {
		path := filepath.Join(home, "tenterhook", "hooks", "it", "HOOK.md")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("+++\nevent = \"PreToolUse\"\ntype = \"rule\"\n"+rule+"\n+++\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	agents := map[string]func(context.Context, json.RawMessage, func(json.RawMessage)) error{
		"README.md": asREADME,
		"docs/operating.md and docs/embedding.md": func(ctx context.Context, input json.RawMessage, act func(json.RawMessage)) error {
			return asOperating(ctx, t.TempDir(), input, act)
		},
	}
	const fails = "when = \"nothing\"\ndecision = \"deny\"\nreason = \"R\""
	for name, agent := range agents {
		for rule, want := range map[string]string{
			"decision = \"deny\"\nreason = \"R\"": "",
			"decision = \"ask\"\nreason = \"R\"":  "",
			fails:                                 "ls", fails + "\non_failure = \"block\"": "",
			"decision = \"context\"\ntext = \"T\"":            "ls",
			"if = \"Bash(ls)\"\ndecision = \"allow\"":         "ls",
			"decision = \"rewrite\"\nset.command = \"'pwd'\"": "pwd",
		} {
			put(rule)
			var acted []string
			act := func(input json.RawMessage) {
				var call struct{ Command string }
				_ = json.Unmarshal(input, &call)
				acted = append(acted, call.Command)
			}
			err := agent(t.Context(), json.RawMessage(`{"command":"ls"}`), act)
			var no *refused
			if got := strings.Join(acted, ","); got != want || errors.As(err, &no) != (want == "") {
				t.Errorf("%s with %s: acted on %q, %v; want %q", name, rule, got, err, want)
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			acted = nil
			if err := agent(ended, json.RawMessage(`{"command":"ls"}`), act); err == nil || acted != nil {
				t.Errorf("%s: acted on %v although nothing could be decided", name, acted)
			}
		}
	}
}
