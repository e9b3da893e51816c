package tenterhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/fleetpolicy/policytest"
	"github.com/tenterhook/tenterhook/internal/pack/packtest"
	"github.com/tenterhook/tenterhook/internal/recording"
	"github.com/tenterhook/tenterhook/journal"
	"github.com/tenterhook/tenterhook/registry"
)

// settingEffect proves that a key of the settings does something.
type settingEffect struct {
	base          string // of the hook; event = "PreToolUse" is added
	rest          string // other settings
	without, with string // the key's lines
	managed       bool   // the settings are the administrator's
	noHooks       bool
	host          func(*keyHost) // gives the host what the key is about
	look          func(*keyHost) string
	off, on       string
	contained     bool // it needs what a strict sandbox needs
}

const localHTTP = "allowed_http_hook_urls = [\"$URL/*\"]\nallow_local_http_hook_targets = true\n"

var secretPost = "type = \"http\"\nurl = \"$URL/x\"\nallowed_env_vars = [\"KEY_VARIABLE\"]\n[headers]\nX-Key = \"v$KEY_VARIABLE\""

var settingEffects = map[string][]settingEffect{
	"hooks":                    {{base: some, with: "[[hooks.PreToolUse]]\ncommand = \"exit 2\"", look: verdictOf, off: "none", on: "deny"}},
	"disable_all_hooks":        {{base: deny, with: "disable_all_hooks = true", look: verdictOf, off: "deny", on: "none"}},
	"allow_managed_hooks_only": {{base: deny, managed: true, with: "allow_managed_hooks_only = true", look: verdictOf, off: "deny", on: "none"}},
	"allow_no_hooks": {{base: some, rest: "[[hooks.PreToolUse]]\ncommand = \"exit 2\"\n", managed: true, noHooks: true,
		with: "allow_no_hooks = true", look: verdictOf, off: "deny", on: "none"}},
	"disabled":           {{base: deny, with: `disabled = ["user/it"]`, look: verdictOf, off: "deny", on: "none"}},
	"default_on_failure": {{base: fail, with: `default_on_failure = "block"`, look: verdictOf, off: "none", on: "deny"}},
	"allowed_http_hook_urls": {
		{base: "type = \"http\"\nurl = \"$URL/x\"", rest: "allow_local_http_hook_targets = true\n", with: `allowed_http_hook_urls = ["$URL/*"]`, look: asked, on: "POST"},
		{base: "type = \"http\"\nurl = \"$URL/x\"", rest: "allow_local_http_hook_targets = true\n", without: "allowed_http_hook_urls = []", with: `allowed_http_hook_urls = ["$URL/*"]`, look: asked, on: "POST"},
	},
	"http_hook_allowed_env_vars": {
		{base: secretPost, rest: localHTTP, with: "http_hook_allowed_env_vars = []", look: asked, off: "POST vsecret", on: "POST v"},
		{base: secretPost, rest: localHTTP, with: `http_hook_allowed_env_vars = ["OTHER"]`, look: asked, off: "POST vsecret", on: "POST v"},
		{base: secretPost, rest: localHTTP, without: "http_hook_allowed_env_vars = []", with: `http_hook_allowed_env_vars = ["KEY_VARIABLE"]`, look: asked, off: "POST v", on: "POST vsecret"},
	},
	"allow_local_http_hook_targets": {{base: "type = \"http\"\nurl = \"$URL/x\"", rest: "allowed_http_hook_urls = [\"$URL/*\"]\n",
		with: "allow_local_http_hook_targets = true", look: asked, on: "POST"}},
	"mcp_servers": {
		{base: call, with: "[mcp_servers.s]\nurl = \"$URL/mcp\"", look: anyRequest, off: "false", on: "true"},
		{base: call, without: "[mcp_servers.s]\nurl = \"$URL/mcp\"", with: "[mcp_servers.s]\nurl = \"$URL/mcp\"\nheaders = {X-Key = \"its\"}", look: sent("its"), off: "false", on: "true"},
		{base: call, without: "[mcp_servers.s]\nurl = \"$URL/mcp\"\nheaders = {X-Key = \"v${KEY_VARIABLE}\"}",
			with: "[mcp_servers.s]\nurl = \"$URL/mcp\"\nheaders = {X-Key = \"v${KEY_VARIABLE}\"}\nallowed_env_vars = [\"KEY_VARIABLE\"]", look: sent("vsecret"), off: "false", on: "true"},
		{base: call, without: program(`"true"`, `"-c", "$MARK"`, `A = "x"`), with: program(`"sh"`, `"-c", "$MARK"`, `A = "x"`), look: marked, on: "x"},
		{base: call, without: program(`"sh"`, `"-c", "true"`, `A = "x"`), with: program(`"sh"`, `"-c", "$MARK"`, `A = "x"`), look: marked, on: "x"},
		{base: call, without: program(`"sh"`, `"-c", "$MARK"`, ``), with: program(`"sh"`, `"-c", "$MARK"`, `A = "x"`), look: marked, off: "no A", on: "x"},
		{base: call, without: program(`"sh"`, `"-c", "$MARK"`, ``), with: program(`"sh"`, `"-c", "$MARK"`, ``) + "\nsandbox = \"read-only\"", look: marked, off: "no A", contained: true},
	},
	"model": {
		{base: asks, with: ofModel("openai", "m", "KEY_VARIABLE"), look: anyRequest, off: "false", on: "true"},
		{base: asks, without: ofModel("openai", "m", "KEY_VARIABLE"), with: ofModel("anthropic", "m", "KEY_VARIABLE"), look: sent("/messages"), off: "false", on: "true"},
		{base: asks, without: ofModel("openai", "m", "KEY_VARIABLE"), with: ofModel("openai", "other", "KEY_VARIABLE"), look: sent(`"model":"other"`), off: "false", on: "true"},
		{base: asks, without: ofModel("openai", "m", "OTHER_VARIABLE"), with: ofModel("openai", "m", "KEY_VARIABLE"), look: sent("Bearer secret"), off: "false", on: "true"},
	},
	"sandbox": {{base: writesHere, with: "[sandbox]\nuser = \"read-only\"", look: verdictOf, off: "none", on: "deny", contained: true}},
	"breaker": {
		{base: fail, with: "[breaker]\nfailures = 1", look: again, off: "it failed exit", on: "it failed breaker_open"},
		{base: fail, without: "[breaker]\nfailures = 1\ncooldown = \"1h\"", with: "[breaker]\nfailures = 1\ncooldown = \"1ms\"", look: again, off: "it failed breaker_open", on: "it failed exit"},
	},
	"self_protection": {
		{base: some, host: guarded, with: "self_protection = false", look: verdictOf, off: "deny", on: "none"},
		{base: some, host: guarded, with: "self_protection = true", without: "self_protection = false", look: verdictOf, off: "none", on: "deny"},
	},
	"max_async": {
		{base: some, with: "max_async = 1", look: dropped, off: "0", on: "35"},
		{base: some, with: "max_async = 1", without: "max_async = 2", look: dropped, off: "0", on: "35"},
	},
	"packs": {{base: some, host: func(h *keyHost) { packtest.Put(h.t, h.opts.StateDir, ofPack) },
		with: `packs = ["registry.example.com/guards@` + packtest.Digest(ofPack) + `"]`, look: verdictOf, off: "none", on: "deny"}},
	"fleet": {
		{base: some, with: ofFleet("guard", ""), look: verdictOf, off: "none", on: "deny"},
		{base: some, without: ofFleet("none", ""), with: ofFleet("none", "on_unknown = \"block\""), look: verdictOf, off: "none", on: "deny"},
		{base: some, without: ofFleet("expired", "on_stale = \"keep\""), with: ofFleet("expired", "on_stale = \"ask\""), look: verdictOf, off: "none", on: "ask"},
	},
	"audit": {
		{base: some, host: unwritable, with: "[audit]\non_failure = \"block\"", look: verdictOf, off: "none", on: "deny"},
		{base: some, host: unwritable, without: "[audit]\non_failure = \"continue\"", with: "[audit]\non_failure = \"blok\"", look: verdictOf, off: "none", on: "deny"},
		{base: some, host: recorded, rest: "[journal]\nrecord = \"off\"\n", with: "[audit]\non_failure = \"block\"", look: verdictOf, off: "none", on: "deny"},
	},
	"journal": {
		{base: deny, host: recorded, with: "[journal]\nrecord = \"off\"", look: journaled, off: "deny payload echo secret-1", on: ""},
		{base: deny, host: recorded, with: "[journal]\nrecord = \"results\"", without: "[journal]\nrecord = \"full\"", look: journaled, off: "deny payload echo secret-1", on: "deny"},
		{base: deny, host: recorded, with: "[journal]\nredact = [\"secret-[0-9]\"]", look: journaled, off: "deny payload echo secret-1", on: "deny payload echo [masked]"},
		{base: deny, host: recorded, without: "[journal]\nredact = []", with: "[journal]\nredact = \"secret-[0-9]\"", look: journaled, off: "deny payload echo secret-1", on: "deny"},
		{base: deny, host: recorded, with: "[journal]\nredact = [\"x\", 5]", look: journaled, off: "deny payload echo secret-1", on: "deny"},
		{base: deny, host: recorded, with: "[journal]\nredact = [\"(\"]", look: journaled, off: "deny payload echo secret-1", on: "deny"},
		{base: deny, host: recorded, with: "[journal]\nredact = [\"\"]", look: journaled, off: "deny payload echo secret-1", on: "deny"},
		{base: deny, host: recorded, with: "journal = [\"secret-[0-9]\"]", look: journaled, off: "deny payload echo secret-1", on: "deny"},
		{base: deny, host: recorded, with: "[journal]\nrecord = \"result\"", look: journaled, off: "deny payload echo secret-1", on: "deny"},
		{base: deny, host: recorded, with: "[journal]\nmax_size = \"1KiB\"", without: "[journal]\nmax_size = \"1GiB\"", look: journaled, off: "deny payload echo secret-1", on: ""},
		{base: deny, host: recorded, with: "[journal]\nkeep = \"1ms\"", without: "[journal]\nkeep = \"1h\"", look: journaled, off: "deny payload echo secret-1", on: ""},
	},
}

