package tenterhook_test

import (
	"encoding/json"
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

	"github.com/tenterhook/tenterhook"
)

// settingEffect proves that a key of the settings does something.
type settingEffect struct {
	base          string // of the hook; event = "PreToolUse" is added
	rest          string // other settings
	without, with string // the key's lines
	managed       bool   // the settings are the administrator's
	noHooks       bool
	look          func(*keyHost) string
	off, on       string
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
	"mcp_servers": {{base: call, with: "[mcp_servers.s]\nurl = \"$URL/mcp\"", look: anyRequest, off: "false", on: "true"}},
	"model": {{base: asks, with: "[model]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"$URL\"\napi_key_env = \"KEY_VARIABLE\"",
		look: anyRequest, off: "false", on: "true"}},
	"breaker": {{base: fail, with: "[breaker]\nfailures = 1", look: func(h *keyHost) string { statuses(h); return statuses(h) },
		off: "it failed exit", on: "it failed breaker_open"}},
}

// settingsTestedElsewhere are files with the tests of keys that need more than
// one dispatch.
var settingsTestedElsewhere = map[string]string{
	"self_protection": "internal/daemon/session_test.go",

	"max_async": "registry/async_test.go",
	"journal":   "internal/cli/testdata/log_settings.txtar",
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
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(string(text), -1) {
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
	if runtime.GOOS == "windows" {
		t.Skip("the hooks are shell commands")
	}
	keys := settingKeys(t)
	for _, key := range keys {
		if file := settingsTestedElsewhere[key]; file != "" {
			if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), key) {
				t.Errorf("%s does not test %s: %v", file, key, err)
			}
		} else if len(settingEffects[key]) == 0 {
			t.Errorf("no test shows what the setting %s does", key)
		}
	}
	for key, effects := range settingEffects {
		if !slices.Contains(keys, key) {
			t.Errorf("%s is no setting", key)
		}
		for _, e := range effects {
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

func (e settingEffect) seen(t *testing.T, lines string) string {
	t.Helper()
	h := &keyHost{t: t, opts: hostOf(t)}
	t.Setenv("KEY_VARIABLE", "secret")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		h.see("%s", strings.TrimSpace(r.Method+" "+r.Header.Get("X-Key")))
		if r.URL.Path != "/x" {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	defer server.Close()
	url := strings.NewReplacer("$URL", server.URL)
	dir := h.opts.UserDir
	if e.managed {
		h.opts.Without, h.opts.ManagedDir = nil, filepath.Join(t.TempDir(), "managed")
		dir = h.opts.ManagedDir
	}
	h.opts.NoHooks = e.noHooks
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
