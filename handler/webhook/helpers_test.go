package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tenterhook/tenterhook/handler/webhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

// envProxy is a proxy that the environment of the tests names. It answers
// everything by itself, and remembers what it was asked for.
var envProxy struct {
	sync.Mutex
	asked []string
}

// TestMain puts a proxy into the environment before net/http looks at it, which
// it does once for a process.
func TestMain(m *testing.M) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		envProxy.Lock()
		defer envProxy.Unlock()
		envProxy.asked = append(envProxy.asked, r.URL.String())
		_, _ = w.Write([]byte(`{"systemMessage":"by way of the proxy"}`))
	}))
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
		_ = os.Setenv(name, proxy.URL)
	}
	for _, name := range []string{"NO_PROXY", "no_proxy", "REQUEST_METHOD"} {
		_ = os.Unsetenv(name)
	}
	code := m.Run()
	proxy.Close()
	if err := goleak.Find(); err != nil && code == 0 {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		code = 1
	}
	os.Exit(code)
}

// soon is how long what should come at once may take on a busy machine.
const soon = 20 * time.Second

func yes() *bool { on := true; return &on }

// handler is a Handler with settings.
func handler(t testing.TB, o webhook.Options, s dialect.Settings) *webhook.Handler {
	t.Helper()
	h := webhook.New(o)
	t.Cleanup(func() { _ = h.Close() })
	for _, d := range h.Configure(s) {
		if d.Severity == hook.SeverityError {
			t.Fatal(d)
		}
	}
	return h
}

// local is a Handler that may call local servers under patterns.
func local(t testing.TB, patterns ...string) *webhook.Handler {
	t.Helper()
	return handler(t, webhook.Options{Env: []string{}}, dialect.Settings{AllowedHTTPHookURLs: patterns, AllowLocalHTTPHookTargets: yes()})
}

// params are the keys of a hook.
type params map[string]any

// posts is a hook that posts to a URL.
func posts(url string) *hook.Hook { return declares(params{"url": url}) }

func declares(p params) *hook.Hook {
	h := &hook.Hook{ID: "dir/post", Name: "post", Event: hook.EventPreToolUse, Kind: hook.KindHTTP,
		Source: hook.Source{Path: "/hooks/post/HOOK.md", Line: 3}, Params: hook.Params{}}
	for key, value := range p {
		raw, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		h.Params[key] = raw
	}
	return h
}

// call is a call of a hook for a Bash command.
func call(t testing.TB, h *hook.Hook) *hook.Call {
	t.Helper()
	in := hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"ls"}`)}
	payload, err := hook.Encode(in, in.Common())
	if err != nil {
		t.Fatal(err)
	}
	return &hook.Call{Hook: h, Input: in, Payload: payload}
}

// run runs a hook once, with much time.
func run(t testing.TB, h *webhook.Handler, hk *hook.Hook) (*hook.Output, *hook.Call, error) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), soon, hook.ErrTimeout)
	defer cancel()
	c := call(t, hk)
	out, err := h.Handle(ctx, c)
	return out, c, err
}

// failure is the failure of an error, and its text.
func failure(t testing.TB, err error) (hook.Failure, string) {
	t.Helper()
	var failed *hook.Error
	if !errors.As(err, &failed) {
		t.Fatalf("want a *hook.Error, got %v", err)
	}
	return failed.Failure, failed.Error()
}