// again looks at a hook a second time, a moment after the first.
func again(h *keyHost) string {
	statuses(h)
	time.Sleep(20 * time.Millisecond)
	return statuses(h)
}

func ofModel(provider, name, key string) string {
	return fmt.Sprintf("[model]\nprovider = %q\nmodel = %q\nbase_url = \"$URL\"\napi_key_env = %q", provider, name, key)
}

// program are the lines of an MCP server that is a program.
func program(command, args, env string) string {
	return "[mcp_servers.s]\ncommand = " + command + "\nargs = [" + args + "]\nenv = {" + env + "}"
}

// marked is what $MARK wrote.
func marked(h *keyHost) string {
	h.dispatch(bash("ls"))
	text, _ := os.ReadFile(filepath.Join(h.opts.Workspace, "mark"))
	return string(text)
}

// sent says whether requests hold a text, in their path, a header or their body.
func sent(text string) func(*keyHost) string {
	return func(h *keyHost) string {
		h.dispatch(bash("ls"))
		h.mu.Lock()
		defer h.mu.Unlock()
		return fmt.Sprint(strings.Contains(h.wire.String(), text))
	}
}

// ofFleet are the lines of a fleet. Its policy denies tool calls, or has expired, or
// there is none.
func ofFleet(policy, more string) string { return "$FLEET " + policy + " " + more }

