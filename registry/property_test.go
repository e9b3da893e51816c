package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// declared is a hook of a file, as a property draws it. What it does stands in
// its command, which a handler of the test's own understands:
//
//	echo deny WORD, echo ask WORD, echo allow WORD, echo fail WORD: for commands with the word
//	echo into WORD TEXT: rewrites such commands into the text
type declared struct {
	scope   hook.Scope
	folder  string // of a hook folder; "" = an entry of the scope's settings.json
	command string
	keys    map[string]any
}

func (d declared) String() string {
	return fmt.Sprintf("%s %s %q %v", d.scope, d.folder, d.command, d.keys)
}

var fileScopes = []hook.Scope{hook.ScopeManaged, hook.ScopeUser, hook.ScopeProject, hook.ScopeLocal, hook.ScopeDir}

var calls = []string{"ls", "rm x", "pwd"} // a tool call is one of these, before and after a rewrite

func anyDeclared(scopes []hook.Scope, rewriting bool) *rapid.Generator[declared] {
	return rapid.Custom(func(t *rapid.T) declared {
		d := declared{scope: rapid.SampledFrom(scopes).Draw(t, "scope"), keys: map[string]any{"event": "PreToolUse"},
			folder: rapid.SampledFrom([]string{"", "", "guard", "other"}).Draw(t, "folder")}
		verbs := []string{"deny", "ask", "allow", "allow", "fail"}
		if rewriting {
			verbs = append(verbs, "into", "into", "into")
		}
		words := []string{"ls", "rm", "-", "-"} // "-" is every command
		d.command = "echo " + rapid.SampledFrom(verbs).Draw(t, "verb") + " " + rapid.SampledFrom(words).Draw(t, "word")
		if strings.HasPrefix(d.command, "echo into") {
			d.command += " " + rapid.SampledFrom(calls).Draw(t, "text")
			if rapid.Bool().Draw(t, "declared") {
				d.keys["rewrites"] = true
			}
		}
		some := func(key string, values ...any) {
			if rapid.IntRange(0, 3).Draw(t, key+"?") == 0 {
				d.keys[key] = rapid.SampledFrom(values).Draw(t, key)
			}
		}
		some("if", "Bash(ls)", "Bash(rm *)", "Bash(pwd)")
		some("matcher", "Bash", ".*")
		some("on_failure", "block")
		some("timeout", 7, 8)
		some("once", true)
		some("priority", 1, 2)
		if rapid.IntRange(0, 4).Draw(t, "odd") == 0 {
			some("async", true)
			some("enabled", false)
			some("requires", map[string]any{"bins": []string{"no-such-program-here"}})
			some("event", "Stop")
			some("matcher", "Write", "Ba(sh")
		}
		return d
	})
}

// world are hooks in files, and what was asked of them.
type world struct {
	reg *registry.Registry
	mu  sync.Mutex // guards asked
	// asked has, by the place of a hook, what it answered to which command.
	asked map[string][]asking
}

type asking struct {
	command string
	verdict hook.Verdict
	into    string
}

func placeOf(h *hook.Hook) string { return fmt.Sprintf("%s:%d", h.Source.Path, h.Source.Line) }

