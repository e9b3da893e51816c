package tenterhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/handler/mcptool"
	"github.com/tenterhook/tenterhook/handler/model"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/internal/decl"
	"github.com/tenterhook/tenterhook/internal/sandbox"
	"github.com/tenterhook/tenterhook/plugins"
	"github.com/tenterhook/tenterhook/registry"
)

// keyHost is what the hook of a key's test runs on. What its servers, its models
// and its hooks see is in seen.
type keyHost struct {
	t    *testing.T
	opts tenterhook.Options
	reg  *registry.Registry
	dir  string // of the hook

	mu    sync.Mutex
	seen  []string
	wire  strings.Builder // the requests, with what was sent
	async chan registry.AsyncResult
}

func (h *keyHost) see(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, fmt.Sprintf(format, args...))
}

// saw returns what was seen, joined, and forgets it.
func (h *keyHost) saw() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := strings.Join(h.seen, ",")
	h.seen = nil
	return text
}

func (h *keyHost) dispatch(in hook.Input) *hook.Outcome {
	h.t.Helper()
	out, err := h.reg.Dispatch(h.t.Context(), in)
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

func bash(command string) hook.Input {
	raw, _ := json.Marshal(map[string]string{"command": command})
	return hook.PreToolUse{Base: hook.Base{SessionID: "s"}, ToolName: "Bash", ToolInput: raw}
}

// The ways to look at a hook.
func verdictOf(h *keyHost) string { return h.dispatch(bash("rm -rf build")).Verdict.String() }
func statuses(h *keyHost) string {
	var words []string
	for _, r := range h.dispatch(bash("rm -rf build")).Results {
		words = append(words, r.Hook.Name+" "+string(r.Status)+" "+string(r.Failure))
	}
	return strings.TrimSpace(strings.Join(words, ","))
}
func asked(h *keyHost) string { h.dispatch(bash("rm -rf build")); return h.saw() }
func contexts(h *keyHost) string {
	return strings.Join(h.dispatch(bash("rm -rf build")).Contexts, ",")
}
func reason(h *keyHost) string { return h.dispatch(bash("rm -rf build")).Reason }
func listed(look func(*hook.Hook) string) func(*keyHost) string {
	return func(h *keyHost) string {
		for _, l := range h.reg.List() {
			if l.Hook.Name != "other" {
				return look(l.Hook)
			}
		}
		return "none"
	}
}

// keyEffect proves that a key of a HOOK.md does something: what is seen of the
// hook with the key's line is something else than without.
type keyEffect struct {
	base    string // the other lines; event = "PreToolUse" is added
	with    string // the line with the key
	without string // what stands in its place, "" = nothing
	look    func(*keyHost) string
	off, on string // what is seen without, and with it
	other   string // another hook beside it
	needs   string // a program

	contained bool // it needs what a strict sandbox needs
}

const (
	deny = `command = "exit 2"`
	fail = `command = "exit 1"`
	post = "type = \"http\"\nurl = \"$URL\""
	call = "type = \"mcp\"\nserver = \"s\"\ntool = \"judge\""
	asks = "type = \"prompt\"\nprompt = \"P\""
	rule = "type = \"rule\"\ndecision = \"deny\"\nreason = \"R\""
	some = `command = "true"`

	writesHere = `command = "echo x > made || exit 2"`
)

var keyEffects = map[string]keyEffect{
	"name":        {base: some, with: `name = "mine"`, look: listed(func(h *hook.Hook) string { return h.ID }), off: "user/it", on: "user/mine"},
	"description": {base: some, with: `description = "D"`, look: listed(func(h *hook.Hook) string { return h.Description }), on: "D"},
	"event":       {base: deny, with: `event = "PreToolUse"`, without: `event = "Stop"`, look: verdictOf, off: "none", on: "deny"},
	"events":      {base: deny, with: `events = ["Stop", "PreToolUse"]`, without: `events = ["Stop"]`, look: verdictOf, off: "none", on: "deny"},
	"matcher":     {base: deny, with: `matcher = "Write"`, look: verdictOf, off: "deny", on: "none"},
	"if":          {base: deny, with: `if = "Bash(git *)"`, look: verdictOf, off: "deny", on: "none"},
	"type":        {base: "url = \"$URL\"\ncommand = \"exit 2\"", with: `type = "http"`, look: asked, off: "", on: "POST"},
	"timeout":     {base: `command = "sleep 0.3"`, with: `timeout = "50ms"`, look: statuses, off: "it success", on: "it failed timeout"},
	"on_failure":  {base: fail, with: `on_failure = "block"`, look: verdictOf, off: "none", on: "deny"},
	"once": {base: `command = "true"`, with: `once = true`, off: "1", on: "0",
		look: func(h *keyHost) string { statuses(h); return fmt.Sprint(len(h.dispatch(bash("ls")).Results)) }},
	"priority": {base: some, with: `priority = -5`, other: some, look: statuses, off: "it success ,other success", on: "other success ,it success"},
	"rewrites": {base: `command = '''printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"true"}}}' '''`,
		with: `rewrites = true`, other: `command = "echo x >> $HOOK_DIR/../calls"`, off: "2", on: "1",
		look: func(h *keyHost) string {
			verdictOf(h)
			text, _ := os.ReadFile(filepath.Join(h.dir, "..", "calls"))
			return fmt.Sprint(strings.Count(string(text), "x"))
		}},
	"protocol":       {base: fail, with: `protocol = "moltis"`, look: verdictOf, off: "none", on: "deny"},
	"enabled":        {base: deny, with: `enabled = false`, look: verdictOf, off: "deny", on: "none"},
	"status_message": {base: some, with: `status_message = "M"`, look: listed(func(h *hook.Hook) string { return h.StatusMessage }), on: "M"},
	"env":            {base: `command = '[ "$X" = 1 ] && exit 2; exit 0'`, with: "[env]\nX = \"1\"", look: verdictOf, off: "none", on: "deny"},

	"requires.bins":     {base: some, with: "[requires]\nbins = [\"sh\", \"no-such-program\"]", without: "[requires]\nbins = [\"sh\"]", look: statuses, off: "it success", on: "it skipped ineligible"},
	"requires.any_bins": {base: some, with: "[requires]\nany_bins = [\"no-such-program\"]", without: "[requires]\nany_bins = [\"no-such-program\", \"sh\"]", look: statuses, off: "it success", on: "it skipped ineligible"},
	"requires.envs":     {base: some, with: "[requires]\nenvs = [\"NO_SUCH_VARIABLE\"]", without: "[requires]\nenvs = [\"PATH\"]", look: statuses, off: "it success", on: "it skipped ineligible"},
	"requires.env":      {base: some, with: "[requires]\nenv = [\"NO_SUCH_VARIABLE\"]", without: "[requires]\nenv = [\"PATH\"]", look: statuses, off: "it success", on: "it skipped ineligible"},
	"requires.os":       {base: some, with: "[requires]\nos = [\"aix\"]", without: "[requires]\nos = [\"linux\", \"darwin\", \"windows\", \"freebsd\"]", look: statuses, off: "it success", on: "it skipped ineligible"},
	"breaker.failures":  {base: fail, with: "[breaker]\nfailures = 1", look: func(h *keyHost) string { statuses(h); return statuses(h) }, off: "it failed exit", on: "it failed breaker_open"},
	"breaker.cooldown": {base: fail, with: "[breaker]\nfailures = 1\ncooldown = \"1ms\"", without: "[breaker]\nfailures = 1", off: "it failed breaker_open", on: "it failed exit",
		look: func(h *keyHost) string { statuses(h); time.Sleep(20 * time.Millisecond); return statuses(h) }},

	"command": {with: deny, without: some, look: verdictOf, off: "none", on: "deny"},
	"args":    {base: `command = "sh"`, with: `args = ["-c", "exit 2"]`, look: verdictOf, off: "none", on: "deny"},
	"shell": {base: `command = '[ -n "$BASH_VERSION" ] && case :$SHELLOPTS: in *:posix:*) ;; *) exit 2;; esac; exit 0'`, with: `shell = "bash"`,
		look: verdictOf, off: "none", on: "deny", needs: "bash"},
	"cwd":   {base: `command = '[ -z "$HOOK_DIR" ] && [ "$PWD" = "$CLAUDE_PROJECT_DIR" ] && exit 2; exit 0'`, with: `cwd = "session"`, look: verdictOf, off: "none", on: "deny"},
	"async": {base: deny, with: `async = true`, look: verdictOf, off: "deny", on: "none"},
	"async_rewake": {base: `command = "echo M >&2; exit 2"`, with: `async_rewake = true`, without: `async = true`, off: "false", on: "true M",
		look: func(h *keyHost) string {
			verdictOf(h)
			r := <-h.async
			return strings.TrimSpace(fmt.Sprint(r.Rewake, " ", r.Message))
		}},
	"queue": {base: "async = true\ncommand = \"true\"", with: `queue = "q"`, look: statuses, off: "it async", on: "it failed invalid"}, // of a pack: see the tests of the fleet
	"worker": {base: `command = '''n=0; while read -r line; do n=$((n+1)); printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"%s"}}\n' $n; done'''`,
		with: `worker = true`, look: func(h *keyHost) string { contexts(h); return contexts(h) }, on: "2"},

	"sandbox.mode":        {base: writesHere, with: "[sandbox]\nmode = \"read-only\"", look: verdictOf, off: "none", on: "deny", contained: true},
	"sandbox.allow_write": {base: writesHere, with: "[sandbox]\nmode = \"read-only\"\nallow_write = [\"${HOOK_DIR}\"]", without: "[sandbox]\nmode = \"read-only\"", look: verdictOf, off: "deny", on: "none", contained: true},
	"sandbox.allow_read":  {base: `command = "ls /var/tmp || exit 2"`, with: "[sandbox]\nallow_read = [\"/var/tmp\"]", without: "sandbox = \"strict\"", look: verdictOf, off: "deny", on: "none", contained: true},
	"sandbox.deny_read":   {base: `command = "cat HOOK.md || exit 2"`, with: "[sandbox]\ndeny_read = [\"${HOOK_DIR}/HOOK.md\"]", without: "sandbox = \"strict\"", look: verdictOf, off: "none", on: "deny", contained: true},
	"sandbox.allow_net": {base: "shell = \"bash\"\ncommand = '''u=$URL; u=${u#http://}; u=${u%/x}; (exec 3<>/dev/tcp/${u%:*}/${u#*:}) || exit 2'''", needs: "bash",
		with: "[sandbox]\nmode = \"read-only\"\nallow_net = []", without: "sandbox = \"read-only\"", look: verdictOf, off: "none", on: "deny", contained: true},
	"sandbox.memory": {base: `command = '[ "$(ulimit -d)" != 65536 ] || exit 2'`, with: "[sandbox]\nmode = \"reap\"\nmemory = \"64MiB\"", look: verdictOf, off: "none", on: "deny", contained: true},

	"url":              {base: `type = "http"`, with: `url = "$URL/path"`, without: `url = "$URL/"`, look: asked, off: "POST /", on: "POST /path"},
	"headers":          {base: post, with: "[headers]\nX-Key = \"k\"", look: asked, off: "POST", on: "POST k"},
	"allowed_env_vars": {base: post, with: "allowed_env_vars = [\"KEY_VARIABLE\"]\n[headers]\nX-Key = \"v$KEY_VARIABLE\"", without: "[headers]\nX-Key = \"v$KEY_VARIABLE\"", look: asked, off: "POST v", on: "POST vsecret"},
	"method":           {base: post, with: `method = "PUT"`, look: asked, off: "POST", on: "PUT"},

	"server": {base: "type = \"mcp\"\ntool = \"judge\"", with: `server = "s"`, without: `server = "none"`, look: asked, off: "", on: "judge "},
	"tool":   {base: "type = \"mcp\"\nserver = \"s\"", with: `tool = "other"`, without: `tool = "judge"`, look: asked, off: "judge ", on: "other "},
	"input":  {base: call, with: `input = { command = "${tool_input.command}!" }`, without: `input = { command = "x" }`, look: asked, off: "judge x", on: "judge rm -rf build!"},

	"prompt": {base: `type = "prompt"`, with: `prompt = "Is it Q?"`, without: `prompt = "Is it?"`, look: askedFor("Q?"), off: "false", on: "true"},
	"model":  {base: asks, with: `model = "m"`, look: askedFor("model m"), off: "false", on: "true"},
	"schema": {base: asks, with: "[schema]\ntype = \"object\"\n[schema.properties.extra]\ntype = \"string\"", look: askedFor("extra"), off: "false", on: "true"},
	"continue_on_block": {base: asks, with: `continue_on_block = true`, off: "true", on: "false",
		look: func(h *keyHost) string {
			h.see("refuse")
			return fmt.Sprint(h.dispatch(hook.PostToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{}`)}).Stop)
		}},

	"unless":      {base: rule, with: `unless = "Bash(rm *)"`, look: verdictOf, off: "deny", on: "none"},
	"when":        {base: rule, with: `when = "tool_input.command.size() > 100"`, look: verdictOf, off: "deny", on: "none"},
	"touches":     {base: rule, with: `touches = "/elsewhere/**"`, look: verdictOf, off: "deny", on: "none"},
	"reads":       {base: rule, with: `reads = "/elsewhere/**"`, look: verdictOf, off: "deny", on: "none"},
	"writes":      {base: rule, with: `writes = "/elsewhere/**"`, look: verdictOf, off: "deny", on: "none"},
	"network":     {base: rule, with: `network = true`, look: verdictOf, off: "deny", on: "none"},
	"destructive": {base: rule, with: `destructive = true`, look: verdictOf, off: "deny", on: "none"},
	"decision":    {base: "type = \"rule\"\nreason = \"R\"", with: `decision = "ask"`, without: `decision = "deny"`, look: verdictOf, off: "deny", on: "ask"},
	"reason":      {base: "type = \"rule\"\ndecision = \"deny\"", with: `reason = "R2"`, without: `reason = "R1"`, look: reason, off: "R1", on: "R2"},
	"text":        {base: "type = \"rule\"\ndecision = \"context\"", with: `text = "T2"`, without: `text = "T1"`, look: contexts, off: "T1", on: "T2"},
	"suppress_prompt": {base: rule, with: "event = \"UserPromptSubmit\"\nsuppress_prompt = true", without: `event = "UserPromptSubmit"`, off: "false", on: "true",
		look: func(h *keyHost) string {
			return fmt.Sprint(h.dispatch(hook.UserPromptSubmit{Prompt: "p"}).SuppressOriginalPrompt)
		}},
	"set": {base: "type = \"rule\"\ndecision = \"rewrite\"\nrewrites = true", with: "[set]\ncommand = \"'ls'\"", without: "[set]\ncommand = \"'true'\"",
		look: func(h *keyHost) string { return string(h.dispatch(bash("rm -rf build")).UpdatedInput) }, off: `{"command":"true"}`, on: `{"command":"ls"}`},
}

// contains reports whether this machine enforces sandboxes.
func contains() bool {
	return len((&sandbox.Policy{Mode: sandbox.Strict, Memory: 1}).Missing()) == 0
}

// askedFor looks whether a model was asked for something.
func askedFor(what string) func(*keyHost) string {
	return func(h *keyHost) string { h.dispatch(bash("ls")); return fmt.Sprint(strings.Contains(h.saw(), what)) }
}

func TestEachKeyOfAHookFileHasAnEffect(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows: the hooks are lines of a POSIX shell")
	}
	own := map[string]bool{"hook": true, "plugin": true} // see TestKeysOfAPluginHookHaveAnEffect
	for _, key := range decl.Keys() {
		if _, ok := keyEffects[key.Name]; !ok && !own[key.Name] {
			t.Errorf("no test shows what the key %s does", key.Name)
		}
		own[key.Name] = true
	}
	for key, e := range keyEffects {
		if !own[key] {
			t.Errorf("%s is no key", key)
		}
		if _, err := exec.LookPath(e.needs); e.needs != "" && err != nil {
			continue
		}
		if e.contained && !contains() {
			continue
		}
		t.Run(key, func(t *testing.T) {
			if got := e.seen(t, e.without); got != e.off {
				t.Errorf("without it: %q, want %q", got, e.off)
			}
			if got := e.seen(t, e.with); got != e.on {
				t.Errorf("with %s: %q, want %q", e.with, got, e.on)
			}
		})
	}
}

// seen writes the hook's file, loads it, and looks at it.
func (e keyEffect) seen(t *testing.T, line string) string {
	t.Helper()
	h := &keyHost{t: t, opts: hostOf(t), async: make(chan registry.AsyncResult, 4)}
	t.Setenv("KEY_VARIABLE", "secret")
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		h.see("%s", strings.Join(strings.Fields(r.Method+" "+strings.TrimSuffix(r.URL.Path, "/x")+" "+r.Header.Get("X-Key")), " "))
	}))
	defer server.Close()
	h.opts.Handlers = h.handlers()
	h.opts.OnAsync = func(r registry.AsyncResult) { h.async <- r }
	put(t, filepath.Join(h.opts.UserDir, "settings.toml"), "allowed_http_hook_urls = [\""+server.URL+"/*\"]\nallow_local_http_hook_targets = true\n"+
		"http_hook_allowed_env_vars = [\"KEY_VARIABLE\"]\n")
	lines := e.base + "\n" + line
	if !strings.Contains(line, "event") {
		lines = "event = [\"PreToolUse\", \"PostToolUse\"]\n" + lines
	}
	lines = strings.NewReplacer("$URL/", server.URL+"/", "$URL", server.URL+"/x").Replace(lines)
	h.dir = filepath.Join(h.opts.UserDir, "hooks", "it")
	put(t, filepath.Join(h.dir, "HOOK.md"), "+++\n"+lines+"\n+++\n")
	if e.other != "" {
		put(t, filepath.Join(h.opts.UserDir, "hooks", "other", "HOOK.md"), "+++\nevent = \"PreToolUse\"\n"+e.other+"\n+++\n")
	}
	reg, err := tenterhook.Open(t.Context(), h.opts)
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close()
	for _, d := range reg.Diagnostics() {
		if d.Code == "unknown_key" {
			t.Errorf("%v", d)
		}
	}
	h.reg = reg
	return e.look(h)
}

// handlers are an MCP server and a model that note what they are asked.
func (h *keyHost) handlers() map[hook.Kind]hook.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	for _, name := range []string{"judge", "other"} {
		mcp.AddTool(server, &mcp.Tool{Name: name}, func(_ context.Context, _ *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, any, error) {
			command, _ := in["command"].(string)
			h.see("%s %s", name, command)
			return nil, map[string]any{}, nil
		})
	}
	answers := model.New(model.Options{Model: model.ModelFunc(func(_ context.Context, r *model.Request) (*model.Response, error) {
		ok := !strings.Contains(h.saw(), "refuse")
		asked, _ := json.Marshal(r.Messages)
		h.see("model %s %s %s", r.Model, asked, r.Schema)
		return &model.Response{Text: fmt.Sprintf(`{"ok": %v, "reason": "R", "extra": "x"}`, ok)}, nil
	})})
	return map[hook.Kind]hook.Handler{
		hook.KindPrompt: answers,
		hook.KindMCP: mcptool.New(mcptool.Options{Servers: map[string]mcptool.Connector{"s": func(ctx context.Context) (io.ReadWriteCloser, error) {
			ours, theirs := net.Pipe()
			_, err := server.Connect(ctx, &mcp.IOTransport{Reader: theirs, Writer: theirs}, nil)
			return ours, err
		}}}),
	}
}

func TestKeysOfAPluginHookHaveAnEffect(t *testing.T) {
	if testing.Short() {
		t.Skip("long: builds and starts a plugin for each key")
	}
	dir := t.TempDir()
	buildGuard(t, dir)
	binary, err := os.ReadFile(built.Program(dir, "tenterhook-plugin-guard"))
	if err != nil {
		t.Fatal(err)
	}
	for lines, want := range map[string]hook.Status{
		`hook = "irreversible"`:                       hook.StatusBlocked,
		`hook = "none"`:                               hook.StatusFailed,
		"hook = \"irreversible\"\nplugin = \"guard\"": hook.StatusBlocked,
		"hook = \"irreversible\"\nplugin = \"none\"":  hook.StatusFailed,
	} {
		opts := hostOf(t)
		pkg := filepath.Join(opts.PluginsDir, "guards")
		put(t, filepath.Join(pkg, "hooks", "mine", "HOOK.md"), "+++\nevent = \"PreToolUse\"\ntype = \"plugin\"\n"+lines+"\n+++\n")
		if err := os.WriteFile(built.Program(pkg, "tenterhook-plugin-guard"), binary, 0o755); err != nil {
			t.Fatal(err)
		}
		host := plugins.New(plugins.Options{StateDir: opts.StateDir})
		if err := host.Learn(t.Context(), pkg); err != nil {
			t.Fatal(err)
		}
		host.Close()
		reg, err := tenterhook.Open(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		approveAll(t, reg)
		out, err := reg.Dispatch(t.Context(), bash("rm -rf /"))
		if err != nil || len(out.Results) == 0 || out.Results[0].Hook.Name != "mine" || out.Results[0].Status != want {
			t.Errorf("%s: %v, %+v; want %s", lines, err, out, want)
		}
		if err := reg.Close(); err != nil {
			t.Error(err)
		}
	}
}