// fleetLines writes out what ofFleet stands for.
func fleetLines(t *testing.T, line string) string {
	words, ours := strings.CutPrefix(line, "$FLEET ")
	if !ours {
		return line
	}
	state, more, _ := strings.Cut(words, " ")
	f := policytest.New(t)
	delete(f.Says, "release")
	switch state {
	case "guard":
		f.Apply("guard", 1, policytest.Deny)
	case "expired":
		f.ApplyUntil(time.Now().Add(-time.Minute), "{}")
	}
	return f.TOML(more)
}

var ofPack = map[string]string{"deny/HOOK.md": "+++\nevent = \"PreToolUse\"\ntype = \"rule\"\ndecision = \"deny\"\nreason = \"no\"\n+++\n"}

// guarded gives the host a guard of its own, as a daemon has.
func guarded(h *keyHost) {
	h.opts.Guards = []*hook.Hook{{Name: "guard", Event: hook.EventPreToolUse, Handler: hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) {
		return hook.Denied("hands off"), nil
	})}}
}

// dropped says how many of 100 background hooks found no place.
func dropped(h *keyHost) string {
	end := make(chan struct{})
	defer close(end)
	waits := func(context.Context, hook.PreToolUse) (*hook.Output, error) { <-end; return nil, nil }
	if err := registry.On(h.reg, "waits", waits, func(h *hook.Hook) { h.Async = true }); err != nil {
		h.t.Fatal(err)
	}
	for range 100 {
		h.dispatch(bash("ls"))
	}
	return fmt.Sprint(h.reg.Dropped())
}