func (w *world) Handle(_ context.Context, c *hook.Call) (*hook.Output, error) {
	in, _ := hook.As[hook.PreToolUse](c.Input)
	var input struct{ Command string }
	if err := json.Unmarshal(in.ToolInput, &input); err != nil {
		return nil, err
	}
	var payload struct {
		Input struct{ Command string } `json:"tool_input"`
	}
	if err := json.Unmarshal(c.Payload, &payload); err != nil || payload.Input.Command != input.Command {
		return nil, errors.New("input and payload are not the same")
	}
	a := asking{command: input.Command}
	f := strings.Fields(c.Hook.Command.Line)
	var out *hook.Output
	var err error
	if f[2] == "-" || strings.HasPrefix(input.Command, f[2]) {
		switch f[1] {
		case "deny":
			out = hook.Denied("no")
		case "ask":
			out = hook.Asked("sure?")
		case "allow":
			out = hook.Allowed("")
		case "fail":
			err = errors.New("broken")
		case "into":
			a.into = strings.Join(f[3:], " ")
			out = &hook.Output{UpdatedInput: bash(a.into).ToolInput}
			if len(a.into) == len("pwd") { // its author approves one of the texts
				out.Verdict = hook.Allow
			}
		}
	}
	if out != nil {
		a.verdict = out.Verdict
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[placeOf(c.Hook)] = append(w.asked[placeOf(c.Hook)], a)
	return out, err
}

// build writes the hooks to their scopes and opens a registry, approved.
func build(t *testing.T, rt *rapid.T, hooks []declared) *world {
	opts := scopes(t)
	opts.StateDir = filepath.Join(filepath.Dir(opts.Workspace), "state")
	dir := filepath.Join(filepath.Dir(opts.Workspace), "dir")
	opts.Dirs = []string{dir}
	at := map[hook.Scope]string{hook.ScopeManaged: opts.ManagedDir, hook.ScopeUser: opts.UserDir, hook.ScopeDir: dir,
		hook.ScopeProject: filepath.Join(opts.Workspace, ".tenterhook"), hook.ScopeLocal: filepath.Join(opts.Workspace, ".tenterhook", "local")}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		rt.Fatal(err)
	}
	entries := make(map[hook.Scope][]string)
	for i, d := range hooks {
		keys := map[string]any{"command": d.command}
		for k, v := range d.keys {
			keys[k] = v
		}
		if d.folder == "" {
			delete(keys, "event")
			text, _ := json.Marshal(keys)
			entries[d.scope] = append(entries[d.scope], fmt.Sprintf("%s\x00%s", d.keys["event"], text))
			continue
		}
		keys["name"] = d.folder // several folders of one name
		text, _ := json.Marshal(keys)
		hooksDir := filepath.Join(at[d.scope], "hooks")
		if d.scope == hook.ScopeDir {
			hooksDir = dir
		}
		write(t, filepath.Join(hooksDir, fmt.Sprintf("%s-%d", d.folder, i), "HOOK.md"), "---json\n"+string(text)+"\n---\n")
	}
	for scope, list := range entries {
		byEvent := make(map[string][]string)
		for _, e := range list {
			event, text, _ := strings.Cut(e, "\x00")
			byEvent[event] = append(byEvent[event], text)
		}
		var events []string
		for event, texts := range byEvent {
			events = append(events, fmt.Sprintf("%q: [\n%s\n]", event, strings.Join(texts, ",\n")))
		}
		write(t, filepath.Join(at[scope], "settings.json"), "{\"hooks\": {\n"+strings.Join(events, ",\n")+"\n}}\n")
	}
	w := &world{asked: make(map[string][]asking)}
	opts.Handlers = map[hook.Kind]hook.Handler{hook.KindCommand: w}
	reg, err := registry.Open(t.Context(), opts)
	if err != nil {
		rt.Fatal(err)
	}
	rt.Cleanup(func() { _ = reg.Close() })
	approve(t, reg)
	w.reg = reg
	return w
}

// concerns is a model of selection: whether a command concerns a hook that can run.
func (w *world) concerns(l registry.Listed, command string) bool {
	h := l.Hook
	if h.Event != hook.EventPreToolUse || l.State != hook.StateReady || h.Matcher != "" && h.Matcher != "Bash" && h.Matcher != ".*" {
		return false
	}
	rule := map[string]string{"Bash(ls)": "ls", "Bash(rm *)": "rm", "Bash(pwd)": "pwd"}
	return len(h.If) == 0 || strings.HasPrefix(command, rule[h.If[0]])
}