// recorded gives the host a journal.
func recorded(h *keyHost) { h.opts.Recorder = recording.New(h.opts.StateDir, nil, nil) }

// unwritable is a journal that cannot be written.
func unwritable(h *keyHost) {
	recorded(h)
	if err := errors.Join(os.MkdirAll(h.opts.StateDir, 0o700), os.WriteFile(recording.Dir(h.opts.StateDir), nil, 0o600)); err != nil {
		h.t.Fatal(err)
	}
}

// journaled says what the journal has of a call.
func journaled(h *keyHost) string {
	h.dispatch(bash("echo secret-1"))
	recorder := h.opts.Recorder.(*recording.Recorder)
	if err := errors.Join(h.reg.Close(), recorder.Close()); err != nil {
		h.t.Fatal(err)
	}
	j, err := journal.Open(h.t.Context(), recording.Dir(h.opts.StateDir), recorder.Options())
	if err != nil {
		h.t.Fatal(err)
	}
	defer j.Close()
	time.Sleep(5 * time.Millisecond)
	if _, err := j.Ingest(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	lines, err := j.Log(h.t.Context(), journal.Filter{})
	if err != nil {
		h.t.Fatal(err)
	}
	if len(lines) == 0 {
		return ""
	}
	run, err := j.Run(h.t.Context(), lines[0].Run)
	if err != nil {
		h.t.Fatal(err)
	}
	text := run.Verdict.String()
	var payload struct {
		Input struct{ Command string } `json:"tool_input"`
	}
	if len(run.Payload) > 0 && json.Unmarshal(run.Payload, &payload) == nil && payload.Input.Command != "" {
		text += " payload " + payload.Input.Command
	}
	return text
}

func anyRequest(h *keyHost) string {
	if asked(h) == "" {
		return "false"
	}
	return "true"
}

// settingKeys are those of the table in docs/settings.md.
func settingKeys(t *testing.T) []string {
	text, err := os.ReadFile("docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	table, _, _ := strings.Cut(string(text), "<!-- end settings -->")
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(table, -1) {
		keys = append(keys, row[1])
	}
	return keys
}

func TestEachKeyOfTheSettingsIsDocumentedAndInTheSchema(t *testing.T) {
	text, err := os.ReadFile("schemas/settings.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(text, &schema); err != nil || len(schema.Properties) == 0 {
		t.Fatalf("no properties: %v", err)
	}
	keys := settingKeys(t)
	for key := range schema.Properties {
		if !slices.Contains(keys, key) && key == strings.ToLower(key) && !strings.HasPrefix(key, "$") {
			t.Errorf("docs/settings.md does not have %s", key)
		}
	}
	for _, key := range keys {
		if schema.Properties[key] == nil {
			t.Errorf("the schema does not have %s", key)
		}
	}
}

func TestEachKeyOfTheSettingsHasAnEffect(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	if runtime.GOOS == "windows" {
		t.Skip("Windows: the hooks are lines of a POSIX shell")
	}
	keys := settingKeys(t)
	for _, key := range keys {
		if key == "sandbox_required" { // it takes a machine that enforces nothing
			if text, err := os.ReadFile("internal/cli/testdata/sandbox_required.txtar"); err != nil || !strings.Contains(string(text), key+" = false") {
				t.Errorf("no script shows what %s does: %v", key, err)
			}
		} else if len(settingEffects[key]) == 0 {
			t.Errorf("no test shows what the setting %s does", key)
		}
	}
	for _, s := range dialect.SettingTable() {
		for _, inner := range s.Inner {
			if s.Name != "sandbox" && !slices.ContainsFunc(settingEffects[s.Name], func(e settingEffect) bool { // whose scopes the registry tests
				return regexp.MustCompile(`\b` + inner.Name + `\b`).MatchString(fleetLines(t, e.with))
			}) {
				t.Errorf("no test shows what %s does in the setting %s", inner.Name, s.Name)
			}
		}
	}
	for key, effects := range settingEffects {
		if !slices.Contains(keys, key) {
			t.Errorf("%s is no setting", key)
		}
		for _, e := range effects {
			if e.contained && !contains() {
				continue
			}
			t.Run(key, func(t *testing.T) {
				if got := e.seen(t, e.without); got != e.off {
					t.Errorf("with %q: %q, want %q", e.without, got, e.off)
				}
				if got := e.seen(t, e.with); got != e.on {
					t.Errorf("with %q: %q, want %q", e.with, got, e.on)
				}
			})
		}
	}
}

// What the table says of whose word counts holds for a workspace: what it may not
// say is ignored, and that is said.
func TestAWorkspaceIsToldWhatItMayNotSay(t *testing.T) {
	own := map[string]string{"disabled": `disabled = ["project/it"]`, "sandbox": "[sandbox]\nproject = \"strict\""}
	for _, s := range dialect.SettingTable() {
		lines := []string{own[s.Name]}
		if lines[0] == "" {
			for _, e := range settingEffects[s.Name] {
				lines = append(lines, fleetLines(t, e.with))
			}
		}
		if s.Name == "sandbox_required" {
			lines = []string{"sandbox_required = true", "sandbox_required = false"}
		}
		says := strings.Contains(s.By, "workspace") || strings.Contains(s.By, "all scopes")
		for _, line := range lines {
			if got := ignoredOfWorkspace(t, line); line != "" && slices.Contains(got, s.Name) == says {
				t.Errorf("%q in a workspace: %v are ignored; the table says %q", line, got, s.By)
			}
		}
	}
	for _, line := range []string{"disabled = [\"user/it\"]", "[sandbox]\nuser = \"strict\"", "[sandbox]\nproject = \"none\""} {
		if key := strings.Trim(strings.Fields(line)[0], "[]"); !slices.Equal(ignoredOfWorkspace(t, line), []string{key}) {
			t.Errorf("nothing says that %q has no effect in a workspace", line)
		}
	}
}

// ignoredOfWorkspace are the settings that are ignored of a workspace's file.
func ignoredOfWorkspace(t *testing.T, lines string) (keys []string) {
	t.Helper()
	opts := hostOf(t)
	put(t, filepath.Join(opts.Workspace, ".tenterhook", "settings.toml"), lines)
	reg, err := tenterhook.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close()
	for _, d := range reg.Diagnostics() {
		if key, ok := strings.CutSuffix(d.Message, " is ignored: a workspace has no say in it"); d.Code == "setting_ignored" && ok {
			keys = append(keys, key)
		} else if key, _, ok := strings.Cut(d.Message, " is ignored: a workspace can't switch"); ok {
			keys = append(keys, key)
		}
	}
	return keys
}

func (e settingEffect) seen(t *testing.T, lines string) string {
	t.Helper()
	h := &keyHost{t: t, opts: hostOf(t)}
	t.Setenv("KEY_VARIABLE", "secret")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		fmt.Fprintln(&h.wire, r.URL.Path, r.Header, string(body))
		h.mu.Unlock()
		h.see("%s", strings.TrimSpace(r.Method+" "+r.Header.Get("X-Key")))
		if r.URL.Path != "/x" {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	defer server.Close()
	url := strings.NewReplacer("$URL", server.URL, "$MARK", "printf %s \\\"${A-no A}\\\" > "+filepath.Join(h.opts.Workspace, "mark"))
	dir := h.opts.UserDir
	if e.managed {
		h.opts.Without, h.opts.ManagedDir = nil, filepath.Join(t.TempDir(), "managed")
		dir = h.opts.ManagedDir
	}
	h.opts.NoHooks = e.noHooks
	lines = fleetLines(t, lines)
	if e.host != nil {
		e.host(h)
	}
	put(t, filepath.Join(dir, "settings.toml"), url.Replace(lines+"\n"+e.rest))
	if strings.HasPrefix(lines, "[") {
		put(t, filepath.Join(dir, "settings.toml"), url.Replace(e.rest+lines+"\n"))
	}
	put(t, filepath.Join(h.opts.UserDir, "hooks", "it", "HOOK.md"), "+++\nevent = \"PreToolUse\"\n"+url.Replace(e.base)+"\n+++\n")
	reg, err := tenterhook.Open(t.Context(), h.opts)
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close()
	h.reg = reg
	return e.look(h)
}