// judged checks that every hook that the final input concerns judged it, and that
// nothing else approved it.
func (w *world) judged(rt *rapid.T, first string, out *hook.Outcome) {
	if out.Verdict == hook.Deny {
		return // there is no final input
	}
	final := first
	if out.UpdatedInput != nil {
		final = commandOf(rt, out.UpdatedInput)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	results := make(map[string]*hook.Result)
	for i := range out.Results {
		results[placeOf(out.Results[i].Hook)] = &out.Results[i]
	}
	approved := false
	for _, l := range w.reg.List() {
		at := placeOf(l.Hook)
		answers, r := w.asked[at], results[at]
		strictest := hook.NoOpinion
		judged, approves := false, false
		for _, a := range answers {
			made := a.into == final && a.into != ""
			judged = judged || a.command == final || made
			approves = approves || a.verdict == hook.Allow && (made || a.into == "" && a.command == final && w.concerns(l, final))
			strictest = max(strictest, a.verdict)
		}
		if l.Hook.Async {
			continue
		}
		approved = approved || approves
		if strictest > hook.Allow && out.Verdict < strictest {
			rt.Fatalf("%s answered %v, and the outcome is %v", l.Hook.ID, strictest, out.Verdict)
		}
		if !w.concerns(l, final) {
			continue
		}
		if r == nil {
			rt.Fatalf("%s left no result for %q", l.Hook.ID, final)
		}
		if duplicate := r.Status == hook.StatusSkipped && strings.HasPrefix(r.Reason, "duplicate: "); !judged && !duplicate {
			rt.Fatalf("%s did not judge %q: %v", l.Hook.ID, final, answers)
		}
	}
	if out.Verdict == hook.Allow && !approved {
		rt.Fatalf("no hook approved %q: %v", final, w.asked)
	}
}

func (w *world) dispatch(rt *rapid.T, command string) *hook.Outcome {
	out, err := w.reg.Dispatch(context.Background(), bash(command))
	if err != nil {
		rt.Fatal(err)
	}
	return out
}

// Every hook that the final input concerns has a result that judged it, and no
// allow counts that was given for another.
func TestPropertyEveryConcernedHookJudgesTheFinalInput(t *testing.T) {
	if testing.Short() {
		t.Skip("long: tries thousands of sets of hooks")
	}
	needsRoot(t)
	rapid.Check(t, func(rt *rapid.T) {
		hooks := rapid.SliceOfN(anyDeclared(fileScopes, true), 2, 6).Draw(rt, "hooks")
		command := rapid.SampledFrom(calls).Draw(rt, "command")
		w := build(t, rt, hooks)
		w.judged(rt, command, w.dispatch(rt, command))
	})
}

// Adding an approved hook of a nearer scope never turns a denial into anything
// weaker, unless it rewrites the input and every hook that the new one concerns
// judged that.
func TestPropertyNothingNearerWeakensWhatIsFarther(t *testing.T) {
	if testing.Short() {
		t.Skip("long: tries thousands of sets of hooks")
	}
	needsRoot(t)
	rapid.Check(t, func(rt *rapid.T) {
		at := rapid.IntRange(1, len(fileScopes)-1).Draw(rt, "scope of the new hook")
		hooks := rapid.SliceOfN(anyDeclared(fileScopes[:at], true), 1, 5).Draw(rt, "hooks")
		// Copies of what is there are what could take its place.
		added := anyDeclared(fileScopes[at:at+1], true).Draw(rt, "new hook")
		if rapid.Bool().Draw(rt, "copy") {
			twin := rapid.SampledFrom(hooks).Draw(rt, "of")
			added.command, added.folder = twin.command, twin.folder
			added.keys["event"] = twin.keys["event"]
		}
		command := rapid.SampledFrom(calls).Draw(rt, "command")
		before := build(t, rt, hooks).dispatch(rt, command)
		w := build(t, rt, append(slices.Clone(hooks), added))
		after := w.dispatch(rt, command)
		if before.Verdict != hook.Deny || after.Verdict == hook.Deny {
			return
		}
		if !strings.HasPrefix(added.command, "echo into") {
			rt.Fatalf("%v and then %v: %v\n%v\n%v", before.Verdict, after.Verdict, added, ids(before), ids(after))
		}
		w.judged(rt, command, after)
	})
}
